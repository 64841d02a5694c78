"""The page of a graph: its figures, tables and plots, each with the request that made it, and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response, jsonify, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import call_by
from api.http.routes import graphs as routes
from api.pages import pictures
from api.pages.blueprint import bp, go, may, shown, told
from api.pages.commands import ways_of
from api.service.graphs import KINDS, Graph
from api.service.requests import Thing
from graphpriv.queries import Page, answer, queries
from tabular.report.kit.charts import Point, lying_bars, scatter

#: Values of a plot of shares.
_BARS = 8


@dataclass(frozen=True)
class Answer:
    """What a question gave: a plot, a table, and the request that gives the same."""

    title: str
    request: str
    page: Page
    plot: Markup | None = None


@bp.get("/graphs/<name>")
@needs("describe")
def graph(name: str) -> Response:
    """Show a graph."""
    figures = told(routes.show, name=_asked_for(name))
    reads = may("read", figures["kind"])
    found = _found(name, "read") if reads else service().graphs.find(_asked_for(name), account().role, "describe")
    return shown(
        "graph.html",
        graph=found,
        figures=figures,
        reads=reads,
        answers=_answers(found) if reads else [],
        user=_neighbourhood(found) if reads else None,
        has_picture=found.info.users <= pictures.MOST,
        picture=url_for("pages.picture", name=found.name, kind=found.kind),
        formats=("node-link", "graphml", "gexf", "edge-list"),
        ways=ways_of("graph show", {"name": found.name}),
    )


@bp.get("/graphs/<name>/picture")
@needs("read")
def picture(name: str) -> Response:
    """Give what the canvas of a graph draws."""
    found = _found(name, "read")
    response = jsonify(pictures.of(service().opened(), found))
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/graphs/<name>/download")
@needs("read")
def download(name: str) -> Response:
    """Download a graph."""
    found = _found(name, "read")
    return routes.file(name=found.address)


@bp.post("/graphs/<name>/delete")
@needs("delete")
def delete(name: str) -> Answered:
    """Delete a graph, once its name was typed."""
    found = _found(name, "delete")
    if request.form.get("confirm") == found.name:
        told(routes.delete, name=found.address)
        return go("pages.home")
    return go("pages.graph", name=found.name, kind=found.kind)


def _found(name: str, action: str) -> Graph:
    """The graph that an address means, with a note where it is an original."""
    graph = service().graphs.find(_asked_for(name), account().role, action)
    call_by(graph.name, graph.stored)
    service().note_access(f"graph {action}", (Thing("graph", graph.kind, graph.name),), account())
    return graph


def _asked_for(name: str) -> str:
    """The name with its kind, where the address says which."""
    kind = request.args.get("kind")
    return f"{kind}:{name}" if kind in KINDS else name


def _answers(graph: Graph) -> list[Answer]:
    """The questions that the page asks of a graph."""
    places = _asked(graph, "Places", "counts", {"by": "location:country", "order": "count"})
    topics = _asked(graph, "First topics", "counts", {"by": "topic1", "order": "count"})
    degrees = _asked(graph, "Degrees", "degrees", {"limit": 1000})
    mixing = _asked(graph, "Links between first topics", "mixing", {"by": "topic1", "order": "count"})
    return [
        _with(places, _shares(places.page, "location:country")),
        _with(topics, _shares(topics.page, "topic1")),
        _with(degrees, _degrees(degrees.page)),
        mixing,
    ]


def _asked(graph: Graph, title: str, name: str, options: Mapping[str, Any]) -> Answer:
    text = f"GET /v1/graphs/{quote(graph.address, safe=':')}/{name}?{urlencode(options, safe=':,')}"
    return Answer(title, text, answer(service().opened(), graph.stored, queries[name].make(options)))


def _with(found: Answer, plot: Markup) -> Answer:
    return Answer(found.title, found.request, found.page, plot)


def _shares(page: Page, by: str) -> Markup:
    """The most frequent values as shares of all users."""
    users = max(int(page.facts["users"]), 1)
    rows = page.rows[:_BARS]
    names = [str(row[by] or f"no {by.partition(':')[2] or 'topic'} known") for row in rows]
    shares = [row["users"] / users for row in rows]
    return lying_bars(names, {"share of users": shares}, label=f"Bars: share of users by {by}; the table has all.")


def _degrees(page: Page) -> Markup:
    points = [
        Point(x=row["degree"], y=row["users"], said=f"{row['users']:,} users with {row['degree']:,} neighbours")
        for row in page.rows
        if row["degree"]
    ]
    label = "Points: how many users have each number of neighbours; the table has all."
    return scatter(points, label=label, across="neighbours", upwards="users")


def _neighbourhood(graph: Graph) -> dict[str, Any] | None:
    """The neighbours of the user whom the address names."""
    user: str | None = request.args.get("user")
    if not user:
        return None
    question = queries["neighbours"].make({"user": user, "limit": 50})
    page = answer(service().opened(), graph.stored, question)
    text = f"GET /v1/graphs/{quote(graph.address, safe=':')}/users/{quote(user, safe='')}/neighbours?limit=50"
    return {"id": user, "page": page, "request": text}
