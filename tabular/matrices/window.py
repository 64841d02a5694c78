"""Transition matrices limited to a window: a value becomes only a category within so many places of its own.

An invariant matrix stays one when flows are taken out of it in both directions, and what no longer leaves stays. Where
too much stays then, flows within the window are mixed in; a linear programme finds them, or that there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution, counted
from tabular.matrices.invariance import Bounds, closed, is_singular, lowered, two_stages

#: For each pair of categories whether one may become the other; the same both ways, and every category may stay.
Window = NDArray[np.bool_]


def window_of(size: int, reach: int) -> Window:
    """The pairs of so many categories that lie within *reach* places of each other.

    >>> window_of(3, 1).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    if reach < 1:
        raise InvalidParameter.wrong("window", must="be 1 or more places, or no value can change", was=reach)
    places = np.arange(size)
    return np.asarray(np.abs(places[:, None] - places) <= reach)


def windowed(matrix: NDArray[np.float64], window: Window) -> NDArray[np.float64]:
    """*matrix* without what leaves the *window*, each row divided by what is left; a row with nothing left stays."""
    kept = np.where(window, matrix, 0.0)
    empty = ~kept.any(axis=1)
    kept[empty, empty] = 1
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class WindowedInvariance:
    """Makes invariant matrices within a window; what does not depend on the matrix is computed once.

    *between* are flows between all categories that occur, with the diagonal as far within the bounds as can be.
    """

    window: Window
    bounds: Bounds
    counts: NDArray[np.float64]
    between: NDArray[np.float64]

    @classmethod
    def of(
        cls, attribute: Attribute, frequencies: NDArray[np.integer], reach: int, bounds: Bounds | None = None
    ) -> WindowedInvariance:
        """Those of an attribute with these *frequencies*, of which one at least is above 0."""
        window, ends = window_of(len(frequencies), reach), bounds or (0.0, 1.0)
        occurring = np.flatnonzero(frequencies)
        shares, within = frequencies[occurring] / frequencies.sum(), window[np.ix_(occurring, occurring)]
        between = flows_within(shares, within, *ends)
        if between is None:
            works = _least_high(shares, within, ends[0])
            raise NoSolution(
                f"No invariant matrix for {attribute.name!r} with a diagonal from {ends[0]:g} to {ends[1]:g} takes "
                f"values at most {counted(reach, 'place')} away: its neighbours cannot take what a frequent category "
                f"must give. A diagonal from {ends[0]:g} to {works:g} works, or a wider window may."
            )
        return cls(window, ends, np.asarray(frequencies, dtype=np.float64), between)

    def matrix(self, matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The invariant matrix made from *matrix*; None where none that can be inverted was found near it."""
        occurring = np.flatnonzero(self.counts)
        shares = self.counts[occurring] / self.counts.sum()
        flows = two_stages(matrix[occurring], shares)
        flows = closed(np.where(self.window[np.ix_(occurring, occurring)], flows, 0), shares)
        fitting = next((each for each in self._candidates(flows, shares) if not is_singular(each, shares)), None)
        if fitting is None:
            return None
        found = self._of_nobody(matrix)
        found[occurring] = 0
        found[np.ix_(occurring, occurring)] = fitting / shares[:, None]
        return found

    def _candidates(self, flows: NDArray[np.float64], shares: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Flows within the bounds, those nearest to *flows* first."""
        low, high = self.bounds
        leaving, allowed = shares - np.diag(flows), (1 - low) * shares
        over = leaving > allowed
        most = float((allowed[over] / leaving[over]).min(initial=1.0))
        for pull, share in product((1.0, 0.9, 0.5, 0.0), (1.0, 0.99, 0.9, 0.5)):
            mixed = most * share * flows + (1 - most * share) * np.diag(shares)
            yield lowered(mixed, self.between, shares, high, pull)

    def _of_nobody(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows for categories that do not occur: half is kept or more if bounds allow it, the rest goes to others.

        Each goes to neighbours that are fewer steps from one that occurs, by frequency where they occur themselves, so
        that these rows never make the matrix singular.
        """
        low, high = self.bounds
        kept = np.clip(np.diag(matrix), max(low, min(0.5, high)), high)
        rows, weights, waiting = np.diag(kept), self.counts.copy(), self.counts == 0
        while waiting.any():
            near = np.where(self.window, weights, 0.0)
            now = waiting & near.any(axis=1)
            rows[now] += near[now] / near[now].sum(axis=1, keepdims=True) * (1 - kept[now, None])
            weights[now] = 1
            waiting &= ~now
        return np.asarray(rows)


def flows_within(shares: NDArray[np.float64], window: Window, low: float, high: float) -> NDArray[np.float64] | None:
    """Symmetric flows in the *window* that keep from *low* to *high* of each category; None if there are none.

    They keep as far from both bounds as can be, in shares of the category.
    """
    ones, others = np.nonzero(np.triu(window, 1))
    size, edges = len(shares), len(ones)
    # What leaves a category of share s, and the distance d that is sought: (1 - high + d) s <= left <= (1 - low - d) s.
    left = np.zeros((size, edges + 1))
    left[ones, np.arange(edges)] = left[others, np.arange(edges)] = 1
    most, least = left.copy(), -left
    most[:, -1] = least[:, -1] = shares
    found = linprog(
        c=np.append(np.zeros(edges), -1.0),
        A_ub=np.concatenate([most, least]),
        b_ub=np.concatenate([(1 - low) * shares, (high - 1) * shares]),
        method="highs",
    )
    if found.status != 0:
        return None
    flows = np.zeros((size, size))
    flows[ones, others] = flows[others, ones] = np.maximum(found.x[:-1], 0)
    return closed(flows, shares)


def _least_high(shares: NDArray[np.float64], window: Window, low: float) -> float:
    """The least upper bound of the diagonal, in thousandths, that leaves flows within the *window*."""
    fails, works = int(1000 * low) - 1, 1000
    while works - fails > 1:
        middle = (fails + works) // 2
        if middle / 1000 >= low and flows_within(shares, window, low, middle / 1000) is not None:
            works = middle
        else:
            fails = middle
    return works / 1000
