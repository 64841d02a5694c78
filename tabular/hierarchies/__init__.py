"""Hierarchies: read from files, or built from the values of a column."""

from __future__ import annotations

from tabular.hierarchies.builders import Builder, build, hierarchies
from tabular.hierarchies.hierarchy import hierarchy_files, read_hierarchies, read_hierarchy, write_hierarchy

__all__ = [
    "Builder",
    "build",
    "hierarchies",
    "hierarchy_files",
    "read_hierarchies",
    "read_hierarchy",
    "write_hierarchy",
]
