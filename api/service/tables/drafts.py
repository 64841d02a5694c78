"""Hierarchies that somebody is working at, kept beside the table they are for, with the steps before."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from api.service.access import UnknownThing
from api.service.tables.columns import rows_of
from api.service.tables.tables import StoredTable, Tables, check_column, replacing
from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.hierarchies.drafts import Draft, of_file, started
from tabular.hierarchies.hierarchy import LackingValues, read_hierarchy, write_hierarchy

#: So many values a hierarchy has at most that is edited here; so many steps, and labels in them, can be undone.
MOST_VALUES, MOST_STEPS, MOST_LABELS = 50_000, 50, 500_000

#: Where a draft comes from that nobody has begun with.
KEPT, GUESSED = "as saved", "a guess"


class ChangedMeanwhile(InvalidInput):
    """Somebody else has gone on with the draft."""


@dataclass(frozen=True)
class Work:
    """A draft, what it was made from, how many steps it has come, and the drafts before it."""

    draft: Draft
    source: str
    number: int = 0
    before: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table, and the hierarchy that somebody makes for it."""

    tables: Tables
    table: StoredTable
    attribute: Attribute
    #: How many rows have each value, by its text.
    rows: Mapping[str, int]

    @classmethod
    def of(cls, tables: Tables, table: StoredTable, name: str) -> Column:
        """The column called *name*."""
        if name not in [each["name"] for each in tables.described(table)["columns"]]:
            raise UnknownThing.called("column", name)
        check_column(name)
        return cls(tables, table, *rows_of(tables, table, name))

    @property
    def _file(self) -> Path:
        return self.table.folder / "drafts" / f"{self.attribute.name}.json"

    def work(self) -> Work:
        """What somebody is working at; where nobody does, the hierarchy that is kept, else one that is proposed."""
        with contextlib.suppress(FileNotFoundError):
            kept = json.loads(self._file.read_bytes())
            draft = Draft.of_document(kept["draft"]).covering(self.attribute)
            return Work(draft, kept["source"], kept["number"], tuple(kept["before"]))
        if not self.attribute.domain:
            raise InvalidInput(f"{self.attribute.name!r} has no values, so there is nothing to generalise.")
        if len(self.attribute.domain) > MOST_VALUES:
            raise InvalidInput(
                f"{self.attribute.name!r} has more than {MOST_VALUES:,} values, too many to edit here. Make its "
                "hierarchy by POST /v1/table/hierarchy, and keep the CSV by PUT /v1/tables/{name}/hierarchies/{column}."
            )
        kept_path = self.table.hierarchies / f"{self.attribute.name}.csv"
        # One that has none of the values any more is no beginning.
        with contextlib.suppress(LackingValues):
            if kept_path.is_file():
                return Work(self.imported(kept_path), KEPT)
        return Work(started(self.attribute, self.rows), GUESSED)

    def imported(self, path: Path) -> Draft:
        """The draft of a hierarchy file."""
        return of_file(self.attribute, lambda each: read_hierarchy(path, each, whole=True))

    def go_on(self, number: int, draft: Draft, *, source: str | None = None) -> Work:
        """Keep the next *draft* after the one with that *number*."""
        # Of two who go on at once, the second one waits, and is told.
        with self.tables.home.writing():
            work = self._at(number)
            before = (*work.before, {"draft": work.draft.document(), "source": work.source})[-MOST_STEPS:]
            size = max(len(draft.values) * draft.height, 1)
            return self._keep(Work(draft, source or work.source, number + 1, before[-max(MOST_LABELS // size, 1) :]))

    def undo(self, number: int) -> Work:
        """Go back one step."""
        with self.tables.home.writing():
            work = self._at(number)
            if not work.before:
                raise InvalidInput("There is no step to undo.")
            last = work.before[-1]
            return self._keep(Work(Draft.of_document(last["draft"]), last["source"], number + 1, work.before[:-1]))

    def discard(self) -> None:
        """Forget the draft."""
        self._file.unlink(missing_ok=True)

    def save(self, number: int) -> bytes:
        """Make the draft the hierarchy of the column; gives its CSV."""
        work = self._at(number)
        unplaced = len(work.draft.unplaced)
        if unplaced:
            raise InvalidInput(f"{unplaced:,} values have no place yet; place them, or let them stand alone.")
        written = BytesIO()
        write_hierarchy(written, work.draft.written())
        self.tables.put_hierarchy(self.table, self.attribute.name, written.getvalue())
        self.discard()
        return written.getvalue()

    def _at(self, number: int) -> Work:
        work = self.work()
        if work.number != number:
            raise ChangedMeanwhile("Somebody has gone on with this hierarchy meanwhile; look at it again.")
        return work

    def _keep(self, work: Work) -> Work:
        document = {
            "draft": work.draft.document(), "source": work.source, "number": work.number, "before": list(work.before)
        }  # fmt: skip
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        with replacing(self._file) as file:
            file.write(json.dumps(document, ensure_ascii=False).encode())
        return work
