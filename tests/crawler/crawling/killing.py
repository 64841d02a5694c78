"""Crawls that are killed again and again, on any store, and what must be true in the end."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from crawler.made.network import MadeNetwork
from graphpriv.store import open_store
from tests.crawler.crawling.child import crawl
from tests.crawler.crawling.crawls import MORNING, World, asked_in_one_go, billed, content, standing, world
from tests.crawler.crawling.faults import Faults

TOP = Path(__file__).resolve().parents[3]


def killed_crawl(there: World, store: str, kills: int, requests: int, limits: dict[str, Any]) -> int:
    """Crawl in processes that are killed, spread over so many *requests*; tells how many were killed."""
    rng = random.Random(requests)
    command = [sys.executable, "-m", "tests.crawler.crawling.child", store, there.url, "town", there.start]
    killed = 0
    while True:
        child = subprocess.Popen([*command, json.dumps(limits)], cwd=TOP)
        asked, after = len(there.interface.log), rng.randint(2, max(requests // (kills + 1), 3))
        while killed < kills and child.poll() is None and len(there.interface.log) < asked + after:
            time.sleep(0.002)
        if killed < kills and child.poll() is None:
            child.kill()
            killed += 1
        if child.wait() == 0:
            return killed
        assert child.returncode == -9


def a_killed_crawl_is_as_good(
    store: str, plain: str, network: MadeNetwork, *, kills: int, users: int, posts: int = 2, share: float = 0.1
) -> None:
    """A crawl with faults and kills gives the graph, the bill and the requests that it gives without."""
    limits = {"users": users, "posts": posts}
    # Whatever the time is, the network's day does not end meanwhile.
    ahead = MORNING - time.time()
    clock = lambda: time.time() + ahead  # noqa: E731
    with world(network, clock=clock) as quiet, open_store(plain, create=True) as opened:
        crawl(opened, quiet.url, "town", quiet.start, limits)
        expected, paid = content(opened), billed(quiet, opened)
    faults = Faults(seed=kills, share=share)
    # A fifth of the money is missing: it stops, and goes on when there is more.
    poor = {**limits, "budget": int(paid * 800)}
    with world(network, spoil=faults, clock=clock) as there:
        killed = killed_crawl(there, store, kills - 1, users, poor)
        with open_store(store, create=False) as opened:
            assert standing(opened).ended == "budget"
            assert poor["budget"] - 25 < billed(there, opened) * 1000 <= poor["budget"]
        killed += killed_crawl(there, store, 1, users // 5, limits)
        with open_store(store, create=False) as opened:
            assert content(opened) == expected
            assert billed(there, opened) == paid
            stands = standing(opened)
            assert opened.check() == []
        asked_in_one_go(there.interface.log)
    assert killed == kills
    assert stands.twice <= kills
    again = len(there.interface.log) - len(set(there.interface.log))
    assert again <= sum(faults.done.values()) + stands.twice
