"""How a graph was collected: counts, lists, failures and cost, for reports and for whoever watches."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from crawler.crawling.lists import share
from crawler.crawling.prices import DOLLAR
from crawler.crawling.standing import Standing, is_put_off
from graphpriv.store import Store
from graphpriv.store.crawls import SEEN

#: Why a crawl ends that has all it was to have, or all there is.
COMPLETE = ("users", "frontier")


def collected(store: Store, graph: str) -> dict[str, Any] | None:
    """How a graph came to be, as a document without any person; None where it was not crawled."""
    kept = store.crawl_of(graph)
    if kept is None:
        return None
    return figures(Standing.of(kept), sum(not is_put_off(each) for each in store.records(graph, SEEN)))


def origin(store: Store, graph: str) -> dict[str, Any] | None:
    """From where and when a graph is, and how much of that was seen; None where it was not crawled."""
    kept = store.crawl_of(graph)
    if kept is None:
        return None
    standing = Standing.of(kept)
    last = None if standing.last is None else datetime.fromtimestamp(standing.last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "source": standing.source,
        "began": store.graph(graph).created,
        "last": last,
        "complete": standing.ended in COMPLETE,
        "ended": standing.ended,
        "users": standing.kept,
        "wanted": standing.wanted,
        "share_seen": share(standing.seen, standing.told or None),
    }


def figures(standing: Standing, frontier: int) -> dict[str, Any]:
    """The figures of a crawl."""
    return {
        "source": standing.source,
        "users": {"kept": 0, **dict(sorted(standing.users.items()))},
        "frontier": frontier,
        "lists": {**dict(sorted(standing.lists.items())), "share_seen": share(standing.seen, standing.told or None)},
        "locations": dict(sorted(standing.locations.items())),
        "requests": standing.requests,
        "asked_twice": standing.twice,
        "failures": dict(sorted(standing.failures.items())),
        "servers_left": len(standing.hosts),
        "charged": dict(sorted(standing.charged.items())),
        "cost": standing.spent / DOLLAR,
        "uncertain_cost": standing.uncertain / DOLLAR,
        "ended": standing.ended,
    }
