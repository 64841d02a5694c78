"""Full-domain generalisation: every value of a column goes to the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY
from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tabular.hierarchies.hierarchy import Hierarchy, generalised
from tabular.protections.contract import Protection, protections
from tabular.registry import option
from tabular.table import Table, equivalence_classes, suppression_limit


@protections.add(
    "full-domain",
    cites="Samarati (2001); Sweeney (2002)",
    limits="applies one node of the lattice, and does not look for the best; k is that of the rows that are "
    "not suppressed",
)
@dataclass(frozen=True, kw_only=True, eq=False)
class FullDomain(Protection):
    """Generalise each column to one level of its hierarchy and suppress the rows of classes smaller than k."""

    promises_k: ClassVar[bool] = True

    k: int = option(3, low=1, help="fewest rows of a class")
    levels: Any = option(  # noqa: RUF009
        None, help="level of each column, as in '1,0,2' or 'age=1,sex=0'; the highest if not given"
    )
    hierarchies: Any = option(  # noqa: RUF009
        None, help="hierarchies of the columns: a folder of CSV files; a column without one has the single level *"
    )
    suppression: float = option(0.0, low=0, high=1, help="share of the rows that may be suppressed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hierarchies is not None and not isinstance(self.hierarchies, Mapping):
            must = "be a mapping, as read_hierarchies gives"
            raise InvalidParameter.wrong("hierarchies", must=must, was=self.hierarchies, owner="FullDomain")

    def protect(self, table: Table, attributes: Sequence[str], rng: np.random.Generator) -> Table:
        """Labels stand for what lies under them; a suppressed row has `*` in all columns; draws nothing."""
        hierarchies = self.fitting(table, attributes)
        node = self.node(hierarchies)
        return generalised(table, hierarchies, node, suppressed=self.suppressed(table, hierarchies, node))

    def node(self, hierarchies: Mapping[str, Hierarchy]) -> dict[str, int]:
        """The level of each column."""
        names = tuple(hierarchies)
        node = read_levels(self.levels, names)
        for name in names:
            height = hierarchies[name].height
            level = node.setdefault(name, height)
            if not 0 <= level <= height:
                must = f"be from 0 to {height} for {name!r}"
                raise InvalidParameter.wrong("levels", must=must, was=level, owner="FullDomain")
        return node

    def fitting(self, table: Table, attributes: Sequence[str]) -> dict[str, Hierarchy]:
        """The hierarchy of each column over its values in *table*."""
        given: Mapping[str, Hierarchy] = self.hierarchies or {}
        for name in given:
            if name not in table.names:
                raise UnknownName.among("column", name, table.names)
        found = {}
        for attribute in map(table.attribute, attributes):
            # Without one, the single level above the values is *.
            top = [[ANY] * len(attribute.domain)]
            hierarchy = given.get(attribute.name) or Hierarchy.of(attribute.name, attribute.domain, top)
            fits = hierarchy.domain == attribute.domain
            found[attribute.name] = hierarchy if fits else hierarchy.over(attribute.domain)
        return found

    def suppressed(
        self, table: Table, hierarchies: Mapping[str, Hierarchy], node: Mapping[str, int]
    ) -> NDArray[np.bool_]:
        """The rows of classes that stay smaller than k."""
        classes = equivalence_classes(
            [each.levels[node[name]].groups[table.columns[name]] for name, each in hierarchies.items()]
        )
        small = np.asarray((classes.sizes < self.k)[classes.labels])
        count, limit = int(small.sum()), suppression_limit(self.suppression, len(table))
        if count > limit:
            at = ", ".join(f"{name}={level}" for name, level in node.items())
            raise NoSolution(
                f"No release with k={self.k} exists at the levels {at}: {count} of {len(table)} records lie in smaller "
                f"classes, and {limit} may be suppressed. Raise the levels or the suppression, or lower k."
            )
        return small


def read_levels(levels: Any, names: Sequence[str], *, parameter: str = "levels") -> dict[str, int]:
    """The level of each column as *levels* say: `1,0,2`, `age=1,sex=0`, numbers or a mapping.

    Errors name the *parameter* that gives them.
    """
    if levels is None:
        return {}
    parts = levels.split(",") if isinstance(levels, str) else levels
    if isinstance(parts, Mapping):
        pairs = dict(parts)
    elif any(isinstance(part, str) and "=" in part for part in parts):
        pairs = {str(part).rpartition("=")[0].strip(): str(part).rpartition("=")[2] for part in parts}
    else:
        if len(parts) != len(names):
            raise InvalidParameter.wrong(parameter, must=f"give a level for each of {len(names)} columns", was=levels)
        pairs = dict(zip(names, parts, strict=True))
    for name in pairs:
        if name not in names:
            raise UnknownName.among("column to protect", str(name), names)
    try:
        return {str(name): int(str(level)) for name, level in pairs.items()}
    except (TypeError, ValueError):
        raise InvalidParameter.wrong(parameter, must="give whole numbers", was=levels) from None
