"""Routes of tables, originals and releases: files, descriptions, hierarchies, and what may be asked of them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from flask import Blueprint, Response, jsonify, request, send_file, url_for

from api.http import paging, rows
from api.http.bodies import json_object, scanned
from api.http.describing import (
    ANY_OBJECT,
    BYTES,
    COUNT,
    CSV,
    PAGES,
    STRING,
    Schema,
    answers,
    paged,
    record,
)
from api.http.gate import account, needs, service
from api.http.problems import HttpProblem
from api.service import access
from api.service.access import UnknownThing
from api.service.requests import Thing
from api.service.tables.asking import Condition, Row, Values, counted_as
from api.service.tables.tables import AT_ONCE, KINDS, StoredTable, check_name, split, takes_long
from api.verbs import verbs
from tabular.attributes import KINDS as ATTRIBUTE_KINDS
from tabular.attributes import ROLES
from tabular.errors import InvalidParameter, ReportedError, named

bp = Blueprint("tables", __name__)

TABLE = record(name=STRING, kind={"enum": list(KINDS)}, size=COUNT, format={"enum": ["csv", "parquet"]}, created=STRING)
DESCRIBED = record(file=STRING, kind={"enum": list(KINDS)}, rows=COUNT, columns={"type": "array", "items": ANY_OBJECT})
HIERARCHY = record(column=STRING)
_TEXTS: Schema = {"type": "array", "items": STRING}
ATTRIBUTE: Schema = {
    "type": "object",
    "properties": {
        "kind": {"enum": list(ATTRIBUTE_KINDS)},
        "role": {"enum": list(ROLES)},
        "title": STRING,
        "order": {"type": "array", "items": {"type": ["string", "number"]}},
        "values": {"type": "array", "items": {"type": ["string", "number"]}},
        "bounds": {"type": "array", "items": {"type": "number"}},
    },
}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("title", "delimiter", "quote", "encoding", "decimal"), STRING),
        **{name: {"type": "boolean"} for name in ("header", "spaced")},
        "columns": _TEXTS,
        "missing": _TEXTS,
        "attributes": {"type": "object", "additionalProperties": ATTRIBUTE},
    },
    "description": "What is known of the columns and of how the file is written: the keys of a schema file.",
}

PARQUET = "application/vnd.apache.parquet"

#: What a data dictionary tells of a release alone. Its losses and risks, and how many rows were left out, take the
#: original; whoever may not measure is not told them.
_OF_ITSELF = frozenset(
    {
        "describes", "release", "rows", "protected_columns", "method", "parameters", "promises_k", "k",
        "k_without_degree", "suppressed", "exact_values", "joined", "sensitive", "l", "t", "order", "protected",
        "not_protected", "labels", "fields",
    }
)  # fmt: skip

_BODY = (CSV, "application/json", BYTES)
_IF_MATCH = {"If-Match": "The ETag of the table in the state that is to be changed."}
_WHERE: Schema = {
    "type": "array",
    "items": STRING,
    "description": "Only rows that are so: NAME=VALUE, NAME>=NUMBER or NAME<=NUMBER; NAME= is a missing value.",
}
_BY: Schema = {**STRING, "required": True, "description": "The columns to count by, with commas."}


@bp.get("/v1/tables")
@needs("describe")
@answers(paged("tables", TABLE), query=PAGES)
def listed() -> Response:
    """List the tables that your role may know of, by name."""
    found = service().tables.visible(account().role)
    return paging.page("tables", found, lambda each: f"{each.name}\0{each.kind}", lambda each: each.document)


@bp.put("/v1/tables/<name>")
@needs("store")
@answers(TABLE, status=201, others={200: TABLE}, headers=_IF_MATCH, body=_BODY, refusals=(412,))
def put(name: str) -> Response:
    """Keep a table as an original: the body is its file, CSV or Parquet, or names an upload.

    One of more than 8 MiB is described by a job, whose id is told. To replace an original, send its ETag in If-Match;
    its schema and hierarchies stay, and jobs that read it go.
    """
    kind, name = split(name)
    if kind == "release":
        raise InvalidParameter.wrong("name", must="be that of an original: a release is made by a verb", was=name[:100])
    check_name(name)
    replaced, tag = _replaced(name)
    service().note_access("table put", (Thing("table", "original", name),), account())
    upload = _upload()
    if upload is None:
        with service().scratch() as folder:
            file = folder / "table"
            file.write_bytes(scanned(request.get_data(cache=True)))
            table = service().tables.add(name, "original", file, replaced=replaced, tag=tag)
    else:
        is_read = not takes_long(upload)
        table = service().tables.add(
            name, "original", upload, source=upload.name, replaced=replaced, tag=tag, is_read=is_read
        )
    if replaced is not None:
        service().erasure.table(replaced)
        service().tables.delete(replaced)
    response = _tagged(jsonify({**table.document, **_read_later(table)}), table)
    response.status_code = 201 if replaced is None else 200
    response.headers["Location"] = url_for("tables.show", name=name)
    return response


@bp.get("/v1/tables/<name>")
@needs("describe")
@answers(DESCRIBED, refusals=(413,))
def show(name: str) -> Response:
    """Show how a table is written and what each column holds, and which of that is a guess."""
    table = _found(name, "describe")
    return _tagged(jsonify({**service().tables.described(table), "kind": table.kind}), table)


@bp.get("/v1/tables/<name>/file")
@needs("read")
@answers((CSV, PARQUET))
def file(name: str) -> Response:
    """Download the file of a table."""
    table = _found(name, "read")
    ending, kind = (".parquet", PARQUET) if table.format == "parquet" else (".csv", CSV)
    called = f"{table.name}{ending}"
    return send_file(
        table.file, mimetype=kind, as_attachment=True, download_name=called, etag=table.id, conditional=True
    )


@bp.get("/v1/tables/<name>/dictionary")
@needs("read")
@answers(ANY_OBJECT)
def dictionary(name: str) -> Response:
    """Give the data dictionary of a released table; to those who may not measure, without losses and risks."""
    table = _found(name, "read")
    if not table.dictionary.is_file():
        raise HttpProblem(404, "Not found", "This table has no dictionary.")
    document = json.loads(table.dictionary.read_bytes())
    if not access.may(account().role, "measure", table.kind):
        document = {key: value for key, value in document.items() if key in _OF_ITSELF}
    return jsonify(document)


@bp.get("/v1/tables/<name>/rows")
@needs("read")
@answers(rows.ROWS, also=rows.ALSO, query={"where": _WHERE, **rows.QUERY}, refusals=(413,))
def asked_rows(name: str) -> Response:
    """Give the rows of a table, all or those that meet conditions."""
    table = _found(name, "read")
    values = _values(table)
    conditions = _conditions(values)
    if rows.wants_all():
        every = (row for _, row in values.rows(conditions))
        return rows.streamed(values.names, every, {"total": len(values)}, at_end=values.close)
    size, begin = paging.limit(), _begin(table)
    try:
        found: list[tuple[int, Row]] = []
        for each in values.rows(conditions, begin):
            found.append(each)
            if len(found) > size:
                break
    finally:
        values.close()
    following = _cursor(table, found[size][0]) if len(found) > size else None
    return rows.page([row for _, row in found[:size]], {"total": len(values)}, following)


@bp.get("/v1/tables/<name>/counts")
@needs("read")
@answers(rows.ROWS, also=rows.ALSO, query={"by": _BY, "where": _WHERE, **rows.QUERY}, refusals=(413,))
def counts(name: str) -> Response:
    """Count the rows of a table by the values of columns."""
    table = _found(name, "read")
    values = _values(table)
    try:
        if "by" not in request.args:
            raise InvalidParameter(f"{named('by')} is missing.", must="name one or more columns")
        by = values.columns(request.args["by"])
        found = values.counts(by, _conditions(values))
    finally:
        values.close()
    header, total = (*by, counted_as(by)), {"total": sum(each.cells[-1] for each in found)}
    if rows.wants_all():
        return rows.streamed(header, iter(found), total)
    size, begin = paging.limit(), _begin(table)
    following = _cursor(table, begin + size) if len(found) > begin + size else None
    return rows.page(found[begin : begin + size], total, following)


@bp.get("/v1/tables/<name>/schema")
@needs("read")
@answers(SCHEMA)
def schema(name: str) -> Response:
    """Give what somebody has said of the columns of a table; verbs use it when they are given no other."""
    table = _found(name, "read")
    return _tagged(jsonify(service().tables.schema(table)), table)


@bp.put("/v1/tables/<name>/schema")
@needs("store")
@answers(DESCRIBED, headers=_IF_MATCH, body=SCHEMA, refusals=(412, 413))
def put_schema(name: str) -> Response:
    """Say what the columns of a table are, in place of what was said before; gives the new description.

    The body has the keys of a schema file, and an empty one leaves everything to be guessed.
    """
    table = _found(name, "store")
    document = service().tables.put_schema(table, json_object(), tag=_matched(table))
    return _tagged(jsonify({**document, "kind": table.kind}), table)


@bp.get("/v1/tables/<name>/hierarchies")
@needs("read")
@answers(record(hierarchies={"type": "array", "items": HIERARCHY}))
def hierarchies(name: str) -> Response:
    """List the columns of a table that have a hierarchy."""
    table = _found(name, "read")
    return jsonify(hierarchies=[{"column": each.stem} for each in sorted(table.hierarchies.glob("*.csv"))])


@bp.get("/v1/tables/<name>/hierarchies/<path:column>")
@needs("read")
@answers((CSV,))
def hierarchy(name: str, column: str) -> Response:
    """Download the hierarchy of a column as CSV: each value, and what it becomes at each level."""
    path = service().tables.hierarchy(_found(name, "read"), column)
    return Response(path.read_bytes(), mimetype=CSV)


@bp.put("/v1/tables/<name>/hierarchies/<path:column>")
@needs("store")
@answers(HIERARCHY, status=201, others={200: HIERARCHY}, body=_BODY, refusals=(413,))
def put_hierarchy(name: str, column: str) -> Response:
    """Keep the hierarchy of a column: the body is its CSV, or names an upload."""
    table, upload = _found(name, "store"), _upload()
    if upload is not None and upload.stat().st_size > AT_ONCE:
        raise HttpProblem(413, "Too large", f"A hierarchy has at most {AT_ONCE:,} bytes.")
    data = scanned(request.get_data(cache=True)) if upload is None else upload.read_bytes()
    is_there = service().tables.put_hierarchy(table, column, data)
    response = jsonify(column=column)
    response.status_code = 200 if is_there else 201
    return response


@bp.delete("/v1/tables/<name>/hierarchies/<path:column>")
@needs("delete")
@answers(record(deleted=STRING))
def delete_hierarchy(name: str, column: str) -> Response:
    """Delete the hierarchy of a column."""
    service().tables.hierarchy(_found(name, "delete"), column).unlink(missing_ok=True)
    return jsonify(deleted=column)


@bp.delete("/v1/tables/<name>")
@needs("delete")
@answers(record(deleted=STRING), headers=_IF_MATCH, refusals=(412,))
def delete(name: str) -> Response:
    """Delete a table with its schema, hierarchies and upload, and the jobs that read or made it."""
    table = _found(name, "delete")
    _matched(table)
    service().erasure.table(table)
    service().tables.delete(table)
    return jsonify(deleted=table.name)


def _read_later(table: StoredTable) -> dict[str, str]:
    """The id of a job that reads and describes a table, if that is too large to be read while somebody waits."""
    if table.description.is_file():
        return {}
    asked = service().requests.read(
        "table describe", verbs["table describe"].method, {"file": table.address}, account()
    )
    # It can be described later, too.
    with contextlib.suppress(ReportedError):
        return {"job": service().jobs.submit(asked.name, asked.options, account=account().id).id}
    return {}


def _found(name: str, action: str) -> StoredTable:
    """The table called *name*, if whoever asks may do *action* with it; the access is written down."""
    table = service().tables.find(name, account().role, action)
    service().note_access(f"table {action}", (Thing("table", table.kind, table.name),), account())
    return table


def _replaced(name: str) -> tuple[StoredTable | None, str | None]:
    """The original of that name with its tag; refused unless whoever asks names the state it is in."""
    try:
        table = service().tables.find(name, account().role, "store", kinds=("original",))
    except UnknownThing:
        if request.if_match:
            raise HttpProblem(412, "Precondition failed", "There is no such table to replace.") from None
        return None, None
    if not request.if_match:
        text = "A table is called that already; take another name, or send its ETag in If-Match."
        raise HttpProblem(409, "Name taken", text)
    return table, _matched(table)


def _matched(table: StoredTable) -> str | None:
    """The tag of a table in the state that If-Match names; another state is refused."""
    tag = table.tag
    if request.if_match and not request.if_match.contains(tag):
        raise HttpProblem(412, "Precondition failed", "The table has changed in the meantime; read it again.")
    return tag if request.if_match else None


def _tagged(response: Response, table: StoredTable) -> Response:
    response.set_etag(table.tag)
    return response


def _upload() -> Path | None:
    """The upload that the body names instead of being a file."""
    if request.mimetype != "application/json":
        return None
    body = json_object()
    if set(body) != {"upload"} or not isinstance(body["upload"], str):
        raise HttpProblem(400, "Invalid input", 'The body must be a file or {"upload": ID}.')
    return service().uploads.file(body["upload"], account())


def _values(table: StoredTable) -> Values:
    if not table.columns.is_file():
        service().tables.describe(table)
    return Values(table.columns)


def _conditions(values: Values) -> list[Condition]:
    return [values.condition(each) for each in request.args.getlist("where")]


def _cursor(table: StoredTable, row: int) -> str:
    return paging.coded(f"{table.tag}:{row}")


def _begin(table: StoredTable) -> int:
    """The row that a page begins with; a cursor belongs to one table in one state."""
    tag, _, row = (paging.cursor() or f"{table.tag}:0").partition(":")
    if tag != table.tag or not (row.isascii() and row.isdigit() and len(row) < 16):
        must = "be the next of an earlier page, of the same table in the same state"
        raise InvalidParameter.wrong("cursor", must=must, was=request.args["cursor"][:80])
    return int(row)
