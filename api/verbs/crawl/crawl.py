"""`crawl`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from api.verbs.contract import Outcome, Verb, Work, of_engine, verbs
from api.verbs.graph.forget import summarise
from tabular.errors import InvalidParameter, named
from tabular.registry import option

if TYPE_CHECKING:
    from crawler.crawling.crawl import Crawl
    from crawler.crawling.limits import Limits
    from crawler.crawling.prices import Prices
    from graphpriv.store import Store


@verbs.add("crawl")
@dataclass(frozen=True, kw_only=True)
class CrawlNetwork(Verb):
    """Collect a graph from a network: start at one user, go on to random users among those found.

    Whom each user follows and what they posted last is kept. Every answer goes into the store at once: a crawl that was
    stopped or killed continues with `resume`, and asks about no finished user again. People who ask not to be
    collected, and locked, suspended or deleted accounts, are left out and counted. Credentials and addresses come from
    environment variables such as GRAPHPRIV_X_TOKEN and GRAPHPRIV_X_URL.
    """

    draws = True
    store = "writes"
    stoppable = True
    action = "store"

    source: str = option(positional=True, choices=of_engine("crawler.sources", "sources"), help="The network to ask.")
    graph: str = option(metavar="NAME", graph="new original", help="What to call the graph in the store.")
    start: str | None = option(
        None, metavar="USER", personal=True, help="The user to start from; `resume` and `dry_run` do without."
    )
    users: int | None = option(None, low=1, help="How many users to keep.")
    posts: int | None = option(None, low=0, help="How many of the latest posts of each user to take.")
    follows: int | None = option(None, low=1, help="Take at most this many of the accounts that each user follows.")
    requests: int | None = option(None, low=1, help="Stop after this many requests, over all runs.")
    seconds: float | None = option(None, low=0, help="Stop this run after this many seconds.")
    budget: float | None = option(
        None, low=0, metavar="USD", help="Never spend more than this, in dollars, over all runs."
    )
    prices: str | None = option(
        None, metavar="FILE", input=True, help="A table of prices (TOML) in place of the built-in one."
    )
    journal_days: int | None = option(
        None, low=0, high=36_500, help="Erase raw answers after this many days; 0 keeps none. 30 if not given."
    )
    dry_run: bool = option(False, help="Say what it would ask and cost, and ask nothing.")
    resume: bool = option(
        False, help="Continue the crawl that filled the graph; without it, `start`, `users` and `posts` are needed."
    )

    def check(self) -> None:
        from graphpriv.store.records import check_name

        check_name(self.graph, "graph")
        if self.start is not None and not self.start.strip():
            raise InvalidParameter(f"{named('start')} is empty; name a user.", must="name a user")
        if self.resume:
            return
        for name in ("users", "posts") if self.dry_run else ("start", "users", "posts"):
            if getattr(self, name) is None:
                raise InvalidParameter(
                    f"{named(name)} is missing; only a crawl that goes on can do without it.", must="be given"
                )

    def run(self, work: Work) -> Outcome:
        from crawler.crawling.prices import Prices
        from crawler.sources import sources

        method = sources[self.source].method
        prices = Prices.read(self.source, self.prices, charges=method.charges)
        if self.dry_run:
            kept = self._crawled(work) if self.resume else {}
            return Outcome(document=self._planned(self._limits(kept), prices, kept))
        source = method.from_environment(os.environ)
        with work.opened(create=not self.resume) as store:
            resumed = self._is_resumed(work, store)
            kept = (store.crawl_of(self.graph) or {}) if resumed else {}
            limits = self._limits(kept)
            crawl = self._crawl(work, store, source, limits, prices)
            if not resumed:
                crawl.refuse_taken()
            self._remark(work, limits, prices, kept)
            if resumed:
                crawl.resume(self.source, self.start if self.resume else None)
            else:
                assert self.start is not None  # noqa: S101 (checked)
                crawl.begin(self.source, self.start, work.generator())
            crawl.run()
            document = _document(store, self.graph)
        work.later(partial(summarise, work, self.graph))
        return Outcome(document=document)

    def _crawled(self, work: Work) -> dict[str, Any]:
        """Where the crawl that is to go on stands."""
        from crawler.crawling.crawl import crawled_from

        with work.opened() as store:
            return crawled_from(store, self.graph, self.source)

    def _is_resumed(self, work: Work, store: Store) -> bool:
        """Whether it goes on: because somebody asks for it, or because the same work was cut short."""
        known = any(each.name == self.graph for each in store.graphs())
        return self.resume or (work.again and known and store.crawl_of(self.graph) is not None)

    def _limits(self, before: dict[str, Any] | None = None) -> Limits:
        """The limits of this run; what is not given again stays as it was."""
        from crawler.crawling.limits import Limits
        from crawler.crawling.prices import tenths

        kept = before or {}
        users = self.users if self.users is not None else kept.get("wanted", 1)
        return Limits(
            users=users,
            posts=self.posts if self.posts is not None else kept.get("posts", 0),
            follows=self.follows if self.follows is not None else kept.get("follows"),
            requests=self.requests,
            budget=tenths(self.budget, "budget") if self.budget is not None else kept.get("budget"),
            seconds=self.seconds,
            journal_days=self.journal_days if self.journal_days is not None else kept.get("journal_days"),
        )

    def _crawl(self, work: Work, store: Store, source: Any, limits: Limits, prices: Prices) -> Crawl:
        from crawler.crawling.crawl import Crawl

        return Crawl(
            store=store, graph=self.graph, source=source, limits=limits, prices=prices,
            stop=work.stop, report=work.report, watch=work.best, takes_over=work.again,
        )  # fmt: skip

    def _remark(self, work: Work, limits: Limits, prices: Prices, kept: dict[str, Any]) -> None:
        """Say once what the network's terms ask, what is kept and what it may cost."""
        from crawler.crawling.prices import dollars
        from crawler.sources import sources

        source = sources[self.source].method
        days = source.journal_days if limits.journal_days is None else limits.journal_days
        kept_for = f"are kept for {days} days, for the owner of the store alone" if days else "are not kept"
        work.note(f"{source.terms} Raw answers {kept_for}.".strip())
        if prices.of:
            left = _left(self._charged(limits), kept)
            whole = prices.estimate(replace(left, budget=None))
            low, likely, high = (dollars(each) for each in vars(whole).values())
            what = "What is left" if kept else "This"
            said = (f"{what} will likely cost {likely}: at least about {low}, at most about {high}, at the prices of "
                    f"{prices.date}.")  # fmt: skip
            if limits.budget is not None and (left.budget or 0) < whole.high:
                said += f" It stops before it costs more than {dollars(limits.budget)}{' in all' if kept else ''}."
            work.note(said)

    def _charged(self, limits: Limits) -> Limits:
        """The limits with as many posts as one page brings back, and costs, at least."""
        from crawler.sources import sources

        least, _ = sources[self.source].method.sizes.get("posts", (1, 1))
        return replace(limits, posts=limits.posts and max(limits.posts, least))

    def _planned(self, limits: Limits, prices: Prices, kept: dict[str, Any]) -> dict[str, Any]:
        """What it would ask, and what that would cost; of a crawl that goes on, what is left of it."""
        from crawler.crawling.prices import DOLLAR

        at_most = prices.following["high"] if limits.follows is None else limits.follows
        left = _left(self._charged(limits), kept)
        return {
            "graph": self.graph,
            "source": self.source,
            "dry_run": True,
            "kept": _users_of(kept),
            "would_ask": {"users": left.users, "follows_at_most": left.users * at_most,
                          "posts_at_most": left.users * limits.posts},
            # Whatever the budget is: what it would cut off is worth knowing.
            "cost": prices.estimate(replace(left, budget=None)).document,
            "spent": _spent(kept) / DOLLAR,
            "budget": None if limits.budget is None else limits.budget / DOLLAR,
            "prices": {"date": prices.date, **{kind: price / DOLLAR for kind, price in prices.of.items()}},
        }  # fmt: skip


def _document(store: Store, graph: str) -> dict[str, Any]:
    """How the graph came to be, and how large it is."""
    from crawler.crawling import collected

    info = store.graph(graph)
    return {"graph": graph, "edges": info.edges, **(collected(store, graph) or {})}


def _left(limits: Limits, kept: dict[str, Any]) -> Limits:
    """The limits for what a crawl has still to do."""
    budget = None if limits.budget is None else max(limits.budget - _spent(kept), 0)
    return replace(limits, users=max(limits.users - _users_of(kept), 0), budget=budget)


def _users_of(kept: dict[str, Any]) -> int:
    """How many users a crawl has kept so far."""
    return int(kept.get("users", {}).get("kept", 0))


def _spent(kept: dict[str, Any]) -> int:
    """What a crawl may have cost so far, in tenths of a cent."""
    return int(kept.get("spent", 0)) + int(kept.get("uncertain", 0))
