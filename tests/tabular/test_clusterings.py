from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.clusterings import LabelColumn, Records, best_partition, clusterings, numbered, partition_from
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.mixed_tables import mixed_tables, random_table


def clustered(name, table, seed=0, **parameters):
    return clusterings[name].method(**parameters).cluster(table, table.names, np.random.default_rng(seed))


def test_the_clusterings_are_there_and_say_what_they_are():
    assert set(clusterings) >= {"c-median", "k-prototypes", "mdav", "random", "ward"}
    for entry in clusterings.entries():
        assert entry.summary.endswith(".")
        assert entry.cites
        assert entry.limits
        assert entry.parameters[0].name == "clusters"


@pytest.mark.parametrize("name", clusterings)
@given(mixed_tables(), st.integers(1, 6), seeds)
@settings(max_examples=40)
def test_clusters_are_numbered_without_gaps_and_no_more_than_asked_for(name, table, clusters, seed):
    labels = clustered(name, table, seed, clusters=clusters)
    assert len(labels) == len(table)
    # MDAV's last group may leave fewer; none is left empty.
    assert set(labels.tolist()) == set(range(int(labels.max()) + 1))
    assert labels.max() < clusters or (name == "mdav" and labels.max() < len(table))
    assert np.array_equal(labels, numbered(labels))
    assert np.array_equal(labels, clustered(name, table, seed, clusters=clusters))


@pytest.mark.parametrize("name", [name for name in clusterings if name != "random"])
def test_two_heaps_are_told_apart(name):
    table = Table.from_columns(
        {"x": [1, 2, 1, 19, 20, 18, 2, 20], "c": ["a", "a", "b", "z", "z", "z", "a", "y"]},
        [Attribute(name="x", kind="ordinal", domain=tuple(range(1, 21))), Attribute(name="c")],
    )
    assert clustered(name, table, clusters=2).tolist() == [0, 0, 0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("name", ["c-median", "ward"])
def test_the_order_of_rows_does_not_matter(name):
    table = random_table(3, 60, ("ordinal", "nominal", "ordinal"))
    order = np.random.default_rng(1).permutation(60)
    straight, shuffled = clustered(name, table, clusters=4), clustered(name, table.rows(order), clusters=4)
    assert np.array_equal(numbered(straight[order]), shuffled)


def test_equal_records_are_never_parted_by_medians():
    table = random_table(4, 80, ("ordinal", "nominal"), values=3)
    labels = clustered("c-median", table, clusters=6)
    for one, other in combinations(range(80), 2):
        if all(table.columns[name][one] == table.columns[name][other] for name in table.names):
            assert labels[one] == labels[other]


@given(mixed_tables(max_rows=9), st.integers(1, 4))
def test_ward_joins_what_raises_the_spread_least(table, clusters):
    """Against the plain way: all pairs of clusters, each time; only the spread counts, since pairs can tie."""
    places = _places(table)

    def spread(rows):
        return ((places[rows] - places[rows].mean(axis=0)) ** 2).sum()

    heaps = {}
    for row, place in enumerate(zip(*(table.columns[name].tolist() for name in table.names), strict=True)):
        heaps.setdefault(place, []).append(row)
    heaps = list(heaps.values())
    found = clustered("ward", table, clusters=clusters)
    ours = sum(spread(np.flatnonzero(found == label)) for label in range(int(found.max()) + 1))
    unique = True
    while len(heaps) > clusters:
        rises = sorted(
            (spread(one + other) - spread(one) - spread(other), place)
            for place, (one, other) in enumerate(combinations(heaps, 2))
        )
        unique = unique and (len(rises) < 2 or rises[1][0] - rises[0][0] > 1e-9)
        one, other = list(combinations(heaps, 2))[rises[0][1]]
        heaps = [heap for heap in heaps if heap not in (one, other)] + [one + other]
    if unique:
        assert ours == pytest.approx(sum(map(spread, heaps)), abs=1e-9)


def _places(table):
    columns = []
    for name in table.names:
        attribute, codes = table.attribute(name), table.columns[name]
        size = len(attribute.domain)
        if attribute.kind == "nominal":
            columns.extend((codes == code) / np.sqrt(2) for code in range(size))
        elif attribute.kind == "ordinal":
            columns.append(codes / size)
        else:
            values = np.array([np.nan if value is None else value for value in table.values(name)], dtype=float)
            missing = np.isnan(values)
            present = values[~missing]
            spread = present.std(ddof=1) if len(set(present.tolist())) > 1 else np.inf
            filled = np.where(missing, _rounded_mean(present), values)
            columns.append(filled / (4 * spread))
            if missing.any():
                columns.extend(np.where(missing, 1.0, 0.0) * side / np.sqrt(2) for side in (1, -1))
    # Ordinal scales are relative to each other as they are, so the unit does not matter.
    return np.stack(columns, axis=1)


def _rounded_mean(present):
    """The mean in the unit of the last decimal, as missing numbers are placed."""
    from tabular.grouping.points import whole_numbers

    if not present.size:
        return 0.0
    whole = whole_numbers(present, present.size)
    largest = int(np.argmax(np.abs(present)))
    unit = present[largest] / whole[largest] if whole[largest] else 1.0
    return np.rint(np.sort(whole).mean()) * unit


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
