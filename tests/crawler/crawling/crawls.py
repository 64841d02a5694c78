"""Crawls for tests: a made network over HTTP, a clock on which nobody waits, and what must hold of every crawl."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

import numpy as np

from crawler.crawling import collected
from crawler.crawling.clock import Clock
from crawler.crawling.crawl import Crawl
from crawler.crawling.limits import Limits
from crawler.crawling.prices import Prices
from crawler.crawling.standing import Standing
from crawler.made.network import MadeNetwork
from crawler.made.serving import served, unspoiled
from crawler.made.x import XInterface
from crawler.sources.x import X
from graphpriv.store import Store
from graphpriv.store.crawls import SEEN, VISITED
from graphpriv.synthetic import synthetic_graph

#: A morning; tests that pass midnight say so.
MORNING = 1_800_000_000.0 - 1_800_000_000.0 % 86_400 + 8 * 3600


@dataclass
class Hurried:
    """A clock on which only waiting takes time."""

    moment: float = MORNING
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.moment += seconds
        self.waits.append(seconds)

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.now, self.sleep)


def hasty() -> Clock:
    """A real clock, on which waiting is over at once."""
    slept = [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    return Clock(running=lambda: time.monotonic() + slept[0], sleep=sleep)


class Killed(BaseException):
    """Stands for a kill: nobody may catch it."""


def killed_at(source: Any, kind: str, times: int = 1) -> None:
    """Have the network answer, and charge, for so many questions of a *kind*; the last answer nobody gets."""
    plain, asked = source.ask, []

    def ask(question: Any) -> Any:
        answer = plain(question)
        asked.append(question.kind)
        if asked.count(kind) == times:
            raise Killed
        return answer

    object.__setattr__(source, "ask", ask)


@dataclass
class World:
    """A made network that is being served."""

    interface: XInterface
    url: str
    hurried: Hurried

    @property
    def network(self) -> MadeNetwork:
        return self.interface.network

    @property
    def start(self) -> str:
        """Whoever follows the most."""
        follows = self.network.follows
        return self.network.users[max(follows, key=lambda id: len(follows[id]))].handle

    def crawl(self, store: Store, graph: str = "town", clock: Clock | None = None, **limits: Any) -> Crawl:
        """A crawl of it that has not begun."""
        given = {"users": 10**6, "posts": 5, **limits}
        return Crawl(
            store=store, graph=graph, source=X(token="made", url=self.url, timeout=5.0), limits=Limits(**given),
            prices=Prices.read("x"), clock=clock or self.hurried.clock,
        )  # fmt: skip

    def crawled(self, store: Store, graph: str = "town", seed: int = 1, **limits: Any) -> Crawl:
        """A crawl of it that has ended."""
        crawl = self.crawl(store, graph, **limits)
        crawl.begin("x", self.start, np.random.default_rng(seed))
        crawl.run()
        return crawl


def made(users: int, seed: int = 5, **traits: Any) -> MadeNetwork:
    """A made network of so many users, of whom most can be found from each other."""
    return MadeNetwork.of(synthetic_graph(users, mean_degree=8.0, rng=np.random.default_rng(seed)), **traits)


@contextmanager
def world(network: MadeNetwork, *, spoil: Any = unspoiled, **traits: Any) -> Iterator[World]:
    """The network, served."""
    hurried = Hurried()
    interface = XInterface(network, **{"clock": hurried.now, **traits})
    with served(interface, spoil=spoil) as url:
        yield World(interface, url, hurried)


def content(store: Store, graph: str = "town") -> tuple[Any, ...]:
    """All that a crawl has brought into a graph, in its order."""
    loaded = store.load_graph(graph)
    edges = {(loaded.ids[a], loaded.ids[b]) for a, b in zip(*(each.tolist() for each in loaded.edges()), strict=True)}
    return list(store.users(graph)), edges, list(store.posts(graph))


def standing(store: Store, graph: str = "town") -> Standing:
    return Standing.of(store.crawl_of(graph) or {})


def counts_whoever_is_there(store: Store, graph: str = "town") -> None:
    """The figures count those of whom something is kept, and nobody else, but for how many were forgotten."""
    noted = [each.document for each in store.records(graph, VISITED)]
    noted += [each.document for each in store.records(graph, SEEN) if "state" in each.document]
    found, stands = collected(store, graph), standing(store, graph)
    assert found is not None
    states = Counter(each["state"] for each in noted)
    assert Counter(found["users"]) - Counter(forgotten=found["users"].get("forgotten", 0)) == states
    lists = {name: count for name, count in found["lists"].items() if name != "share_seen"}
    assert lists == Counter(each["list"] for each in noted if each.get("list"))
    assert found["locations"] == Counter(each["location_from"] for each in noted if "location_from" in each)
    of = [each for each in noted if "following" in each]
    assert stands.told == sum(each["following"] for each in of)
    assert stands.seen == sum(min(each["seen"], each["following"]) for each in of)


def agrees_with(network: MadeNetwork, store: Store, graph: str = "town") -> None:
    """The graph is the part of the network between the users that were kept."""
    users, edges, posts = content(store, graph)
    kept = {user.id for user in users}
    assert edges == {(a, b) for a in kept for b in network.follows[a] if b in kept}
    assert {user.handle for user in users} == {network.users[id].handle for id in kept}
    assert all(user.location_text == network.users[user.id].location for user in users)
    assert len(posts) == sum(len(network.posts[id]) for id in kept)


def billed(there: World, store: Store, graph: str = "town") -> Decimal:
    """The bill, which the ledger agrees with to the tenth of a cent."""
    stands = standing(store, graph)
    assert Decimal(stands.spent) / 1000 == there.interface.bill.total
    assert dict(stands.charged) == {kind: count for kind, count in there.interface.bill.counts.items() if count}
    return there.interface.bill.total


def asked_in_one_go(log: list[tuple[str, str, str]]) -> None:
    """No user was asked about again after another one was: who is finished is left in peace."""
    users = [user for user, _ in groupby(user for _, user, _ in log)]
    assert len(users) == len(set(users))
