"""Routes of graphs, originals and releases."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify, request, send_file, url_for

from api.http import paging
from api.http.bodies import json_object, refuse_swelling, scanned
from api.http.describing import ANY_OBJECT, BYTES, COUNT, CSV, PAGES, STRING, Schema, answers, paged, record
from api.http.gate import account, needs, service
from api.http.options import HELP, OPTIONS
from api.http.problems import HttpProblem, call_by
from api.http.routes import jobs
from api.service import access
from api.service.access import UnknownThing
from api.service.graphs import KINDS, Graph, split
from api.service.requests import Request, Thing
from api.verbs import verbs
from api.verbs.contract import Outcome, perform
from api.verbs.values import made, options_of, value_in
from crawler.archives import archives
from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named

bp = Blueprint("graphs", __name__)

#: What somebody is told of a release who must not know where it comes from.
_OF_RELEASE = ("name", "kind", "directed", "users", "edges", "created", "k", "method")

#: How the name of a graph ends that is written in a format, and its type.
_ENDINGS = {
    "node-link": (".json", "application/json"),
    "graphml": (".graphml", "application/xml"),
    "gexf": (".gexf", "application/xml"),
    "edge-list": (".csv", "text/csv"),
}

GRAPH = record(
    name=STRING, kind={"enum": list(KINDS)}, directed={"type": "boolean"}, users=COUNT, edges=COUNT, created=STRING
)
FIGURES = record(graph=STRING, kind={"enum": list(KINDS)}, users=COUNT, edges=COUNT, degree=ANY_OBJECT)
IMPORTED = record(graph=STRING, users=COUNT, edges=COUNT, posts=COUNT, directed={"type": "boolean"}, dropped=ANY_OBJECT)
FORGOTTEN = record(graph=STRING, follows=COUNT, posts=COUNT, mappings=COUNT, uploads=COUNT, jobs=COUNT)
TYPES = ("application/json", "application/xml", CSV, "application/zip")

_FORMATS: Schema = {"enum": list(_ENDINGS), "default": "node-link", "description": "How the graph is written."}
_FORMAT = {"format": _FORMATS}
_READABLE: Schema = {**_FORMATS, "enum": [*_ENDINGS, *archives]}
_IMPORT = {
    "format": _READABLE,
    "directed": {"type": "boolean", "description": "Read the edges so, whatever the file says."},
}
_IF_MATCH = {"If-Match": "The ETag of the graph in the state that is to be changed."}

#: What a file in a zip is dated, so that the same graph gives the same bytes.
_DATED = (1980, 1, 1, 0, 0, 0)


@bp.get("/v1/graphs")
@needs("describe")
@answers(paged("graphs", GRAPH), query=PAGES)
def listed() -> Response:
    """List the graphs that your role may know of, by name."""
    found = service().graphs.visible(account().role)
    return paging.page("graphs", found, _key, _row)


@bp.get("/v1/graphs/<name>")
@needs("describe")
@answers(FIGURES)
def show(name: str) -> Response:
    """Show a graph's size, degrees, clustering, path lengths, and the shares of its places and topics."""
    return jsonify(figures_of(found_graph(name, "describe")))


@bp.get("/v1/graphs/<name>/file")
@needs("read")
@answers(TYPES, query=_FORMAT)
def file(name: str) -> Response:
    """Download a graph in a format: node-link JSON unless `format` names another one; several files come as a zip."""
    graph = found_graph(name, "read")
    ending, kind = _ending(request.args.get("format"))
    with service().scratch() as folder:
        options = {"name": graph.stored, "out": str(folder / f"graph{ending}")}
        paths = _perform("graph export", options).document["files"]
        # The dictionary of a release is told apart.
        paths = [path for path in paths if not path.endswith(".dictionary.json")]
        if len(paths) == 1:
            return _sent(Path(paths[0]).open("rb"), f"graph{ending}", kind)
        return _sent(_zipped(paths, folder / "graph.zip"), "graph.zip", "application/zip")


@bp.get("/v1/graphs/<name>/mapping")
@needs("map")
@answers((CSV,))
def mapping(name: str) -> Response:
    """Download the mapping of a release as CSV original,released: it leads back to persons."""
    graph = found_graph(name, "map")
    if graph.kind == "original" or graph.info.original is None:
        raise HttpProblem(404, "Not found", "This graph has no mapping here.")
    origin = Thing("graph", "original", split(graph.info.original)[1])
    service().note_access("mapping", (origin,), account(), release=graph.name)
    with service().scratch() as folder:
        path = folder / "mapping.csv"
        _perform("graph export", {"name": graph.stored, "out": str(folder / "graph.json"), "mapping": str(path)})
        return _sent(path.open("rb"), "mapping.csv", "text/csv")


@bp.put("/v1/graphs/<name>")
@needs("store")
@answers(
    IMPORTED,
    status=201,
    others={200: IMPORTED, 202: jobs.JOB},
    query=_IMPORT,
    headers=_IF_MATCH,
    body=(*TYPES, BYTES),
    refusals=(412,),
)
def put(name: str) -> Response:
    """Keep a graph as an original: the body is its file, or names an upload.

    To replace an original, send its ETag in If-Match. What was made of the old one then goes, as if it were deleted: of
    an upload's, within minutes after its job is done.
    """
    stored = service().graphs.place_for(name, "original")
    name = split(name)[1]
    call_by(name, stored)
    replaced = _replaced(name)
    is_there = replaced is not None
    options = _import_options()
    reference = _uploads()
    service().note_access("graph import", (Thing("graph", "original", name),), account())
    if reference is not None:
        return _import_uploads(stored, options, reference, replaced)
    with service().scratch() as folder:
        format = options.get("format")
        # The name says nothing of an archive, which is chosen by its format.
        path = folder / ("archive" if format in archives else f"graph{_ending(format)[0]}")
        data = scanned(request.get_data(cache=True))
        refuse_swelling(BytesIO(data))
        path.write_bytes(data)
        outcome = _perform(
            "graph import", {**options, "file": str(path), "graph": stored}, overwrite=is_there, revision=replaced
        )
    if is_there:
        service().erasure.graph(stored)
    response = jsonify({**outcome.document, "graph": name})
    response.status_code = 200 if is_there else 201
    response.headers["Location"] = url_for("graphs.show", name=name)
    return response


@bp.delete("/v1/graphs/<name>")
@needs("delete")
@answers(record(deleted=STRING), headers=_IF_MATCH, refusals=(412,))
def delete(name: str) -> Response:
    """Delete a graph; an original takes the mappings of its releases with it, its uploads, and jobs that left files."""
    graph = found_graph(name, "delete")
    _perform("graph delete", {"name": graph.stored}, revision=_matched(graph))
    if graph.kind == "original":
        service().erasure.graph(graph.stored)
    return jsonify(deleted=graph.name)


@bp.delete("/v1/graphs/<name>/users/<path:user>")
@needs("forget")
@answers(FORGOTTEN)
def forget(name: str, user: str) -> Response:
    """Remove a person from an original, and from uploads, jobs, their files and results, and kept answers.

    The log has a random id in their place.
    """
    return _forgotten(name, user)


@bp.delete("/v1/graphs/<name>/users")
@needs("forget")
@answers(FORGOTTEN, headers={OPTIONS: f"`user=ID`. {HELP}"})
def forget_out_of_the_address(name: str) -> Response:
    """Remove a person whose id stands in the header `Graphpriv-Options`, as `DELETE …/users/{user}` does."""
    pairs = list(request.args.items(multi=True)) if OPTIONS in request.headers else []
    if [key for key, _ in pairs] != ["user"] or not pairs[0][1]:
        # Who may not forget is told that first.
        service().graphs.find(name, account().role, "forget")
        raise HttpProblem(400, "Invalid input", f"The header {OPTIONS} must hold one user and nothing else: user=ID.")
    return _forgotten(name, pairs[0][1])


def _forgotten(name: str, user: str) -> Response:
    graph = found_graph(name, "forget", person=secrets.token_hex(8))
    try:
        outcome = _perform("graph forget", {"name": graph.stored, "user": user})
    except InvalidInput:
        if graph.kind == "release":
            raise
        # The id is not repeated: it is that of a person.
        raise UnknownThing("This graph has no user with that id.") from None
    service().questions.clear()
    return jsonify({**outcome.document, "graph": graph.name})


def found_graph(name: str, action: str, **details: Any) -> Graph:
    """The graph called *name*, if whoever asks may do *action* with it; the access is written down."""
    graph = service().graphs.find(name, account().role, action)
    call_by(graph.name, graph.stored)
    service().note_access(f"graph {action}", (Thing("graph", graph.kind, graph.name),), account(), **details)
    return graph


def _sees_originals() -> bool:
    return access.may_see(account().role, "original")


def _key(graph: Graph) -> str:
    return f"{graph.name}\0{graph.kind}"


def _row(graph: Graph) -> dict[str, Any]:
    """A graph in the list."""
    origin = graph.info.original
    row = {**asdict(graph.info), "name": graph.name, "original": None if origin is None else split(origin)[1]}
    return row if _sees_originals() else {key: row[key] for key in _OF_RELEASE}


def _shown(document: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a graph, without its origin for those who must not know of it."""
    return {key: value for key, value in document.items() if key != "original" or _sees_originals()}


def figures_of(graph: Graph) -> dict[str, Any]:
    """What whoever asks is told of a graph that they have found."""
    return {**_shown(_figures(graph)), "graph": graph.name}


def _figures(graph: Graph) -> dict[str, Any]:
    """What `graph show` says; where they are missing and that takes long, whoever asks is told to ask again."""
    service().opened().figures(graph.stored)
    return _perform("graph show", {"name": graph.stored}).document


def _perform(verb: str, options: Mapping[str, Any], **given: Any) -> Outcome:
    """Perform a verb on paths of this service."""
    work = service().work(account(), **given)
    return perform(made(verbs[verb].method, options), work)


def _ending(format: str | None) -> tuple[str, str]:
    if format is None:
        return _ENDINGS["node-link"]
    if format not in _ENDINGS:
        raise InvalidParameter(UnknownName.among("graph format", format, _ENDINGS).worded(named))
    return _ENDINGS[format]


def _sent(opened: BufferedReader, name: str, kind: str) -> Response:
    """An open file as a download, which a copy of it that the caller has makes needless."""
    digest = hashlib.file_digest(opened, "sha256").hexdigest()[:32]
    opened.seek(0)
    return send_file(opened, mimetype=kind, as_attachment=True, download_name=name, etag=digest, conditional=True)


def _zipped(paths: list[str], into: Path) -> BufferedReader:
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in paths:
            with packed.open(zipfile.ZipInfo(Path(path).name, _DATED), "w") as part, Path(path).open("rb") as file:
                shutil.copyfileobj(file, part)
    return into.open("rb")


def _replaced(name: str) -> str | None:
    """The revision of the original of that name, if any; refused unless whoever asks names the state it is in."""
    try:
        graph = service().graphs.find(name, account().role, "store", kinds=("original",))
    except UnknownName:
        if request.if_match:
            raise HttpProblem(412, "Precondition failed", "There is no such graph to replace.") from None
        return None
    if not request.if_match:
        raise HttpProblem(
            409, "Name taken", "A graph already has this name; choose another, or send its ETag in If-Match."
        )
    return _matched(graph)


def _matched(graph: Graph) -> str | None:
    """The revision of a graph in the state that If-Match names; another state is refused."""
    if not request.if_match:
        return None
    # Before the state is looked at: what comes in between is found when the graph is changed.
    revision = service().opened().revision(graph.stored)
    if not request.if_match.contains(_tag(graph)):
        raise HttpProblem(412, "Precondition failed", "The graph has changed in the meantime; read it again.")
    return revision


def _tag(graph: Graph) -> str:
    """The ETag that showing a graph gives."""
    shown = jsonify(figures_of(graph))
    return hashlib.sha256(shown.get_data()).hexdigest()[:32]


def _import_options() -> dict[str, Any]:
    """The options of an import that stand in the address."""
    known = options_of(verbs["graph import"].method)
    given = {name: request.args[name] for name in ("format", "directed") if name in request.args}
    return {name: value_in(known[name], text) for name, text in given.items()}


def _uploads() -> dict[str, Any] | None:
    """The uploads that the body names instead of being a graph: by the option they are for."""
    if request.mimetype != "application/json" or (request.content_length or 0) > 4096:
        return None
    body = json_object()
    if set(body) == {"upload"}:
        return {"file": body}
    roles = body.get("uploads")
    if set(body) != {"uploads"} or not isinstance(roles, dict):
        return None
    return {role: {"upload": id} for role, id in roles.items()}


def _import_uploads(
    stored: str, options: dict[str, Any], uploads: Mapping[str, Any], replaced: str | None = None
) -> Response:
    """Import uploads as a job, since they may be large; it replaces a graph only in the revision that is *replaced*."""
    method = verbs["graph import"].method
    asked: Request = service().requests.read("graph import", method, {**options, **uploads, "graph": stored}, account())
    if "format" not in options and "." not in asked.options["file"]:
        # Nothing tells the format.
        return _import_uploads(stored, {**options, "format": "node-link"}, uploads, replaced)
    if replaced is not None:
        asked = replace(asked, options={**asked.options, "revision": replaced})
    return jobs.submitted(asked)
