"""The attributes in which two records agree, and the weight of their agreement (Fellegi and Sunter 1969)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.measures.contract import Numbers, Pairs
from tabular.measures.linkage.nearest import Labels, PrefixTree

#: EM counts patterns: whole numbers with a bit for each attribute.
ATTRIBUTES = 24

#: Probabilities of agreement stay this far from 0 and 1, so that every weight is finite.
MARGIN = 1e-6

#: Weights are whole numbers of this fraction: equal sums of weights are exactly equal.
UNIT = 1e-6

#: EM: the first probability for records that belong together, and when it ends.
AGREEMENT, PRECISION, ROUNDS = 0.9, 1e-10, 10_000

#: EM looks at so many attributes of patterns at most, which ends it after seconds where patterns are many.
VISITS = 2 * 10**9


def shares_of_agreement(pairs: Pairs, labels: Labels) -> Numbers:
    """For each attribute the share of all pairs of records that agree in it."""
    return np.array([_share(pairs, labels, column) for column in range(len(labels.firsts))])


def _share(pairs: Pairs, labels: Labels, column: int) -> float:
    places = labels.firsts[column] + pairs.masked.codes[:, column]
    values = np.zeros(labels.sizes[column] + 1, dtype=np.int64)
    np.add.at(values[1:], pairs.original.codes[:, column], pairs.original.counts)
    first, end = labels.starts[places], labels.starts[places + 1]
    of_members = np.concatenate([[0], np.cumsum(values[1 + _within(labels, column)])])
    begin = labels.starts[labels.firsts[column]]
    below = np.cumsum(values)
    # A label without members agrees with the values in its window.
    windows = np.where(first == end, below[labels.highs[places]] - below[labels.lows[places]], 0)
    agreeing = of_members[end - begin] - of_members[first - begin] + windows
    total = float(pairs.records.sum())
    return float((agreeing * pairs.masked.counts).sum()) / total**2


def _within(labels: Labels, column: int) -> NDArray[np.int32]:
    """The members of all labels of a column, one label after the other."""
    after = labels.firsts[column + 1] if column + 1 < len(labels.firsts) else len(labels.starts) - 1
    return labels.members[labels.starts[labels.firsts[column]] : labels.starts[after]]


def agreements(
    pairs: Pairs, labels: Labels, originals: NDArray[np.int64], masked: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether originals agree with masked combinations, a row a pair and a column an attribute.

    A value agrees with a label that stands for a set if it is one of its members; with a label that has no members
    if it is within its window.
    """
    found = np.empty((len(originals), len(labels.firsts)), dtype=np.bool_)
    for column, first in enumerate(labels.firsts):
        values = pairs.original.codes[originals, column].astype(np.int64)
        places = first + pairs.masked.codes[masked, column]
        within = _within(labels, column)
        begin, size = labels.starts[first], labels.sizes[column]
        owners = np.searchsorted(labels.starts, np.arange(begin, begin + len(within)), side="right") - 1
        keys = owners * size + within
        wanted = places * size + values
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        member = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=np.bool_)
        window = (labels.lows[places] <= values) & (values < labels.highs[places])
        found[:, column] = member | (window & (labels.starts[places] == labels.starts[places + 1]))
    return found


def gains_of(together: Numbers, apart: Numbers) -> NDArray[np.int64]:
    """What agreement in each attribute adds to a weight, in whole `UNIT`s.

    The logarithm of the ratio of two odds: of agreement in records that belong together, and in those that do not.
    """
    together, apart = (np.clip(each, MARGIN, 1 - MARGIN) for each in (together, apart))
    gains = np.log(together / apart) - np.log((1 - together) / (1 - apart))
    return np.rint(gains / UNIT).astype(np.int64)


def pattern_counts(pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """How many pairs of records have each pattern of agreement."""
    counts = np.zeros(1 << pairs.original.codes.shape[1], dtype=np.int64)
    tree = PrefixTree.of(pairs.original.codes, pairs.original.counts)
    _count(tree, pairs.masked.codes, pairs.masked.counts, labels, counts)
    return counts


@compiled
def _count(
    tree: PrefixTree,
    masked: NDArray[np.int32],
    masked_counts: NDArray[np.int64],
    labels: Labels,
    counts: NDArray[np.int64],
) -> None:
    rows, columns = tree.codes.shape
    agrees = np.zeros((columns, labels.sizes.max()), dtype=np.int64)
    reached = np.zeros(columns + 1, dtype=np.int64)
    for result in range(len(masked)):
        for column in range(columns):
            place = labels.firsts[column] + masked[result, column]
            first, end = labels.starts[place], labels.starts[place + 1]
            agrees[column] = 0
            for member in labels.members[first:end]:
                agrees[column, member] = 1 << column
            if first == end:
                agrees[column, labels.lows[place] : labels.highs[place]] = 1 << column
        for row in range(rows):
            for column in range(tree.depth[row], columns):
                reached[column + 1] = reached[column] | agrees[column, tree.codes[row, column]]
            counts[reached[columns]] += tree.counts[row] * masked_counts[result]


def by_em(
    counts: NDArray[np.int64], records: int, *, held: bool = False, rounds: int = ROUNDS
) -> tuple[Numbers, Numbers]:
    """The probabilities of agreement in pairs that belong together and in others, by EM from *counts* of patterns.

    The share of pairs that belong together is known, one in *records*, and stays fixed. Even so the pairs that EM takes
    for such can come to many times as many; where they are *held* to that share they cannot, and agreement never counts
    against a pair.
    """
    attributes = len(counts).bit_length() - 1
    occurring = np.flatnonzero(counts)
    agreeing = counts[occurring] @ ((occurring[:, None] >> np.arange(attributes)) & 1)
    apart = np.clip(agreeing / counts.sum(), MARGIN, 1 - MARGIN)
    together = np.full(attributes, AGREEMENT)
    rounds = min(rounds, 1 + VISITS // (len(occurring) * attributes))
    if records > 1:
        _maximise(occurring, counts[occurring].astype(np.float64), records, held, rounds, together, apart)
    return together, apart


@compiled
def _maximise(
    patterns_seen: NDArray[np.int64],
    counts: NDArray[np.float64],
    records: int,
    held: bool,
    rounds: int,
    together: NDArray[np.float64],
    apart: NDArray[np.float64],
) -> None:
    """Find by EM the probability that each attribute agrees in pairs that belong together, and in all others."""
    attributes = len(together)
    agreed, agreed_apart = np.zeros(attributes), np.zeros(attributes)
    against, wanted = records - 1.0, counts.sum() / records
    for _ in range(rounds):
        agree, differ = np.log(apart / together), np.log((1 - apart) / (1 - together))
        agreed[:], agreed_apart[:] = 0.0, 0.0
        belonging, others = 0.0, 0.0
        for place in range(len(counts)):
            odds = 0.0
            for attribute in range(attributes):
                odds += agree[attribute] if patterns_seen[place] >> attribute & 1 else differ[attribute]
            belong = counts[place] / (1 + against * np.exp(odds))
            belonging += belong
            others += counts[place] - belong
            for attribute in range(attributes):
                if patterns_seen[place] >> attribute & 1:
                    agreed[attribute] += belong
                    agreed_apart[attribute] += counts[place] - belong
        changed = 0.0
        for attribute in range(attributes):
            one = min(max(agreed[attribute] / belonging, MARGIN), 1 - MARGIN)
            other = min(max(agreed_apart[attribute] / others, MARGIN), 1 - MARGIN)
            if held:
                one = max(one, other)
            changed = max(changed, abs(one - together[attribute]), abs(other - apart[attribute]))
            together[attribute], apart[attribute] = one, other
        if held:
            changed = max(changed, abs(belonging / wanted - 1))
            against *= belonging / wanted
        if changed < PRECISION:
            break
