"""Bringing a table: what its file holds, ten rows, and what is guessed of its columns, corrected in place and kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import call_by, outside
from api.pages.blueprint import bp, go, named_here, shown
from api.pages.commands import ways_of
from api.pages.jobs import asked
from api.pages.tables import columns
from api.service.access import UnknownThing
from api.service.requests import Thing
from api.service.tables.drafts import Column
from api.service.tables.tables import StoredTable, check_name, takes_long
from tabular.attributes import Attribute, text_of
from tabular.errors import InvalidInput
from tabular.files.description import described
from tabular.files.schema import schema_of
from tabular.hierarchies.drafts import of_file
from tabular.hierarchies.hierarchy import read_hierarchy

if TYPE_CHECKING:
    from tabular.files.table_files import TableFile

#: Of a larger file so much is looked at before it is kept.
_SAMPLE, _SAMPLE_ROWS = 2 * 1024 * 1024, 2_000

#: So many rows are shown, and so many columns can be corrected here.
_ROWS, _COLUMNS = 10, 200

#: How a file may be written: what can be said of it, and the choices.
_DIALECT: dict[str, Sequence[str]] = {
    "delimiter": ("comma", "semicolon", "tab", "pipe", "blanks"),
    "decimal": (".", ","),
    "encoding": ("utf-8", "utf-16", "cp1252", "latin-1"),
    "quote": ("double", "single", "none"),
}


@dataclass(frozen=True)
class Preview:
    """What was found in a file, or in its beginning."""

    description: Mapping[str, Any]
    columns: Sequence[columns.Row]
    rows: Sequence[Sequence[str]]
    is_sample: bool
    #: For each column the hierarchies of other tables, each with how many values it lacks.
    hierarchies: Mapping[str, Sequence[tuple[str, int]]]


@bp.get("/upload/<id>/table")
@needs("store")
def look_at_table(id: str) -> Response:
    """Show what the file of a table holds, before it is kept."""
    name = _fitting(request.args.get("name", ""))
    before = _replaceable(name)
    return _shown(id, name, {} if before is None else service().tables.schema(before), None)


@bp.post("/upload/<id>/table")
@needs("store")
def keep_table(id: str) -> Response | Answered:
    """Look again with what was corrected, or keep the table as an original with it."""
    form = request.form
    name, schema, wrong = form.get("name", ""), _dialect(form), None
    try:
        schema = columns.said(form, {**_said_before(name), **schema})
        if form.get("do") == "keep":
            return _kept(id, check_name(name), schema)
    except InvalidInput as error:
        wrong = outside(error.worded(named_here))
    return _shown(id, name, schema, wrong)


def _shown(id: str, name: str, schema: Mapping[str, Any], wrong: str | None) -> Response:
    path = service().uploads.file(id, account())
    found: Preview | None = None
    try:
        found = _preview(path, name, schema)
    except InvalidInput as error:
        wrong = wrong or outside(error.worded(named_here))
        attributes = {key: value for key, value in schema.items() if key != "attributes"}
        found = _or_none(path, name, attributes, schema) or _or_none(path, name, {}, schema)
    return shown(
        "tables/preview.html",
        status=400 if wrong and request.method == "POST" else 200,
        id=id, name=name, before=_replaceable(name), found=found, wrong=wrong, size=path.stat().st_size,
        kinds=columns.KINDS, roles=columns.ROLES, dialect=_DIALECT, schema=schema, is_large=takes_long(path),
        ways=_ways(id, name, found, schema),
    )  # fmt: skip


def _or_none(path: Path, name: str, schema: Mapping[str, Any], said: Mapping[str, Any]) -> Preview | None:
    """The preview with less of what was said, so that it can be put right; None where nothing helps."""
    try:
        return _preview(path, name, schema, said)
    except InvalidInput:
        return None


def _preview(path: Path, name: str, schema: Mapping[str, Any], said: Mapping[str, Any] | None = None) -> Preview:
    """What a file holds if it is as a *schema* says; the form shows what was *said*."""
    found, is_sample = _read(path, name, schema)
    table, description = found.table, described(found)
    few = description["columns"][:_COLUMNS]
    names = [each["name"] for each in few]
    shown_rows = zip(*(table.values(each)[:_ROWS] for each in names), strict=True)
    rows = [[text_of(value) for value in row] for row in shown_rows]
    shown_columns = columns.rows_of(few, schema if said is None else said, lambda each: table.attribute(each).domain)
    offered = {} if is_sample else {each["name"]: _hierarchies(table.attribute(each["name"])) for each in few}
    return Preview(description, shown_columns, rows, is_sample, {key: each for key, each in offered.items() if each})


def _read(path: Path, name: str, schema: Mapping[str, Any]) -> tuple[TableFile, bool]:
    """The table of a file as far as it is looked at, and whether that is only its beginning."""
    from tabular.files.table_files import read_file

    called = name or "the file"
    with _looked_at(path, called) as file:
        call_by(called, str(file))
        return read_file(file, schema=schema_of(schema, "what is said below")), file != path


@contextmanager
def _looked_at(path: Path, name: str) -> Iterator[Path]:
    """A file, or a file of its beginning where it is too large to be read at once."""
    if not takes_long(path):
        yield path
        return
    from tabular.files.parquet import write_first_rows

    with service().scratch() as folder, path.open("rb") as file:
        beginning = folder / "beginning"
        if file.read(4) == b"PAR1":
            write_first_rows(path, name, beginning, _SAMPLE_ROWS)
        else:
            file.seek(0)
            head = file.read(_SAMPLE)
            beginning.write_bytes(head[: head.rfind(b"\n") + 1] or head)
        yield beginning


def _hierarchies(attribute: Attribute) -> list[tuple[str, int]]:
    """The originals that have a hierarchy for a column of that name, each with how many values it lacks."""
    found = []
    for table, path in _others(attribute.name):
        try:
            draft = of_file(attribute, lambda each, path=path: read_hierarchy(path, each))
        except InvalidInput:
            continue
        found.append((table.name, len(draft.unplaced)))
    return sorted(found, key=lambda each: each[1])


def _others(column: str) -> Iterator[tuple[StoredTable, Path]]:
    """The originals that have a hierarchy for a column of that name, with its file."""
    for table in service().tables.visible(account().role):
        path = table.hierarchies / f"{column}.csv"
        if table.kind == "original" and "/" not in column and path.is_file():
            yield table, path


def _kept(id: str, name: str, schema: Mapping[str, Any]) -> Answered:
    """Keep an upload as the original called *name*: at once, or by a job if it is large."""
    path, tables = service().uploads.file(id, account()), service().tables
    service().note_access("table put", (Thing("table", "original", name),), account())
    before = _replaceable(name) if request.form.get("replace") == name else None
    if before is None:
        tables.refuse_taken(name, "original")
    if takes_long(path):
        said = json.dumps(schema).encode()
        opened = service().uploads.open(account(), len(said))
        service().uploads.add(opened.id, account(), 0, said)
        options = {"file": {"upload": id}, "into": name, "schema": {"upload": opened.id}}
        return go("pages.job", id=asked("table import", options))
    call_by(name, str(path))
    table = tables.add(name, "original", path, schema=schema, replaced=before)
    _take_hierarchies(table)
    return go("pages.table", name=name, kind="original")


def _said_before(name: str) -> dict[str, Any]:
    """What was said of the columns of the original that the file takes the place of."""
    before = _replaceable(name) if request.form.get("replace") == name else None
    known = {} if before is None else service().tables.schema(before)
    return {key: value for key, value in known.items() if key == "attributes"}


def _replaceable(name: str) -> StoredTable | None:
    """The original of that name, which the file may take the place of."""
    with suppress(UnknownThing):
        return service().tables.find(f"original:{name}", account().role, "store")
    return None


def _take_hierarchies(table: StoredTable) -> None:
    """Give the columns of a table the hierarchies that were chosen; those that lack values are left to be finished."""
    tables = service().tables
    for key, column in request.form.items():
        chosen = request.form.get(f"hierarchy-{key.removeprefix('column-')}") if key.startswith("column-") else None
        path = next((path for other, path in _others(column) if other.name == chosen and other != table), None)
        if chosen and path is None:
            raise UnknownThing.called("hierarchy", column)
        if path is not None:
            work = Column.of(tables, table, column)
            draft = work.imported(path)
            begun = work.go_on(0, draft, source=f"the hierarchy of {chosen}")
            if not draft.unplaced:
                work.save(begun.number)


def _dialect(form: Mapping[str, str]) -> dict[str, Any]:
    """What a form says of how the file is written."""
    found: dict[str, Any] = {key: form[key] for key in _DIALECT if form.get(key)}
    if form.get("header"):
        found["header"] = form["header"] == "yes"
    if form.get("missing", "").strip():
        found["missing"] = [each.strip() for each in form["missing"].split("|")]
    return found


def _fitting(file: str) -> str:
    """What a table may be called whose file has that name."""
    stem = Path(file.replace("\\", "/")).name[:100]
    return "".join(each if each.isascii() and (each.isalnum() or each in "_.- ") else "-" for each in stem).lstrip(
        ".- "
    )


def _ways(id: str, name: str, found: Preview | None, schema: Mapping[str, Any]) -> Any:
    """How the same is done by hand."""
    rows = found.columns if found else []
    kinds = [
        f"{row.name}={row.kind}" for row in rows if row.said.get("kind", row.described["kind"]) != row.described["kind"]
    ]
    options = {
        "file": name or "FILE",
        "into": name or "NAME",
        "role": [f"{row.name}={row.role}" for row in rows if row.role],
    }
    body = {"upload": id}
    attributes = {row.name: {"kind": row.kind, **({"role": row.role} if row.role else {})} for row in rows[:3]}
    request_text = (
        f"PUT /v1/tables/{name or 'NAME'}\n{json.dumps(body)}\n\nPUT /v1/tables/{name or 'NAME'}/schema\n"
        + json.dumps({**schema, "attributes": attributes}, ensure_ascii=False)
        + (" …" if len(rows) > 3 else "")
    )
    return ways_of("table import", {**options, "kind": kinds}, request=request_text)
