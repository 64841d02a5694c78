"""`graph refresh`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

from api.verbs.contract import Outcome, Verb, Work, verbs
from api.verbs.graph.forget import summarise
from tabular.registry import option


@verbs.add("graph refresh")
@dataclass(frozen=True, kw_only=True)
class RefreshGraph(Verb):
    """Ask the network again about all users of a graph, and erase those who were deleted, locked or suspended there.

    People who have since asked not to be collected are erased too, from the graph and from the raw answers.
    """

    store = "writes"
    stoppable = True
    action = "forget"

    name: str = option(help="The graph.", positional=True, graph="any")
    budget: float | None = option(None, low=0, metavar="USD", help="Never spend more than this, in dollars.")
    prices: str | None = option(
        None, metavar="FILE", input=True, help="A table of prices (TOML) in place of the built-in one."
    )

    def run(self, work: Work) -> Outcome:
        from crawler.crawling.prices import Prices, tenths
        from crawler.crawling.refresh import Refresh, source_of
        from crawler.sources import sources

        with work.opened() as store:
            found = source_of(store, self.name)
            refresh = Refresh(
                store=store, graph=self.name, source=sources[found].method.from_environment(os.environ),
                prices=Prices.read(found, self.prices, charges=sources[found].method.charges),
                stop=work.stop, report=work.report,
                budget=None if self.budget is None else tenths(self.budget, "budget"),
            )  # fmt: skip
            document = refresh.run()
        work.later(partial(summarise, work, self.name))
        return Outcome(document=document)
