"""All that the measures need to know of the original file, as tables over codes.

Fractions stand in them as whole numbers, so that sums do not depend on the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.kernels import compiled
from tabular.measures.contract import Column, Combinations
from tabular.measures.interval_disclosure import TOLERANCE as NEAR
from tabular.measures.interval_disclosure import IntervalDisclosure, mid_ranks
from tabular.measures.linkage.nearest import TOLERANCE

#: So many pairs of an original and a combination of values can be looked up.
PAIRS = 1 << 24


class Tables(NamedTuple):
    """The original file, and what its values and those of masked files come to.

    The cells of an attribute's table, a row an original value and a column a masked one, begin at `cells[a]`:
    `distances` in units of one over `steps[a]`, and whether a value is `disclosed`. `before` has the counts of values
    from `ones[a]` on; those of two attributes from `twos[a, b]` on, a the earlier one, in `before_two`. `logs[k]` is
    k log k in units of one over `log_unit`, `shares[t]` is 1/t in units of one over `unit`.

    A combination of values has the sum of the codes times `strides` as its number. `originals` are the numbers of the
    distinct ones of the original, `rows` which of them each record has. Where `ties` is not 0, the original is as near
    to the combination as any, and so many records are.
    """

    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cells: NDArray[np.int64]
    ones: NDArray[np.int64]
    twos: NDArray[np.int64]
    distances: NDArray[np.int64]
    steps: NDArray[np.int64]
    disclosed: NDArray[np.int64]
    before: NDArray[np.int64]
    before_two: NDArray[np.int64]
    logs: NDArray[np.int64]
    log_unit: float
    shares: NDArray[np.int64]
    unit: float
    strides: NDArray[np.int64]
    originals: NDArray[np.int64]
    rows: NDArray[np.int64]
    supply: NDArray[np.int64]
    ties: NDArray[np.int32]


def tables_of(columns: Sequence[Column]) -> Tables:
    """The tables of an original file, of which *columns* are to be protected."""
    codes = np.ascontiguousarray(np.stack([column.original for column in columns], axis=1))
    sizes = np.array([column.size for column in columns], dtype=np.int64)
    distinct = Combinations.of([column.original for column in columns])
    combined = prod(sizes.tolist())
    if len(distinct) * combined > PAIRS:
        raise InvalidInput(
            f"The {len(distinct):,} distinct records and {combined:,} combinations of values make more than "
            f"{PAIRS:,} pairs; evolve fewer columns at a time, or such with fewer values."
        )
    strides = np.array([prod(sizes[place + 1 :].tolist()) for place in range(len(sizes))], dtype=np.int64)
    before_two, twos = _two_way(codes, sizes)
    apart = [_distances(column) for column in columns]
    steps = np.array([column.size if column.ordered else 1 for column in columns], dtype=np.int64)
    logs, log_unit = _logs(len(codes))
    unit = 2.0 ** (61 - len(codes).bit_length())
    counts = np.arange(1, len(codes) + 1)
    return Tables(
        codes=codes,
        sizes=sizes,
        cells=_starts(sizes**2),
        ones=_starts(sizes),
        twos=twos,
        distances=np.concatenate([each.ravel() for each in apart]),
        steps=steps,
        disclosed=np.concatenate([_disclosed(column).ravel() for column in columns]).astype(np.int64),
        before=np.concatenate([_frequencies(column) for column in columns]),
        before_two=before_two,
        logs=logs,
        log_unit=log_unit,
        shares=np.concatenate([[0], np.rint(unit / counts)]).astype(np.int64),
        unit=unit,
        strides=strides,
        originals=distinct.codes.astype(np.int64) @ strides,
        rows=distinct.of_row.astype(np.int64),
        supply=distinct.counts.astype(np.int64),
        ties=_ties(distinct, sizes, apart, steps),
    )


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where parts of these *sizes* begin, one after the other."""
    return np.cumsum(sizes) - sizes


def _frequencies(column: Column) -> NDArray[np.int64]:
    return np.bincount(column.original, minlength=column.size).astype(np.int64)


def _two_way(codes: NDArray[np.int32], sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The counts of all pairs of values of two attributes, and where those of each two attributes begin."""
    attributes = len(sizes)
    counts, twos = [np.zeros(0, dtype=np.int64)], np.zeros((attributes, attributes), dtype=np.int64)
    for one, two in combinations(range(attributes), 2):
        twos[one, two] = twos[two, one] = sum(map(len, counts))
        cells = codes[:, one].astype(np.int64) * sizes[two] + codes[:, two]
        counts.append(np.bincount(cells, minlength=int(sizes[one] * sizes[two])).astype(np.int64))
    return np.concatenate(counts), twos


def _distances(column: Column) -> NDArray[np.int64]:
    """The distance of each original value from each masked one: of ordered values in steps."""
    values = np.arange(column.size)
    apart = values[:, None] - values
    steps: NDArray[np.int64] = np.abs(apart) if column.ordered else (apart != 0).astype(np.int64)
    return steps


def _disclosed(column: Column) -> NDArray[np.int64]:
    """Whether each original value is disclosed by each masked one."""
    if not column.ordered:
        return np.eye(column.size, dtype=np.int64)
    ranks = mid_ranks(_frequencies(column), ())
    reach = IntervalDisclosure().percent * len(column.original) / 100
    near: NDArray[np.int64] = (np.abs(ranks[:, None] - ranks) <= reach + NEAR).astype(np.int64)
    return near


def _logs(records: int) -> tuple[NDArray[np.int64], float]:
    """The k log k of all counts in whole numbers, so fine that sums of them still fit; and what 1 is in them."""
    counts = np.arange(records + 1, dtype=np.float64)
    logs = counts * np.log(np.maximum(counts, 1))
    unit = 2.0 ** (60 - int(logs[-1]).bit_length())
    return np.rint(logs * unit).astype(np.int64), unit


def _ties(
    distinct: Combinations, sizes: NDArray[np.int64], apart: Sequence[NDArray[np.int64]], steps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """For each distinct original and each combination: 0, or the records that are as near, and none is nearer."""
    distances = np.concatenate([each.ravel() / step for each, step in zip(apart, steps, strict=True)])
    ties = np.zeros((len(distinct), int(np.prod(sizes))), dtype=np.int32)
    _find_ties(distinct.codes.astype(np.int64), distinct.counts.astype(np.int64), sizes, distances, ties)
    return ties


@compiled
def _find_ties(
    originals: NDArray[np.int64],
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    distances: NDArray[np.float64],
    ties: NDArray[np.int32],
) -> None:
    values, away = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(originals))
    for combination in range(ties.shape[1]):
        rest = combination
        for place in range(len(sizes) - 1, -1, -1):
            values[place], rest = rest % sizes[place], rest // sizes[place]
        for row in range(len(originals)):
            away[row], begin = 0.0, 0
            for place in range(len(sizes)):
                away[row] += distances[begin + originals[row, place] * sizes[place] + values[place]]
                begin += sizes[place] ** 2
        reach, tied = away.min() + TOLERANCE, 0
        for row in range(len(originals)):
            if away[row] <= reach:
                tied += supply[row]
        for row in range(len(originals)):
            ties[row, combination] = tied if away[row] <= reach else 0
