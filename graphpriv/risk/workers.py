"""Chunks of work on several threads; what comes out does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def in_chunks(work: Callable[[int, int], object], bounds: NDArray[np.int64], workers: int) -> None:
    """Call *work* on each chunk from one bound to the next; a chunk writes only what is its own."""
    chunks = [(int(start), int(stop)) for start, stop in pairwise(bounds)]
    if not chunks:
        return
    # The first one alone: it compiles what is not compiled yet, which two threads would do twice.
    work(*chunks[0])
    if workers <= 1 or len(chunks) <= 2:
        for chunk in chunks[1:]:
            work(*chunk)
        return
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, *chunk) for chunk in chunks[1:]]:
            done.result()
