"""How the columns of a table stand: kind, role and hierarchy of each, and what is left to say of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from api.service.tables.tables import StoredTable, Tables, replacing
from tabular.attributes import text_of
from tabular.errors import ReportedError

if TYPE_CHECKING:
    from tabular.attributes import Attribute

QUASI_IDENTIFIER = "quasi-identifier"


@dataclass(frozen=True)
class Standing:
    """One column, and how far it is described."""

    described: Mapping[str, Any]
    #: The last level of its hierarchy, and how many of its values that lacks; None where it has none.
    height: int | None = None
    unplaced: int = 0

    @property
    def name(self) -> str:
        """What the column is called."""
        return str(self.described["name"])

    @property
    def lacks(self) -> str | None:
        """What is left to say before it is ready for a release; None if nothing."""
        if self.described["role"] is None:
            return "needs a role"
        if self.described["role"] != QUASI_IDENTIFIER:
            return None
        if self.height is None:
            return "needs a hierarchy"
        return f"{self.unplaced:,} of {self.described['values']:,} values not placed" if self.unplaced else None


def standings(tables: Tables, table: StoredTable) -> list[Standing]:
    """How each column of a table stands."""
    described = tables.described(table)["columns"]
    known = _levels(tables, table, [each["name"] for each in described])
    return [Standing(each, *known.get(each["name"], (None, 0))) for each in described]


def ready(found: Sequence[Standing]) -> int:
    """How many columns lack nothing."""
    return sum(each.lacks is None for each in found)


def rows_of(tables: Tables, table: StoredTable, column: str) -> tuple[Attribute, dict[str, int]]:
    """A column, and how many rows have each of its values, by the texts of these."""
    values = tables.values(table, [column])
    attribute = values.attribute(column)
    counts = np.bincount(values.columns[column], minlength=len(attribute.domain)).tolist()
    return attribute, dict(zip(map(text_of, attribute.domain), counts, strict=False))


def _levels(tables: Tables, table: StoredTable, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The last level of each hierarchy and how many values it lacks; kept until table or hierarchy change."""
    kept = table.folder / "hierarchies.json"
    known: dict[str, Any] = {}
    with contextlib.suppress(FileNotFoundError):
        known = json.loads(kept.read_bytes())
    found: dict[str, Any] = {}
    for path in sorted(table.hierarchies.glob("*.csv")):
        if path.stem in names:
            at = path.stat()
            mark = [table.state, at.st_mtime_ns, at.st_size]
            before = known.get(path.stem)
            with contextlib.suppress(ReportedError):
                found[path.stem] = before if before and before["mark"] == mark else {
                    "mark": mark, "levels": _looked_at(tables, table, path.stem)
                }  # fmt: skip
    if found != known:
        with replacing(kept) as file:
            file.write(json.dumps(found).encode())
    return {name: tuple(each["levels"]) for name, each in found.items()}


def _looked_at(tables: Tables, table: StoredTable, column: str) -> tuple[int, int]:
    """The last level of the hierarchy of a column, and how many values it lacks."""
    from tabular.hierarchies.drafts import of_file
    from tabular.hierarchies.hierarchy import LackingValues, read_hierarchy

    path, attribute = tables.hierarchy(table, column), tables.values(table, [column]).attribute(column)
    try:
        return read_hierarchy(path, attribute).height, 0
    except LackingValues as error:
        return of_file(attribute, lambda each: read_hierarchy(path, each)).height, len(error.values)
