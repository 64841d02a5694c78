from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.clusterings import LabelColumn, best_partition
from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.measures.clustering import MOST, looked_at, pair_counts, spaced
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

SIZES = Attribute(name="size", kind="ordinal", domain=tuple(range(10)))


def loss(original, masked, **parameters):
    return measures["clustering"].method(**parameters).measure(original, masked, original.names)


def test_a_case_by_hand():
    original = Table.from_columns({"size": [0, 1, 8, 9]}, [SIZES])
    assert loss(original, original.masked({"size": [1, 0, 9, 9]}), clusters=2).raw == 0
    # {0,1} {2,3} against {0,1,2} {3}: of 6 pairs one is together in both, one and two are in either alone.
    reading = loss(original, original.masked({"size": [0, 1, 2, 9]}), clusters=2)
    both = pair_counts(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    assert (both.rand, both.jaccard) == (0.5, 0.25)
    assert reading.raw == pytest.approx(both.loss)
    assert reading.percent == pytest.approx(100 * both.loss)


def test_labels_that_stand_for_sets_are_as_far_as_their_members():
    original = Table.from_columns({"size": [0, 1, 8, 9]}, [SIZES])
    assert loss(original, original.masked({"size": ["[0,1]", "[0,1]", "[8,9]", "[8,9]"]}), clusters=2).raw == 0
    # {0,8} is nearer to the cluster at 0 than to that at 8 or 9, or as near: ties go to the first.
    assert loss(original, original.masked({"size": [0, 1, "{0|8}", 9]}), clusters=2).raw > 0


@settings(max_examples=30)
@given(pairs_of_tables(max_rows=12))
def test_a_file_against_itself_loses_nothing(pair):
    original, masked = pair
    assert loss(original, original.masked(original.to_columns())).raw == 0
    assert 0 <= loss(original, masked).raw <= 1


def test_the_partition_of_the_original_is_the_best_of_all_starts():
    original, _ = random_pair(3, 60, (6, 4))
    columns = [
        LabelColumn(original.columns[each.name], len(each.domain), each.is_ordered) for each in original.attributes
    ]
    best = best_partition(columns, 5, range(60))
    alone = [best_partition(columns, 5, [first]).distance for first in range(60)]
    assert best.distance == min(alone)


partitions = st.integers(1, 9).flatmap(
    lambda records: st.tuples(*[st.lists(st.integers(0, 3), min_size=records, max_size=records)] * 2)
)


def test_the_indices_of_two_partitions_worked_by_hand():
    # Six pairs: 12 together in both, 34 in the first, 13 and 23 in the second, 14 and 24 in neither.
    found = pair_counts(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 9]))
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
    found = pair_counts(np.array(first), np.array(second))
    assert [found.both, found.first, found.second, found.neither] == counts
    assert 0 <= found.loss <= 1


@given(partitions, st.permutations(range(4)))
def test_what_clusters_are_called_does_not_matter(pair, names):
    first = np.array(pair[0])
    assert pair_counts(first, np.array(names)[first]).loss == pytest.approx(0)


def test_one_cluster_has_nothing_in_common_with_all_apart():
    found = pair_counts(np.zeros(4, dtype=int), np.arange(4))
    assert (found.rand, found.jaccard, found.wallace, found.loss) == (0, 0, 0, 1)


def test_partitions_of_other_records_are_refused():
    with pytest.raises(InvalidInput, match="they have 2 and 3"):
        pair_counts(np.array([0, 1]), np.array([0, 1, 1]))


@pytest.mark.parametrize("shuffled", [False, True])
def test_many_distinct_records_are_looked_at_evenly_spaced_in_the_order_of_their_codes(shuffled):
    rows = np.random.default_rng(3).permutation(MOST + 500) if shuffled else np.arange(MOST + 500)
    codes, masked = rows.astype(np.int32), (rows // 3).astype(np.int32)
    chosen = looked_at([codes], [masked])
    assert len(chosen) == MOST
    assert codes[chosen].tolist() == spaced(MOST + 500, MOST)
    assert len(looked_at([codes % 7], [masked % 5])) == len(rows)


def test_a_domain_with_many_values_that_do_not_occur_gives_the_same_clusters():
    codes = np.random.default_rng(5).integers(0, 40, (60, 2)).astype(np.int32)
    # Where there are sets, though none occurs, all values are looked at.
    narrow, wide = (
        [LabelColumn(codes[:, place], 1000, place == 0, sets) for place in (0, 1)] for sets in ((), ((0, 1),))
    )
    found, slow = (best_partition(columns, 4, [3, 30, 50]) for columns in (narrow, wide))
    assert found.clusters.tolist() == slow.clusters.tolist()
    assert (found.distance, found.start.tolist()) == (slow.distance, slow.start.tolist())
