"""XML read element by element and written with care, with the standard library's parser.

No document type, no entity, no external address: what could make a parser fetch or swell is refused.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from graphpriv.formats.contract import Imported, Origin
from graphpriv.formats.draft import TOPIC_COLUMNS, Draft
from graphpriv.formats.sources import content
from graphpriv.graph import SocialGraph
from tabular.errors import InvalidInput, InvalidRecord
from tabular.loop import Report

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


def profiles(
    graph: SocialGraph, location: NDArray[np.int32], places: Sequence[str], value: Callable[[str, str, str], str]
) -> Iterator[str]:
    """The elements of each user's place, topics and private columns; *value* writes one: its column, text and meaning.

    *places* are the elements of each place.
    """
    # Places and topics repeat: each is written once. UNKNOWN and EMPTY are -1 and find the nothing at the end.
    topics = [[*(value(each, name, "The name of a topic") for name in graph.topic_names), ""] for each in TOPIC_COLUMNS]
    placed = [*places, ""]
    for user, (place, profile) in enumerate(zip(location.tolist(), graph.topics.tolist(), strict=True)):
        private = "".join(
            value(name, text, f"{name} of user {user}")
            for name, column in graph.private.items()
            if (text := column[user]) is not None
        )
        one, two, three = (each[code] for each, code in zip(topics, profile, strict=True))
        yield f"{placed[place]}{one}{two}{three}{private}"


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


class ElementReader(ABC):
    """The state of reading a graph in XML."""

    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.draft = Draft(file, self.at, self.at, report)

    @classmethod
    def read(cls, origin: Origin) -> Imported:
        """The graph in a file."""
        reader = cls(str(origin.path), origin.report)
        read_elements(content(origin.path), reader.file, reader.begin, reader.end)
        found = reader.declared()
        if found is None:
            raise InvalidInput(f"{reader.file}: there is no graph in it.")
        directed, locations, where = found
        if origin.directed is not None:
            directed = origin.directed
        return reader.draft.graph(locations, directed=directed, where=where)

    def at(self, line: int) -> str:
        """A place in the file, for errors."""
        return f"{self.file}, line {line}"

    @abstractmethod
    def begin(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, name: str, text: str, line: int) -> None:
        """An element ends."""

    @abstractmethod
    def declared(self) -> tuple[bool, object, str] | None:
        """Whether the edges have a direction, the locations and where these stand; None if there was no graph."""

    def refuse_mixed(self, line: int) -> InvalidRecord:
        """The error for an edge whose direction is not that of the others."""
        return InvalidRecord(f"{self.at(line)}: either all edges are directed or none; this one differs.")


class Attributes:
    """The attributes that a file declares: the name behind each key, and its default value."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.defaults: dict[str, str] = {}
        self._last = ""

    def declare(self, key: str, name: str) -> None:
        """Note that *key* stands for *name*."""
        self.names[key] = name
        self._last = name

    def default(self, value: str) -> None:
        """Note the default of the attribute declared last."""
        self.defaults[self._last] = value

    def name(self, key: str | None, where: str) -> str:
        """The name behind *key*."""
        if key is None or key not in self.names:
            raise InvalidRecord(f"{where}: this value's attribute is not declared in the file.")
        return self.names[key]


def direction(said: str | None, allowed: dict[str, bool], where: str) -> bool:
    """Whether what a file *said* of its edges means that they have a direction."""
    if said not in allowed:
        raise InvalidRecord(f"{where}: the direction of edges must be one of {', '.join(allowed)}.")
    return allowed[said]
