"""Time as the crawl sees it; tests have a clock of their own, on which nobody waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

DAY = 86_400


@dataclass(frozen=True)
class Clock:
    """The present moment (seconds since 1970), seconds that only grow, and how to wait."""

    now: Callable[[], float] = time.time
    running: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


#: To so many seconds it is known when a network counts an answer; where none of its answers has told the time, our
#: clock may be half a day off.
CLOSE, FAR = 60.0, DAY / 2


def day_of(moment: float) -> int:
    """The UTC day of a moment, counted from 1970."""
    return int(moment // DAY)


def days_of(moment: float, skew: float | None) -> tuple[int, ...]:
    """The UTC days on which a network may count a *moment* of our clock, if its own is *skew* seconds ahead.

    >>> days_of(3.5 * DAY, 0.0), days_of(4 * DAY - 300, 600.0), days_of(4 * DAY - 30, 0.0), days_of(3.7 * DAY, None)
    ((3,), (4,), (3, 4), (3, 4))
    """
    at, margin = moment + (skew or 0.0), FAR if skew is None else CLOSE
    return tuple(range(day_of(at - margin), day_of(at + margin) + 1))
