"""Node-link JSON, as NetworkX writes it, and NetworkX graphs themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from graphpriv.formats.contract import (
    GraphFormat,
    Imported,
    Origin,
    Texts,
    WrittenGraph,
    content,
    formats,
    places_that_occur,
    users_of,
)
from graphpriv.formats.draft import Draft, kind_of, parsed_json
from graphpriv.graph import SocialGraph
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.disk import decode
from tabular.loop import Report, silent

if TYPE_CHECKING:
    import networkx as nx

#: What an edge has beside its two ends in a multigraph.
_NOT_ATTRIBUTES = {"source", "target", "key"}
_KNOWN = {"directed", "multigraph", "graph", "nodes", "edges", "links", "locations"}


@formats.add(
    "node-link",
    cites="NetworkX, node_link_data; RFC 8259",
    limits="The whole file is held in memory: some 1.5 KiB a user. Attributes of edges are not taken.",
)
@dataclass(frozen=True, kw_only=True)
class NodeLink(GraphFormat):
    """Keep a graph as one JSON object with its nodes, edges and places."""

    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def read(self, origin: Origin) -> Imported:
        data = content(origin.path)
        decode(data, str(origin.path), "utf-8")
        document = parsed_json(data.decode("utf-8-sig"), str(origin.path))
        return from_document(document, str(origin.path), origin.directed, report=origin.report)

    def text(self, graph: WrittenGraph) -> Iterator[str]:
        tree, location = places_that_occur(graph)
        yield f'{{"directed": {json.dumps(graph.directed)}, "multigraph": false,\n"nodes": ['
        # Places and topics repeat: each is written as JSON once. UNKNOWN and EMPTY are -1 and find the null at the end.
        keys = [json.dumps(key, ensure_ascii=False) for key in tree.keys] + ["null"]
        topics = [json.dumps(name, ensure_ascii=False) for name in graph.topic_names] + ["null"]
        ids = Texts()
        columns = [json.dumps(name) for name in graph.private]
        for name, place, (one, two, three), values in users_of(graph, location):
            private = "".join(
                f", {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in zip(columns, values, strict=True)
            )
            id = json.dumps(name, ensure_ascii=False)
            yield (
                f'{"," if len(ids) else ""}\n{{"id": {id}, "location": {keys[place]}, '
                f'"topics": [{topics[one]}, {topics[two]}, {topics[three]}]{private}}}'
            )
            ids.append(id)
        yield '\n],\n"edges": ['
        comma = ""
        for source, target in graph.ends():
            yield f'{comma}\n{{"source": {ids[source]}, "target": {ids[target]}}}'
            comma = ","
        yield '\n],\n"locations": {'
        for node, key in enumerate(keys[:-1]):
            yield f"{',' if node else ''}\n{key}: {json.dumps(tree.path(node), ensure_ascii=False)}"
        yield "\n}}\n"


def from_document(document: Any, file: str, directed: bool | None = None, *, report: Report = silent) -> Imported:
    """The graph of a JSON *document*; errors name *file*."""
    if not isinstance(document, dict):
        raise InvalidInput(f"{file}: node-link JSON is an object with nodes and edges, not {kind_of(document)}.")
    said = document.get("directed", False)
    if not isinstance(said, bool):
        raise InvalidRecord(f"{file}, directed: must be true or false, not {kind_of(said)}.")
    # NetworkX called them links before; what is missing is missed under the name of today.
    edges = "links" if "links" in document and "edges" not in document else "edges"
    draft = Draft(file, lambda number: f"{file}, nodes[{number}]", lambda number: f"{file}, {edges}[{number}]", report)
    for number, node in enumerate(_records(document, "nodes", file)):
        if "id" not in node:
            raise InvalidRecord(f"{file}, nodes[{number}]: id is missing.")
        draft.add_user(number, node["id"], {key: value for key, value in node.items() if key != "id"})
    for number, edge in enumerate(_records(document, edges, file)):
        draft.add_edge(number, edge.get("source"), edge.get("target"))
        if len(edge) > 2:
            draft.ignored.update(f"{key} (edges)" for key in edge if key not in _NOT_ATTRIBUTES)
    attributes = document.get("graph")
    attributes = attributes if isinstance(attributes, dict) else {}
    draft.ignored.update(f"{key} (graph)" for key in document if key not in _KNOWN)
    draft.ignored.update(f"{key} (graph)" for key in attributes if key != "locations")
    locations = document.get("locations", attributes.get("locations"))
    return draft.graph(locations, directed=said if directed is None else directed, where=f"{file}, locations")


def _records(document: dict[str, Any], name: str, file: str) -> Iterator[dict[str, Any]]:
    records = document.get(name)
    if not isinstance(records, list):
        found = "is missing" if name not in document else f"must be a list, not {kind_of(records)}"
        raise InvalidRecord(f"{file}, {name}: {found}.")
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise InvalidRecord(f"{file}, {name}[{number}]: must be an object, not {kind_of(record)}.")
        yield record


def imported_from_networkx(graph: nx.Graph) -> Imported:
    """The social graph of a NetworkX graph: `location` and `topics` of its nodes, `locations` of the graph.

    It tells of the self-loops and parallel edges that were dropped and the attributes that were not taken.
    """
    draft = Draft("graph", lambda number: f"node {number}", lambda number: f"edge {number}")
    for number, (node, attributes) in enumerate(graph.nodes(data=True)):
        draft.add_user(number, node, {str(name): value for name, value in attributes.items()})
    for number, (source, target, attributes) in enumerate(graph.edges(data=True)):
        draft.add_edge(number, source, target)
        draft.ignored.update(f"{name} (edges)" for name in attributes)
    draft.ignored.update(f"{name} (graph)" for name in graph.graph if name != "locations")
    locations = graph.graph.get("locations")
    return draft.graph(locations, directed=graph.is_directed(), where="graph, locations")


def to_networkx(graph: SocialGraph) -> nx.Graph:
    """The same graph for NetworkX; a user without a place has the `location` None, an empty topic is None."""
    import networkx as nx

    tree, location = places_that_occur(graph)
    result = nx.DiGraph() if graph.directed else nx.Graph()
    result.graph["locations"] = {key: [list(step) for step in tree.path(node)] for key, node in tree.by_key.items()}
    keys, topics = [*tree.keys, None], [*graph.topic_names, None]
    for user, name in enumerate(graph.ids):
        attributes: dict[str, Any] = {key: column[user] for key, column in graph.private.items()}
        attributes["location"] = keys[location[user]]
        attributes["topics"] = [topics[code] for code in graph.topics[user]]
        result.add_node(name, **attributes)
    sources, targets = graph.edges()
    result.add_edges_from((graph.ids[a], graph.ids[b]) for a, b in zip(sources.tolist(), targets.tolist(), strict=True))
    return result
