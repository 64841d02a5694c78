"""The verbs on graphs of the store: import, export, list, show, delete, forget."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from api.verbs.contract import STREAM, Outcome, Verb, Work, copy_of, dictionary_beside, json_output, of_engine, verbs
from tabular.errors import InvalidParameter, named
from tabular.files.disk import place_of
from tabular.files.outputs import Output, Planned
from tabular.registry import option

if TYPE_CHECKING:
    from graphpriv.graph import SocialGraph


graph_formats = of_engine("graphpriv.formats", "formats")


@verbs.add("graph import")
@dataclass(frozen=True, kw_only=True)
class ImportGraph(Verb):
    """Read a graph from a file into the store as an original: all of it or nothing.

    FILE is - for standard input. Without `directed`, an edge list is directed unless a comment at its top says
    '# Undirected graph'.
    """

    store = "writes"
    replaces = True

    file: str = option(help="The graph file.", positional=True, input=True)
    graph: str = option(metavar="NAME", help="What to call the graph in the store.")
    format: str | None = option(
        None, metavar="NAME", choices=graph_formats, help="How FILE is written; by its suffix if not given."
    )
    attributes: str | None = option(
        None, metavar="FILE", input=True, help="Users of an edge list: id, location, topic1 to topic3."
    )
    places: str | None = option(
        None, metavar="FILE", input=True, help="Places of an edge list: key, name, type, parent."
    )
    directed: bool | None = option(
        None, off="undirected", help="Read the edges with or without directions, whatever the file says."
    )

    def check(self) -> None:
        from graphpriv.store.records import check_name

        check_name(self.graph, "graph")

    def run(self, work: Work) -> Outcome:
        from graphpriv.formats import read_graph

        imported = read_graph(
            self.file,
            format=self.format,
            attributes=self.attributes,
            places=self.places,
            directed=self.directed,
            report=work.report,
        )
        work.report("Storing", 0, 0)
        with work.opened(create=True) as store:
            releases = [each.name for each in store.graphs() if each.original == self.graph]
            store.save_graph(self.graph, imported.graph, overwrite=work.overwrite)
        for each in imported.notes:
            work.note(f"warning: {each}")
        if releases:
            work.note(f"warning: releases of the replaced graph have lost their mapping: {', '.join(releases)}.")
        return Outcome(
            document={
                "graph": self.graph,
                "users": len(imported.graph),
                "edges": imported.graph.edge_count,
                "directed": imported.graph.directed,
                "places": len(imported.graph.places),
                "dropped": asdict(imported.dropped),
                "ignored": dict(imported.ignored),
            }
        )


@verbs.add("graph export")
@dataclass(frozen=True, kw_only=True)
class ExportGraph(Verb):
    """Write a graph to a file; a release gets its data dictionary beside it.

    Places get new keys, made from the names that occur. So the key of a place may differ from that in the imported file
    or in another release; its path stays the same.
    """

    store = "reads"

    name: str = option(help="The graph.", positional=True)
    out: str = option(metavar="FILE", output=True, help="The graph file.")
    mapping: str | None = option(
        None, metavar="FILE", output=True, help="Also write the private CSV original,released of a release."
    )
    format: str | None = option(
        None, metavar="NAME", choices=graph_formats, help="How FILE is written; by its suffix if not given."
    )

    def check(self) -> None:
        if self.mapping is None:
            return
        released = [place_of(path) for path in self._released() if path != STREAM]
        if self.mapping == self.out or (self.mapping != STREAM and place_of(self.mapping) in released):
            raise InvalidParameter(f"{named('mapping')} must not go where the release goes: it leads back to persons.")

    def planned(self) -> Sequence[Planned]:
        beside = [Planned(parameter="out", path=path) for path in self._released()[1:]]
        return [*super().planned(), *beside]

    def _released(self) -> list[str]:
        """All files of a release, the dictionary last."""
        from graphpriv.formats import graph_files

        files = [str(path) for path in graph_files(self.out, self.format)]
        return [*files, *(each.path for each in dictionary_beside(self.out))]

    def run(self, work: Work) -> Outcome:
        from graphpriv.dictionary import release_dictionary
        from graphpriv.mapping import write_mapping
        from graphpriv.stored import export

        with work.opened() as store:
            found = export(store, self.name, with_origin=self.mapping is not None)
        is_release = found.info.is_release
        outputs = _graph_outputs(found.graph, self.out, self.format, is_release=is_release)
        for beside in dictionary_beside(self.out) if is_release else ():
            outputs.append(json_output(beside.path, "out", release_dictionary(found.graph, found.info)))
        origin = found.origin
        if self.mapping is not None and origin is not None:
            outputs.append(
                Output(
                    path=self.mapping,
                    parameter="mapping",
                    write=lambda file, _: write_mapping(file, origin.graph.ids, found.graph.ids, origin.mapping),
                    private=True,
                )
            )
        for each in found.notes:
            work.note(f"warning: {each}")
        return Outcome(document={"graph": self.name, "files": [each.path for each in outputs]}, outputs=outputs)


def _graph_outputs(graph: SocialGraph, out: str, name: str | None, *, is_release: bool) -> list[Output]:
    """The files of a graph: all are made with the first one, and handed on one by one."""
    from graphpriv.formats import format_of, formats, graph_files

    paths = graph_files(out, name)
    chosen = formats[format_of(out, name)].method()
    parts: list[IO[bytes]] = [io.BytesIO() for _ in paths[1:]]
    traits: dict[str, Any] = {"parameter": "out", "private": not is_release, "released": is_release}
    first = Output(path=str(paths[0]), write=lambda file, _: chosen.write(graph, [file, *parts], Path(out)), **traits)
    others = [
        Output(path=str(path), write=copy_of(part), **traits) for path, part in zip(paths[1:], parts, strict=True)
    ]
    return [first, *others]


@verbs.add("graph list")
@dataclass(frozen=True, kw_only=True)
class ListGraphs(Verb):
    """List the graphs of the store."""

    store = "reads"

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            return Outcome(document={"graphs": [asdict(info) for info in store.graphs()]})


@verbs.add("graph show")
@dataclass(frozen=True, kw_only=True)
class ShowGraph(Verb):
    """Show a graph's size, degrees, clustering, path length and diameter, and the shares of its places and topics."""

    store = "reads"
    draws = True

    name: str = option(help="The graph.", positional=True)

    def run(self, work: Work) -> Outcome:
        from graphpriv.structure import describe

        work.report("Loading", 0, 0)
        with work.opened() as store:
            graph, info = store.load_graph(self.name), store.graph(self.name)
        work.report("Describing", 0, 0)
        facts = describe(graph, rng=work.generator())
        return Outcome(document={"graph": self.name, "kind": info.kind, "original": info.original, **facts})


@verbs.add("graph delete")
@dataclass(frozen=True, kw_only=True)
class DeleteGraph(Verb):
    """Delete a graph; an original takes its posts and the mappings of its releases with it."""

    store = "writes"

    name: str = option(help="The graph.", positional=True)

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            store.delete_graph(self.name)
        return Outcome(document={"deleted": self.name})


@verbs.add("graph forget")
@dataclass(frozen=True, kw_only=True)
class ForgetUser(Verb):
    """Remove a person from an original, with their posts and their entries in the mappings of its releases."""

    store = "writes"

    name: str = option(help="The graph.", positional=True)
    user: str = option(help="The person's id.", positional=True)

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            gone = store.forget(self.name, self.user)
        return Outcome(document={"graph": self.name, **asdict(gone)})
