"""Long work: one loop of steps, several threads, and how far it is.

The loop asks for candidates, tells what became of them, reports, and stops when it is time. It does not know what the
candidates are: a search of a lattice asks for nodes, an evolution for masked files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from tabular.compiling import working_clock

#: Takes what is being done, how many parts of it are done, and how many there are (0: that is not known).
Report = Callable[[str, int, int], None]

Asked = TypeVar("Asked")
Told = TypeVar("Told")

T = TypeVar("T")
R = TypeVar("R")


def silent(phase: str, done: int, of: int) -> None:
    """Tell nobody."""


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
    clock: Callable[[], float] = working_clock,
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


def processors() -> int:
    """How many threads can run at the same time."""
    return os.cpu_count() or 1


def on_threads(work: Callable[[T], R], items: Iterable[T], workers: int | None = None) -> Iterator[R]:
    """What *work* makes of each of *items*, in their order; it writes nothing that another call reads or writes.

    >>> list(on_threads(lambda number: number**2, range(5), workers=3))
    [0, 1, 4, 9, 16]
    """
    workers = processors() if workers is None else workers
    if workers <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, items)
