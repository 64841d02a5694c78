"""Ask a network again about the users of a graph, and erase who was deleted, locked or suspended, or opted out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.crawling.asking import Asker, Interrupted, Left
from crawler.crawling.clock import Clock, days_of
from crawler.crawling.ledger import UNCERTAIN, Flight, Ledger
from crawler.crawling.ownership import Owner, is_gone
from crawler.crawling.prices import DOLLAR, Prices
from crawler.crawling.standing import STILL_THERE, Standing
from crawler.crawling.taking import Draft, booked
from crawler.sources import Profile, Question, Source
from crawler.sources.failures import Failure, Outcome
from graphpriv.store import Store
from graphpriv.store.crawls import CHARGES, FORGOTTEN, LISTED, VISITED, Disturbed, person_mark
from graphpriv.store.records import Record
from tabular.errors import InvalidInput, SourceUnavailable
from tabular.loop import Report, silent

#: A user of the graph: the number, by which a refresh knows where it stands, and the id.
Known = tuple[int, str]


@dataclass(kw_only=True)
class Refresh:
    """Goes through the users of one graph; a batch that was asked about is done for good.

    One that ends early, or is killed, goes on from there when it is run again. What a killed run has cost counts
    towards the budget of the one that goes on.
    """

    store: Store
    graph: str
    source: Source
    prices: Prices
    budget: int | None = None
    clock: Clock = field(default_factory=Clock)
    stop: Callable[[], bool] = lambda: False
    report: Report = silent
    owner: Owner = field(default_factory=Owner)
    #: What was found: users by state, requests, users that are left to ask about, and why it ended.
    states: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    left: int = 0
    ended: str = "done"

    _standing: Standing = field(init=False, repr=False)
    _ledger: Ledger = field(init=False, repr=False)
    _asker: Asker = field(init=False, repr=False)
    _erasures: int = field(default=0, init=False)
    #: What had been spent before anything that counts towards the budget.
    _base: int = field(default=0, init=False)
    #: What had been spent when the run began, for certain and in all.
    _before: tuple[int, int] | None = field(default=None, init=False)
    #: Whether nobody knows what the batch at hand has cost by now.
    _doubtful: bool = field(default=False, init=False)
    #: What the batch at hand changes.
    _draft: Draft = field(default_factory=Draft, init=False, repr=False)

    def __post_init__(self) -> None:
        self._asker = Asker(self.source, self.clock, again=self._again, ready=self._ready, waiting=self._waiting)

    def run(self) -> dict[str, Any]:
        """Ask about all users; the document says what became of them."""
        self._asker.left.clear()
        self._claim()
        try:
            while not self._is_through():
                self._claim()
        finally:
            self.store.leave_crawl(self.graph, self.owner.token)
        erased = sum(count for state, count in self.states.items() if state not in STILL_THERE)
        spent, whole = self._before or (0, 0)
        return {
            "graph": self.graph,
            "asked": self.states.total(),
            "left": self.left,
            "erased": erased,
            "states": dict(sorted(self.states.items())),
            "requests": self.requests,
            "cost": (self._standing.spent - spent) / DOLLAR,
            "uncertain_cost": (self._whole() - whole - self._standing.spent + spent) / DOLLAR,
            "ended": self.ended,
        }

    def _claim(self) -> None:
        now = self.clock.now()
        self._erasures = self.store.claim_crawl(self.graph, self.owner.document(now), lambda other: is_gone(other, now))

    def _is_through(self) -> bool:
        """Go on until it ends; False where somebody was forgotten meanwhile, and it has to look where it stands."""
        try:
            self._load()
            self._refresh()
        except Disturbed:
            return False
        return True

    def _load(self) -> None:
        """Read from the store where the refresh stands."""
        standing = self._standing = Standing.of(self.store.crawl_of(self.graph) or {})
        self._draft = Draft()
        self._ledger = Ledger(self.prices, self.store.secret())
        self._ledger.load(self.store.records(self.graph, CHARGES))
        if self._before is None:
            self._before = standing.spent, self._whole()
            self._base = self._whole() - standing.refresh_cost
        standing.twice += standing.refreshing is not None
        standing.land("refreshing", self._days())
        self._doubtful = standing.refreshing is not None

    def _whole(self) -> int:
        return self._standing.spent + self._standing.uncertain

    def _days(self) -> tuple[int, ...]:
        """The UTC days on which the network may count what is asked now."""
        return days_of(self.clock.now(), self._standing.skew)

    def _refresh(self) -> None:
        users = self._users()
        self.ended = "done"
        try:
            while users:
                batch = users[: self._affordable(min(max(self.source.batch, 1), len(users)))]
                if self.stop() or not batch:
                    self.ended = "stopped" if self.stop() else "budget"
                    break
                self._ask(batch, is_last=len(batch) == len(users))
                users = users[len(batch) :]
                self.report("Asking again", self.states.total(), self.states.total() + len(users))
        except Interrupted as interrupted:
            self.ended = interrupted.reason
        finally:
            self.left = len(users)
        self._end()

    def _users(self) -> list[Known]:
        """The users that are left to ask about; all of them where the last run went through."""
        rows = self.store.user_rows(self.store.outline(self.graph).head)
        users = [(int(row[0]), str(row[1])) for row in rows]
        return [each for each in users if each[0] >= self._standing.refreshed] or users

    def _affordable(self, users: int) -> int:
        """How many of so many users the budget pays for."""
        left = None if self.budget is None else self.budget - self._whole() + self._base
        return self._ledger.affordable("user", left, 1, users, days=len(self._days()))

    def _ask(self, batch: Sequence[Known], *, is_last: bool) -> None:
        """Ask about some users, and erase those who are gone, in one transaction."""
        ids, standing = [id for _, id in batch], self._standing
        self._depart(len(ids))
        profiles, draft = self._answers(ids), self._draft
        asked = {profile.id: profile.state for profile in profiles}
        found = {user: asked.get(user, "vanished") for user in ids}
        gone = {user: state for user, state in found.items() if state not in STILL_THERE}
        noted = {each.id: each for each in self.store.records_of(self.graph, VISITED, gone)}
        for user, state in gone.items():
            standing.uncount(user, [noted[user]] if user in noted else [])
            standing.users[state] += 1
            draft.put.append(Record(FORGOTTEN, person_mark(self.store.secret(), user), b""))
        draft.erase += gone
        if standing.current is not None and standing.current.user in gone:
            draft.drop += [(LISTED, each.id) for each in self.store.records(self.graph, LISTED)]
            standing.current = None
        standing.refreshed, standing.refreshing = 0 if is_last else batch[-1][0] + 1, None
        self._advance(draft)
        self._draft, self._doubtful = Draft(), False
        self.states.update(found.values())

    def _depart(self, users: int) -> None:
        """Write down that so many users are asked about, so that a kill leaves no doubt about the cost."""
        standing, worst = self._standing, self.prices.cost(user=users)
        if standing.refreshing is not None:
            standing.uncertain += max(standing.refreshing.worst - worst, 0)
        standing.refreshing = Flight(worst, self._days())
        self._advance(Draft())

    def _advance(self, draft: Draft) -> None:
        standing = self._standing
        standing.refresh_cost = self._whole() - self._base
        self.store.advance(self.graph, draft.step(standing.record()), owner=self.owner.token, erasures=self._erasures)

    def _end(self) -> None:
        """Leave what was found out to the next run, whose budget is its own."""
        try:
            self._leave()
        except Disturbed:
            self._claim()
            self._load()
            self._leave()

    def _leave(self) -> None:
        if not self._doubtful:
            self._standing.refreshing = None
        self._base = self._whole()
        self._advance(self._draft)

    def _answers(self, ids: Sequence[str]) -> list[Profile]:
        """What the network says of some users."""
        profiles = [*self._profiles(self._question(ids))]
        # An answer that leaves somebody out says nothing of them: who is gone is told when asked for alone.
        for user in sorted({*ids}.difference(profile.id for profile in profiles)):
            profiles += self._profiles(self._alone(user))
        return profiles

    def _profiles(self, question: Question) -> Sequence[Profile]:
        """The answer to one question, which is paid for."""
        self._count_request()
        batch = question.users or (question.user,)
        try:
            answer, page = self._asker.ask(question)
        except Failure as failure:
            self._doubtful |= failure.kind in UNCERTAIN
            if failure.outcome is Outcome.USER and len(batch) == 1:
                # An earlier answer, which got lost, may have been charged for.
                self._standing.uncertain += self.prices.cost(user=1) if self._doubtful else 0
                return [Profile(id=batch[0], state=failure.kind)]  # type: ignore[arg-type]
            if isinstance(failure, Left):
                self._count_request(-1)
            if self.source.federated and failure.outcome is not Outcome.STOP:
                return [Profile(id=user, state="unreachable") for user in batch]
            self._end()
            raise SourceUnavailable(
                f"{self.source.where}: {failure.words}; those who were asked about so far are done."
            ) from None
        if answer.moment is not None:
            self._standing.skew = answer.moment - self.clock.now()
        self._standing.page += 1
        booked(self._standing, self._ledger, page.charged, self._days(), self._draft)
        return page.profiles

    def _question(self, batch: Sequence[str]) -> Question:
        if self.source.batch:
            return Question(kind="profiles", users=tuple(batch))
        return self._alone(batch[0])

    def _alone(self, user: str) -> Question:
        told = [each.document for each in self.store.records_of(self.graph, VISITED, [user])]
        return Question(kind="profile", user=user, address=told[0].get("address") if told else None)

    def _count_request(self, more: int = 1) -> None:
        self.requests += more
        self._standing.requests += more

    def _again(self, kind: str) -> None:
        self._doubtful |= kind in UNCERTAIN
        self._count_request()

    def _ready(self) -> None:
        """Count what may have been charged for on a day that is over: today it is charged for again."""
        flight, days = self._standing.refreshing, self._days()
        lost = flight.lost(days) if flight is not None and self._doubtful else 0
        if lost:
            self._standing.uncertain += lost
            self._standing.refreshing, self._doubtful = Flight(lost, days), False
            if not self._affordable(1):
                raise Interrupted("budget")

    def _waiting(self, left: float) -> None:
        if self.stop():
            raise Interrupted("stopped")
        self.report("Waiting until the network answers again", 0, 0)


def source_of(store: Store, graph: str) -> str:
    """The source that a graph was crawled from."""
    kept = store.crawl_of(graph)
    if kept is None:
        raise InvalidInput(f"Graph {graph!r} was not crawled, so there is no network to ask again.")
    return str(kept["source"])
