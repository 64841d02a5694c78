"""`graph show`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option


@verbs.add("graph show")
@dataclass(frozen=True, kw_only=True)
class ShowGraph(Verb):
    """Show a graph's size, degrees, clustering, path length and diameter, and the shares of its places and topics."""

    store = "reads"

    name: str = option(help="The graph.", positional=True)

    def run(self, work: Work) -> Outcome:
        work.report("Describing", 0, 0)
        with work.opened() as store:
            facts, info = store.figures(self.name), store.graph(self.name)
        return Outcome(document={"graph": self.name, "kind": info.kind, "original": info.original, **facts})
