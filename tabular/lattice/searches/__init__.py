"""Searches of the lattice, by name."""

from tabular.lattice.searches.contract import Search, searches

searches.load(__name__)

__all__ = ["Search", "searches"]
