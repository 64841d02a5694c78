"""Tables, their protections and their measures: the engine for microdata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabular import criteria, evolution, hierarchies, lattice, measures, protections
    from tabular.attributes import Attribute
    from tabular.hierarchies.hierarchy import Hierarchy
    from tabular.masking import Masked, Masking
    from tabular.table import Table

__all__ = [
    "Attribute",
    "Hierarchy",
    "Masked",
    "Masking",
    "Table",
    "criteria",
    "evolution",
    "hierarchies",
    "lattice",
    "measures",
    "protections",
]


def loaded_on_demand(
    package: str, homes: Mapping[str, str], packages: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a *package* whose names are loaded when somebody asks for them.

    *homes* says in which of its modules each name lives, *packages* which packages inside it are names of their own.
    So small modules stay quick to import.
    """

    def load(name: str) -> Any:
        if name in packages:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted([*homes, *packages])


if not TYPE_CHECKING:
    __getattr__, __dir__ = loaded_on_demand(
        __name__,
        {
            "Attribute": "attributes",
            "Hierarchy": "hierarchies.hierarchy",
            "Masked": "masking",
            "Masking": "masking",
            "Table": "table",
        },
        ("criteria", "evolution", "hierarchies", "lattice", "measures", "protections"),
    )
