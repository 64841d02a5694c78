"""`graph show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option

if TYPE_CHECKING:
    pass


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
