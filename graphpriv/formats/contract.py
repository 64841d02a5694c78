"""The contract and registry of graph file formats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, ClassVar

from graphpriv.graph import Dropped, SocialGraph
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
    def text(self, graph: SocialGraph) -> Iterator[str]:
        """The text of the first file, in pieces."""

    def paths(self, path: Path) -> list[Path]:
        """The files of a graph whose first one is *path*."""
        return [path, *(path.with_suffix(f".{part}.csv") for part in self.parts)]

    def write(self, graph: SocialGraph, files: Sequence[IO[bytes]], path: Path) -> None:
        """Write *graph* to the open *files* of `paths(path)`, in their order."""
        write_pieces(files[0], self.text(graph))


def write_pieces(file: IO[bytes], pieces: Iterable[str]) -> None:
    """Write many short texts to a file."""
    remaining = iter(pieces)
    while block := "".join(islice(remaining, 1 << 14)):
        file.write(block.encode())


formats: Registry[GraphFormat] = Registry("graph format")
