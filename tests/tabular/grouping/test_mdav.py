import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.grouping.mdav import mdav
from tabular.grouping.points import MEAN, MEDIAN, points_of
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
