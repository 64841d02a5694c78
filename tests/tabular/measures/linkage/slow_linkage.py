"""One-to-one linkage written out slowly: all assignments of few records are tried."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np

from tabular.measures.linkage import agreement


def slow_assignment(agrees, before, after, gains):
    """The number of right links and the shares of agreement of the best assignment.

    *agrees* has a cell for each original, masked record and attribute. Of the best assignments the one counts whose
    flows between distinct records of *before* and *after* come first, in their order.
    """
    records = range(len(before))
    weights = agrees @ gains
    totals = {choice: sum(weights[row, choice[row]] for row in records) for choice in permutations(records)}
    best = [choice for choice, total in totals.items() if total == max(totals.values())]
    edges = list(product(sorted(set(before)), sorted(set(after))))
    transports = {choice: Counter((before[row], after[choice[row]]) for row in records) for choice in best}
    first = max(best, key=lambda choice: [transports[choice][edge] for edge in edges])
    true = Counter(zip(before, after, strict=True))
    right = sum(
        transports[first][a, b] * true[a, b] / (before.count(a) * after.count(b)) for a, b in edges if true[a, b]
    )
    return right, np.mean([agrees[row, first[row]] for row in records], axis=0)


def slow_right(agrees, before, after):
    """The most right links of all estimates: from 0.9 to one that the assignment confirms, by EM, and nearly 1."""
    shares = agrees.mean(axis=(0, 1))

    def assigned(estimate):
        return slow_assignment(agrees, before, after, np.maximum(agreement.gains_of(estimate, shares), 0))

    found, seen, estimate = [], [], np.full(len(shares), 0.9)
    while len(seen) < 10 and not any(np.allclose(estimate, each, atol=1e-12) for each in seen):
        seen.append(estimate)
        right, estimate = assigned(estimate)
        found.append(right)
    counts = slow_counts(agrees)
    found += [assigned(agreement.by_em(counts, len(before), held=held)[0])[0] for held in (False, True)]
    found += [assigned(np.full(len(shares), agreement))[0] for agreement in (0.99, 0.999)]
    return max(found)


def slow_counts(agrees):
    """The pairs of records by pattern of agreement."""
    patterns = (agrees.astype(int) << np.arange(agrees.shape[2])).sum(axis=2)
    return np.bincount(patterns.ravel(), minlength=1 << agrees.shape[2])
