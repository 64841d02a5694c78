"""How often each attribute agrees in records that belong together, as attackers can estimate it from two files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tabular.measures.contract import Column, Numbers
from tabular.measures.linkage.agreement import AGREEMENT, ATTRIBUTES, by_em, gains_of, pattern_counts
from tabular.measures.linkage.one_to_one import Assignment, TwoFiles

#: So many records are enough to estimate from.
SAMPLE = 2000

#: Shares of agreement so high that a link counts above all in how many attributes it agrees.
STRICT = (0.99, 0.999)

#: Assignments at most on the way to one that confirms its estimate, and visits of EM to an attribute of a pattern.
ROUNDS, VISITS = 10, 5 * 10**8


def sampled(columns: Sequence[Column]) -> Sequence[Column]:
    """The columns of `SAMPLE` records at most, evenly over the pairs of combinations in the order of their codes.

    Records that are alike in both files are exchangeable, so the order of the rows decides nothing.
    """
    count = len(columns[0].original)
    if count <= SAMPLE:
        return columns
    order = np.lexsort([*(column.masked for column in columns), *(column.original for column in columns)])
    rows = order[np.arange(SAMPLE) * count // SAMPLE]
    return [replace(column, original=column.original[rows], masked=column.masked[rows]) for column in columns]


def best_estimate(files: TwoFiles) -> tuple[Numbers, Assignment] | None:
    """Of all estimates the one that links most records rightly, with its assignment; None if that takes too long."""
    best = None
    for estimate, assignment in _estimates(files):
        if assignment is None:
            return None
        if best is None or assignment.right > best[1].right:
            best = estimate, assignment
    return best


def _estimates(files: TwoFiles) -> Iterator[tuple[Numbers, Assignment | None]]:
    """Estimates with their assignments.

    First the shares of agreement that an assignment shows make the next one, until nothing changes; then EM, free and
    held to as many pairs as there are records; at last attributes that nearly always agree, so that their number
    counts.
    """
    estimate: Numbers = np.full(len(files.shares), AGREEMENT)
    seen: set[bytes] = set()
    while len(seen) < ROUNDS and estimate.tobytes() not in seen:
        seen.add(estimate.tobytes())
        assignment = assigned_by(files, estimate)
        yield estimate, assignment
        if assignment is None:
            return
        estimate = assignment.agreement
    for estimate in by_all_em(files):
        yield estimate, assigned_by(files, estimate)
    for agreement in STRICT:
        estimate = np.full(len(files.shares), agreement)
        yield estimate, assigned_by(files, estimate)


def by_all_em(files: TwoFiles) -> Iterator[Numbers]:
    """What EM estimates, free and held, where attributes are few enough for it."""
    if len(files.shares) <= ATTRIBUTES:
        counts = pattern_counts(files.pairs, files.labels)
        rounds = 1 + VISITS // int(np.count_nonzero(counts) * len(files.shares))
        for held in (False, True):
            yield by_em(counts, files.records, held=held, rounds=min(rounds, 3000))[0]


def assigned_by(files: TwoFiles, estimate: Numbers) -> Assignment | None:
    """The assignment that follows from an *estimate*; agreement never counts against a pair."""
    return files.assigned(np.maximum(gains_of(estimate, files.shares), 0))
