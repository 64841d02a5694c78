from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabular.criteria.sensitive_values import Diversity
from tabular.errors import InvalidParameter

#: Classes and values of a few rows, and a domain that may hold more values than occur.
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=14)
SIZES = st.integers(5, 7)


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
def test_the_slow_version_says_the_same(rows, size, values):
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
