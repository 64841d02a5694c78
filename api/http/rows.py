"""Rows as an answer: a page of them as JSON, or all as JSON, as CSV or as one JSON object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from flask import Response, jsonify, request

from api.http.describing import CSV, NDJSON, PAGES, Schema, record
from api.http.gate import keep_place
from api.http.paging import lead_on
from tabular.errors import InvalidParameter
from tabular.files.csv_tables import write_csv

JSON = "application/json"

#: The forms that an answer has, and their types.
_TYPES = {"json": JSON, "csv": CSV, "ndjson": NDJSON}

#: What a route may answer beside JSON.
ALSO = (CSV, NDJSON)

#: What stands for a number of rows where all are wanted.
ALL = "all"

#: So many rows are written at a time.
_BLOCK = 1_000

#: What every answer of rows takes.
QUERY: dict[str, Schema] = {
    **PAGES,
    "limit": {
        "anyOf": [{key: PAGES["limit"][key] for key in ("type", "minimum", "maximum")}, {"enum": [ALL]}],
        "default": 100,
        "description": "Rows on a page; `all` streams every row.",
    },
    "format": {
        "enum": ["json", "csv", "ndjson"],
        "description": "One page as JSON; or all rows as CSV or as one JSON object a line, whatever the limit. It goes "
        "before Accept.",
    },
}

#: One page of rows; the figures of the whole stand beside them.
ROWS = record(rows={"type": "array", "items": {"type": "object"}}, next={"type": ["string", "null"]})


class Row(Protocol):
    """One row."""

    @property
    def cells(self) -> Sequence[Any]:
        """Its values side by side, for a table."""


def wants_all() -> bool:
    """Whether the request wants every row."""
    return _form() != "json" or request.args.get("limit") == ALL


def page(rows: Iterable[Row], facts: Mapping[str, Any], following: str | None) -> Response:
    """One page of rows; *following* is where the next one begins."""
    response = jsonify({**facts, "rows": list(rows), "next": following})
    response.vary.add("Accept")
    if following is not None:
        lead_on(response, following)
    return response


def streamed(
    header: Sequence[str], rows: Iterable[Row], facts: Mapping[str, Any], *, at_end: Callable[[], None] = lambda: None
) -> Response:
    """All rows, written while they are read; an answer that is cut short has no end."""
    form = _form()
    written = {"csv": _csv(header, rows), "ndjson": _ndjson(rows)}.get(form) or _json(facts, rows)
    opened = ExitStack()
    opened.callback(keep_place())
    opened.callback(at_end)
    response = Response(written, mimetype=_TYPES[form])
    # Where the answer is not read to its end, or not at all.
    response.call_on_close(opened.close)
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("Accept")
    return response


def _form() -> str:
    """How the rows are to be written."""
    format = request.args.get("format")
    if format is None:
        best = request.accept_mimetypes.best_match(list(_TYPES.values()), JSON)
        return next(name for name, kind in _TYPES.items() if kind == best)
    if format not in _TYPES:
        raise InvalidParameter.wrong("format", must=f"be one of {', '.join(_TYPES)}", was=format[:100])
    return format


def _csv(header: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """The rows as CSV that no spreadsheet runs."""
    names = header
    for block in _blocks(rows):
        file = io.BytesIO()
        write_csv(file, names, [row.cells for row in block])
        yield file.getvalue()
        names = ()


def _json(facts: Mapping[str, Any], rows: Iterable[Row]) -> Iterator[bytes]:
    """An object as that of a page, row by row."""
    yield json.dumps({**facts, "rows": []}, ensure_ascii=False).removesuffix("]}").encode()
    comma = ""
    for block in _blocks(rows):
        texts = ",\n".join(json.dumps(row, ensure_ascii=False) for row in block)
        if texts:
            yield f"{comma}{texts}".encode()
            comma = ",\n"
    yield b'], "next": null}\n'


def _ndjson(rows: Iterable[Row]) -> Iterator[bytes]:
    """The rows as one JSON object a line."""
    for block in _blocks(rows):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in block).encode()


def _blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in blocks; one that is empty where there are none."""
    block: list[Row] = []
    is_first = True
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK:
            yield block
            block, is_first = [], False
    if block or is_first:
        yield block
