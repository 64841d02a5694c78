from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidInput
from tabular.grouping.partitions import agreement

partitions = st.integers(1, 9).flatmap(
    lambda records: st.tuples(*[st.lists(st.integers(0, 3), min_size=records, max_size=records)] * 2)
)


def test_a_case_worked_by_hand():
    # Six pairs: 12 together in both, 34 in the first, 13 and 23 in the second, 14 and 24 in neither.
    found = agreement(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 9]))
    assert found.rand == pytest.approx(3 / 6)
    assert found.jaccard == pytest.approx(1 / 4)
    assert found.wallace == pytest.approx(1 / sqrt(2 * 3))
    assert found.loss == pytest.approx((1 / 2 + 3 / 4 + 1 - 1 / sqrt(6)) / 3)


@given(partitions)
def test_pairs_are_counted_one_by_one(pair):
    first, second = pair
    counts = [0, 0, 0, 0]
    for a, b in combinations(range(len(first)), 2):
        counts[(first[a] != first[b]) * 2 + (second[a] != second[b])] += 1
    found = agreement(np.array(first), np.array(second))
    assert [found.both, found.first, found.second, found.neither] == counts
    assert 0 <= found.loss <= 1


@given(partitions, st.permutations(range(4)))
def test_what_clusters_are_called_does_not_matter(pair, names):
    first = np.array(pair[0])
    assert agreement(first, np.array(names)[first]).loss == pytest.approx(0)


def test_one_cluster_has_nothing_in_common_with_all_apart():
    found = agreement(np.zeros(4, dtype=int), np.arange(4))
    assert (found.rand, found.jaccard, found.wallace, found.loss) == (0, 0, 0, 1)


def test_partitions_of_other_records_are_refused():
    with pytest.raises(InvalidInput, match="they have 2 and 3"):
        agreement(np.array([0, 1]), np.array([0, 1, 1]))
