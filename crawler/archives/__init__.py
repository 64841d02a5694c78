"""Files that networks and collectors hand out, each entered in the registry `archives`, and all files there are.

`readable` has the formats of graphs and the archives together: whatever `graph import` takes. `read_original` reads any
of them, to the graph and the posts of its users.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.archives.contract import Archive, Gathered, archives, refuse_tables
from crawler.archives.zips import told_apart
from graphpriv.formats import format_of, formats, read_graph
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.files.disk import STREAM
from tabular.loop import Report, silent
from tabular.registry import Registry

archives.load(__name__)

#: Whatever can be read as an original.
readable: Registry[Any] = Registry("graph format")
readable.update(formats)
readable.update(archives)

__all__ = ["Archive", "Gathered", "archives", "read_original", "readable"]


def read_original(
    path: str | Path,
    *,
    also: Sequence[str | Path] = (),
    format: str | None = None,
    attributes: str | Path | None = None,
    places: str | Path | None = None,
    directed: bool | None = None,
    report: Report = silent,
) -> Gathered:
    """Read a graph, and posts where the file has any, from a file or from standard input for `-`.

    Files that are given as *also* are of the same format, and make one graph with the first.
    """
    name = readable[format].name if format is not None else _by_ending(Path(path))
    if also:
        _refuse_apart(path, also, name, format)
    if name not in archives:
        given: dict[str, Any] = {"attributes": attributes, "places": places, "directed": directed, "report": report}
        return Gathered(read_graph(path, format=name, **given))
    refuse_tables(attributes, places, name)
    report("Reading", 0, 0)
    archive = archives[name].method()
    found = archive.read(Path(path), report)
    for other in also:
        found.join(archive.read(Path(other), report))
    if archive.terms:
        found.notes.append(f"{path}: {archive.terms}")
    return found.gathered(directed)


def _refuse_apart(path: str | Path, also: Sequence[str | Path], name: str, format: str | None) -> None:
    """Refuse files that cannot make one graph."""
    if name not in archives or not archives[name].method.joins:
        joining = ", ".join(sorted(each.name for each in archives.entries() if each.method.joins))
        why = "does not say whose it is" if name in archives else "is a whole graph"
        raise InvalidParameter(f"{named('also')}: a file of {name} {why}; several files of {joining} make one graph.")
    for other in also if format is None else ():
        if (found := _by_ending(Path(other))) != name:
            raise InvalidInput(
                f"{other}: this is {found}, and {path} is {name}; files that make one graph are of one format."
            )


def _by_ending(path: Path) -> str:
    """The archive that a file is by the end of its name, and by what is in it where several end so."""
    file = path.with_suffix("") if path.suffix == ".gz" else path
    found = [entry.name for entry in archives.entries() if file.suffix.lower() in entry.method.suffixes]
    if str(path) == STREAM or not found:
        return format_of(path)
    return found[0] if len(found) == 1 else told_apart(path, found)
