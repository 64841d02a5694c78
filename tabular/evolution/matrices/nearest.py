"""For every combination of values its nearest originals, found once: what distance linkage is expected to find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabular.errors import NoSolution
from tabular.kernels import compiled
from tabular.measures.contract import Combinations
from tabular.measures.linkage.nearest import TOLERANCE
from tabular.table import Table

#: Comparisons of a combination with an original one at most: some seconds.
MOST = 2 * 10**9

#: Pairs of combinations that are held at most: more take too much memory.
HELD = 2 * 10**7


@dataclass(frozen=True, eq=False)
class NearestOriginals:
    """The pairs of an original combination and a masked one of which it is among the nearest.

    *weights* are the records of the original one over those of all that are as near: what a record of it that
    became the masked one counts, times the records it has.
    """

    originals: NDArray[np.int32]
    masked: NDArray[np.int32]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, attributes: Sequence[str]) -> NearestOriginals:
        """Those of all combinations of the domains of *attributes*."""
        known = [table.attribute(name) for name in attributes]
        sizes = [len(attribute.domain) for attribute in known]
        original = Combinations.of([table.columns[name] for name in attributes])
        _check(prod(sizes), len(original))
        masked = np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1).astype(np.int32)
        # Distances as `tabular.attributes` has them: of ranks over the size of the domain, or of equality alone.
        ordered = np.array([attribute.is_ordered for attribute in known])
        found = np.empty((len(masked), 2))
        pairs = _nearest(original.codes, original.counts, masked, np.array(sizes), ordered, found)
        _check(pairs, 1)
        places, weights = np.empty((pairs, 2), dtype=np.int64), np.empty(pairs)
        _collect(original.codes, original.counts, masked, np.array(sizes), ordered, found, places, weights)
        return cls(original.codes[places[:, 0]], masked[places[:, 1]], weights)

    def linked(self, matrices: Sequence[NDArray[np.float64]]) -> float:
        """The expected number of records linked rightly by DBRL, one matrix an attribute."""
        chances = self.weights.copy()
        for place, matrix in enumerate(matrices):
            chances *= matrix[self.originals[:, place], self.masked[:, place]]
        return float(chances.sum())


def _check(combinations: int, originals: int) -> None:
    if combinations > HELD or combinations * originals > MOST:
        raise NoSolution(
            f"The expected linkage looks at each of {combinations:,} combinations of values, and compares it with "
            f"{originals:,} that occur; it does so for at most {HELD:,}, and {MOST:,} comparisons. Measure replicas "
            f"instead, or fewer attributes."
        )


@compiled
def _distance(
    one: NDArray[np.int32], other: NDArray[np.int32], sizes: NDArray[np.int64], ordered: NDArray[np.bool_], most: float
) -> float:
    """The distance of two combinations, or what is sure to be more than *most*."""
    total = 0.0
    for place in range(len(one)):
        if ordered[place]:
            total += abs(one[place] - other[place]) / sizes[place]
        elif one[place] != other[place]:
            total += 1.0
        if total > most:
            break
    return total


@compiled
def _nearest(
    originals: NDArray[np.int32],
    counts: NDArray[np.int64],
    masked: NDArray[np.int32],
    sizes: NDArray[np.int64],
    ordered: NDArray[np.bool_],
    found: NDArray[np.float64],
) -> int:
    """Write the least distance of each masked combination and the records that near; the pairs that near in all."""
    pairs = 0
    for number in range(len(masked)):
        best, records, tied = np.inf, 0, 0
        for origin in range(len(originals)):
            distance = _distance(originals[origin], masked[number], sizes, ordered, best + TOLERANCE)
            if distance < best - TOLERANCE:
                best, records, tied = distance, 0, 0
            if distance <= best + TOLERANCE:
                records += counts[origin]
                tied += 1
        found[number, 0], found[number, 1] = best, records
        pairs += tied
    return pairs


@compiled
def _collect(
    originals: NDArray[np.int32],
    counts: NDArray[np.int64],
    masked: NDArray[np.int32],
    sizes: NDArray[np.int64],
    ordered: NDArray[np.bool_],
    found: NDArray[np.float64],
    places: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    """Write the pairs, and what they count."""
    pair = 0
    for number in range(len(masked)):
        reach = found[number, 0] + TOLERANCE
        for origin in range(len(originals)):
            if _distance(originals[origin], masked[number], sizes, ordered, reach) <= reach:
                places[pair, 0], places[pair, 1] = origin, number
                weights[pair] = counts[origin] / found[number, 1]
                pair += 1
