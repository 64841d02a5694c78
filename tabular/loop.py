"""One loop for long work in steps: ask for candidates, tell what became of them, report, stop when it is time.

It does not know what the candidates are: a search of a lattice asks for nodes, an evolution for masked files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class Enough(Exception):
    """Raised by what evaluates candidates to stop the loop at once: the means are spent."""


@dataclass(frozen=True)
class Standing:
    """Where work stands: distinct candidates evaluated, the best so far, and a bound that none can pass."""

    evaluated: int = 0
    best: float | None = None
    lower_bound: float | None = None


@dataclass(frozen=True)
class Progress(Standing):
    """Where work stands at one moment."""

    seconds: float = 0.0


Stop = Callable[[Progress], bool]


def never(progress: Progress) -> bool:
    """Go on until the work ends by itself."""
    return False


def after_evaluations(count: int) -> Stop:
    """Stop when *count* distinct candidates are evaluated."""
    return lambda progress: progress.evaluated >= count


def after_seconds(seconds: float) -> Stop:
    """Stop when so much time has passed."""
    return lambda progress: progress.seconds >= seconds


@dataclass(frozen=True)
class Trace:
    """How a run went: whether it ended by itself, and the moments at which the best or the bound changed."""

    ended: bool
    seconds: float
    moments: tuple[Progress, ...]


def run(
    steps: Generator[Asked, Told, None],
    evaluate: Callable[[Asked], Told],
    standing: Callable[[], Standing],
    *,
    stop: Stop = never,
    report: Callable[[Progress], None] = lambda progress: None,
    clock: Callable[[], float] = time.monotonic,
) -> Trace:
    """Ask *steps* for candidates and tell it what *evaluate* says of them, until it ends or *stop* says so.

    >>> def halving():
    ...     low, high = 0, 100
    ...     while low < high:
    ...         middle = (low + high) // 2
    ...         low, high = (low, middle) if (yield middle) else (middle + 1, high)
    ...     print(low)
    >>> run(halving(), lambda number: number**2 >= 1000, Standing).ended
    32
    True
    """
    began, progress = clock(), Progress()
    moments: list[Progress] = []
    ended = False

    def now() -> Progress:
        stands = standing()
        return Progress(stands.evaluated, stands.best, stands.lower_bound, clock() - began)

    try:
        asked = next(steps)
        while not stop(progress):
            asked = steps.send(evaluate(asked))
            progress = now()
            _note(moments, progress)
            report(progress)
    except StopIteration:
        ended = True
        _note(moments, now())
    except Enough:
        pass
    finally:
        steps.close()
    return Trace(ended, clock() - began, tuple(moments))


def _note(moments: list[Progress], progress: Progress) -> None:
    """Keep a moment where the best or the bound is other than before; and the last one."""
    same = len(moments) > 1 and all(
        (each.best, each.lower_bound) == (progress.best, progress.lower_bound) for each in moments[-2:]
    )
    if same:
        moments[-1] = progress
    else:
        moments.append(progress)
