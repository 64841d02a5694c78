"""Hierarchies: read from files, or built from the values of a column."""

from __future__ import annotations

from typing import Any

from tabular.attributes import Attribute
from tabular.hierarchies.contract import Builder, hierarchies
from tabular.hierarchies.hierarchy import Hierarchy, hierarchy_files, read_hierarchies, read_hierarchy, write_hierarchy

hierarchies.load(__name__)


def build(attribute: Attribute, kind: str, **parameters: Any) -> Hierarchy:
    """The hierarchy of a *kind* over the domain of *attribute*.

    >>> size = Attribute(name="size", kind="ordinal", domain=(1, 2, 3, 4, 5))
    >>> build(size, "balanced", fan_out=2).levels[1].labels
    ('[1,2]', '[3,4]', '5')
    """
    return hierarchies[kind].make(parameters).build(attribute)


__all__ = [
    "Builder",
    "build",
    "hierarchies",
    "hierarchy_files",
    "read_hierarchies",
    "read_hierarchy",
    "write_hierarchy",
]
