"""What every graph file format promises, and the registry of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from graphpriv.graph import Dropped, SocialGraph
from tabular.progress import Report, silent
from tabular.registry import Method, Registry


@dataclass(frozen=True)
class Imported:
    """A graph that was read, and what of the file is not in it."""

    graph: SocialGraph
    dropped: Dropped
    #: Attributes that a social graph does not have, with how many records had one.
    ignored: dict[str, int]
    #: What was decided in reading because the file did not say it: sentences for the one who asked.
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
    #: Whether a graph is one file of it, which can then be a stream.
    single: ClassVar[bool] = True

    @abstractmethod
    def read(self, origin: Origin) -> Imported:
        """The graph in a file."""

    @abstractmethod
    def write(self, graph: SocialGraph, path: Path, *, overwrite: bool, private: bool = False) -> list[Path]:
        """Write *graph* down, and say which files it went to."""


formats: Registry[GraphFormat] = Registry("graph format")
