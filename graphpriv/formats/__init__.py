"""Graph file formats: read and written by their names' ends, each entered in the registry `formats`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from graphpriv.formats.contract import GraphFormat, Imported, Origin, formats
from graphpriv.graph import SocialGraph
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.files.disk import STREAM, Output, put_right, write_outputs
from tabular.loop import Report, silent

__all__ = ["GraphFormat", "Imported", "format_of", "formats", "graph_files", "read_graph", "write_graph"]

formats.load(__name__)


def read_graph(
    path: str | Path,
    *,
    format: str | None = None,
    attributes: str | Path | None = None,
    places: str | Path | None = None,
    directed: bool | None = None,
    report: Report = silent,
) -> Imported:
    """Read a graph from a file, or from standard input for `-`.

    *attributes* and *places* are files beside an edge list; *directed* overrules what the file says of itself;
    *report* is told how far the reading is.
    """
    name = format_of(path, format)
    chosen = formats[name].method()
    if not chosen.parts and (attributes or places):
        raise InvalidParameter(
            f"{named('attributes')} and {named('places')} are for edge lists; {name} is one file that holds everything."
        )
    origin = Origin(
        path=Path(path),
        attributes=None if attributes is None else Path(attributes),
        places=None if places is None else Path(places),
        directed=directed,
        report=report,
    )
    report("Reading", 0, 0)
    try:
        return chosen.read(origin)
    except RecursionError:
        raise InvalidInput(f"{path}: this is nested too deeply.") from None


def write_graph(
    graph: SocialGraph, path: str | Path, *, format: str | None = None, overwrite: bool = False, private: bool = False
) -> list[Path]:
    """Write *graph* to a file, whole or not at all; `-` is standard output. Places that no user has are left out.

    *private* files are for their owner's eyes alone.
    """
    files = graph_files(path, format)
    put_right(map(str, files))
    writers = formats[format_of(path, format)].method().writers(graph, Path(path))
    outputs = [
        Output(path=str(file), parameter="path", write=partial(_written, write), private=private)
        for write, file in zip(writers, files, strict=True)
    ]
    write_outputs(outputs, overwrite=overwrite)
    return files


def _written(write: Callable[[IO[bytes]], object], file: IO[bytes], release: str) -> None:
    write(file)


def graph_files(path: str | Path, format: str | None = None) -> list[Path]:
    """The files that a graph written to *path* goes to; refused where it cannot be written."""
    name = format_of(path, format)
    chosen = formats[name].method()
    if Path(path).suffix == ".gz":
        raise InvalidInput(f"{path}: graphs are read from .gz files but not written to them.")
    if str(path) == STREAM and chosen.parts:
        raise InvalidInput(f"A graph in the format {name} is several files and cannot go to standard output.")
    return chosen.paths(Path(path))


def format_of(path: str | Path, format: str | None = None) -> str:
    """The name of the format to use for *path*, by its ending unless *format* names it."""
    if format is not None:
        return formats[format].name
    if str(path) == STREAM:
        return "node-link"
    file = Path(path)
    suffix = (file.with_suffix("") if file.suffix == ".gz" else file).suffix.lower()
    for entry in formats.entries():
        if suffix in entry.method.suffixes:
            return entry.name
    known = ", ".join(f"{entry.name} ({' '.join(entry.method.suffixes)})" for entry in formats.entries())
    raise InvalidInput(f"{path}: no graph format is known by the ending {suffix!r}; name one: {known}.")
