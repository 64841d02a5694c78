"""One question until it has an answer: limits of a network are waited out, and what fails is asked again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.crawling.clock import Clock
from crawler.sources import Answer, Page, Question, Source
from crawler.sources.failures import Failure, Outcome

#: The pauses after a 429 that does not say when it ends: from a minute up, and at most a quarter of an hour.
SHORTEST, LONGEST = 60.0, 900.0

#: The longest wait that a network can ask for; after that it is asked again.
DAY = 86_400.0

#: How often one question meets a rate limit before the crawl stops.
WAITS = 12

#: How often a question that fails is asked, and how often where the network has not answered at all yet.
TRIES, FIRST_TRIES = 8, 3

#: After so many failures in a row one host of many is left alone: if nobody reaches it, or if it answers and fails.
MUTE_TRIES, HOST_TRIES = 3, 6

#: For how many seconds one host of many is waited for in a run, and for how many more after each answer that it gave;
#: one that failed in an earlier run is waited for once, as long as the usual limit of Mastodon lasts.
PATIENCE, PER_ANSWER, PATIENCE_AGAIN = 1200.0, 15.0, 330.0

#: Nobody is left without a word for longer, in seconds.
_SLICE = 5.0


class Interrupted(Exception):
    """The crawl is to stop now; the reason is a word such as `seconds` or `stopped`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Left(Failure):
    """Nobody was asked: in this run the host has failed too often, or made us wait for too long."""

    def __init__(self) -> None:
        super().__init__("unreachable")


@dataclass
class Asker:
    """Asks one source: one limiter for each lane, and one way to try again."""

    source: Source
    clock: Clock = field(default_factory=Clock)
    #: Called when a question is to be asked again, before the pause; may raise `Interrupted`.
    again: Callable[[str], None] = lambda kind: None
    #: Called right before every request but the first of a question; may raise `Interrupted`.
    ready: Callable[[], None] = lambda: None
    #: Called while it waits, with the seconds that are left; may raise `Interrupted`.
    waiting: Callable[[float], None] = lambda left: None
    waited: float = 0.0
    #: Where users live on hosts of their own: what stands for a host, those that failed too often in this run, and
    #: those that did in an earlier one, which are asked once.
    mark: Callable[[str], str] = str
    left: set[str] = field(default_factory=set)
    failed_before: set[str] = field(default_factory=set)
    _answered: bool = False
    #: For how many seconds each host was waited for, and how often it answered.
    _waited_for: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _answers: Counter[str] = field(default_factory=Counter)
    #: The moment until which each lane is closed.
    _closed: dict[str, float] = field(default_factory=dict)

    @property
    def failing(self) -> set[str]:
        """What stands for all hosts that failed too often, and have not answered since."""
        return self.left | self.failed_before

    def ask(self, question: Question) -> tuple[Answer, Page]:
        """The answer to a question, and what it says; raises a `Failure` that asking again does not mend."""
        tries = waits = 0
        lane = self.source.lane(question)
        host = self.mark(lane) if self.source.federated else ""
        if host in self.left or self._asks_too_much(host, self._remaining(lane)):
            self.left.add(host)
            raise Left
        limited = True
        while True:
            self._wait(self._remaining(lane), host if limited else "")
            if tries or waits:
                self.ready()
            try:
                found = self._asked(question, lane)
                self.failed_before.discard(host)
                self._answers[host] += 1
                return found
            except Failure as failure:
                limited = failure.outcome is Outcome.WAIT
                waits, tries = waits + limited, tries + (failure.outcome is Outcome.RETRY)
                if failure.outcome not in (Outcome.WAIT, Outcome.RETRY):
                    raise
                seconds = pause(failure, waits if limited else tries)
                is_over = waits >= WAITS or tries >= self._tries(question, host, failure.kind)
                if is_over or (limited and self._asks_too_much(host, seconds)):
                    self.left.update({host} - {""})
                    raise
                self._closed[lane] = self.clock.running() + seconds
                self.again(failure.kind)

    def _remaining(self, lane: str) -> float:
        """For how many seconds a lane is still closed."""
        return self._closed.get(lane, 0.0) - self.clock.running()

    def _asks_too_much(self, host: str, seconds: float) -> bool:
        """Whether one host of many wants to be waited for longer than it is worth."""
        if not host or seconds <= 0:
            return False
        least = PATIENCE_AGAIN if host in self.failed_before else PATIENCE
        return self._waited_for[host] + seconds > least + PER_ANSWER * self._answers[host]

    def _tries(self, question: Question, host: str, kind: str) -> int:
        """How often a question may fail, the last time in some way: less where it is likely to go on so."""
        if host in self.failed_before:
            return 1
        if host and question.kind != "start":
            return MUTE_TRIES if kind in ("unreachable", "too-slow") else HOST_TRIES
        return TRIES if self._answered else FIRST_TRIES

    def _asked(self, question: Question, lane: str) -> tuple[Answer, Page]:
        answer = self.source.ask(question)
        self._answered = True
        if answer.quota is not None and answer.quota.remaining <= 0:
            self._closed[lane] = self.clock.running() + min(answer.quota.wait, DAY) + 1
        return answer, self.source.read(question, answer.body)

    def _wait(self, seconds: float, host: str) -> None:
        """Wait, in slices in which others are told and may interrupt; if for the limit of a *host*, that is counted."""
        until = self.clock.running() + seconds
        while (left := until - self.clock.running()) > 0:
            self.waiting(left)
            self.clock.sleep(min(left, _SLICE))
            self.waited += min(left, _SLICE)
            self._waited_for[host] += min(left, _SLICE)


def pause(failure: Failure, times: int) -> float:
    """How long to wait after a failure that came for so many *times* in a row.

    >>> [pause(Failure("rate-limited"), times) for times in (1, 2, 3, 4, 5, 9)]
    [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]
    >>> pause(Failure("rate-limited", wait=42.0), 1), pause(Failure("server-failed"), 3)
    (43.0, 4.0)
    """
    if failure.outcome is Outcome.WAIT:
        # A second more: both clocks cut off their fractions.
        told = failure.wait
        return min(SHORTEST * 2 ** (times - 1), LONGEST) if told is None else min(told, DAY) + 1
    return float(min(2 ** (times - 1), SHORTEST))
