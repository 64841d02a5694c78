import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.protections import protect
from tabular.protections.mondrian import parts_of
from tabular.table import Table, smallest_class
from tests.tabular.mixed_tables import mixed_tables, random_table


def masked(table, **parameters):
    return protect(table, "mondrian", table.names, rng=np.random.default_rng(0), **parameters)


def slow_parts(table, k, relaxed):
    """The parts as lists of rows, recursively, with every count counted."""
    names = sorted(table.names, key=lambda name: -len(table.attribute(name).domain))
    columns = {name: table.columns[name].tolist() for name in names}

    def place(name, code):
        attribute = table.attribute(name)
        numbers = [value for value in attribute.domain if value is not None]
        if attribute.kind != "continuous" or len(set(numbers)) < 2:
            return code / max(len(attribute.domain) - 1, 1)
        if attribute.domain[code] is None:
            return 1 + 1 / (len(attribute.domain) - 1)
        return (attribute.domain[code] / 2 - numbers[0] / 2) / (numbers[-1] / 2 - numbers[0] / 2)

    def span(rows, name):
        held = [columns[name][row] for row in rows]
        return place(name, max(held)) - place(name, min(held))

    def cut(rows, name):
        held = sorted(columns[name][row] for row in rows)
        if held[0] == held[-1]:
            return None
        if relaxed:
            order = sorted(rows, key=lambda row: (columns[name][row], row))
            half = len(rows) // 2
            return sorted(order[:half]), sorted(order[half:])
        median = held[(len(held) - 1) // 2]
        upper = (
            [row for row in rows if columns[name][row] <= median],
            [row for row in rows if columns[name][row] > median],
        )
        lower = (
            [row for row in rows if columns[name][row] < median],
            [row for row in rows if columns[name][row] >= median],
        )
        best = max((upper, lower), key=lambda sides: min(map(len, sides)))
        return best if min(map(len, best)) >= k else None

    def split(rows):
        if len(rows) >= 2 * k:
            for name in sorted(names, key=lambda name: -span(rows, name)):
                sides = cut(rows, name)
                if sides:
                    return split(sides[0]) + split(sides[1])
        return [rows]

    return split(list(range(len(table))))


def slow_masked(table, parts):
    columns = {name: [None] * len(table) for name in table.names}
    for rows in parts:
        for name in table.names:
            attribute = table.attribute(name)
            held = sorted({int(table.columns[name][row]) for row in rows})
            texts = ["" if attribute.domain[code] is None else str(attribute.domain[code]) for code in held]
            if len(held) == 1:
                label = attribute.domain[held[0]]
            elif attribute.is_ordered:
                label = f"[{texts[0]},{texts[-1]}]"
            else:
                label = "{" + "|".join(texts) + "}"
            for row in rows:
                columns[name][row] = label
    return table.masked(columns)


def test_figure_2_4():
    # Six points made to fit the text: a cut on Y, then one on X in the upper region; k = 2.
    table = Table.from_columns(
        {"X": [1, 1, 3, 3, 1, 2], "Y": ["A", "B", "A", "B", "C", "D"]},
        [
            Attribute(name="X", kind="ordinal", domain=(1, 2, 3)),
            Attribute(name="Y", kind="ordinal", domain=tuple("ABCD")),
        ],
    )
    assert masked(table, k=2).to_columns() == {
        "X": [1, 1, 3, 3, "[1,2]", "[1,2]"],
        "Y": ["[A,B]", "[A,B]", "[A,B]", "[A,B]", "[C,D]", "[C,D]"],
    }


def test_a_strict_cut_keeps_equal_values_together_and_a_relaxed_one_does_not():
    table = Table.from_columns({"x": [1, 2, 2, 2, 3]}, [Attribute(name="x", kind="ordinal")])
    assert masked(table, k=2).values("x") == ["*"] * 5
    table = Table.from_columns({"x": [1, 2, 2, 2, 3]}, [Attribute(name="x", kind="ordinal", domain=(1, 2, 3))])
    assert masked(table, k=2, cuts="relaxed").values("x") == ["[1,2]", "[1,2]", "[2,3]", "[2,3]", "[2,3]"]


def test_a_cut_below_the_median_is_found_where_none_above_it_is_allowed():
    table = Table.from_columns({"x": [1, 1, 2, 2, 2, 3]}, [Attribute(name="x", kind="ordinal", domain=(1, 2, 3))])
    assert masked(table, k=2).values("x") == [1, 1, "[2,3]", "[2,3]", "[2,3]", "[2,3]"]


def test_nominal_values_are_cut_in_the_order_of_the_domain_and_labelled_by_what_occurs():
    table = Table.from_columns(
        {"c": ["a", "c", "e", "d", "b", "d"]}, [Attribute(name="c", domain=("a", "b", "c", "d", "e", "f"))]
    )
    assert masked(table, k=3).values("c") == ["{a|b|c}", "{a|b|c}", "{d|e}", "{d|e}", "{a|b|c}", "{d|e}"]


def test_a_missing_value_is_a_category_at_its_place():
    table = Table.from_columns({"x": [1.5, None, 2.5, None]}, [Attribute(name="x", kind="continuous")])
    assert masked(table, k=2).values("x") == ["*", None, "*", None]
    assert masked(table, k=4).values("x") == ["*"] * 4


def test_what_cannot_be_done_is_said():
    table = random_table(0, 4, ("ordinal",))
    with pytest.raises(NoSolution, match="k=5 exists: the table has 4 records"):
        masked(table, k=5)
    with pytest.raises(InvalidParameter, match="cuts must be one of strict, relaxed"):
        masked(table, cuts="loose")


@given(mixed_tables(), st.data(), st.booleans())
def test_it_agrees_with_the_plain_recursion(table, data, relaxed):
    k = data.draw(st.integers(1, len(table)))
    parts = slow_parts(table, k, relaxed)
    result = masked(table, k=k, cuts="relaxed" if relaxed else "strict")
    expected = slow_masked(table, parts)
    for name in table.names:
        if table.attribute(name).kind != "continuous":
            assert result.values(name) == expected.values(name)
    assert smallest_class([result.columns[name] for name in table.names]) >= k
    if relaxed:
        sizes = np.bincount(parts_of(table, table.names, k, relaxed=True))
        for size, rows in zip(sizes, parts, strict=True):
            assert size < 2 * k or all(len({int(table.columns[n][row]) for row in rows}) == 1 for n in table.names)


@pytest.mark.parametrize("kinds", [("ordinal",) * 4, ("nominal", "continuous", "ordinal"), ("continuous",) * 2])
@pytest.mark.parametrize("k", [2, 5, 150])
@pytest.mark.parametrize("relaxed", [False, True])
def test_it_agrees_with_the_plain_recursion_on_larger_tables(kinds, k, relaxed):
    table = random_table(2, 300, kinds, missing=0.05)
    found = parts_of(table, table.names, k, relaxed=relaxed)
    assert [np.flatnonzero(found == part).tolist() for part in range(found.max() + 1)] == slow_parts(table, k, relaxed)


@given(mixed_tables(), st.data())
def test_no_allowed_cut_is_left(table, data):
    k = data.draw(st.integers(1, len(table)))
    parts = parts_of(table, table.names, k, relaxed=False)
    for part in range(int(parts.max()) + 1):
        for name in table.names:
            held = table.columns[name][parts == part]
            for code in np.unique(held):
                assert min((held <= code).sum(), (held > code).sum()) < k


@given(mixed_tables(kinds=("ordinal", "nominal")), st.data())
def test_the_order_of_rows_does_not_matter(table, data):
    k = data.draw(st.integers(1, len(table)))
    order = np.array(data.draw(st.permutations(range(len(table)))))
    shuffled, straight = masked(table.rows(order), k=k).to_columns(), masked(table, k=k).to_columns()
    assert shuffled == {name: [column[row] for row in order] for name, column in straight.items()}


def test_no_end_of_a_continuous_column_tells_a_value_of_few_records():
    rng = np.random.default_rng(6)
    incomes = np.round(rng.lognormal(10, 1, size=3000), 2).tolist()
    table = Table.from_columns(
        {"income": incomes, "age": rng.integers(18, 90, 3000).tolist()},
        [Attribute(name="income", kind="continuous"), Attribute(name="age", kind="ordinal")],
    )
    result, k = masked(table, k=5), 5
    for name in table.names:
        values, ends = sorted(table.values(name)), set()
        for value, label in zip(table.values(name), result.values(name), strict=True):
            if isinstance(label, str) and label != "*":
                low, high = ends_of_label(label)
                assert low <= value <= high
                ends |= {low, high} - {-math.inf, math.inf}
        assert ends
        # Of some grid all ends are points, and the cells beside each hold k records or more.
        steps = [Fraction(factor) * Fraction(10) ** exponent for exponent in range(6, -4, -1) for factor in (5, 2, 1)]
        step = next(step for step in steps if all(Fraction(str(end)) % step == 0 for end in ends))
        for end in ends:
            assert sum(end - step <= value < end for value in values) >= k
            assert sum(end <= value < end + step for value in values) >= k


def ends_of_label(label):
    if label.startswith("["):
        low, high = label[1:-1].split(",")
        return float(low), float(high)
    return (-math.inf, float(label[2:])) if label.startswith("<=") else (float(label[2:]), math.inf)
