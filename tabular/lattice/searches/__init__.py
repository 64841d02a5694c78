"""Searches of the lattice, by name."""

from tabular.lattice.searching import searches

searches.load(__name__)

__all__ = ["searches"]
