from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.grouping.group_sizes import loss_of, with_varied_sizes
from tabular.grouping.mdav import mdav
from tabular.grouping.points import MEAN, MEDIAN, points_of
from tabular.table import Table
from tests.tabular.mixed_tables import mixed_tables


def slow_loss(points, groups):
    """The squared distances to the middles in fractions."""
    total = Fraction(0)
    for group in set(groups):
        rows = [row for row, each in enumerate(groups) if each == group]
        for column, kind in enumerate(points.middles):
            held = sorted(Fraction(points.values[row, column]) for row in rows)
            if kind == MEAN:
                mean = sum(held) / len(held)
                part = sum((value - mean) ** 2 for value in held)
            elif kind == MEDIAN:
                part = sum((value - held[(len(held) - 1) // 2]) ** 2 for value in held)
            else:
                part = len(held) - max(held.count(value) for value in held)
            total += Fraction(float(points.weights[column])) * part
    return float(total)


@given(mixed_tables(), st.integers(1, 6))
def test_varied_sizes_lose_no_more_and_have_k_to_2k_minus_1_records(table, k):
    k = min(k, len(table))
    points = points_of(table, table.names)
    fixed = mdav(points, k)
    varied = with_varied_sizes(points, fixed, k)
    sizes = np.bincount(varied)
    assert k <= sizes.min() and sizes.max() <= 2 * k - 1
    assert loss_of(points, varied) <= loss_of(points, fixed)


@given(mixed_tables(), st.integers(1, 4))
def test_the_loss_is_the_sum_of_squared_distances_to_the_middles(table, k):
    points = points_of(table, table.names)
    groups = mdav(points, min(k, len(table)))
    assert loss_of(points, groups) == pytest.approx(slow_loss(points, groups.tolist()), rel=1e-9, abs=1e-9)


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=7), st.integers(1, 3), st.sampled_from(["ordinal", "continuous"])
)
def test_of_one_ordered_column_no_groups_lose_less(column, k, kind):
    k = min(k, len(column))
    table = Table.from_columns({"x": column}, [Attribute(name="x", kind=kind, domain=tuple(range(13)))])
    points = points_of(table, ["x"])
    found = loss_of(points, with_varied_sizes(points, mdav(points, k), k))
    assert found == pytest.approx(min(slow_loss(points, each) for each in partitions(len(column), k)), abs=1e-9)


def partitions(count, k):
    """Every way to put the records into groups of k or more."""

    def extend(prefix, groups):
        if len(prefix) == count:
            if all(prefix.count(group) >= k for group in range(groups)):
                yield prefix
            return
        for group in range(groups + 1):
            yield from extend([*prefix, group], max(groups, group + 1))

    yield from extend([], 0)
