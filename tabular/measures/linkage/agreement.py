"""The attributes in which two records agree, and the weight of their agreement (Fellegi and Sunter 1969)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled
from tabular.measures.contract import Pairs
from tabular.measures.linkage.nearest import Labels, PrefixTree

#: A pattern is a whole number with a bit for each attribute, and all of them are counted.
ATTRIBUTES = 24

#: Probabilities of agreement stay this far from 0 and 1, so that every weight is finite.
MARGIN = 1e-6

#: Weights are whole numbers of this fraction: equal sums of weights are exactly equal.
UNIT = 1e-6

#: EM: the first probability for records that belong together, and when it ends.
AGREEMENT, PRECISION, ROUNDS = 0.9, 1e-10, 10_000


def patterns(pairs: Pairs, labels: Labels) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """The pattern of agreement of each original with each masked combination, and the pairs of records by pattern.

    A value agrees with a label that stands for a set if it is one of its members; with a label that has no members
    if it is within its window.
    """
    attributes = pairs.original.codes.shape[1]
    found = np.empty((len(pairs.original), len(pairs.masked)), dtype=pattern_type(attributes))
    counts = np.zeros(1 << attributes, dtype=np.int64)
    tree = PrefixTree.of(pairs.original.codes, pairs.original.counts)
    _patterns(tree, pairs.masked.codes, pairs.masked.counts, labels, found, counts)
    return found, counts


def pattern_type(attributes: int) -> np.dtype[np.unsignedinteger]:
    """The smallest type that has a bit for each attribute."""
    return np.dtype(np.uint8 if attributes <= 8 else np.uint16 if attributes <= 16 else np.uint32)


@compiled
def _patterns(
    tree: PrefixTree,
    masked: NDArray[np.int32],
    masked_counts: NDArray[np.int64],
    labels: Labels,
    found: NDArray[np.unsignedinteger],
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
            found[row, result] = reached[columns]
            counts[reached[columns]] += tree.counts[row] * masked_counts[result]


def pattern_weights(counts: NDArray[np.int64], records: int) -> NDArray[np.int64]:
    """The weight of each pattern, less that of no agreement at all, in whole `UNIT`s.

    The logarithm of the ratio of two probabilities: of an agreement among records that belong together, and among
    those that do not. EM finds both from the *counts* of the patterns; the share of pairs that belong together is
    known, one in *records*, and stays fixed: left free it drifts away.
    """
    attributes = len(counts).bit_length() - 1
    occurring = np.flatnonzero(counts)
    agreeing = counts[occurring] @ ((occurring[:, None] >> np.arange(attributes)) & 1)
    apart = np.clip(agreeing / counts.sum(), MARGIN, 1 - MARGIN)
    together = np.full(attributes, AGREEMENT)
    if records > 1:
        _maximise(occurring, counts[occurring].astype(np.float64), 1 / records, together, apart)
    gains = np.log(together / apart) - np.log((1 - together) / (1 - apart))
    units = np.rint(gains / UNIT).astype(np.int64)
    weights = np.zeros(1, dtype=np.int64)
    for gain in units:
        weights = np.concatenate([weights, weights + gain])
    return weights


@compiled
def _maximise(
    patterns_seen: NDArray[np.int64],
    counts: NDArray[np.float64],
    share: float,
    together: NDArray[np.float64],
    apart: NDArray[np.float64],
) -> None:
    """Find by EM the probability that each attribute agrees in pairs that belong together, and in all others."""
    attributes = len(together)
    agreed, agreed_apart = np.zeros(attributes), np.zeros(attributes)
    for _ in range(ROUNDS):
        agree, differ = np.log(apart / together), np.log((1 - apart) / (1 - together))
        agreed[:], agreed_apart[:] = 0.0, 0.0
        belonging, others = 0.0, 0.0
        for place in range(len(counts)):
            odds = 0.0
            for attribute in range(attributes):
                odds += agree[attribute] if patterns_seen[place] >> attribute & 1 else differ[attribute]
            belong = counts[place] / (1 + (1 - share) / share * np.exp(odds))
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
            changed = max(changed, abs(one - together[attribute]), abs(other - apart[attribute]))
            together[attribute], apart[attribute] = one, other
        if changed < PRECISION:
            break
