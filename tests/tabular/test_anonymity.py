from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabular.anonymity import Anonymity, Diversity, spread, suppressed_rows
from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables

SALARY = Attribute(name="salary", kind="ordinal", domain=(3, 4, 5, 6, 7, 8, 9, 10, 11))

#: Classes and values of a few rows, and a domain that may hold more values than occur.
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=14)
SIZES = st.integers(5, 7)


def salaries():
    """Li, Li and Venkatasubramanian (2007), Table 3: three classes of three salaries in thousands, and a disease."""
    return Table.from_columns(
        {
            "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
            "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
            "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
            "disease": [
                "ulcer",
                "gastritis",
                "cancer",
                "gastritis",
                "flu",
                "bronchitis",
                "bronchitis",
                "pneumonia",
                "cancer",
            ],
        },
        [SALARY],
    )


def test_the_salaries_of_t_closeness():
    # The paper works out 0.375 for the class {3, 4, 5} and 0.167 for {6, 8, 11}.
    table = salaries()
    assert Anonymity.of(table, ["zip", "age"]).diversity("salary").closeness == pytest.approx(0.375)


def test_a_case_worked_by_hand():
    table = Table.from_columns(
        {"a": ["x", "x", "x", "y", "y", None, None, None, None], "s": ["p", "p", "q", "p", "q", "p", "p", "p", "q"]}
    )
    found = Anonymity.of(table, ["a"])
    assert (found.k, found.prosecutor_risk, found.marketer_risk, found.uniqueness) == (2, 1 / 2, 3 / 9, 0)
    diversity = found.diversity("s")
    assert diversity.distinct == 2
    assert diversity.entropy == pytest.approx(exp(-(0.75 * log(0.75) + 0.25 * log(0.25))))
    assert diversity.recursive(2) == 3
    assert diversity.recursive(3) == inf
    assert diversity.recursive(1) == pytest.approx(0.75)
    assert diversity.closeness == pytest.approx(abs(6 / 9 - 1 / 2))
    assert found.class_sizes().tolist() == [3, 3, 3, 2, 2, 4, 4, 4, 4]
    assert found.value_counts("s").tolist() == [2, 2, 1, 1, 1, 3, 3, 3, 1]


def test_suppressed_rows_are_left_out_and_count_nothing():
    table = Table.from_columns({"a": ["x", "x", "y"], "s": ["p", "q", "q"]})
    found = Anonymity.of(table, ["a"], suppressed=np.array([False, False, True]))
    assert (found.k, found.uniqueness, found.diversity("s").closeness) == (2, 0, 0)
    assert found.class_sizes().tolist() == [2, 2, 0]
    assert found.value_counts("s").tolist() == [1, 1, 0]
    assert Anonymity.of(table, ["a"]).uniqueness == pytest.approx(1 / 3)


def test_rows_that_say_nothing_are_suppressed():
    table = Table.from_columns({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    masked = table.masked({"a": ["*", 2, "[1,3]"], "b": ["{x|y}", "*", "x"]})
    assert suppressed_rows(masked, ["a", "b"]).tolist() == [True, False, False]
    assert suppressed_rows(masked, ["b"]).tolist() == [True, True, False]
    # A table of nothing but stars is generalised as far as can be, and k is all of it.
    assert not suppressed_rows(table.masked({"a": ["*"] * 3}), ["a"]).any()


def test_a_column_of_one_value_says_nothing_beside_suppressed_cells():
    table = Table.from_columns({"a": ["x", "*", "x"], "b": ["y"] * 3})
    assert suppressed_rows(table, ["a", "b"]).tolist() == [False, True, False]
    assert not suppressed_rows(table, ["b"]).any()


def test_the_journalist_knows_only_the_population():
    population = Table.from_columns({"a": ["x"] * 5 + ["y"] * 3 + ["z"]})

    def part(*rows, of=population):
        return Anonymity.of(population.rows(np.array(rows)), ["a"], population=of)

    assert part(0, 5).journalist_risk == pytest.approx(1 / 3)
    assert part(*range(9)).journalist_risk == 1
    # Nobody is found less often than once, and everybody is in a class of the population.
    assert part(0, 1, 5).people.tolist() == [5, 3]
    assert part(0, 1, 5).marketer_risk == pytest.approx((1 / 5 + 1 / 5 + 1 / 3) / 3)
    alone = part(0, 1, 5, of=None)
    assert part(0, 1, 5, of=alone.table).marketer_risk == alone.marketer_risk
    assert alone.journalist_risk == alone.prosecutor_risk == 1
    with pytest.raises(InvalidInput, match="Row 1 of the table has values that fewer people"):
        _ = part(*range(9), of=population.rows(np.array([0, 1]))).journalist_risk
    with pytest.raises(InvalidInput, match="domain of the table"):
        _ = part(*range(9), of=Table.from_columns({"a": ["x"]})).journalist_risk


@given(pairs_of_tables(max_columns=2), st.data())
def test_the_slow_version_says_the_same(pair, data):
    _, table = pair
    rows = len(table)
    values = data.draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=rows, max_size=rows))
    suppressed = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    suppressed[0] = False
    whole = table.to_columns() | {"s": values}
    # The sets of the masked table are plain labels here, of which each is a value of its own.
    table = Table.from_columns(whole, [*(Attribute(name=name) for name in table.names), Attribute(name="s")])
    keys = [tuple(whole[name][row] for name in whole if name != "s") for row in range(rows)]
    kept = [row for row in range(rows) if not suppressed[row]]
    groups = [[row for row in kept if keys[row] == key] for key in {keys[row] for row in kept}]
    found = Anonymity.of(table, [name for name in table.names if name != "s"], suppressed=suppressed)
    assert found.k == min(map(len, groups))
    assert found.uniqueness == pytest.approx(sum(len(group) == 1 for group in groups) / len(kept))
    assert found.marketer_risk == pytest.approx(len(groups) / len(kept))
    assert found.diversity("s").distinct == min(len({values[row] for row in group}) for group in groups)
    sizes = {row: len(group) for group in groups for row in group}
    assert found.class_sizes().tolist() == [sizes.get(row, 0) for row in range(rows)]
    held = {row: sum(values[other] == values[row] for other in group) for group in groups for row in group}
    assert found.value_counts("s").tolist() == [held.get(row, 0) for row in range(rows)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_the_spread_prefers_what_has_the_greater_sum(pairs):
    first, second = np.array(pairs).T
    assert (spread(first, second) > spread(second, first)) == (first.sum() > second.sum())


def test_bad_questions_are_refused():
    table = Table.from_columns({"a": ["x", "y"], "s": ["p", "q"]})
    with pytest.raises(UnknownName):
        Anonymity.of(table, ["b"])
    with pytest.raises(UnknownName):
        Anonymity.of(table, ["a"]).diversity("t")
    with pytest.raises(InvalidInput, match="one or more quasi-identifiers"):
        Anonymity.of(table, [])
    with pytest.raises(InvalidInput, match="3 given for 2 rows"):
        Anonymity.of(table, ["a"], suppressed=np.array([True, False, False]))
    with pytest.raises(InvalidInput, match="No rows are left"):
        Anonymity.of(table, ["a"], suppressed=np.array([True, True]))
    with pytest.raises(InvalidInput, match="must hold values"):
        Anonymity.of(table.masked({"a": ["x", "y"], "s": ["*", "p"]}), ["a"]).diversity("s")


def diversity(rows, size, ordered=False):
    """Of (class, value) pairs; classes are numbered without gaps, as a table numbers them."""
    labels = np.unique([label for label, _ in rows], return_inverse=True)[1]
    return Diversity.of(labels, np.array([value for _, value in rows]), size, ordered=ordered)


class Slow:
    """Everything class by class and value by value, in fractions."""

    def __init__(self, rows, size):
        self.values = range(size)
        self.whole = [value for _, value in rows]
        self.groups = [[value for each, value in rows if each == label] for label in {label for label, _ in rows}]

    def shares(self, group):
        return [Fraction(group.count(value), len(group)) for value in self.values]

    @property
    def pairs(self):
        """The shares of each value in each class and in the table, of values that occur."""
        table = self.shares(self.whole)
        return [(q, p) for group in self.groups for q, p in zip(self.shares(group), table, strict=True) if p]

    def recursive(self, values):
        ratios = []
        for group in self.groups:
            ranked = sorted(Counter(group).values(), reverse=True)
            rest = sum(ranked[values - 1 :])
            ratios.append(Fraction(ranked[0], rest) if rest else inf)
        return max(ratios)

    def entropy(self):
        return exp(min(-sum(q * log(q) for q in self.shares(group) if q) for group in self.groups))

    def closeness(self, ordered):
        found = []
        for group in self.groups:
            differences = [q - p for q, p in zip(self.shares(group), self.shares(self.whole), strict=True)]
            if ordered:
                sums = [abs(sum(differences[: end + 1])) for end in self.values]
                found.append(sum(sums) / (len(self.values) - 1))
            else:
                found.append(sum(map(abs, differences)) / 2)
        return max(found)


def test_t_of_the_salaries_of_the_paper():
    # Li, Li and Venkatasubramanian (2007) work out 0.167 for the class {6, 8, 11} of the salaries 3 to 11.
    rows = [(0, 3), (0, 5), (0, 8), *((1, value) for value in (0, 1, 2, 4, 6, 7))]
    assert diversity(rows, 9, ordered=True).closeness == pytest.approx(1 / 6)


def test_likeness_and_disclosure_worked_by_hand():
    # Of six rows half have the value 0, a third 1, a sixth 2. The first class has 0, 0, 1, the second 0, 1, 2.
    found = diversity([(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 2)], 3)
    assert found.likeness == pytest.approx((1 / 3 - 1 / 6) / (1 / 6))
    assert found.enhanced_likeness == pytest.approx(1)
    assert found.disclosure == pytest.approx(log(2))
    assert found.largest_share == pytest.approx(2 / 3)
    # Half of the table, all of a class: a gain of 1, more than -log(1/2).
    assert diversity([(0, 0), (1, 1)], 2).enhanced_likeness == inf
    assert diversity([(0, 0), (1, 1)], 2).likeness == 1


@given(ROWS, SIZES, st.integers(1, 4))
def test_the_slow_diversity_says_the_same(rows, size, values):
    found, slow = diversity(rows, size), Slow(rows, size)
    assert found.distinct == min(len(set(group)) for group in slow.groups)
    assert found.entropy == pytest.approx(slow.entropy())
    assert found.recursive(values) == pytest.approx(float(slow.recursive(values)))
    assert found.largest_share == max(float(q) for q, _ in slow.pairs)
    assert found.likeness == pytest.approx(float(max((q - p) / p for q, p in slow.pairs)))
    assert found.disclosure == pytest.approx(max(abs(log(q / p)) for q, p in slow.pairs if q))
    assert found.closeness == pytest.approx(float(slow.closeness(False)))
    assert found.majorities.tolist() == [max(Counter(group).values()) for group in slow.groups]


@given(ROWS, SIZES)
def test_the_enhanced_beta_is_the_least_that_the_definition_allows(rows, size):
    slow, found = Slow(rows, size), diversity(rows, size).enhanced_likeness

    def holds(beta):
        return all((q - p) / p <= min(beta, -log(p)) for q, p in slow.pairs if p < q)

    if found == inf:
        assert not holds(10**9)
    else:
        assert holds(found + 1e-12)
        assert found == 0 or not holds(found - 1e-9)


@given(ROWS, SIZES)
def test_ordered_values_are_moved_along_the_row(rows, size):
    assert diversity(rows, size, ordered=True).closeness == pytest.approx(float(Slow(rows, size).closeness(True)))


@pytest.mark.parametrize("ordered", [False, True])
def test_t_is_what_a_solver_of_transports_finds(ordered):
    rng = np.random.default_rng(3)
    rows = list(zip(rng.integers(0, 3, 40).tolist(), rng.integers(0, 5, 40).tolist(), strict=True))
    slow = Slow(rows, 5)
    cost = [[abs(a - b) / 4 if ordered else float(a != b) for b in range(5)] for a in range(5)]
    sums = np.concatenate([np.repeat(np.eye(5), 5, axis=1), np.tile(np.eye(5), (1, 5))])
    work = [
        linprog(np.ravel(cost), A_eq=sums, b_eq=[float(x) for x in slow.shares(group) + slow.shares(slow.whole)]).fun
        for group in slow.groups
    ]
    assert diversity(rows, 5, ordered).closeness == pytest.approx(max(work))


def test_numbers_beyond_64_bits_are_taken_as_they_come():
    rng = np.random.default_rng(1)
    labels, codes = rng.integers(0, 3, 200), rng.integers(0, 50, 200)
    wide = Diversity.of(labels, codes * 10**5, 10**6, ordered=True)
    huge = Diversity(wide.classes, wide.values, wide.rows * 10**7, 10**6, True)
    assert huge.closeness == pytest.approx(wide.closeness)


def test_a_domain_of_one_value_has_nothing_to_move():
    for ordered in (False, True):
        found = diversity([(0, 0), (1, 0)], 1, ordered)
        assert (found.closeness, found.likeness, found.enhanced_likeness, found.disclosure) == (0, 0, 0, 0)


def test_l_is_one_or_more():
    with pytest.raises(InvalidParameter, match="l must be at least 1"):
        diversity([(0, 0)], 1).recursive(0)


@pytest.mark.parametrize("ordered", [True, False])
def test_the_distance_of_a_thousand_million_rows_is_that_of_a_thousand(ordered):
    classes, values = np.repeat([0, 1], 500), np.arange(1000)
    light, heavy = (Diversity(classes, values, np.full(1000, rows), 1000, ordered) for rows in (1, 1_000_000))
    assert light.closeness == pytest.approx(250 / 999 if ordered else 0.5, rel=1e-12)
    assert heavy.closeness == pytest.approx(light.closeness, rel=1e-12)
