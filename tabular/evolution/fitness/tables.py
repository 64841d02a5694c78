"""All that the measures need to know of the original file, as tables over codes.

Fractions stand in them as whole numbers, so that sums do not depend on the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import lcm, prod
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

#: With sets, which linking one to one takes longer for, so many pairs, and so many parts that a record is split into.
PAIRS_WITH_SETS, PARTS = 1 << 18, 1 << 24


class Tables(NamedTuple):
    """The original file, and what its values and the labels of masked files come to.

    Attribute a has `sizes[a]` values and `labels[a]` labels: its values, then sets of them. Labels are counted from
    `firsts[a]` on; the one at place p stands for `members` from `parts[p]` to before `parts[p + 1]`.

    The cells of an attribute's table, a row an original value and a column a label, begin at `cells[a]`: `distances` in
    units of one over `steps[a]`, and whether a value is `disclosed` and whether it agrees. `before` has the counts of
    values from `ones[a]` on; those of two attributes from `twos[a, b]` on, a the earlier one, in `before_two`: both in
    units of one over `whole`, so that a set can be spread over its members. `logs[k]` is k log k in units of one over
    `log_unit`, `shares[t]` is 1/t in units of one over `unit`.

    A combination of labels has the sum of the codes times `strides` as its number. `originals` are the numbers of the
    distinct ones of the original, `rows` which of them each record has. Where `ties` is not 0, the original is as near
    to the combination as any, and so many records are.
    """

    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    labels: NDArray[np.int64]
    firsts: NDArray[np.int64]
    parts: NDArray[np.int64]
    members: NDArray[np.int64]
    cells: NDArray[np.int64]
    ones: NDArray[np.int64]
    twos: NDArray[np.int64]
    distances: NDArray[np.int64]
    steps: NDArray[np.int64]
    disclosed: NDArray[np.int64]
    agrees: NDArray[np.bool_]
    whole: int
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
    """The tables of an original file, of which *columns* are to be protected; their sets are labels, too."""
    codes = np.ascontiguousarray(np.stack([column.original for column in columns], axis=1))
    sizes = np.array([column.size for column in columns], dtype=np.int64)
    distinct = Combinations.of([column.original for column in columns])
    labels = np.array([column.size + len(column.sets) for column in columns], dtype=np.int64)
    combined = prod(labels.tolist())
    if len(distinct) * combined > PAIRS:
        raise InvalidInput(
            f"The {len(distinct):,} distinct records and {combined:,} combinations of values make more than "
            f"{PAIRS:,} pairs; evolve fewer columns at a time, or such with fewer values."
        )
    strides = np.array([prod(labels[place + 1 :].tolist()) for place in range(len(sizes))], dtype=np.int64)
    before_two, twos = _two_way(codes, sizes)
    apart = [_distances(column) for column in columns]
    splits = [_split(column) for column in columns]
    whole = _whole(splits)
    steps = np.array(
        [split * (column.size if column.ordered else 1) for split, column in zip(splits, columns, strict=True)],
        dtype=np.int64,
    )
    standing = [list(column.members(label)) for column in columns for label in range(column.size + len(column.sets))]
    logs, log_unit = _logs(len(codes))
    unit = 2.0 ** (61 - len(codes).bit_length())
    counts = np.arange(1, len(codes) + 1)
    return Tables(
        codes=codes,
        sizes=sizes,
        labels=labels,
        firsts=_starts(labels),
        parts=np.concatenate([[0], np.cumsum([len(each) for each in standing])]).astype(np.int64),
        members=np.concatenate(standing).astype(np.int64),
        cells=_starts(sizes * labels),
        ones=_starts(sizes),
        twos=twos,
        distances=np.concatenate([each.ravel() for each in apart]),
        steps=steps,
        disclosed=np.concatenate([_disclosed(column).ravel() for column in columns]).astype(np.int64),
        agrees=np.concatenate([agreement(column).ravel() for column in columns]),
        whole=whole,
        before=np.concatenate([_frequencies(column) for column in columns]) * whole,
        before_two=before_two * whole,
        logs=logs,
        log_unit=log_unit,
        shares=np.concatenate([[0], np.rint(unit / counts)]).astype(np.int64),
        unit=unit,
        strides=strides,
        originals=distinct.codes.astype(np.int64) @ strides,
        rows=distinct.of_row.astype(np.int64),
        supply=distinct.counts.astype(np.int64),
        ties=_ties(distinct, sizes, labels, apart, steps),
    )


def has_room(columns: Sequence[Column]) -> bool:
    """Whether the sets of *columns* can be labels."""
    distinct = Combinations.of([column.original for column in columns])
    combined = prod(column.size + len(column.sets) for column in columns)
    return len(distinct) * combined <= PAIRS_WITH_SETS and _whole([_split(column) for column in columns]) <= PARTS


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


def _split(column: Column) -> int:
    """The least number that can be divided by the size of each set."""
    return lcm(*(len(each) for each in column.sets))


def _whole(splits: Sequence[int]) -> int:
    """The least number that can be divided by the sizes of a set, and of two sets of different columns together."""
    return lcm(*splits, *(one * two for one, two in combinations(splits, 2)))


def agreement(column: Column) -> NDArray[np.bool_]:
    """Whether each original value agrees with each label: whether it is one of its members."""
    found = np.zeros((column.size, column.size + len(column.sets)), dtype=np.bool_)
    for label in range(found.shape[1]):
        found[list(column.members(label)), label] = True
    return found


def _distances(column: Column) -> NDArray[np.int64]:
    """The distance of each original value from each label: of ordered values in steps, to a set the mean.

    All of them times `_split`, which makes them whole.
    """
    values, split = np.arange(column.size), _split(column)
    apart = values[:, None] - values
    steps: NDArray[np.int64] = np.abs(apart) if column.ordered else (apart != 0).astype(np.int64)
    to_sets = [steps[:, list(each)].sum(axis=1) * (split // len(each)) for each in column.sets]
    return np.stack([*(steps.T * split), *to_sets], axis=1)


def _disclosed(column: Column) -> NDArray[np.int64]:
    """Whether each original value is disclosed by each masked one."""
    if not column.ordered:
        return np.eye(column.size, column.size + len(column.sets), dtype=np.int64)
    ranks = mid_ranks(_frequencies(column), column.sets)
    reach = IntervalDisclosure().percent * len(column.original) / 100
    near: NDArray[np.int64] = (np.abs(ranks[: column.size, None] - ranks) <= reach + NEAR).astype(np.int64)
    return near


def _logs(records: int) -> tuple[NDArray[np.int64], float]:
    """The k log k of all counts in whole numbers, so fine that sums of them still fit; and what 1 is in them."""
    counts = np.arange(records + 1, dtype=np.float64)
    logs = counts * np.log(np.maximum(counts, 1))
    unit = 2.0 ** (60 - int(logs[-1]).bit_length())
    return np.rint(logs * unit).astype(np.int64), unit


def _ties(
    distinct: Combinations,
    sizes: NDArray[np.int64],
    labels: NDArray[np.int64],
    apart: Sequence[NDArray[np.int64]],
    steps: NDArray[np.int64],
) -> NDArray[np.int32]:
    """For each distinct original and each combination: 0, or the records that are as near, and none is nearer."""
    distances = np.concatenate([each.ravel() / step for each, step in zip(apart, steps, strict=True)])
    ties = np.zeros((len(distinct), int(np.prod(labels))), dtype=np.int32)
    _find_ties(distinct.codes.astype(np.int64), distinct.counts.astype(np.int64), sizes, labels, distances, ties)
    return ties


@compiled
def _find_ties(
    originals: NDArray[np.int64],
    supply: NDArray[np.int64],
    sizes: NDArray[np.int64],
    labels: NDArray[np.int64],
    distances: NDArray[np.float64],
    ties: NDArray[np.int32],
) -> None:
    values, away = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(originals))
    for combination in range(ties.shape[1]):
        rest = combination
        for place in range(len(sizes) - 1, -1, -1):
            values[place], rest = rest % labels[place], rest // labels[place]
        for row in range(len(originals)):
            away[row], begin = 0.0, 0
            for place in range(len(sizes)):
                away[row] += distances[begin + originals[row, place] * labels[place] + values[place]]
                begin += sizes[place] * labels[place]
        reach, tied = away.min() + TOLERANCE, 0
        for row in range(len(originals)):
            if away[row] <= reach:
                tied += supply[row]
        for row in range(len(originals)):
            ties[row, combination] = tied if away[row] <= reach else 0
