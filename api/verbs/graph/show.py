"""`graph show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option

#: Why a crawl has ended, in words; another reason is a failure of the network.
ENDED = {
    "users": "it has all the users requested",
    "frontier": "no more users can be reached",
    "requests": "it reached the request limit",
    "seconds": "it reached the time limit",
    "budget": "the budget is used up",
    "stopped": "it was stopped",
}


@verbs.add("graph show")
@dataclass(frozen=True, kw_only=True)
class ShowGraph(Verb):
    """Show a graph's size, degrees, clustering, path length and diameter, and the shares of its places and topics.

    For a crawled graph it also shows the network, the dates, whether the crawl is complete, and the share of follows
    that was seen.
    """

    store = "reads"

    name: str = option(help="The graph.", positional=True, graph="any")

    def run(self, work: Work) -> Outcome:
        from crawler.crawling import origin

        work.report("Describing", 0, 0)
        with work.opened() as store:
            facts, info = store.figures(self.name), store.graph(self.name)
            collected = origin(store, self.name)
        names = {"graph": self.name, "kind": info.kind, "original": info.original, "collected": collected}
        return Outcome(document={**names, **facts})


def told(found: Mapping[str, Any]) -> str:
    """From which network a graph is, when, whether all of it, and how much of the follows was seen, in words.

    >>> times = {"began": "2026-01-15T09:30:00Z", "last": "2026-01-15T10:00:00Z"}
    >>> counts = {"users": 9, "wanted": 9, "share_seen": None}
    >>> told({"source": "x", **times, **counts, "complete": True, "ended": "users"})[:69]
    'Collected from x, 2026-01-15 09:30 to 2026-01-15 10:00 UTC: complete '
    """
    began, last = (str(found[each] or "")[:16].replace("T", " ") for each in ("began", "last"))
    ended = ENDED.get(found["ended"], found["ended"]) or "it is running or was cut off"
    whole = "complete" if found["complete"] else f"not complete, {found['users']:,} of {found['wanted']:,} users"
    share = found["share_seen"]
    seen = "The share of follows seen is not known" if share is None else f"{share:.1%} of its users' follows were seen"
    return f"Collected from {found['source']}, {began} to {last or 'now'} UTC: {whole} ({ended}). {seen}."
