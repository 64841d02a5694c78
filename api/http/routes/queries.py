"""A route for every question about a graph, made from the registry: a page as JSON, or all rows as they are read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import Field, fields
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, jsonify, request

from api.http.describing import ANY_OBJECT, CSV, MAYBE, NDJSON, Schema, answers, record
from api.http.gate import keep_place, needs, service
from api.http.routes.graphs import found_graph
from api.http.schema import plain_schema
from api.service.access import UnknownThing
from api.verbs.values import is_required, value_in
from graphpriv.queries import Query, Row, Rows, answer, queries, rows
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.files.csv_tables import write_csv
from tabular.registry import Entry

#: How an answer comes: a page of it, or all rows.
_FORMATS = ("json", "csv", "ndjson")

#: So many rows go out at once.
_BLOCK = 1_000

#: What is no option of a question, but says of whom it is.
_PERSON = "user"


def register(app: Flask) -> None:
    """Add the routes of all questions to *app*."""
    for entry in queries.entries():
        app.add_url_rule(_path(entry), f"query {entry.name}", _view(entry), methods=["GET"])


def _path(entry: Entry[Query]) -> str:
    """The path of a question; one about a user stands below that user."""
    about = "/users/<path:user>" if _PERSON in _options(entry) else ""
    return f"/v1/graphs/<name>{about}/{entry.name}"


def _options(entry: Entry[Query]) -> dict[str, Field[Any]]:
    return {each.name: each for each in fields(entry.method)}


def _view(entry: Entry[Query]) -> Callable[..., Response]:
    """The view that answers a question."""

    @needs("read")
    @answers(
        record(rows={"type": "array", "items": ANY_OBJECT}, next=MAYBE),
        also=(CSV, NDJSON),
        query={**_described(entry), "format": _FORMAT},
    )
    def view(name: str, **of: str) -> Response:
        graph = found_graph(name, "read")
        query = entry.make({**_given(entry), **of})
        form = request.args.get("format", "json")
        with _people_told():
            if form == "json":
                return _page(graph.stored, query)
            found = rows(service().opened(), graph.stored, query)
        return _streamed(_csv(found), CSV) if form == "csv" else _streamed(_ndjson(found), NDJSON)

    view.__doc__ = entry.summary
    return view


_FORMAT: Schema = {
    "enum": list(_FORMATS),
    "default": "json",
    "description": "One page as JSON, or all rows as CSV or as one JSON object a line, whatever the limit.",
}


def _described(entry: Entry[Query]) -> dict[str, Schema]:
    """The options of a question that stand in the address."""
    return {
        name: {**plain_schema(each), "description": each.metadata["help"], "required": is_required(each)}
        for name, each in _options(entry).items()
        if name != _PERSON
    }


def _given(entry: Entry[Query]) -> dict[str, Any]:
    """The options that stand in the address."""
    known = {name: each for name, each in _options(entry).items() if name != _PERSON}
    for name in request.args:
        if name not in (*known, "format"):
            unknown = UnknownName.among("option", name[:100], [*known, "format"])
            raise InvalidParameter(f"{named(name[:100])}: {unknown}")
    form = request.args.get("format", "json")
    if form not in _FORMATS:
        raise InvalidParameter.wrong("format", must=f"be one of {', '.join(_FORMATS)}", was=form[:100])
    missing = [name for name, each in known.items() if name not in request.args and is_required(each)]
    if missing:
        raise InvalidParameter(f"{named(missing[0])} is missing.", must="be given")
    return {name: value_in(each, request.args[name]) for name, each in known.items() if name in request.args}


@contextmanager
def _people_told() -> Iterator[None]:
    """A person who is not there, as an address that is not there."""
    try:
        yield
    except InvalidParameter as error:
        if error.parameter == _PERSON:
            raise UnknownThing("This graph has no user of that id.") from None
        raise


def _page(stored: str, query: Query) -> Response:
    """One page, with a Link header to the next."""
    page = answer(service().opened(), stored, query)
    response = jsonify(page.document)
    if page.next is not None:
        asked = urlencode({**request.args.to_dict(), "cursor": page.next})
        response.headers["Link"] = f'<{request.path}?{asked}>; rel="next"'
    return response


def _streamed(parts: Iterator[bytes], kind: str) -> Response:
    """An answer that is read while it is sent; until then it keeps its place."""
    opened = ExitStack()
    opened.callback(keep_place())
    response = Response(parts, mimetype=kind)
    response.call_on_close(opened.close)
    return response


def _csv(found: Rows) -> Iterator[bytes]:
    header = found.header
    # The header alone, where there is no row.
    yield _block(header, [])
    while block := list(islice(found, _BLOCK)):
        yield _block((), block)


def _block(header: tuple[str, ...], block: list[Row]) -> bytes:
    file = io.BytesIO()
    write_csv(file, header, (each.cells for each in block))
    return file.getvalue()


def _ndjson(found: Rows) -> Iterator[bytes]:
    while block := list(islice(found, _BLOCK)):
        yield "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in block).encode()
