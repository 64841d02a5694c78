"""GraphML; the places of the graph stand in its attribute `locations`, as the JSON of the node-link format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from graphpriv.formats.contract import GraphFormat, Imported, Origin, formats
from graphpriv.formats.json_text import parsed_json
from graphpriv.formats.sources import places_that_occur
from graphpriv.formats.xml import Attributes, ElementReader, attribute_of, content_of, direction, profiles
from graphpriv.graph import ATTRIBUTES, SocialGraph
from tabular.errors import InvalidInput, InvalidRecord
from tabular.loop import Report

_DIRECTED = {"directed": True, "undirected": False}
_BOOLEAN = {"true": True, "false": False, "1": True, "0": False}
_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


@formats.add(
    "graphml",
    cites="Brandes, Eiglsperger, Lerner (2013), GraphML; NetworkX, read_graphml",
    limits="One graph a file, all its edges directed or none; no nested graphs, hyperedges or ports, and no document "
    "type. Control characters cannot be written.",
)
@dataclass(frozen=True, kw_only=True)
class GraphML(GraphFormat):
    """Keep a graph as GraphML, for yEd, Gephi, igraph and NetworkX."""

    suffixes: ClassVar[tuple[str, ...]] = (".graphml",)

    def read(self, origin: Origin) -> Imported:
        return _Reader.read(origin)

    def text(self, graph: SocialGraph) -> Iterator[str]:
        tree, location = places_that_occur(graph)
        yield _HEAD
        yield '  <key id="locations" for="graph" attr.name="locations" attr.type="string" />\n'
        names = (*ATTRIBUTES, *graph.private)
        for name in names:
            yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="string" />\n'
        yield f'  <graph edgedefault="{"directed" if graph.directed else "undirected"}">\n    <data key="locations">'
        locations = {key: tree.path(node) for key, node in tree.by_key.items()}
        yield f"{content_of(json.dumps(locations, ensure_ascii=False), 'A place')}</data>\n"
        places = [_data("location", key, "The name of a place") for key in tree.keys]
        ids = [attribute_of(name, f"The id of user {user}") for user, name in enumerate(graph.ids)]
        for user, profile in zip(ids, profiles(graph, location, places, _data), strict=True):
            yield f"    <node id={user}>\n{profile}    </node>\n"
        sources, targets = graph.edges()
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            yield f"    <edge source={ids[source]} target={ids[target]} />\n"
        yield "  </graph>\n</graphml>\n"


class _Reader(ElementReader):
    """The state of reading a GraphML file."""

    def __init__(self, file: str, report: Report) -> None:
        super().__init__(file, report)
        self.keys = {owner: Attributes() for owner in ("node", "edge", "graph")}
        self.locations: str | None = None
        self.directed: bool | None = None
        self._declaring: tuple[Attributes, ...] = ()
        self._key: str | None = None
        #: The node, edge or graph whose data come now: what it is, where it began, its id, its data.
        self._open: list[tuple[str, int, str | None, dict[str, object]]] = []
        #: How deep in elements that are not GraphML's, and whether the data element that is open holds such.
        self._foreign = 0
        self._holds_elements = False

    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        if self._foreign:
            self._foreign += 1
        elif self._key is not None or name in ("desc", "port", "hyperedge", "locator"):
            if name in ("port", "hyperedge"):
                raise InvalidRecord(f"{self.at(line)}: a social graph has no {name}.")
            # What drawing programs put into data elements; it is counted with the attribute it stands in.
            self._foreign = 1
            self._holds_elements = self._key is not None
        elif name == "key":
            self._declare(attributes, line)
        elif name == "data":
            self._key = attributes.get("key", "")
        elif name == "graph":
            if self.directed is not None:
                raise InvalidRecord(f"{self.at(line)}: this is a second graph; a file holds one, and none inside it.")
            self.directed = direction(attributes.get("edgedefault"), _DIRECTED, self.at(line))
            self._open.append((name, line, None, {}))
        elif name in ("node", "edge"):
            if not self._open or self._open[-1][0] != "graph":
                raise InvalidRecord(f"{self.at(line)}: this {name} does not stand directly in a graph.")
            self._open.append((name, line, attributes.get("id"), {}))
            if name == "edge":
                self._edge(attributes, line)
        elif not self._open and name not in ("graphml", "default"):
            raise InvalidInput(f"{self.at(line)}: this is not GraphML; its elements are unknown.")

    def end(self, name: str, text: str, line: int) -> None:
        if self._foreign:
            self._foreign -= 1
            return
        if name == "default":
            for attributes in self._declaring:
                attributes.default(text)
        elif name == "data":
            self._data(text, line)
        elif name in ("node", "edge", "graph") and self._open:
            owner, begun, user, data = self._open.pop()
            if owner == "node":
                self.draft.add_user(begun, user, {**self.keys["node"].defaults, **data})
            else:
                self.draft.ignored.update(
                    f"{each} ({owner}s)" if owner == "edge" else f"{each} (graph)" for each in data
                )

    def _declare(self, attributes: dict[str, str], line: int) -> None:
        owner, key = attributes.get("for", "all"), attributes.get("id")
        if key is None:
            raise InvalidRecord(f"{self.at(line)}: this key has no id.")
        self._declaring = tuple(each for name, each in self.keys.items() if owner in (name, "all"))
        for each in self._declaring:
            each.declare(key, attributes.get("attr.name", key))
        if owner in ("node", "all"):
            self.draft.declare((attributes.get("attr.name", key),))

    def _edge(self, attributes: dict[str, str], line: int) -> None:
        said = attributes.get("directed")
        if said is not None and direction(said, _BOOLEAN, self.at(line)) != self.directed:
            raise self.refuse_mixed(line)
        self.draft.add_edge(line, attributes.get("source"), attributes.get("target"))

    def _data(self, text: str, line: int) -> None:
        key, self._key = self._key, None
        held: object = () if self._holds_elements else text
        self._holds_elements = False
        if not self._open:
            return
        owner, _, _, data = self._open[-1]
        name = self.keys[owner].name(key, self.at(line))
        if owner == "graph" and name == "locations":
            self.locations = text
        else:
            data[name] = held

    def declared(self) -> tuple[bool, object, str] | None:
        where = f"{self.file}, locations"
        if self.directed is None:
            return None
        return self.directed, None if self.locations is None else parsed_json(self.locations, where), where


def _data(key: str, text: str, what: str) -> str:
    return f'      <data key="{key}">{content_of(text, what)}</data>\n'
