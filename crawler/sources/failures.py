"""What can go wrong with one exchange, and the one outcome that each failure has.

A source raises `Failure` with a name of this table; pager and loop do what the table says and never look at an answer
themselves. `docs/collecting.md` shows the same table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What becomes of a crawl after a failure."""

    #: Wait as long as the network says, or back off from a minute up, and ask again.
    WAIT = "wait, then ask again"
    #: Ask again after a pause that doubles; stop with everything kept if that does not help.
    RETRY = "ask again a few times, then stop"
    #: Record it of the user, and go on with the next one.
    USER = "record it of the user and go on"
    #: The list of the user is unknown; everything else of the user is kept.
    LIST = "record that the list is unknown and go on"
    #: Stop, with everything kept.
    STOP = "stop"


@dataclass(frozen=True)
class Treatment:
    """The outcome of one sort of failure, and how a person is told of it."""

    outcome: Outcome
    words: str


#: Every failure there is. The words follow the address of the network and a colon.
FAILURES: dict[str, Treatment] = {
    "rate-limited": Treatment(Outcome.WAIT, "the rate limit was not lifted although it was waited for"),
    "server-failed": Treatment(Outcome.RETRY, "the server failed again and again"),
    "connection-cut": Treatment(Outcome.RETRY, "the connection was cut again and again"),
    "too-slow": Treatment(Outcome.RETRY, "the answers took too long"),
    "garbled": Treatment(Outcome.RETRY, "the answers were cut short or no JSON"),
    "unreachable": Treatment(Outcome.RETRY, "the network cannot be reached"),
    "vanished": Treatment(Outcome.USER, "there is no such user"),
    "suspended": Treatment(Outcome.USER, "the user is suspended"),
    "locked": Treatment(Outcome.USER, "the account is locked"),
    "opted-out": Treatment(Outcome.USER, "the user asks not to be collected"),
    "moved": Treatment(Outcome.USER, "the user has moved to another account"),
    "refused-host": Treatment(Outcome.USER, "the user's server has an address that is not asked"),
    "closed-host": Treatment(Outcome.USER, "the user's server answers no questions of strangers"),
    "hidden": Treatment(Outcome.LIST, "the list is hidden"),
    "cap-reached": Treatment(Outcome.STOP, "the usage cap of the account is reached"),
    "payment-required": Treatment(Outcome.STOP, "the account has no credit left"),
    "token-refused": Treatment(Outcome.STOP, "the token is refused"),
    "not-in-plan": Treatment(Outcome.STOP, "the account's plan does not include this"),
    "refused": Treatment(Outcome.STOP, "the request is refused"),
}


class Failure(Exception):
    """One exchange that gave no answer to read; *kind* is a name of `FAILURES`.

    *wait* is how many seconds the network asks to wait, by its own clock; None where it does not say. *detail* is a
    word for the person who asked (a product, an HTTP status); it never tells of a user.
    """

    def __init__(self, kind: str, *, wait: float | None = None, detail: str = "") -> None:
        super().__init__(kind)
        self.kind, self.wait, self.detail = kind, wait, detail

    @property
    def outcome(self) -> Outcome:
        """What becomes of the crawl."""
        return FAILURES[self.kind].outcome

    @property
    def words(self) -> str:
        """What a person is told."""
        return FAILURES[self.kind].words + (f" ({self.detail})" if self.detail else "")
