"""The crawl (thesis, Algorithm 12): ask about one user, take a random one of those found, until the limits are met.

One answer is one transaction: the raw answer, what it changes of the graph, whom it found, what it cost, and the random
state. The same transaction writes down what is asked next, so that a killed crawl knows what may have been asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from crawler.crawling.asking import Asker, Interrupted, Left
from crawler.crawling.clock import Clock, days_of
from crawler.crawling.ledger import UNCERTAIN, Flight, Ledger
from crawler.crawling.limits import Limits
from crawler.crawling.ownership import BEAT, Owner, is_gone
from crawler.crawling.prices import DOLLAR, Prices
from crawler.crawling.standing import STILL_THERE, Current, Frontier, Standing, generator_of, state_of
from crawler.crawling.summary import figures
from crawler.crawling.taking import Draft, Taking
from crawler.sources import Answer, Page, Question, Source
from crawler.sources.failures import Failure, Outcome
from graphpriv.store import Store
from graphpriv.store.crawls import CHARGES, SEEN, Disturbed, Step, document, mark, person_mark
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, SourceUnavailable, named
from tabular.loop import Report, silent

#: After so many hosts in a row that fail for the first time it is taken for a fault of our own network.
SILENT = 10

#: On hosts of strangers, a list that still goes on after so many pages may go on for ever.
MOST_PAGES = 2000

#: What a question may bring back that is charged for.
BRINGS = {"start": "user", "profile": "user", "following": "followed", "posts": "post"}


def crawled_from(store: Store, graph: str, name: str) -> dict[str, Any]:
    """Where the crawl of a *graph* from the source called *name* stands; an error where there is none."""
    kept = store.crawl_of(graph)
    if kept is None:
        raise InvalidInput(f"Graph {graph!r} was not crawled, so nothing can be resumed.")
    if kept.get("source") != name:
        raise InvalidInput(f"Graph {graph!r} was crawled from {kept.get('source')}, not from {name}.")
    return kept


@dataclass(kw_only=True)
class Crawl:
    """One crawl at work on a graph of a store."""

    store: Store
    graph: str
    source: Source
    limits: Limits
    prices: Prices
    clock: Clock = field(default_factory=Clock)
    stop: Callable[[], bool] = lambda: False
    report: Report = silent
    #: Is told the figures after every answer.
    watch: Callable[[Mapping[str, Any]], None] = lambda figures: None
    owner: Owner = field(default_factory=Owner)
    #: Whether somebody knows that whoever was at work on it before has ended, or shall.
    takes_over: bool = False

    standing: Standing = field(init=False)
    _taking: Taking = field(init=False, repr=False)
    _asker: Asker = field(init=False, repr=False)
    _erasures: int = field(default=0, init=False)
    _began: float = field(init=False)
    _before: float = field(default=0.0, init=False)
    _beaten: float = field(init=False)
    _question: Question | None = field(default=None, init=False, repr=False)
    #: Whether nobody knows what the question at hand has cost by now.
    _doubtful: bool = field(default=False, init=False)
    #: Hosts in a row that have failed for the first time.
    _silent: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._asker = Asker(
            self.source, self.clock, again=self._again, ready=self._ready, waiting=self._waiting, mark=self._mark
        )
        self._began = self._beaten = self.clock.running()

    def _mark(self, host: str) -> str:
        """What stands for a host: its name may be that of a person who lives alone on it."""
        return mark(self._secret, "host", host).hex()

    @cached_property
    def _secret(self) -> bytes:
        return self.store.secret()

    # How it begins

    def begin(self, name: str, start: str, rng: np.random.Generator, also: Sequence[str] = ()) -> None:
        """Ask for the user to start from, and only then make the graph.

        Users who are *also* known, by their ids, are asked as if they had been found, and not linked by that.
        """
        limits, days = self.limits, self.limits.journal_days
        days = self.source.journal_days if days is None else days
        wanted = {"wanted": limits.users, "posts": limits.posts, "follows": limits.follows}
        wanted |= {"budget": limits.budget}
        self.standing = Standing(source=name, **wanted, journal_days=days, random=state_of(rng), requests=1)  # type: ignore[arg-type]
        if not start.isprintable():
            raise InvalidParameter(f"{named('start')} must be the name of a user, without control characters.")
        self.refuse_taken()
        if not Ledger(self.prices, b"").affordable("user", limits.budget, 1, 1):
            raise InvalidParameter(f"{named('budget')} does not pay for one user.")
        question = Question(kind="start", user=start)
        answer, page = self._first(question)
        self.standing.current = Current(user=page.profiles[0].id)
        self.standing.start = self._start_mark(start)
        self._learn(answer)
        # Paid for, and not booked until the graph is there.
        self.standing.flight = Flight(self.prices.cost(user=1), self._days())
        self.standing.slot = len(also)
        known = [document(SEEN, user, {"by": []}, slot) for slot, user in enumerate(also)]
        self.store.begin_crawl(self.graph, [self.standing.record(), *known])
        self._claim()
        self._load()
        self._go_on(self._taken(question, answer, page))

    def refuse_taken(self) -> None:
        """Refuse a name that is in use, with the way out."""
        if not any(each.name == self.graph for each in self.store.graphs()):
            return
        if self.store.crawl_of(self.graph) is None:
            raise NameTaken(f"A graph is called {self.graph!r} already; take another name.")
        # Somebody at work on it is named before the way to go on.
        self._claim()
        self.store.leave_crawl(self.graph, self.owner.token)
        raise NameTaken(
            f"A crawl has begun to fill graph {self.graph!r} already; give {named('resume')} to go on with it, or take "
            "another name."
        )

    def _first(self, question: Question) -> tuple[Answer, Page]:
        """The answer to the first question; an error where there is nobody to start from."""
        try:
            answer, page = self._asker.ask(question)
        except Failure as failure:
            raise self._error(failure, "nothing was stored") from None
        except Interrupted:
            raise SourceUnavailable(
                f"{self.source.where}: stopped before the first answer; nothing was stored."
            ) from None
        state = page.profiles[0].state if page.profiles else "vanished"
        if state != "kept":
            raise self._error(Failure(state), "nothing was stored")
        return answer, page

    def resume(self, name: str, start: str | None = None) -> None:
        """Go on where an earlier run of the crawl has ended, or was killed; *start*, if given, must be that of then."""
        kept = crawled_from(self.store, self.graph, name)
        if start is not None and not (start.isprintable() and self._start_mark(start) == kept.get("start")):
            raise InvalidParameter(
                f"{named('start')} is not the user from whom the crawl of graph {self.graph!r} began; leave it out to "
                "go on, or crawl into another graph."
            )
        self._claim()
        self._load()
        standing, limits = self.standing, self.limits
        standing.wanted, standing.posts, standing.follows = limits.users, limits.posts, limits.follows
        standing.budget = limits.budget
        if limits.journal_days is not None:
            standing.journal_days = limits.journal_days
        self._land()
        cap = None if standing.current is None else self._cap(standing.current)
        is_over = standing.current is not None and cap is not None and standing.current.listing.got >= cap
        if is_over:
            # With lower limits than before, the list at hand is long enough: nothing more of it is paid for.
            standing.give_up()
        self._go_on(self._taking.unlisted("capped") if is_over else Draft())

    def _start_mark(self, start: str) -> str:
        """What tells whether a name is that of the start, to who knows the name and the store's secret."""
        return person_mark(self._secret, start.strip().removeprefix("@").casefold())

    def _land(self) -> None:
        """Count the question that was under way when the run before was cut off."""
        standing, days = self.standing, self._days()
        standing.twice += standing.flight is not None
        standing.land("flight", days)
        standing.land("refreshing", days)
        self._doubtful = standing.flight is not None

    def _days(self) -> tuple[int, ...]:
        """The UTC days on which the network may count what is asked now."""
        return days_of(self.clock.now(), self.standing.skew)

    def _learn(self, answer: Answer) -> None:
        """See from an answer how far the network's clock is ahead of ours."""
        if answer.moment is not None:
            self.standing.skew = answer.moment - self.clock.now()

    def _claim(self) -> None:
        now = self.clock.now()
        may_take = (lambda _: True) if self.takes_over else partial(is_gone, now=now)
        self._erasures = self.store.claim_crawl(self.graph, self.owner.document(now), may_take)
        self._beaten = self.clock.running()

    def _load(self) -> None:
        """Read from the store where the crawl stands."""
        self.standing = Standing.of(self.store.crawl_of(self.graph) or {})
        self._before = self.standing.seconds
        self._asker.failed_before = {*self.standing.hosts} - self._asker.left
        current = self.standing.current
        frontier = Frontier.load(self.store, self.graph, current.user if current else None)
        ledger = Ledger(self.prices, self.store.secret())
        ledger.load(self.store.records(self.graph, CHARGES))
        self._taking = Taking(self.store, self.graph, self.standing, frontier, ledger)

    # The loop

    def run(self) -> None:
        """Ask until a limit is met or nobody is left; then, and when it fails, everything so far is in the store."""
        try:
            while self._question is not None:
                try:
                    self._go_on(self._asked(self._question))
                except Disturbed:
                    self._reload()
                except Interrupted as interrupted:
                    self._end(interrupted.reason)
                except Failure as failure:
                    self._end(failure.kind)
                    hint = f"what was collected is kept, and {named('resume')} goes on from there"
                    raise self._error(failure, hint) from None
        finally:
            self.store.leave_crawl(self.graph, self.owner.token)

    def _go_on(self, draft: Draft) -> None:
        """Keep what an answer changed, together with what is asked next."""
        self._question = self._planned()
        self._commit(draft)

    def _reload(self) -> None:
        """Somebody was forgotten: what is in memory may tell of them, and the last answer, too."""
        self._claim()
        self._load()
        self._land()
        self._go_on(Draft())

    def _end(self, reason: str) -> None:
        self._question = None
        self.standing.ended = reason
        if not self._doubtful:
            self.standing.flight = None
        self._commit(Draft())

    def _commit(self, draft: Draft) -> None:
        standing, running = self.standing, self.clock.running()
        standing.seconds = self._before + running - self._began
        standing.hosts = sorted(self._asker.failing)
        standing.waited, self._asker.waited = standing.waited + self._asker.waited, 0.0
        standing.last = self.clock.now()
        step: Step = draft.step(standing.record())
        self.store.advance(self.graph, step, owner=self.owner.token, erasures=self._erasures)
        self._beat()
        self.report("Crawling", standing.kept, standing.wanted)
        self.watch({**figures(standing, len(self._taking.frontier.order)), "expected_cost": self._expected() / DOLLAR})

    def _expected(self) -> int:
        """What the crawl costs in the end, if other users cost what those so far did; in tenths of a cent."""
        standing, current = self.standing, self.standing.current
        unfinished = 0
        if current is not None and current.stage == "following" and current.following is not None:
            # The price of the list at hand, before the rest of it is asked for.
            told = current.following if standing.follows is None else min(current.following, standing.follows)
            unfinished = self.prices.cost(followed=max(told - current.listing.got, 0))
        left = max(standing.wanted - standing.kept, 0)
        return standing.spent + unfinished + left * standing.spent // max(standing.kept, 1)

    def _beat(self) -> None:
        """Show life from time to time, and erase what is overdue."""
        if self.clock.running() - self._beaten > BEAT:
            if (
                self.store.claim_crawl(self.graph, self.owner.document(self.clock.now()), lambda _: False)
                > self._erasures
            ):
                return
            self._beaten = self.clock.running()
            self.store.expire(self.clock.now())

    # What is asked next

    def _planned(self) -> Question | None:
        """The next question, with its worst case written down; None where the crawl ends, with the reason."""
        standing = self.standing
        standing.ended = None
        if not self._doubtful:
            standing.flight = None
        if standing.current is None:
            # What was under way was about somebody who is gone.
            standing.give_up()
            if not self._pick():
                standing.ended = "users" if standing.kept >= standing.wanted else "frontier"
                return None
        standing.ended = self._over()
        if standing.ended is not None:
            return None
        assert standing.current is not None  # noqa: S101 (picked)
        size, worst = self._size(standing.current)
        if not size:
            standing.ended = "budget"
            return None
        if standing.flight is not None:
            # A smaller page than the one that was under way brings back, and books, less than was charged for.
            standing.uncertain += max(standing.flight.worst - worst, 0)
        standing.flight = Flight(worst, self._days())
        standing.requests += 1
        return standing.current.question(None if standing.current.stage == "profile" else size)

    def _pick(self) -> bool:
        """Take a random user of those found; False where enough are kept, or nobody is left."""
        standing, frontier = self.standing, self._taking.frontier
        if standing.kept >= standing.wanted or not frontier.order:
            return False
        rng = generator_of(standing.random)
        standing.current = Current(user=frontier.take(rng))
        standing.random = state_of(rng)
        return True

    def _over(self) -> str | None:
        """Why nothing more is asked, if that is so."""
        limits = self.limits
        if self.stop():
            return "stopped"
        if limits.requests is not None and self.standing.requests >= limits.requests:
            return "requests"
        if limits.seconds is not None and self.clock.running() - self._began >= limits.seconds:
            return "seconds"
        return None

    def _size(self, current: Current) -> tuple[int, int]:
        """How much the next answer may hold, and what that costs at worst; 0 where the budget does not allow any."""
        least, most = self.source.sizes.get(current.stage, (1, 1))
        cap = self._cap(current)
        if cap is not None:
            most = max(min(most, cap - current.listing.got), least)
        kind = BRINGS[current.stage]
        size = self._taking.ledger.affordable(kind, self._left(), least, most, days=len(self._days()))
        return size, self.prices.cost(**{kind: size})

    def _cap(self, current: Current) -> int | None:
        """How many entries of the list at hand are taken at most."""
        return {"following": self.standing.follows, "posts": self.standing.posts}.get(current.stage)

    def _left(self) -> int | None:
        """What is left of the budget, in tenths of a cent."""
        standing, budget = self.standing, self.limits.budget
        refreshing = 0 if standing.refreshing is None else standing.refreshing.worst
        return None if budget is None else budget - standing.spent - standing.uncertain - refreshing

    # What comes back

    def _asked(self, question: Question) -> Draft:
        try:
            if self._is_endless():
                raise Left
            answer, page = self._asker.ask(question)
        except Failure as failure:
            draft = self._failed(failure)
            if self._doubtful:
                # An earlier answer, which got lost, may have been charged for.
                self.standing.give_up()
        else:
            draft = self._taken(question, answer, page)
        self._doubtful = False
        return draft

    def _is_endless(self) -> bool:
        """Whether a host of a stranger has more pages of one list than anybody's list has."""
        current = self.standing.current
        return self.source.federated and current is not None and current.listing.pages >= MOST_PAGES

    def _taken(self, question: Question, answer: Answer, page: Page) -> Draft:
        self._learn(answer)
        self._silent = 0
        return self._taking.answer(question, answer.body, page, self.clock.now(), self._days())

    def _failed(self, failure: Failure) -> Draft:
        """What a failure of one user changes; others are raised again."""
        is_left = isinstance(failure, Left)
        self.standing.requests -= is_left
        self.standing.failures.update(() if is_left else (failure.kind,))
        self._doubtful |= failure.kind in UNCERTAIN
        assert self.standing.current is not None  # noqa: S101 (asked about)
        at_profile = self.standing.current.stage == "profile"
        if failure.outcome in (Outcome.USER, Outcome.LIST):
            self._silent = 0
        if failure.outcome is Outcome.USER and not at_profile and failure.kind in STILL_THERE:
            return self._taking.unlisted("incomplete")
        if failure.outcome is Outcome.USER:
            return self._taking.lost(failure.kind)
        if failure.outcome is Outcome.LIST:
            return self._taking.unlisted("hidden")
        self._silent += len(self._asker.failing) > len(self.standing.hosts)
        if self.source.federated and failure.outcome is not Outcome.STOP and self._silent < SILENT:
            return self._taking.put_off() if at_profile else self._taking.unlisted("incomplete")
        raise failure

    def _again(self, kind: str) -> None:
        """A question is to be asked once more."""
        self.standing.failures[kind] += 1
        self._doubtful |= kind in UNCERTAIN
        self._refuse_going_on()
        self.standing.requests += 1

    def _ready(self) -> None:
        """Count what may have been charged for on a day that is over: today it is charged for again."""
        flight, days = self.standing.flight, self._days()
        lost = flight.lost(days) if flight is not None and self._doubtful else 0
        if not lost:
            return
        self.standing.uncertain += lost
        self.standing.flight, self._doubtful = Flight(lost, days), False
        left = self._left()
        if left is not None and lost > left:
            raise Interrupted("budget")

    def _waiting(self, left: float) -> None:
        self._refuse_going_on()
        self.report("Waiting until the network answers again", 0, 0)
        if self.standing.current is not None:
            self._beat()

    def _refuse_going_on(self) -> None:
        reason = self._over()
        if reason is not None:
            raise Interrupted(reason)

    def _error(self, failure: Failure, hint: str) -> InvalidInput | SourceUnavailable:
        if failure.outcome is Outcome.USER:
            return InvalidParameter(f"{named('start')}: {failure.words}; {hint}.")
        # Whoever is told need not learn on which server somebody is.
        where = "The user's server" if self.source.federated else self.source.where
        return SourceUnavailable(f"{where}: {failure.words}; {hint}.")
