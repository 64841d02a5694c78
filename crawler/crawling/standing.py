"""Where a crawl stands: one document of counts and of the user at hand, and the lists of users found and asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from crawler.crawling.ledger import Flight
from crawler.crawling.lists import Ending, Listing
from crawler.sources import Question
from graphpriv.store import Store
from graphpriv.store.crawls import (
    CRAWL,
    FORGOTTEN,
    LISTED,
    ONLY,
    SEEN,
    VISITED,
    document,
    noted,
    person_mark,
    uncounted,
)  # fmt: skip
from graphpriv.store.records import Record

#: States of users who cannot be seen now, though nobody says that they are gone or want to be left out.
STILL_THERE = ("kept", "moved", "refused-host", "closed-host", "unreachable")

#: What is asked of a user, in this order.
Stage = Literal["profile", "following", "posts"]


@dataclass(kw_only=True)
class Current:
    """The user at hand."""

    user: str = field(repr=False)
    stage: Stage = "profile"
    address: str | None = field(default=None, repr=False)
    #: How many the network says that this user follows.
    following: int | None = None
    #: Where this user's location stood, if there is one.
    location_from: str | None = None
    #: How the list of those who are followed ended, and how many were seen.
    ending: Ending | None = None
    seen: int = 0
    posts: int = 0
    listing: Listing = field(default_factory=Listing)

    def question(self, size: int | None) -> Question:
        """What to ask next."""
        cursor = self.listing.cursor
        return Question(kind=self.stage, user=self.user, address=self.address, cursor=cursor, size=size)


@dataclass(kw_only=True)
class Standing:
    """The document of a crawl: what was asked for, how far it is, and what it cost."""

    source: str
    wanted: int
    posts: int
    follows: int | None = None
    journal_days: int | None = None
    #: A mark of the name that it began with, as it was typed.
    start: str | None = None
    #: The limit of money over all runs, in tenths of a cent.
    budget: int | None = None
    random: dict[str, Any] = field(default_factory=dict, repr=False)
    current: Current | None = None
    #: The question that may be under way.
    flight: Flight | None = None
    #: How many seconds the network's clock is ahead of ours, by its latest answer that told the time.
    skew: float | None = None
    #: Where a refresh goes on: the number of the next user, the batch that may be under way, and what the run that has
    #: not ended yet may have cost.
    refreshed: int = 0
    refreshing: Flight | None = None
    refresh_cost: int = 0
    ended: str | None = None
    #: The numbers that are given next.
    slot: int = 0
    turn: int = 0
    page: int = 0
    #: Users by state, lists by ending, failures by kind, things paid for by kind, locations by where they stood.
    users: Counter[str] = field(default_factory=Counter)
    lists: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    charged: Counter[str] = field(default_factory=Counter)
    locations: Counter[str] = field(default_factory=Counter)
    #: Of the lists whose length the network told: that length, and how much of it was seen.
    told: int = 0
    seen: int = 0
    #: Marks of the hosts that failed too often.
    hosts: list[str] = field(default_factory=list)
    requests: int = 0
    #: Questions that were under way at a kill, and were asked again.
    twice: int = 0
    #: In tenths of a cent: what came back, and what may have: to somebody who was killed, or on another day.
    spent: int = 0
    uncertain: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    #: When something was last kept, in seconds since 1970.
    last: float | None = None

    @property
    def kept(self) -> int:
        """How many users are in the graph."""
        return self.users["kept"]

    def record(self) -> Record:
        """The document as the store keeps it."""
        current = None if self.current is None else asdict(self.current)
        flights = {name: each and [each.worst, *each.days] for name in _FLIGHTS for each in [getattr(self, name)]}
        return document(CRAWL, ONLY, {**vars(self), **flights, "current": current})

    def uncount(self, user: str, records: Iterable[Record]) -> None:
        """Take a user who is erased out of all counts; VISITED *records* say what was counted."""
        current = {} if self.current is None else {"current": asdict(self.current)}
        told = noted(current, user, records)
        for name, left in uncounted(vars(self), told).items() if told else ():
            setattr(self, name, Counter(left) if name in _COUNTERS else left)

    def land(self, name: str, days: tuple[int, ...]) -> None:
        """Take over what was under way when a run was cut off; it stays so if asking again on *days* is free."""
        flight = getattr(self, name)
        lost = 0 if flight is None else flight.lost(days)
        if lost:
            self.uncertain += lost
            setattr(self, name, None)

    def give_up(self) -> None:
        """Count what may be under way as spent: nobody asks for it again."""
        self.uncertain += 0 if self.flight is None else self.flight.worst
        self.flight = None

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Standing:
        """The standing of a document."""
        known = {name: value for name, value in kept.items() if name in cls.__dataclass_fields__}
        counters = {name: Counter(known.get(name) or {}) for name in _COUNTERS}
        current = known.get("current")
        # Somebody who was forgotten has left an empty place here.
        if isinstance(current, dict) and "user" in current:
            current = Current(**{**current, "listing": Listing(**current["listing"])})
        else:
            current = None
        flights = {name: Flight(each[0], tuple(each[1:])) if (each := known.get(name)) else None for name in _FLIGHTS}
        return cls(**{**known, **counters, **flights, "current": current})


_COUNTERS = ("users", "lists", "failures", "charged", "locations")
_FLIGHTS = ("flight", "refreshing")


@dataclass
class Frontier:
    """Users by what is known of them: found (in the order of finding), kept, asked and left out, or to be kept out."""

    order: list[str] = field(default_factory=list, repr=False)
    found: set[str] = field(default_factory=set, repr=False)
    kept: set[str] = field(default_factory=set, repr=False)
    left_out: set[str] = field(default_factory=set, repr=False)
    #: Who lives on a host that failed: found, and asked again by the next run.
    put_off: set[str] = field(default_factory=set, repr=False)
    #: What was seen of the list at hand.
    listed: set[str] = field(default_factory=set, repr=False)
    forgotten: set[str] = field(default_factory=set, repr=False)
    secret: bytes = field(default=b"", repr=False)

    @classmethod
    def load(cls, store: Store, graph: str, current: str | None) -> Frontier:
        """What the store holds of it."""
        records = list(store.records(graph, SEEN))
        seen = sorted((each.number, each.id) for each in records if each.id != current)
        frontier = cls([id for _, id in seen], {id for _, id in seen}, secret=store.secret())
        frontier.put_off = {each.id for each in records if is_put_off(each)}
        for record in store.records(graph, VISITED):
            (frontier.kept if record.document["state"] == "kept" else frontier.left_out).add(record.id)
        frontier.listed = {id for record in store.records(graph, LISTED) for id in record.document}
        frontier.forgotten = {each.id for each in store.records(graph, FORGOTTEN)}
        return frontier

    def take(self, rng: np.random.Generator) -> str:
        """A random user of those found, who is no longer among them."""
        user = self.order.pop(int(rng.integers(len(self.order))))
        self.found.discard(user)
        return user

    def add(self, user: str) -> None:
        """Somebody new was found."""
        self.order.append(user)
        self.found.add(user)

    def is_out(self, user: str) -> bool:
        """Whether nobody asks this user: asked before and not kept, or forgotten by request."""
        return user in self.left_out or (bool(self.forgotten) and person_mark(self.secret, user) in self.forgotten)


def is_put_off(seen: Record) -> bool:
    """Whether a user who was found could not be asked, because a host failed."""
    return "state" in seen.document


def generator_of(state: dict[str, Any]) -> np.random.Generator:
    """The random numbers that follow a state."""
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    """The state of random numbers."""
    return dict(rng.bit_generator.state)
