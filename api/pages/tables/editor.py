"""The editor of hierarchies: one for those that are guessed, imported, built and made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.http.bodies import scanned
from api.http.gate import account, needs, service
from api.http.problems import call_by
from api.pages.blueprint import bp, go, shown
from api.pages.commands import ways_of
from api.service.requests import Thing
from api.service.tables.columns import standings
from api.service.tables.drafts import Column, Work
from api.service.tables.tables import AT_ONCE, KINDS, StoredTable
from api.verbs.values import parameters_of
from tabular.errors import InvalidInput, InvalidParameter
from tabular.hierarchies import hierarchies, read_hierarchies, read_hierarchy
from tabular.hierarchies.drafts import Draft, of_file, started
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.level_figures import figures_at, smallest_classes
from tabular.table import Table

#: So many values are on a page, and so many names are offered.
_VALUES, _NAMES = 60, 200

#: What a person begins with who joins by hand, and what is read from a file.
GUESS, BY_HAND, FROM_FILE, PLACES = "guess", "by hand", "csv", "places"


@dataclass(frozen=True)
class Level:
    """One level: how many labels it has, and what it is worth, for this column alone and with all others."""

    number: int
    labels: int
    k: int
    loss: float
    k_of_all: int | None
    loss_of_all: float | None


@dataclass(frozen=True)
class View:
    """What the editor shows of a draft."""

    column: Column
    work: Work
    #: The other columns of the table that have a hierarchy for each of their values.
    others: Sequence[str]

    @property
    def draft(self) -> Draft:
        """The draft."""
        return self.work.draft

    @cached_property
    def levels(self) -> list[Level]:
        """The figures of each level."""
        found = []
        alone = {self.column.attribute.name: self._hierarchy}
        for number in range(self.draft.height + 1):
            mine = figures_at(self._table, alone, number)
            every = figures_at(self._table, self._hierarchies, number) if self.others else None
            labels = len(set(self._hierarchy.levels[number].labels))
            found.append(
                Level(number, labels, mine.k, mine.loss, every and every.k, every and every.loss)  # type: ignore[arg-type]
            )
        return found

    def smallest(self, level: int) -> dict[str, int]:
        """For each value the rows of the smallest class that it is in on a level."""
        counts = smallest_classes(self._table, self._hierarchies, level, self.column.attribute.name)
        return dict(zip(self.column.rows, counts.tolist(), strict=True))

    def places(self, search: str, *, unplaced: bool) -> list[int]:
        """The places of the values to show, in their order."""
        wanted, lacking, draft = search.casefold(), set(self.draft.unplaced), self.draft
        labels = [draft.values, *draft.levels]
        return [
            place
            for place in draft.in_order()
            if (not unplaced or place in lacking)
            and (not wanted or any(wanted in each[place].casefold() for each in labels))
        ]

    def names(self, level: int) -> list[str]:
        """The labels of a level, to choose from."""
        return sorted(set(self.draft.levels[level - 1]) - {""})[:_NAMES]

    @cached_property
    def _table(self) -> Table:
        return self.column.tables.values(self.column.table, [self.column.attribute.name, *self.others])

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        return self.draft.hierarchy(self.column.attribute)

    @cached_property
    def _hierarchies(self) -> dict[str, Hierarchy]:
        kept = read_hierarchies(self.column.table.hierarchies, self._table, self.others) if self.others else {}
        return {self.column.attribute.name: self._hierarchy, **kept}


@bp.get("/tables/<name>/hierarchies/<path:column>")
@needs("store")
def hierarchy(name: str, column: str) -> Response:
    """Show the hierarchy of a column, to be worked at."""
    table = _found(name, "table read")
    found = Column.of(service().tables, table, column)
    view = View(found, found.work(), _others(table, column))
    search, unplaced = request.args.get("q", "").strip(), request.args.get("unplaced") == "1"
    places = view.places(search, unplaced=unplaced)
    pages = max(-(-len(places) // _VALUES), 1)
    page = min(_number("page", 0), pages - 1)
    level = min(_number("level", 1), view.draft.height)
    by = request.args.get("by") or GUESS
    entry = hierarchies[by] if by in hierarchies and by not in (FROM_FILE, PLACES) else None
    return shown(
        "tables/hierarchy.html",
        table=table, column=column, view=view, draft=view.draft, number=view.work.number, source=view.work.source,
        places=places[page * _VALUES : (page + 1) * _VALUES], matching=len(places), page=page, pages=pages, level=level,
        search=search, unplaced=unplaced, lacking=set(view.draft.unplaced), smallest=view.smallest(level),
        rows=found.rows, builders=_builders(), by=by, parameters=entry.parameters if entry else (), entry=entry,
        kept={"kind": table.kind, "q": search, "unplaced": int(unplaced), "page": page, "level": level},
        used_by=_used_by(table, column), elsewhere=_elsewhere(table, column), ways=_ways(table, column, view.work),
    )  # fmt: skip


@bp.post("/tables/<name>/hierarchies/<path:column>")
@needs("store")
def change_hierarchy(name: str, column: str) -> Answered:
    """Take one step with the hierarchy of a column, or keep it."""
    table, form = _found(name, "table store"), request.form
    found = Column.of(service().tables, table, column)
    number = _whole("number", form.get("number", ""))
    do = form.get("do", "")
    if do == "save":
        _save(found, number)
        return _back(table, "pages.table")
    if do == "discard":
        found.discard()
    elif do == "undo":
        found.undo(number)
    elif do == "start":
        draft, source = _start(found)
        found.go_on(number, draft, source=source)
    else:
        draft = _step(found.work().draft, do, form)
        found.go_on(number, draft)
    return _back(table, "pages.hierarchy", column=column)


def _step(draft: Draft, do: str, form: Mapping[str, str]) -> Draft:
    """The draft after one step of a person."""
    level, ticked = (
        _whole("level", form.get("at", "1")),
        [_whole("value", each) for each in request.form.getlist("tick")],
    )
    if do == "level":
        return draft.with_level(level)
    if do == "drop":
        return draft.without_level(level)
    if do == "settle":
        return draft.settled()
    if do in ("join", "out"):
        if not ticked:
            raise InvalidInput("Tick one or more values first.")
        return draft.take_out(ticked, level) if do == "out" else draft.put(ticked, level, form.get("into", ""))
    if do == "names":
        return _named(draft, form)
    raise InvalidParameter.wrong("do", must="be an existing step", was=do[:20])


def _named(draft: Draft, form: Mapping[str, str]) -> Draft:
    """The draft with the names that were typed over others; a value without a place gets one."""
    found = draft
    for key, text in form.items():
        kind, _, rest = key.partition("-")
        place, _, level = rest.partition("-")
        if kind == "label" and place.isascii() and place.isdigit() and level.isascii() and level.isdigit():
            at, on = int(place), int(level)
            if at < len(draft.values) and 0 < on < draft.height and text.strip() != draft.label(at, on):
                found = found.rename(at, on, text)
    return found


def _start(column: Column) -> tuple[Draft, str]:
    """A new beginning, and what it is called."""
    by, attribute = request.form.get("by", ""), column.attribute
    if by == FROM_FILE:
        return _imported(column), "an imported CSV"
    if by == GUESS:
        return started(attribute, column.rows), "a guess"
    if by == PLACES:
        return started(attribute, column.rows, by, paths=_paths()), by
    if by == BY_HAND:
        return Draft.by_hand(list(column.rows)), BY_HAND
    table, _, other = by.partition(":")
    if table == "table":
        path = service().tables.hierarchy(_original(other), attribute.name)
        return column.imported(path), f"the hierarchy of {other}"
    prefix = f"{by}-"
    texts = tuple(
        f"{key.removeprefix(prefix)}={value}" for key, value in request.form.items() if key.startswith(prefix) and value
    )
    return started(attribute, column.rows, by, **parameters_of(hierarchies[by], texts)), by


def _imported(column: Column) -> Draft:
    """The draft of a CSV that was sent."""
    data, name = _sent("Choose the CSV of a hierarchy: a row for each value, a column for each level.")
    with service().scratch() as folder:
        path = folder / "hierarchy.csv"
        path.write_bytes(data)
        call_by(name, str(path))
        return of_file(column.attribute, lambda each: read_hierarchy(path, each, whole=True))


def _paths() -> Any:
    """The places above each value, of a JSON file that was sent."""
    data, name = _sent("Choose a JSON file with the places above each value, nearest first.")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{name} is not JSON.") from None


def _sent(otherwise: str) -> tuple[bytes, str]:
    """The file of a form, and what it is called."""
    file = request.files.get("file")
    data = b"" if file is None else file.read(AT_ONCE + 1)
    if not data or len(data) > AT_ONCE:
        raise InvalidInput(otherwise if not data else f"A hierarchy has at most {AT_ONCE:,} bytes.")
    return scanned(data), (file.filename if file else None) or "the file"


def _save(column: Column, number: int) -> None:
    """Keep the draft as the hierarchy of the column, and of those of other tables that were ticked."""
    others = [_original(name) for name in request.form.getlist("also")]
    for each in others:
        service().note_access("table store", (Thing("table", each.kind, each.name),), account())
        _refuse_lacking(column, each)
    data = column.save(number)
    for each in others:
        service().tables.put_hierarchy(each, column.attribute.name, data)


def _refuse_lacking(column: Column, other: StoredTable) -> None:
    """Refuse a hierarchy that lacks values of another table, before it is kept for any."""
    attribute = Column.of(service().tables, other, column.attribute.name).attribute
    lacking = len(column.work().draft.covering(attribute).values) - len(column.work().draft.values)
    if lacking:
        text = (
            f"{lacking:,} values of {other.name} are not in it; it was saved for no table. Leave {other.name} out, or "
        )
        raise InvalidInput(f"{text}import the hierarchy there and place them.")


def _found(name: str, noted: str) -> StoredTable:
    """The table that an address means, for those who may change it, with what is *noted* where it is an original."""
    kind = request.args.get("kind")
    asked = f"{kind}:{name}" if kind in KINDS else name
    table = service().tables.find(asked, account().role, "store")
    service().note_access(noted, (Thing("table", table.kind, table.name),), account())
    return table


def _original(name: str) -> StoredTable:
    return service().tables.find(f"original:{name}", account().role, "read")


def _others(table: StoredTable, column: str) -> list[str]:
    """The other columns that have a hierarchy for each of their values."""
    found = standings(service().tables, table)
    return [each.name for each in found if each.name != column and each.height is not None and not each.unplaced]


def _used_by(table: StoredTable, column: str) -> list[StoredTable]:
    """The tables that have the same hierarchy for a column of that name, this one among them."""
    path = table.hierarchies / f"{column}.csv"
    if not path.is_file():
        return []
    mine = path.read_bytes()
    every = [each for each in service().tables.visible(account().role) if each.kind == table.kind]
    files = [(each, each.hierarchies / f"{column}.csv") for each in every]
    return [each for each, other in files if other.is_file() and other.read_bytes() == mine]


def _elsewhere(table: StoredTable, column: str) -> list[tuple[StoredTable, bool]]:
    """The other originals with a column of that name, and whether each has a hierarchy for it."""
    tables, found = service().tables, []
    for each in tables.visible(account().role):
        if each.kind != "original" or each == table or not each.description.is_file():
            continue
        if column in [known["name"] for known in tables.described(each)["columns"]]:
            found.append((each, (each.hierarchies / f"{column}.csv").is_file()))
    return found


def _builders() -> dict[str, str]:
    """What one can begin from: the name, and what it is called."""
    built = {name: f"{name}: {hierarchies[name].summary}" for name in hierarchies if name != FROM_FILE}
    return {
        GUESS: "a guess from its values",
        BY_HAND: "by hand, starting with every value alone",
        **built,
        FROM_FILE: "import a CSV",
    }


def _back(table: StoredTable, endpoint: str, **values: Any) -> Answered:
    kept = {key: request.args[key] for key in ("q", "unplaced", "page", "level") if request.args.get(key)}
    return go(endpoint, name=table.name, kind=table.kind, **values, **(kept if values else {}))


def _number(name: str, default: int) -> int:
    text = request.args.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidParameter.wrong(name, must="be a whole number", was=text[:20])
    return int(text)


def _ways(table: StoredTable, column: str, work: Work) -> Any:
    """How a hierarchy is made and kept by hand."""
    by = work.source if work.source in hierarchies and work.source != FROM_FILE else "star"
    options = {"file": table.name, "column": column, "by": by, "out": f"{column}.csv"}
    path = f"/v1/tables/{quote(table.address, safe=':')}/hierarchies/{quote(column)}"
    return ways_of(
        "table hierarchy", options, request=f"PUT {path}\nthe CSV: a row for each value, a column for each level"
    )
