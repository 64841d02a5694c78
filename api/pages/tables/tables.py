"""The page of a table: its columns and what they lack, rows and counts with the request that gives them, downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.options import OPTIONS
from api.http.problems import outside
from api.http.routes import tables as routes
from api.pages.blueprint import asked_aside, bp, given, go, may, named_here, shown, told
from api.pages.commands import ways_of
from api.pages.tables import columns
from api.service.requests import Thing
from api.service.tables.asking import Values, counted_as
from api.service.tables.columns import ready, standings
from api.service.tables.tables import KINDS, StoredTable
from api.service.uploads.scanner import TooLarge
from tabular.errors import InvalidInput, ReportedError
from tabular.report.kit.charts import lying_bars

#: So many rows, counts and columns are on a page, so many counts in a plot, and so many values in a dictionary.
_ROWS, _COUNTS, _COLUMNS, _BARS, _FREQUENT = 20, 50, 100, 10, 8

#: So many columns of a row are shown.
_WIDE = 100

#: How a value is compared with those of a column.
_SIGNS = ("=", ">=", "<=")


@dataclass(frozen=True)
class Asked:
    """What was asked of a table: rows or counts, and the request that gives the same."""

    request: str
    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    #: The number of the row that the next page begins with.
    following: int | None = None
    #: How many rows or combinations of values there are.
    total: int = 0
    plot: Markup | None = None
    #: Whether there are more columns.
    is_cut: bool = False


@bp.route("/tables/<name>", methods=["GET", "POST"])
@needs("describe")
def table(name: str) -> Response | Answered:
    """Show a table."""
    found = _sought(name, "describe")
    if request.method == "POST":
        return asked_aside("pages.table", name=found.name, kind=found.kind)
    if "asked" not in request.args and _added_filter() is not None:
        kept = {key: value for key, value in request.args.items() if key in ("kind", "by")}
        return go("pages.table", name=found.name, where=_conditions(), **kept)
    return _page(found)


def _page(found: StoredTable, *, wrong: str | None = None, columns_page: str = "") -> Response:
    reads, unread = may("read", found.kind), None
    description: Mapping[str, Any] | None = None
    rows = counts = None
    wrong_question = None
    try:
        description = service().tables.described(found)
    except TooLarge as error:
        unread = outside(error.worded(named_here))
    # One entry of the log for one look: whoever reads a table is told what it is, too.
    noted = "table read" if reads and description is not None else "table describe"
    service().note_access(noted, (Thing("table", found.kind, found.name),), account())
    if reads and description is not None:
        try:
            rows, counts = _asked(found)
        except ReportedError as error:
            wrong_question = outside(error.worded(named_here))
    standing = standings(service().tables, found) if description else []
    page = _whole(columns_page or given().get("columns", "0"), len(standing) // _COLUMNS)
    shown_columns = standing[page * _COLUMNS : (page + 1) * _COLUMNS]
    schema = service().tables.schema(found) if reads else {}
    # What the columns of a release are was said before it was made.
    can_say = found.kind == "original" and may("store", found.kind)
    return shown(
        "tables/table.html",
        status=400 if wrong or wrong_question else 200,
        table=found, description=description, reads=reads, unread=unread, rows=rows, counts=counts, wrong=wrong,
        wrong_question=wrong_question, standing=standing, shown=shown_columns, ready=ready(standing),
        forms=_forms(found, shown_columns, schema, page * _COLUMNS) if can_say and description else [],
        page=page, pages=-(-len(standing) // _COLUMNS), kinds=columns.KINDS, roles=columns.ROLES, signs=_SIGNS,
        conditions=_conditions(), given=given(), dictionary=_dictionary(found) if reads else None,
        next=_next(found, standing), ways=_ways(found),
    )  # fmt: skip


@bp.post("/tables/<name>/columns")
@needs("store")
def say_columns(name: str) -> Response | Answered:
    """Keep what a form says of columns."""
    found = _found(name, "store")
    try:
        if request.form.get("state", found.state) != found.state:
            raise InvalidInput("Somebody else changed these columns in the meantime. Check them again.")
        schema = columns.said(request.form, service().tables.schema(found))
        service().tables.put_schema(found, schema)
    except ReportedError as error:
        return _page(found, wrong=outside(error.worded(named_here)), columns_page=request.form.get("columns", ""))
    return go("pages.table", name=found.name, kind=found.kind, columns=request.form.get("columns", 0))


@bp.get("/tables/<name>/download")
@needs("read")
def download_table(name: str) -> Response:
    """Download a table, or what goes with it."""
    address, what = _address(_found(name, "read")), request.args.get("what", "file")
    if what == "dictionary":
        return routes.dictionary(name=address)
    return routes.schema(name=address) if what == "schema" else routes.file(name=address)


@bp.post("/tables/<name>/delete")
@needs("delete")
def delete_table(name: str) -> Answered:
    """Delete a table, once its name was typed."""
    found = _found(name, "delete")
    if request.form.get("confirm") == found.name:
        told(routes.delete, name=_address(found))
        return go("pages.home")
    return go("pages.table", name=found.name, kind=found.kind)


def overview() -> list[dict[str, Any]]:
    """The tables that whoever asks may know of, each with its rows and columns and how many of these are ready."""
    found = []
    for each in service().tables.visible(account().role):
        size: dict[str, Any] = {"rows": None, "columns": None, "ready": None}
        # What no request may read is described by a job.
        with suppress(ReportedError):
            standing = standings(service().tables, each)
            size = {
                "rows": service().tables.described(each)["rows"],
                "columns": len(standing),
                "ready": ready(standing),
            }
        found.append({**each.document, **size})
    return found


def _found(name: str, action: str) -> StoredTable:
    """The table that an address means, with a note where it is an original."""
    table = _sought(name, action)
    service().note_access(f"table {action}", (Thing("table", table.kind, table.name),), account())
    return table


def _sought(name: str, action: str) -> StoredTable:
    """The table that an address means, for somebody else to write down."""
    kind = request.args.get("kind")
    return service().tables.find(f"{kind}:{name}" if kind in KINDS else name, account().role, action)


def _address(table: StoredTable) -> str:
    return f"{table.kind}:{table.name}"


def _asked(table: StoredTable) -> tuple[Asked, Asked | None]:
    """The rows, and the counts if there is something to count by."""
    values = Values(table.columns)
    try:
        return _rows(table, values), _counts(table, values)
    finally:
        values.close()


def _rows(table: StoredTable, values: Values) -> Asked:
    """The rows that meet the conditions of the address."""
    where = _conditions()
    begin = _number("from", len(values))
    found = list(islice(values.rows([values.condition(each) for each in where], begin), _ROWS + 1))
    following = found[_ROWS][0] if len(found) > _ROWS else None
    text = _request(table, "rows", {"where": where, "limit": _ROWS})
    cells = [row.cells[:_WIDE] for _, row in found[:_ROWS]]
    return Asked(text, values.names[:_WIDE], cells, following, len(values), is_cut=len(values.names) > _WIDE)


def _counts(table: StoredTable, values: Values) -> Asked | None:
    """How often the values of columns occur."""
    by = ",".join(each for each in given().getlist("by") if each)
    if not by:
        return None
    where = _conditions()
    names = values.columns(by)
    every = values.counts(names, [values.condition(each) for each in where])
    most = sorted(every, key=lambda row: -row.cells[-1])
    total = max(sum(row.cells[-1] for row in every), 1)
    labels = [", ".join(map(_label, row.cells[:-1])) for row in most[:_BARS]]
    plot = lying_bars(
        labels,
        {"share of rows": [row.cells[-1] / total for row in most[:_BARS]]},
        label=f"Bars: share of rows by {', '.join(names)}; the table has the counts.",
    )
    request_text = _request(table, "counts", {"by": by, "where": where})
    cells = [row.cells for row in most[:_COUNTS]]
    return Asked(request_text, (*names, counted_as(names)), cells, total=len(every), plot=plot if every else None)


def _label(value: Any) -> str:
    text = "missing" if value is None or value == "" else str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"


def _request(table: StoredTable, question: str, options: Mapping[str, Any]) -> str:
    written = urlencode({key: value for key, value in options.items() if value}, doseq=True, safe=":,")
    # Of an original, a condition may name a person.
    between = f" with {OPTIONS}: " if table.kind == "original" and options.get("where") else "?"
    return f"GET /v1/tables/{quote(table.address, safe=':')}/{question}{between}{written}"


def _conditions() -> list[str]:
    added = _added_filter()
    return [*given().getlist("where"), *([] if added is None else [added])]


def _added_filter() -> str | None:
    """The condition that the form of the page adds, as the service takes it."""
    column, sign = given().get("column"), given().get("sign", "=")
    return f"{column}{sign if sign in _SIGNS else '='}{given().get('value', '').strip()}" if column else None


def _number(name: str, most: int) -> int:
    """A number that was asked for, within what there is."""
    return _whole(given().get(name, "0"), most)


def _whole(text: str, most: int) -> int:
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _forms(
    table: StoredTable, shown_columns: Sequence[Any], schema: Mapping[str, Any], first: int
) -> list[columns.Row]:
    def values(name: str) -> Sequence[Any]:
        return service().tables.values(table, [name]).attribute(name).domain

    return columns.rows_of([each.described for each in shown_columns], schema, values, first=first)


def _dictionary(table: StoredTable) -> Mapping[str, Any] | None:
    """What a page shows of the data dictionary of a release."""
    if not table.dictionary.is_file():
        return None
    found: Mapping[str, Any] = told(routes.dictionary, name=_address(table))
    said = [found.get("protected"), found.get("labels") if isinstance(found.get("labels"), str) else None]
    fields = [_field(each, found.get("protected_columns", ())) for each in found.get("fields", ())[:_COLUMNS]]
    return {
        "said": [each for each in said if isinstance(each, str)],
        "limits": found.get("not_protected", []),
        "fields": fields,
    }


def _field(field: Mapping[str, Any], protected: Sequence[str]) -> dict[str, Any]:
    """One column of a data dictionary."""
    values = field.get("values")
    counted = [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []
    listed = [(each["value"], each["count"]) for each in counted if {"value", "count"} <= each.keys()]
    name = field.get("name", "")
    return {
        "name": name,
        "meaning": field.get("meaning"),
        "is_protected": field.get("protected", name in protected),
        "frequent": sorted(listed, key=lambda each: -each[1])[:_FREQUENT],
        "values": field.get("distinct_values"),
    }


def _next(table: StoredTable, standing: Sequence[Any]) -> tuple[str, str, str] | None:
    """What to do next with an original: why, what it is called, where."""
    waiting = next((each for each in standing if each.lacks and each.described["role"]), None)
    if table.kind != "original" or not may("store", "original") or not standing:
        return None
    if waiting is None and ready(standing) == len(standing):
        return "Every column is ready.", "Release it", url_for("pages.guide", table=table.name)
    if waiting is None:
        lacking = next(each for each in standing if each.lacks)
        return f"“{lacking.name}” {lacking.lacks}.", "Set it below", "#columns"
    address = url_for("pages.hierarchy", name=table.name, column=waiting.name, kind=table.kind)
    return f"“{waiting.name}” {waiting.lacks}.", "Edit its hierarchy", address


def _ways(table: StoredTable) -> Any:
    return ways_of("table describe", {"file": table.name}, request=f"GET /v1/tables/{quote(table.address, safe=':')}")
