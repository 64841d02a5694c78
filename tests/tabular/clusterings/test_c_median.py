from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.clusterings.c_median import LabelColumn, Records, best_partition, partition_from
from tests.tabular.mixed_tables import mixed_tables


def columns_of(table):
    return [
        LabelColumn(table.columns[name], len(table.attribute(name).domain), table.attribute(name).is_ordered)
        for name in table.names
    ]


def distance(columns, row, centre):
    total = 0.0
    for column, at in zip(columns, centre, strict=True):
        code = int(column.codes[row])
        members = (code,) if code < column.size else column.sets[code - column.size]
        each = [abs(member - at) / column.size if column.ordered else float(member != at) for member in members]
        total += sum(each) / len(each)
    return total


def test_the_first_centres_are_as_far_apart_as_can_be():
    codes = np.array([0, 9, 4, 1, 5], dtype=np.int32)
    records = Records([LabelColumn(codes, 10, True)])
    # From 0: farthest 9; then 4 and 5 are both 4 from the nearest, the lower one is taken; then 1 and 5 are left at 1.
    assert records.far_apart(4, 0).tolist() == [[0], [9], [4], [1]]
    assert records.far_apart(9, 4).tolist() == [[9], [0], [4], [1], [5]]


@given(mixed_tables(kinds=("ordinal", "nominal")), st.integers(1, 4), st.data())
def test_each_record_is_at_its_nearest_centre_and_each_centre_in_the_middle(table, clusters, data):
    columns = columns_of(table)
    best = best_partition(columns, clusters, range(len(table)))
    used = sorted(set(best.clusters.tolist()))
    middles = []
    for cluster in used:
        rows = np.flatnonzero(best.clusters == cluster)
        middle = []
        for column in columns:
            held = sorted(column.codes[rows].tolist())
            mode = max(sorted(set(held)), key=held.count)
            middle.append(held[(len(held) - 1) // 2] if column.ordered else mode)
        middles.append(middle)
    total = sum(distance(columns, row, middles[used.index(best.clusters[row])]) for row in range(len(table)))
    # The middles of the final clusters can only lie nearer than the centres these were formed around.
    assert total <= best.distance + 1e-9
    again = best_partition(columns, clusters, [data.draw(st.integers(0, len(table) - 1))])
    assert best.distance <= again.distance + 1e-9


@given(mixed_tables(kinds=("ordinal", "nominal"), max_columns=2, max_rows=8), st.integers(1, 3))
def test_no_partition_is_better_than_the_best_of_all_centres(table, clusters):
    columns = columns_of(table)
    best = best_partition(columns, clusters, range(len(table)))
    grid = list(product(*(range(column.size) for column in columns)))
    least = min(
        sum(min(distance(columns, row, centre) for centre in centres) for row in range(len(table)))
        for centres in product(grid, repeat=min(clusters, 2))
    )
    if clusters <= 2:
        assert best.distance >= least - 1e-9


def test_a_set_is_as_far_as_its_members_in_the_mean_and_counts_for_each_in_part():
    column = LabelColumn(np.array([0, 5, 3], dtype=np.int32), 5, True, [(0, 1)])
    records = Records([column])
    # Distinct records by code: 0, 3, the set of 0 and 1.
    assert records.distances(np.array([[0], [4]])) / records.unit == pytest.approx(
        np.array([[0, 0.8], [0.6, 0.2], [0.1, 0.7]])
    )
    together = np.zeros(3, dtype=np.int64)
    # Mass 1.5 at 0, 0.5 at 1, 1 at 3: the lower median is 0, where half is reached.
    assert records.centres(together, np.array([[2]])).tolist() == [[0]]


def test_a_partition_from_given_centres_keeps_clusters_without_records():
    column = LabelColumn(np.array([0, 0, 9], dtype=np.int32), 10, True)
    assert partition_from([column], np.array([[0], [0], [9]])).tolist() == [0, 0, 2]
