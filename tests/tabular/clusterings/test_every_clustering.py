from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.clusterings import clusterings, numbered
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
