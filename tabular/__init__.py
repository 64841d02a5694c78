"""Tables, their protections and their measures: the engine for microdata."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabular.attributes import Attribute
    from tabular.hierarchy import Hierarchy
    from tabular.table import Table

__all__ = ["Attribute", "Hierarchy", "Table"]

#: Where the names of the package live; they are loaded when asked for, so that its small modules stay quick to import.
_HOMES = {"Attribute": "tabular.attributes", "Hierarchy": "tabular.hierarchy", "Table": "tabular.table"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tabular' has no attribute {name!r}")
