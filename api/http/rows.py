"""Rows as an answer: a page of them or all, as JSON or as CSV."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol
from urllib.parse import urlencode

from flask import Response, jsonify, request

from api.http.describing import CSV, PAGES, Schema, record
from api.http.gate import keep_place
from api.http.problems import HttpProblem
from tabular.files.csv_tables import write_csv

JSON = "application/json"

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
    "format": {"enum": ["json", "csv"], "description": "How the rows are written, whatever Accept says."},
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
    return request.args.get("limit") == ALL


def page(header: Sequence[str], rows: Iterable[Row], facts: Mapping[str, Any], following: str | None) -> Response:
    """One page of rows; *following* is where the next one begins."""
    if _is_csv():
        response = Response(b"".join(_csv(header, rows)), mimetype=CSV)
    else:
        response = jsonify({**facts, "rows": list(rows), "next": following})
    response.vary.add("Accept")
    if following is not None:
        others = [(name, text) for name, text in request.args.items(multi=True) if name != "cursor"]
        query = urlencode([*others, ("cursor", following)])
        response.headers["Link"] = f'<{request.path}?{query}>; rel="next"'
    return response


def streamed(
    header: Sequence[str], rows: Iterable[Row], facts: Mapping[str, Any], *, at_end: Callable[[], None] = lambda: None
) -> Response:
    """All rows, written while they are read; an answer that is cut short has no end."""
    is_csv = _is_csv()
    written = _csv(header, rows) if is_csv else _json(facts, rows)
    opened = ExitStack()
    opened.callback(keep_place())
    opened.callback(at_end)
    response = Response(written, mimetype=CSV if is_csv else JSON)
    # Where the answer is not read to its end, or not at all.
    response.call_on_close(opened.close)
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("Accept")
    return response


def _is_csv() -> bool:
    format = request.args.get("format")
    if format not in (None, "json", "csv"):
        raise HttpProblem(400, "Invalid input", "format must be json or csv.")
    best = request.accept_mimetypes.best_match([JSON, CSV], JSON)
    return format == "csv" if format is not None else best == CSV


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
