"""How far a crawl goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The users that are kept and what is taken of each, and where the crawl stops in any case."""

    users: int
    posts: int
    #: At most so many of the accounts that one user follows.
    follows: int | None = None
    #: Over all runs of the crawl; money is in tenths of a cent.
    requests: int | None = None
    budget: int | None = None
    #: Of one run.
    seconds: float | None = None
    #: For how long raw answers are kept; None leaves it to the source, 0 keeps none.
    journal_days: int | None = None
