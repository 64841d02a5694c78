"""A route for every question that may be asked of a graph, made from the registry of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from typing import Any

from flask import Flask, Response, request

from api.http import rows
from api.http.describing import Schema, answers
from api.http.gate import account, needs, service
from api.http.options import HELP, OPTIONS
from api.http.routes import graphs
from api.http.schema import schema_of_option
from api.service.access import UnknownThing
from api.service.requests import WrongOptions
from api.verbs.values import is_required, value_in
from graphpriv.queries import Page, Query, answer, queries
from graphpriv.queries import rows as all_rows
from tabular.errors import InvalidParameter, UnknownName, named
from tabular.registry import Entry

#: The options that every answer of rows has, and the one that stands in the path.
_PAGES, _USER = ("limit", "cursor"), "user"

#: Where the user belongs who does not stand in the path.
_HEADER = f"the header {OPTIONS}: user=ID"


def register(app: Flask) -> None:
    """Add the routes of all questions to *app*."""
    for entry in queries.entries():
        for number, path in enumerate(paths_of(entry)):
            endpoint = f"query {entry.name}{' out of the address' * number}"
            app.add_url_rule(path, endpoint, _view(entry, in_header=number > 0), methods=["GET"])


def paths_of(entry: Entry[Query]) -> Sequence[str]:
    """The paths of a question: below one of the users of a graph if it is about one, and below the graph."""
    plain = f"/v1/graphs/<name>/{entry.name}"
    return (f"/v1/graphs/<name>/users/<path:user>/{entry.name}", plain) if _is_of_user(entry.method) else (plain,)


def _is_of_user(query: type[Query]) -> bool:
    return _USER in options_of(query)


def options_of(query: type[Query]) -> dict[str, Field[Any]]:
    """The options of a question by name."""
    return {each.name: each for each in fields(query)}


def _view(entry: Entry[Query], *, in_header: bool) -> Callable[..., Response]:
    """The view that answers a question, whose user must stand in the header where it is *in_header*."""
    headers = {OPTIONS: f"`user=ID`, and other options. {HELP}"} if in_header else {}

    @needs("read")
    @answers(rows.ROWS, also=rows.ALSO, query=_described(entry.method), headers=headers)
    def view(name: str, **path: str) -> Response:
        graph = graphs.found_graph(name, "read", asked=entry.name)
        asked = _made(entry.method, path)
        store = service().opened()
        try:
            if rows.wants_all():
                every = all_rows(store, graph.stored, asked)
                return rows.streamed(every.header, every, every.facts)
            page: Page = answer(store, graph.stored, asked)
        except InvalidParameter as error:
            if error.parameter == _USER:
                # It stands in the path, and is not repeated: it may be that of a person.
                raise UnknownThing("This graph has no user with that id.") from None
            raise
        except UnknownName as error:
            # It may have been deleted meanwhile.
            service().graphs.find(name, account().role, "read")
            # Of a key or a value, not of a thing of the service.
            raise InvalidParameter(error.worded(named)) from None
        return rows.page(page.rows, page.facts, page.next)

    view.__doc__ = entry.method.__doc__
    return view


def _described(query: type[Query]) -> dict[str, Schema]:
    """The options that stand in the address."""
    own = {name: option for name, option in options_of(query).items() if name not in (*_PAGES, _USER)}
    return {**{name: _schema(option) for name, option in own.items()}, **rows.QUERY}


def _schema(option: Field[Any]) -> Schema:
    """The schema of an option that may be left out; in an address there is no null."""
    schema = schema_of_option(option)
    if "anyOf" in schema:
        schema = {**schema, **next(each for each in schema["anyOf"] if each != {"type": "null"})}
        del schema["anyOf"]
    if schema.get("default", 0) is None:
        del schema["default"]
    return {**schema, **({"required": True} if is_required(option) else {})}


def _made(query: type[Query], path: dict[str, str]) -> Query:
    """The question that the address asks."""
    known, given = options_of(query), dict[str, Any]()
    errors = {each[:100]: f"{named(each[:100])} is given more than once." for each in _several()}
    texts = {name: text for name, text in request.args.items() if name != "format"}
    missing = {name for name, option in known.items() if is_required(option)} - set(texts) - set(path)
    if rows.wants_all():
        texts.pop("limit", None)
    for name, text in texts.items():
        try:
            if name not in known:
                unknown = UnknownName.among("option", name[:100], known).worded(named)
                raise InvalidParameter(f"{named(name[:100])}: {unknown}")
            if name == _USER and (path or OPTIONS not in request.headers):
                raise InvalidParameter(f"{named(_USER)} stands in the path, or else in {_HEADER}.")
            given[name] = value_in(known[name], text)
        except InvalidParameter as error:
            errors[name[:100]] = error.worded(named)
    for name in missing:
        errors[name] = f"{named(name)} is missing{f'; it belongs in {_HEADER}' if name == _USER else ''}."
    if errors:
        raise WrongOptions(errors)
    return query(**(given | path))


def _several() -> list[str]:
    """The options that are given more than once."""
    return [name for name, texts in request.args.lists() if len(texts) > 1]
