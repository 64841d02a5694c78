"""A crawl in a process of its own, which a test may kill: store, address, graph, and a JSON object of limits."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from crawler.crawling.crawl import Crawl
from crawler.crawling.limits import Limits
from crawler.crawling.prices import Prices
from crawler.sources.x import X
from graphpriv.store import Store, open_store
from tests.crawler.crawling.crawls import hasty


def crawl(store: Store, url: str, graph: str, start: str, limits: dict[str, Any]) -> None:
    """Begin a crawl, or go on with it."""
    found = Crawl(
        store=store, graph=graph, source=X(token="made", url=url, timeout=10.0), limits=Limits(**limits),
        prices=Prices.read("x"), clock=hasty(),
    )  # fmt: skip
    if any(each.name == graph for each in store.graphs()):
        found.resume("x")
    else:
        found.begin("x", start, np.random.default_rng(1))
    found.run()


if __name__ == "__main__":
    with open_store(sys.argv[1], create=True) as opened:
        crawl(opened, *sys.argv[2:5], json.loads(sys.argv[5]))
