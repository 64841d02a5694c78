"""The lattice of full-domain generalisations: so far what can be said of it attribute by attribute."""

from tabular.lattice.bounds import lower_bounds, support_map

__all__ = ["lower_bounds", "support_map"]
