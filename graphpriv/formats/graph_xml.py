"""XML read element by element and written with care, with the standard library's parser.

No document type, no entity, no external address: what could make a parser fetch or swell is refused.

In GEXF a user's place stands at the node twice: by name for Gephi, and as a path in JSON so that nothing is lost. In
GraphML the places of the graph stand in its attribute `locations`, as the JSON of the node-link format.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

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
from graphpriv.formats.draft import INLINE_PATH, TOPIC_COLUMNS, Draft
from graphpriv.graph import ATTRIBUTES
from tabular.errors import InvalidInput, InvalidRecord

#: Graphs lie a few elements deep; labels of drawing programs a few more.
DEEPEST = 200

#: What XML 1.0 cannot hold, not even as a reference.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

#: Called when an element begins: name without namespace, attributes, line.
Begin = Callable[[str, dict[str, str], int], None]
#: Called when an element ends: name, the text that stood directly in it, line.
End = Callable[[str, str, int], None]


def read_elements(data: bytes, file: str, begin: Begin, end: End) -> None:
    """Tell *begin* and *end* of each element in the XML *data*; errors name *file* and line."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    texts: list[list[str]] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        if len(texts) == DEEPEST:
            raise InvalidInput(f"{file}, line {parser.CurrentLineNumber}: this is nested too deeply.")
        texts.append([])
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        begin(name.rpartition(" ")[2], local, parser.CurrentLineNumber)

    def ended(name: str) -> None:
        end(name.rpartition(" ")[2], "".join(texts[-1]), parser.CurrentLineNumber)
        texts.pop()

    def document_type(*_: object) -> None:
        line = parser.CurrentLineNumber
        raise InvalidInput(
            f"{file}, line {line}: a document type is refused, since it can define entities; take it out."
        )

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = lambda characters: texts[-1].append(characters)
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InvalidInput(f"{file}, line {error.lineno}: this is not XML: {expat.ErrorString(error.code)}.") from None
    except (LookupError, UnicodeError, ValueError):
        # Inside of an element it is no matter of the encoding.
        if texts:
            raise
        raise InvalidInput(f"{file}, line 1: the XML says that it is in an encoding that is not known here.") from None


def nodes(
    graph: WrittenGraph, location: NDArray[np.int32], places: Sequence[str], value: Callable[[str, str, str], str]
) -> Iterator[tuple[str, str]]:
    """Of each user the id as the value of an attribute, and the elements of place, topics and private columns.

    *value* writes one element: its column, text and meaning. *places* are the elements of each place.
    """
    # Places and topics repeat: each is written once. UNKNOWN and EMPTY are -1 and find the nothing at the end.
    topics = [[*(value(each, name, "The name of a topic") for name in graph.topic_names), ""] for each in TOPIC_COLUMNS]
    placed = [*places, ""]
    for user, (name, place, profile, texts) in enumerate(users_of(graph, location)):
        private = "".join(
            value(column, text, f"{column} of user {user}")
            for column, text in zip(graph.private, texts, strict=True)
            if text is not None
        )
        one, two, three = (each[code] for each, code in zip(topics, profile, strict=True))
        yield attribute_of(name, f"The id of user {user}"), f"{placed[place]}{one}{two}{three}{private}"


def content_of(text: str, what: str) -> str:
    """The *text* as content of an element; *what* it is stands in the error if XML cannot hold it."""
    return escape(_checked(text, what), {"\r": "&#13;"})


def attribute_of(text: str, what: str) -> str:
    """The *text* as the value of an attribute, in quotes."""
    return quoteattr(_checked(text, what))


def _checked(text: str, what: str) -> str:
    if _FORBIDDEN.search(text):
        raise InvalidRecord(f"{what} has a control character, which XML cannot hold; write node-link JSON.")
    return text


def ends_of(graph: WrittenGraph, ids: Texts) -> Iterator[str]:
    """The ends of each edge, up to the end of its element."""
    for source, target in graph.ends():
        yield f"source={ids[source]} target={ids[target]} />\n"


class ElementReader(ABC):
    """The state of reading a graph in XML, where attributes are declared before nodes and edges have values of them."""

    def __init__(self, origin: Origin) -> None:
        self.origin, self.file = origin, str(origin.path)
        self.draft = Draft(self.file, self.at, self.at, origin.report)
        #: Whether the graph says that its edges have a direction, and whether they have one.
        self.default: bool | None = None
        self.directed: bool | None = None
        self.locations: str | None = None
        #: Of nodes, edges and the graph the name behind each key, and default values by name.
        self.names: dict[str, dict[str, str]] = {owner: {} for owner in ("node", "edge", "graph")}
        self.defaults: dict[str, dict[str, str]] = {owner: {} for owner in self.names}
        self._declared: tuple[Sequence[str], str] = ((), "")
        #: The nodes, edges and graphs whose values come now: what each is, where it began, its id, its values.
        self.open: list[tuple[str, int, str | None, dict[str, object]]] = []

    def read(self) -> Imported:
        """The graph in the file."""
        read_elements(content(self.origin.path), self.file, self.begin, self.end)
        if self.default is None:
            raise InvalidInput(f"{self.file}: there is no graph in it.")
        said = (self.origin.directed, self.directed, self.default)
        directed = next(each for each in said if each is not None)
        return self.draft.graph(self.locations, directed=directed, where=f"{self.file}, locations")

    def at(self, line: int) -> str:
        """A place in the file, for errors."""
        return f"{self.file}, line {line}"

    @abstractmethod
    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends."""
        if name == "default":
            owners, declared = self._declared
            for each in owners:
                self.defaults[each][declared] = text
        elif name in self.names and self.open:
            owner, begun, user, values = self.open.pop()
            if owner == "node":
                self.draft.add_user(begun, user, {**self.defaults["node"], **values})
            else:
                self.draft.ignored.update(f"{each} ({'edges' if owner == 'edge' else owner})" for each in values)

    def declare(self, what: str, owners: Sequence[str], attributes: dict[str, str], title: str, line: int) -> None:
        """Note what the id of an element stands for in *owners*: what stands under *title*, else the id itself."""
        key = attributes.get("id")
        if key is None:
            raise InvalidRecord(f"{self.at(line)}: this {what} has no id.")
        name = attributes.get(title, key)
        self._declared = owners, name
        for owner in owners:
            self.names[owner][key] = name
        if "node" in owners:
            self.draft.declare((name,))

    def hold(self, key: str | None, value: object, line: int) -> None:
        """Take a value of the element that was opened last."""
        owner, _, _, values = self.open[-1]
        if key is None or key not in self.names[owner]:
            raise InvalidRecord(f"{self.at(line)}: this value's attribute is not declared in the file.")
        values[self.names[owner][key]] = value

    def direction(self, said: str | None, allowed: dict[str, bool], line: int) -> bool:
        """Whether what the file *said* of its edges means that they have a direction."""
        if said not in allowed:
            raise InvalidRecord(f"{self.at(line)}: the direction of edges must be one of {', '.join(allowed)}.")
        return allowed[said]

    def edge(self, attributes: dict[str, str], line: int, *, directed: bool | None) -> None:
        """Take an edge, if it has a direction like all others."""
        if self.directed is None:
            self.directed = directed
        if directed != self.directed:
            raise InvalidRecord(f"{self.at(line)}: either all edges are directed or none; this one differs.")
        self.draft.add_edge(line, attributes.get("source"), attributes.get("target"))


#: What the standard says of edges without a type; a mutual edge is one in either direction.
_EDGE_TYPES = {"directed": True, "undirected": False, "mutual": True}
_GEXF_HEAD = """<?xml version="1.0" encoding="utf-8"?>
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
        return _GEXFReader(origin).read()

    def text(self, graph: WrittenGraph) -> Iterator[str]:
        tree, location = places_that_occur(graph)
        yield _GEXF_HEAD
        yield f'  <graph defaultedgetype="{"directed" if graph.directed else "undirected"}" mode="static">\n'
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
        ids = Texts()
        for user, profile in nodes(graph, location, places, lambda name, text, what: _value(numbers[name], text, what)):
            ids.append(user)
            yield f"      <node id={user} label={user}><attvalues>\n{profile}      </attvalues></node>\n"
        yield "    </nodes>\n    <edges>\n"
        for number, ends in enumerate(ends_of(graph, ids)):
            yield f'      <edge id="{number}" {ends}'
        yield "    </edges>\n  </graph>\n</gexf>\n"


class _GEXFReader(ElementReader):
    """The state of reading a GEXF file."""

    _root = False
    #: What the attributes belong to that are declared now.
    _owner = "node"

    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        if not self._root:
            if name != "gexf":
                raise InvalidInput(f"{self.at(line)}: this is not GEXF; it begins with another element.")
            self._root = True
        elif name == "graph":
            if self.default is not None:
                raise InvalidRecord(f"{self.at(line)}: this is a second graph; a file holds one.")
            self.default = self.direction(attributes.get("defaultedgetype", "undirected"), _EDGE_TYPES, line)
        elif name == "attributes":
            self._owner = attributes.get("class", "node")
            if self._owner not in ("node", "edge"):
                raise InvalidRecord(f"{self.at(line)}: attributes belong to the class node or edge.")
        elif name == "attribute":
            self.declare(name, (self._owner,), attributes, "title", line)
        elif name in ("node", "edge"):
            self._element(name, attributes, line)
        elif name == "attvalue" and self.open:
            self.hold(attributes.get("for", attributes.get("id")), attributes.get("value"), line)

    def _element(self, name: str, attributes: dict[str, str], line: int) -> None:
        if self.default is None or self.open:
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
            kind = attributes.get("type")
            directed = self.default if kind is None else self.direction(kind, _EDGE_TYPES, line)
            self.edge(attributes, line, directed=directed)
            if kind == "mutual":
                self.draft.add_edge(line, attributes.get("target"), attributes.get("source"))
        self.open.append((name, line, attributes.get("id"), values))


def _value(number: int, text: str, what: str) -> str:
    return f'        <attvalue for="{number}" value={attribute_of(text, what)} />\n'


_DIRECTED = {"directed": True, "undirected": False}
_BOOLEAN = {"true": True, "false": False, "1": True, "0": False}
_GRAPHML_HEAD = """<?xml version="1.0" encoding="utf-8"?>
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
        return _GraphMLReader(origin).read()

    def text(self, graph: WrittenGraph) -> Iterator[str]:
        tree, location = places_that_occur(graph)
        yield _GRAPHML_HEAD
        yield '  <key id="locations" for="graph" attr.name="locations" attr.type="string" />\n'
        names = (*ATTRIBUTES, *graph.private)
        for name in names:
            yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="string" />\n'
        yield f'  <graph edgedefault="{"directed" if graph.directed else "undirected"}">\n    <data key="locations">'
        locations = {key: tree.path(node) for key, node in tree.by_key.items()}
        yield f"{content_of(json.dumps(locations, ensure_ascii=False), 'A place')}</data>\n"
        places = [_data("location", key, "The name of a place") for key in tree.keys]
        ids = Texts()
        for user, profile in nodes(graph, location, places, _data):
            ids.append(user)
            yield f"    <node id={user}>\n{profile}    </node>\n"
        for ends in ends_of(graph, ids):
            yield f"    <edge {ends}"
        yield "  </graph>\n</graphml>\n"


class _GraphMLReader(ElementReader):
    """The state of reading a GraphML file."""

    _key: str | None = None
    #: How deep in elements that are not GraphML's, and whether the data element that is open holds such.
    _foreign = 0
    _holds_elements = False

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
            owner = attributes.get("for", "all")
            self.declare(name, [each for each in self.names if owner in (each, "all")], attributes, "attr.name", line)
        elif name == "data":
            self._key = attributes.get("key", "")
        elif name == "graph":
            if self.default is not None:
                raise InvalidRecord(f"{self.at(line)}: this is a second graph; a file holds one, and none inside it.")
            self.default = self.directed = self.direction(attributes.get("edgedefault"), _DIRECTED, line)
            self.open.append((name, line, None, {}))
        elif name in ("node", "edge"):
            if not self.open or self.open[-1][0] != "graph":
                raise InvalidRecord(f"{self.at(line)}: this {name} is not directly in a graph.")
            self.open.append((name, line, attributes.get("id"), {}))
            if name == "edge":
                said = attributes.get("directed")
                directed = self.default if said is None else self.direction(said, _BOOLEAN, line)
                self.edge(attributes, line, directed=directed)
        elif not self.open and name not in ("graphml", "default"):
            raise InvalidInput(f"{self.at(line)}: this is not GraphML; its elements are unknown.")

    def end(self, name: str, text: str, line: int) -> None:
        if self._foreign:
            self._foreign -= 1
        elif name == "data":
            self._data(text, line)
        else:
            super().end(name, text, line)

    def _data(self, text: str, line: int) -> None:
        key, self._key = self._key, None
        held: object = () if self._holds_elements else text
        self._holds_elements = False
        if not self.open:
            return
        self.hold(key, held, line)
        owner, _, _, data = self.open[-1]
        if owner == "graph" and "locations" in data:
            del data["locations"]
            self.locations = text


def _data(key: str, text: str, what: str) -> str:
    return f'      <data key="{key}">{content_of(text, what)}</data>\n'
