"""GEXF; a user's place stands at the node twice: by name for Gephi, and as a path in JSON so that nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from graphpriv.formats.contract import GraphFormat, Imported, Origin, formats
from graphpriv.formats.draft import INLINE_PATH, TOPIC_COLUMNS
from graphpriv.formats.sources import places_that_occur
from graphpriv.formats.xml import Attributes, ElementReader, attribute_of, direction, profiles
from graphpriv.graph import SocialGraph
from tabular.errors import InvalidInput, InvalidRecord
from tabular.loop import Report

#: What the standard says of edges without a type; a mutual edge is one in either direction.
_DIRECTED = {"directed": True, "undirected": False, "mutual": True}
_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.gexf.net/1.2draft http://www.gexf.net/1.2draft/gexf.xsd" version="1.2">
"""
#: Attributes of an edge that are no data.
_OF_EDGES = {"id", "source", "target", "type"}


@formats.add(
    "gexf",
    cites="GEXF Working Group (2009), GEXF 1.2; NetworkX, read_gexf",
    limits="All edges directed or none; no hierarchies of nodes, no changes over time, and no document type. Control "
    "characters cannot be written.",
)
@dataclass(frozen=True, kw_only=True)
class GEXF(GraphFormat):
    """Keep a graph as GEXF, for Gephi and NetworkX."""

    suffixes: ClassVar[tuple[str, ...]] = (".gexf",)

    def read(self, origin: Origin) -> Imported:
        return _Reader.read(origin)

    def text(self, graph: SocialGraph) -> Iterator[str]:
        tree, location = places_that_occur(graph)
        yield f'{_HEAD}  <graph defaultedgetype="{"directed" if graph.directed else "undirected"}" mode="static">\n'
        names = ("location", INLINE_PATH, *TOPIC_COLUMNS, *graph.private)
        yield '    <attributes class="node" mode="static">\n'
        for number, name in enumerate(names):
            yield f'      <attribute id="{number}" title="{name}" type="string" />\n'
        yield "    </attributes>\n    <nodes>\n"
        numbers = {name: number for number, name in enumerate(names)}
        places = [
            _value(0, key, "A place") + _value(1, json.dumps(tree.path(node), ensure_ascii=False), "A place")
            for key, node in tree.by_key.items()
        ]
        ids = [attribute_of(name, f"The id of user {user}") for user, name in enumerate(graph.ids)]
        written = profiles(graph, location, places, lambda name, text, what: _value(numbers[name], text, what))
        for user, profile in zip(ids, written, strict=True):
            yield f"      <node id={user} label={user}><attvalues>\n{profile}      </attvalues></node>\n"
        yield "    </nodes>\n    <edges>\n"
        sources, targets = graph.edges()
        for number, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
            yield f'      <edge id="{number}" source={ids[source]} target={ids[target]} />\n'
        yield "    </edges>\n  </graph>\n</gexf>\n"


class _Reader(ElementReader):
    """The state of reading a GEXF file."""

    def __init__(self, file: str, report: Report) -> None:
        super().__init__(file, report)
        self.attributes = {"node": Attributes(), "edge": Attributes()}
        self.default: bool | None = None
        self.directed: bool | None = None
        self._root = False
        self._declared = "node"
        #: The node or edge whose values come now: what it is, where it began, its id, its values.
        self._open: tuple[str, int, str | None, dict[str, object]] | None = None

    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        if not self._root:
            if name != "gexf":
                raise InvalidInput(f"{self.at(line)}: this is not GEXF; it begins with another element.")
            self._root = True
        elif name == "graph":
            if self.default is not None:
                raise InvalidRecord(f"{self.at(line)}: this is a second graph; a file holds one.")
            self.default = direction(attributes.get("defaultedgetype", "undirected"), _DIRECTED, self.at(line))
        elif name == "attributes":
            self._declared = attributes.get("class", "node")
            if self._declared not in self.attributes:
                raise InvalidRecord(f"{self.at(line)}: attributes belong to the class node or edge.")
        elif name == "attribute":
            self._declare(attributes, line)
        elif name in ("node", "edge"):
            self._element(name, attributes, line)
        elif name == "attvalue" and self._open is not None:
            key = attributes.get("for", attributes.get("id"))
            self._open[3][self.attributes[self._open[0]].name(key, self.at(line))] = attributes.get("value")

    def end(self, name: str, text: str, line: int) -> None:
        if name == "default":
            self.attributes[self._declared].default(text)
        elif name in ("node", "edge") and self._open is not None:
            owner, begun, user, values = self._open
            self._open = None
            if owner == "node":
                self.draft.add_user(begun, user, {**self.attributes["node"].defaults, **values})
            else:
                self.draft.ignored.update(f"{each} (edges)" for each in values)

    def _declare(self, attributes: dict[str, str], line: int) -> None:
        key = attributes.get("id")
        if key is None:
            raise InvalidRecord(f"{self.at(line)}: this attribute has no id.")
        self.attributes[self._declared].declare(key, attributes.get("title", key))
        if self._declared == "node":
            self.draft.declare((attributes.get("title", key),))

    def _element(self, name: str, attributes: dict[str, str], line: int) -> None:
        if self.default is None or self._open is not None:
            raise InvalidRecord(f"{self.at(line)}: this {name} stands inside another one, or outside of the graph.")
        values: dict[str, object] = {}
        if name == "node":
            if "pid" in attributes:
                raise InvalidRecord(f"{self.at(line)}: this node lies inside another; nodes cannot be nested.")
            # Writers repeat the id as label; only one that says more is lost.
            if attributes.get("label") != attributes.get("id"):
                values["label"] = attributes.get("label")
        else:
            values.update((key, value) for key, value in attributes.items() if key not in _OF_EDGES)
            self._edge(attributes, line)
        self._open = (name, line, attributes.get("id"), values)

    def _edge(self, attributes: dict[str, str], line: int) -> None:
        kind = attributes.get("type")
        directed = self.default if kind is None else direction(kind, _DIRECTED, self.at(line))
        if self.directed is None:
            self.directed = directed
        if directed != self.directed:
            raise self.refuse_mixed(line)
        source, target = attributes.get("source"), attributes.get("target")
        self.draft.add_edge(line, source, target)
        if kind == "mutual":
            self.draft.add_edge(line, target, source)

    def declared(self) -> tuple[bool, object, str] | None:
        if self.default is None:
            return None
        return self.default if self.directed is None else self.directed, None, self.file


def _value(number: int, text: str, what: str) -> str:
    return f'        <attvalue for="{number}" value={attribute_of(text, what)} />\n'
