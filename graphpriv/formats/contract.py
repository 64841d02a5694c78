"""The contract and registry of graph file formats, the bytes of their files, and what of a graph goes into one."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import Dropped, SocialGraph, in_blocks
from graphpriv.places import UNKNOWN, PlaceTree
from tabular.errors import InvalidInput
from tabular.files.disk import read_bytes
from tabular.loop import Report, silent
from tabular.registry import Method, Registry


@dataclass(frozen=True)
class Imported:
    """A graph that was read, and what of the file is not in it."""

    graph: SocialGraph
    dropped: Dropped
    #: Attributes that a social graph does not have, with how many records had one.
    ignored: dict[str, int]
    #: Decisions made while reading that the file did not state, as sentences.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """The files that a graph is read from, and how to take them."""

    path: Path
    attributes: Path | None = None
    places: Path | None = None
    #: Whether edges have a direction, whatever the file says; None leaves it to the file.
    directed: bool | None = None
    report: Report = silent


class WrittenGraph(Protocol):
    """What of a graph goes into a file: a `SocialGraph`, or one that a store reads page by page."""

    @property
    def directed(self) -> bool: ...
    @property
    def places(self) -> PlaceTree: ...
    @property
    def location(self) -> NDArray[np.int32]: ...
    @property
    def topic_names(self) -> tuple[str, ...]: ...
    @property
    def topics(self) -> NDArray[np.int32]: ...
    @property
    def private(self) -> Iterable[str]: ...
    def people(self) -> Iterator[tuple[str, Sequence[str | None]]]: ...
    def ends(self) -> Iterator[tuple[int, int]]: ...


#: Writes one file.
Writer = Callable[[IO[bytes]], None]


@dataclass(frozen=True, kw_only=True)
class GraphFormat(Method):
    """A way to write a social graph down."""

    #: How the names of such files end.
    suffixes: ClassVar[tuple[str, ...]] = ()
    #: What the files beside the first one are called, where a graph is several files.
    parts: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, origin: Origin) -> Imported:
        """The graph in a file."""

    @abstractmethod
    def text(self, graph: WrittenGraph) -> Iterator[str]:
        """The text of the first file, in pieces."""

    def paths(self, path: Path) -> list[Path]:
        """The files of a graph whose first one is *path*."""
        return [path, *(path.with_suffix(f".{part}.csv") for part in self.parts)]

    def writers(self, graph: WrittenGraph, path: Path) -> list[Writer]:
        """What writes each of the files of `paths(path)`, in their order."""
        return [lambda file: write_pieces(file, self.text(graph))]


def write_pieces(file: IO[bytes], pieces: Iterable[str]) -> None:
    """Write many short texts to a file."""
    remaining = iter(pieces)
    while block := "".join(islice(remaining, 1 << 14)):
        file.write(block.encode())


formats: Registry[GraphFormat] = Registry("graph format")


GZIP = b"\x1f\x8b"

#: Text shrinks to a tenth or so; what grows a thousandfold is made to fill the memory.
MOST_GROWTH = 300
ALWAYS_ALLOWED = 1 << 26


def content(path: Path) -> bytes:
    """The content of a file, unpacked if it is a gzip file; a file that is empty is none."""
    data = read_bytes(path)
    if data[:2] == GZIP:
        data = _unpacked(data, path)
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidInput(f"{path}: the file is empty.")
    return data


def _unpacked(data: bytes, path: Path) -> bytes:
    most = max(ALWAYS_ALLOWED, MOST_GROWTH * len(data))
    parts: list[bytes] = []
    size = 0
    try:
        # A gzip file may have several members, one after the other.
        while data[:2] == GZIP:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(data, most - size + 1))
            size += len(parts[-1])
            if size > most:
                raise InvalidInput(f"{path}: unpacked, the file is more than {most >> 20} MiB; unpack it first.")
            if not member.eof:
                raise InvalidInput(f"{path}: the gzip file ends too early.")
            data = member.unused_data
    except zlib.error as error:
        raise InvalidInput(f"{path}: this is not a sound gzip file ({error}).") from None
    return b"".join(parts)


class Texts:
    """Many short texts by their number, in one piece of memory: a list of them takes four times as much.

    >>> texts = Texts(["ann", "böb"])
    >>> texts.append("")
    >>> [texts[number] for number in range(len(texts))]
    ['ann', 'böb', '']
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._content, self._ends = bytearray(), array("q", [0])
        for each in texts:
            self.append(each)

    def append(self, text: str) -> None:
        """Add one at the end."""
        self._content += text.encode()
        self._ends.append(len(self._content))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        """That of a *number* from 0 on."""
        return self._content[self._ends[number] : self._ends[number + 1]].decode()


def users_of(
    graph: WrittenGraph, location: NDArray[np.int32]
) -> Iterator[tuple[str, int, list[int], Sequence[str | None]]]:
    """Of each user the id, the place by *location*, the topics, and what the private columns hold."""
    profiles = zip(in_blocks(location), in_blocks(graph.topics), strict=True)
    for (name, private), (place, topics) in zip(graph.people(), profiles, strict=True):
        yield name, place, topics, private


def places_that_occur(graph: WrittenGraph) -> tuple[PlaceTree, NDArray[np.int32]]:
    """The tree of the places that users have and what lies above them, and the users' places in it.

    A place of nobody, say of a person who was forgotten, does not go into a file.
    """
    tree, moved = graph.places.restricted(np.unique(graph.location).tolist())
    return tree, np.append(moved, np.int32(UNKNOWN))[graph.location]
