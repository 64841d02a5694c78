"""Bringing a graph or a table: a file in pieces, a look at a graph and its import; or a made-up graph to try with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from flask import Response, request
from werkzeug.wrappers import Response as Answered

from api.http.bodies import refuse_swelling
from api.http.gate import LARGEST_BODY, account, needs, service
from api.http.problems import call_by, outside
from api.pages.blueprint import bp, go, named_here, shown
from api.pages.commands import ways_of
from api.pages.jobs import asked
from api.service.graphs import split
from api.service.requests import Thing
from graphpriv.formats.edge_list import HEADERS
from tabular.errors import InvalidInput, ReportedError

if TYPE_CHECKING:
    from graphpriv.formats import Imported

#: Formats by how the name of a file ends.
_BY_ENDING = {".json": "node-link", ".graphml": "graphml", ".gexf": "gexf", ".csv": "edge-list", ".txt": "edge-list",
              ".jsonl": "twarc2", ".car": "bluesky-car", ".zip": "x-archive"}  # fmt: skip

#: What a file is read as that holds no graph.
TABLE = "table"

#: How the names of files end that can hold a table; the last two hold nothing else.
_TABLES = (".csv", ".txt", ".tsv", ".data", ".parquet", ".pq")

#: Larger files are not read for a look at them, but when they are imported.
LOOKED_AT = LARGEST_BODY

_ROWS = 10


@dataclass(frozen=True)
class Preview:
    """What a file holds, as far as it was read."""

    users: int
    links: int
    is_directed: bool
    dropped: int
    placed: float
    rows: Sequence[Sequence[str]]


@bp.get("/upload")
@needs("store")
def upload() -> Response:
    """Ask for a file."""
    ways = ways_of("graph import", {"file": "follows.json", "graph": "follows"}, request="PUT /v1/graphs/follows")
    return shown("upload.html", largest=LARGEST_BODY, ways=ways)


@bp.post("/upload")
@needs("store")
def uploaded() -> Answered:
    """Take a file that came whole, or one whose pieces a script has sent already."""
    id, file = request.form.get("upload"), request.files.get("file")
    if not id:
        data = b"" if file is None else file.read()
        if not data:
            raise InvalidInput("The file is empty. Choose another one.")
        opened = service().uploads.open(account(), len(data))
        id = service().uploads.add(opened.id, account(), 0, data).id
    name = request.form.get("filename") or (file.filename if file else None) or ""
    if _is_table(name, service().uploads.file(id, account())):
        return go("pages.look_at_table", id=id, name=name)
    return go("pages.look", id=id, name=_name_of(name), format=_format_of(name))


@bp.get("/upload/<id>")
@needs("store")
def look(id: str) -> Response | Answered:
    """Show what an upload holds, before it is imported."""
    from crawler.archives import readable

    path = service().uploads.file(id, account())
    name, format = request.args.get("name", ""), request.args.get("format", "node-link")
    if format == TABLE:
        return go("pages.look_at_table", id=id, name=name)
    found, wrong = None, None
    if path.stat().st_size <= LOOKED_AT:
        try:
            with path.open("rb") as file:
                refuse_swelling(file)
            found = _preview(path, format)
        except ReportedError as error:
            call_by("the file", str(path))
            wrong = outside(error.worded(named_here))
    options = {"file": "FILE", "graph": name or "NAME", "format": format}
    ways = ways_of("graph import", options, request=f'PUT /v1/graphs/{name}?format={format}\n{{"upload": "{id}"}}')
    size = path.stat().st_size
    return shown("preview.html", id=id, name=name, format=format, formats=[*sorted(readable), TABLE],
                 found=found, wrong=wrong, size=size, ways=ways)  # fmt: skip


@bp.post("/upload/<id>")
@needs("store")
def import_(id: str) -> Answered:
    """Import an upload as a job."""
    form = request.form
    name, format = form.get("name", ""), form.get("format", "")
    if split(name)[1] in _taken():
        return go("pages.look", id=id, name=name, format=format, taken="yes")
    return go("pages.job", id=_imported(name, {"file": {"upload": id}, "format": format}))


@bp.post("/demo")
@needs("store")
def demo() -> Answered:
    """Make up a graph and import it as a job."""
    from graphpriv.formats import formats
    from graphpriv.synthetic import synthetic_graph

    # Nobody in it exists, so everybody may get the same one.
    data = "".join(formats["node-link"].method().text(synthetic_graph(rng=np.random.default_rng(1)))).encode()
    opened = service().uploads.open(account(), len(data))
    service().uploads.add(opened.id, account(), 0, data)
    options: dict[str, Any] = {"file": {"upload": opened.id}, "format": "node-link"}
    return go("pages.job", id=_imported(_free("demo"), options))


def _imported(name: str, options: dict[str, Any]) -> str:
    """The job that imports a file as the graph called *name*."""
    graphs = service().graphs
    service().note_access("graph import", (Thing("graph", "original", split(name)[1]),), account())
    return asked("graph import", {**options, "graph": graphs.place_for(name, "original")})


def _free(name: str) -> str:
    """A *name* that no original has."""
    taken = _taken()
    return next(each for each in (name, *(f"{name}-{number}" for number in range(2, 10_000))) if each not in taken)


def _taken() -> set[str]:
    """The names that originals have."""
    return {each.name for each in service().graphs.visible(account().role) if each.kind == "original"}


def _preview(path: Path, format: str) -> Preview:
    from crawler.archives import read_original

    imported: Imported = read_original(str(path), format=format).imported
    graph = imported.graph
    location = graph.profiles()[:, 0]
    keys, topics = graph.places.keys, graph.topic_names
    rows = []
    for user, codes in zip(graph.ids[:_ROWS], graph.profiles()[:_ROWS].tolist(), strict=True):
        place = keys[codes[0]] if codes[0] >= 0 else ""
        rows.append([user, place, *(topics[code] if code < len(topics) and code >= 0 else "" for code in codes[1:])])
    dropped = imported.dropped.self_loops + imported.dropped.parallel
    placed = float((location >= 0).mean()) if len(graph) else 0.0
    return Preview(len(graph), graph.edge_count, graph.directed, dropped, placed, rows)


def _is_table(name: str, path: Path) -> bool:
    """Whether a file is read as a table to begin with: an edge list says in its first line what it is."""
    ending = Path(name.lower()).suffix
    with path.open("rb") as file:
        first = file.read(4096).split(b"\n")[0].decode("utf-8", "replace").strip().lower()
    cells = tuple(each.strip("\"' ") for each in re.split(r"[,;\t| ]+", first))
    is_edges = first.startswith("#") or cells[:2] in HEADERS
    return ending in _TABLES[-2:] or first.startswith("par1") or (ending in _TABLES and not is_edges)


def _format_of(name: str) -> str:
    return next((format for ending, format in _BY_ENDING.items() if name.lower().endswith(ending)), "node-link")


def _name_of(file: str) -> str:
    return Path(file.replace("\\", "/")).name.partition(".")[0][:64]
