"""`graph import`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from api.verbs.contract import Outcome, Verb, Work, of_engine, verbs
from tabular.registry import option

graph_formats = of_engine("graphpriv.formats", "formats")
readable_formats = of_engine("crawler.archives", "readable")


@verbs.add("graph import")
@dataclass(frozen=True, kw_only=True)
class ImportGraph(Verb):
    """Read a graph from a file into the store as an original: all of it or nothing.

    FILE is - for standard input. Exports from networks also hold posts and location texts, which are kept; several of
    one format make one graph with `also`. Without `directed`, an edge list is directed unless a comment at its top
    says '# Undirected graph'.
    """

    store = "writes"
    replaces = True

    file: str = option(help="The graph file.", positional=True, input=True)
    graph: str = option(metavar="NAME", help="The name of the graph in the store.")
    also: tuple[str, ...] = option(
        (), metavar="FILE", local=True, help="Another file of the same `format`, for the same graph; repeatable."
    )
    format: str | None = option(
        None, metavar="NAME", choices=readable_formats, help="The format of FILE; by its suffix if not given."
    )
    attributes: str | None = option(
        None,
        metavar="FILE",
        input=True,
        help="For `format` edge-list: users, with id, location, topic1 to topic3; `places` has their places.",
    )
    places: str | None = option(
        None, metavar="FILE", input=True, help="For `format` edge-list: places, with key, name, type, parent."
    )
    directed: bool | None = option(
        None, off="undirected", help="Read the edges with or without directions, whatever the file says."
    )
    revision: str | None = option(
        None, local=True, served=True, help="Replace the graph of this name, if this is still its revision."
    )

    def check(self) -> None:
        from graphpriv.store.records import check_name

        check_name(self.graph, "graph")

    def reads(self) -> Sequence[str]:
        return [*super().reads(), *self.also]

    def run(self, work: Work) -> Outcome:
        from crawler.archives import read_original
        from graphpriv.stored import holds

        gathered = read_original(
            self.file,
            also=self.also,
            format=self.format,
            attributes=self.attributes,
            places=self.places,
            directed=self.directed,
            report=work.report,
        )
        imported = gathered.imported
        with work.opened(create=True) as store:
            releases = [each.name for each in store.graphs() if each.original == self.graph]
            if not (work.again and holds(store, self.graph, imported.graph)):
                store.save_graph(
                    self.graph,
                    imported.graph,
                    posts=gathered.posts,
                    overwrite=work.overwrite or self.revision is not None,
                    revision=work.revision or self.revision,
                    report=work.report,
                )
        for each in imported.notes:
            work.note(f"warning: {each}")
        if releases:
            work.note(
                f"warning: releases of the replaced graph have lost their mapping: {', '.join(releases)}. They stay "
                "live, but no later release can be counted together with them; delete them before you release again."
            )
        return Outcome(
            document={
                "graph": self.graph,
                "users": len(imported.graph),
                "edges": imported.graph.edge_count,
                "directed": imported.graph.directed,
                "places": len(imported.graph.places),
                "posts": len(gathered.posts),
                "dropped": asdict(imported.dropped),
                "ignored": dict(imported.ignored),
            }
        )
