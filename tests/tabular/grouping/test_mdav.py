from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.grouping.group_sizes import loss_of, with_varied_sizes
from tabular.grouping.mdav import mdav
from tabular.grouping.points import MEAN, MEDIAN, points_of, whole_numbers
from tabular.table import Table
from tests.tabular.mixed_tables import mixed_tables, random_table


def slow_mdav(points, k):
    """Alg. 4 by the book: every search looks at every record left, every middle is computed anew."""
    values = points.values.tolist()
    groups, formed = [-1] * len(values), 0

    def middle(rows):
        found = []
        for column, kind in enumerate(points.middles):
            held = sorted(values[row][column] for row in rows)
            if kind == MEAN:
                found.append(sum(map(int, held)) / len(held))
            elif kind == MEDIAN:
                found.append(held[(len(held) - 1) // 2])
            else:
                found.append(max(sorted(set(held)), key=held.count))
        return found

    def distance(row, target):
        total = 0.0
        for column, (a, b) in enumerate(zip(values[row], target, strict=True)):
            apart = a - b if column < points.ordered else float(a != b)
            total += float(points.weights[column]) * (apart * apart)
        return total

    def form(left, target):
        nonlocal formed
        seed = min(left, key=lambda row: (-distance(row, target), row))
        for row in sorted(left, key=lambda row: (distance(row, values[seed]), row))[:k]:
            groups[row] = formed
            left.remove(row)
        formed += 1
        return values[seed]

    left = list(range(len(values)))
    while len(left) >= 3 * k:
        form(left, form(left, middle(left)))
    if len(left) >= 2 * k:
        form(left, middle(left))
    for row in left:
        groups[row] = formed
    return groups


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


def test_a_case_by_hand():
    # Mean 12.5: farthest 30 takes 29; farthest from 30 is 1, which takes 2; of 9, 10, 11, 8 fewer than 3k are left:
    # mean 9.5, farthest 11 and 8, the lower row is that of 11, which takes 10.
    table = Table.from_columns({"x": [1, 30, 9, 29, 2, 10, 11, 8]}, [Attribute(name="x", kind="continuous")])
    assert mdav(points_of(table, ["x"]), 2).tolist() == [1, 0, 3, 0, 1, 2, 2, 3]


@given(mixed_tables(), st.integers(1, 6))
def test_it_forms_the_groups_of_the_plain_algorithm_to_the_last_tie(table, k):
    points = points_of(table, table.names)
    assert mdav(points, min(k, len(table))).tolist() == slow_mdav(points, min(k, len(table)))


@pytest.mark.parametrize("kinds", [("continuous",) * 3, ("ordinal", "nominal", "nominal"), ("continuous", "nominal")])
@pytest.mark.parametrize("k", [2, 5, 130])
def test_it_forms_the_groups_of_the_plain_algorithm_over_many_blocks(kinds, k):
    points = points_of(random_table(3, 400, kinds, values=6), tuple(f"column {number}" for number in range(len(kinds))))
    assert mdav(points, k).tolist() == slow_mdav(points, k)


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


def test_equal_differences_of_decimals_are_equal():
    assert whole_numbers(np.array([0.1, 0.2, 0.3, -1.5]), 4).tolist() == [1, 2, 3, -15]
    assert whole_numbers(np.array([3.0, 4e15]), 10).tolist() == [3, 4e15]


def test_numbers_without_a_last_decimal_keep_their_leading_digits():
    numbers = np.array([np.pi, -1 / 3, 0.0])
    whole = whole_numbers(numbers, 1000)
    assert np.abs(whole).max() * 1000 < 2**62
    assert np.allclose(whole / whole[0] * np.pi, numbers, rtol=1e-14)
    assert np.array_equal(whole, np.rint(whole))


@pytest.mark.parametrize("numbers", [[1e300, -1e300, 1.5], [5e-324, 0.0], [1e-200, 3e-200], [0.0, 0.0]])
def test_numbers_far_from_one_stay_finite_and_in_order(numbers):
    whole = whole_numbers(np.array(numbers), 3)
    assert np.isfinite(whole).all()
    assert np.array_equal(np.argsort(whole, kind="stable"), np.argsort(numbers, kind="stable"))


def test_a_missing_number_is_one_away_from_any_number():
    table = Table.from_columns({"x": [1.5, None, 2.5, None]}, [Attribute(name="x", kind="continuous")])
    points = points_of(table, ["x"])
    assert points.values[:, 1].tolist() == [0, 1, 0, 1]
    assert points.weights[1] == 1


def test_infinite_numbers_are_refused():
    table = Table.from_columns({"x": [1.0, float("inf")]}, [Attribute(name="x", kind="continuous")])
    with pytest.raises(InvalidInput, match=r"'x' holds an infinite number"):
        points_of(table, ["x"])
