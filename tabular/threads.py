"""Work on several threads, with results that do not depend on how many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


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
