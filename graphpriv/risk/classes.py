"""Classes of equal neighbourhoods over both graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.isomorphism import OPEN, YES, same_neighbourhood
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.refinement import refine
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.kernels import compiled


@dataclass(frozen=True)
class Classes:
    """Which neighbourhoods are the same.

    `of` names each centre's class by the first centre in it, -1 where no centre of the other graph could be the same.
    `open` marks the centres that a budget of steps left in doubt: they may be equal to others with the same `key`.
    """

    of: NDArray[np.int32]
    open: NDArray[np.bool_]
    keys: NDArray[np.uint64]


def equal_neighbourhoods(
    found: Neighbourhoods,
    labels: NDArray[np.int32],
    originals: int,
    *,
    budget: int,
    workers: int,
    one_sided: bool,
) -> Classes:
    """Sort all centres into classes; with *one_sided* also those whose key occurs in one of the graphs only."""
    centres = len(found.offsets) - 1
    types = neighbour_types(found, labels)
    colours = np.empty(len(types), dtype=np.uint64)
    orders = np.empty(len(types), dtype=np.int32)
    keys = np.empty(centres, dtype=np.uint64)
    in_chunks(
        lambda start, stop: refine(found, types, labels, start, stop, colours, orders, keys),
        even_bounds(np.diff(found.offsets)),
        workers,
    )
    by_key = np.argsort(keys, kind="stable")
    sorted_keys = keys[by_key]
    starts = np.flatnonzero(np.append(True, sorted_keys[1:] != sorted_keys[:-1])) if centres else np.empty(0, np.int64)
    starts = np.append(starts, centres)
    of, open_ = np.full(centres, -1, dtype=np.int32), np.zeros(centres, dtype=np.bool_)
    bounds = even_bounds(np.diff(starts), least=1 << 14)
    in_chunks(
        lambda start, stop: split_by_key(
            found, types, labels, colours, orders, by_key, starts, start, stop, originals, one_sided, budget, of, open_
        ),
        bounds,
        workers,
    )
    return Classes(of, open_, keys)


def neighbour_types(found: Neighbourhoods, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each neighbour one number for its label and how it stands to the centre."""
    return labels[found.members].astype(np.int64) * 4 + found.directions


@compiled
def split_by_key(
    found: Neighbourhoods,
    types: NDArray[np.int64],
    labels: NDArray[np.int32],
    colours: NDArray[np.uint64],
    orders: NDArray[np.int32],
    by_key: NDArray[np.int64],
    starts: NDArray[np.int64],
    start: int,
    stop: int,
    originals: int,
    one_sided: bool,
    budget: int,
    of: NDArray[np.int32],
    open_: NDArray[np.bool_],
) -> None:
    """Split each run of centres with one key into classes, comparing each centre with one of every class so far."""
    most, longest = 0, 0
    for run in range(start, stop):
        centre = by_key[starts[run]]
        longest = max(longest, starts[run + 1] - starts[run])
        for at in range(starts[run], starts[run + 1]):
            centre = by_key[at]
            most = max(most, found.offsets[centre + 1] - found.offsets[centre])
    image, mark = np.empty(most, dtype=np.int32), np.zeros(most, dtype=np.int8)
    firsts = np.empty(longest, dtype=np.int64)
    for run in range(start, stop):
        first, last = starts[run], starts[run + 1]
        # The sort is stable: the original users of a run come first.
        if not one_sided and (by_key[first] >= originals or by_key[last - 1] < originals):
            continue
        classes, doubt = 0, False
        for at in range(first, last):
            centre = by_key[at]
            for known in range(classes):
                answer = same_neighbourhood(
                    found, types, labels, colours, orders, firsts[known], centre, image, mark, budget
                )
                if answer == YES:
                    of[centre] = firsts[known]
                    break
                doubt = doubt or answer == OPEN
            if of[centre] < 0:
                of[centre] = centre
                firsts[classes] = centre
                classes += 1
        if doubt:
            for at in range(first, last):
                open_[by_key[at]] = True
