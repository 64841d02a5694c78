"""The page of a graph: its figures, its picture, what was asked of it, and its end."""

from __future__ import annotations

from flask import Response, jsonify, request, url_for
from werkzeug.wrappers import Response as Answered

from api.http.gate import account, needs, service
from api.http.problems import call_by
from api.http.routes import graphs as routes
from api.pages import asking, pictures
from api.pages.blueprint import asked_aside, bp, given, go, may, shown, told
from api.pages.collecting import providers_here, why_folded
from api.pages.commands import ways_of
from api.service.graphs import KINDS, Graph
from api.service.requests import Thing
from api.verbs.graph.show import told as told_of_crawl


@bp.route("/graphs/<name>", methods=["GET", "POST"])
@needs("describe")
def graph(name: str) -> Answered:
    """Show a graph."""
    found = service().graphs.find(_asked_for(name), account().role, "describe")
    if request.method == "POST":
        return asked_aside("pages.graph", name=found.name, kind=found.kind)
    reads = may("read", found.kind)
    if reads:
        # Whoever reads it is told its figures, too: that is one entry of the log.
        found = _found(name, "read")
        figures = routes.figures_of(found)
    else:
        figures = told(routes.show, name=found.address)
    user = given().get("user", "") if reads else ""
    asked, answers = asking.answers(found) if reads else (asking.Asked(), [])
    return shown(
        "graph.html",
        status=400 if asked.wrong else 200,
        graph=found,
        figures=figures,
        reads=reads,
        told=told_of_crawl,
        asked=asked,
        answers=answers,
        asking=asking,
        given=given(),
        proposed=asking.proposed(found) if reads else {},
        providers=providers_here(),
        folding=why_folded(found) if found.kind == "original" and may("protect", "original") else None,
        user=asking.neighbours(found, user, given().get("after", "")) if user else None,
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
    return go("pages.graph", name=found.name, kind=found.kind, kept="yes", _anchor="delete")


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
