"""Chunks of work on several threads; what comes out does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabular.loop import on_threads

R = TypeVar("R")


def in_chunks(work: Callable[[int, int], R], bounds: NDArray[np.int64], workers: int) -> list[R]:
    """What *work* gives for each chunk from one bound to the next; a chunk writes only what is its own."""
    chunks = [(int(start), int(stop)) for start, stop in pairwise(bounds)]
    return list(on_threads(lambda chunk: work(*chunk), chunks, workers if len(chunks) > 1 else 1))


def even_bounds(work: NDArray[np.int64], least: int = 1 << 16, chunks: int = 64) -> NDArray[np.int64]:
    """Bounds of chunks with about as much *work* each; few where there is little, as starting one costs as well."""
    if int(work.sum()) + len(work) < least:
        return np.array([0, len(work)] if len(work) else [0])
    done = np.zeros(len(work) + 1, dtype=np.int64)
    np.cumsum(work + 1, out=done[1:])
    parts = min(chunks, int(done[-1]) // least + 1)
    bounds = np.searchsorted(done, np.linspace(0, done[-1], parts + 1))
    bounds[0], bounds[-1] = 0, len(work)
    return np.unique(bounds)
