"""What each attribute alone says of the lattice, by the examples of KGEN."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular import Attribute, Hierarchy, Table
from tabular.errors import InvalidParameter, NoSolution
from tabular.lattice.space import Lattice, lower_bounds
from tabular.protections import protect
from tabular.table import equivalence_classes
from tests.tabular.lattice.kgen_tables import AGE, problem, support_map


def test_kgen_table_3_bounds():
    table, hierarchies = problem(4)
    assert lower_bounds(table, hierarchies, 2) == {"Age": 2, "Postcode": 1, "Gender": 0}


def test_kgen_node_2_1_1_has_two_classes():
    table, hierarchies = problem(4)
    masked = protect(
        *(table, "full-domain", list(hierarchies)),
        rng=np.random.default_rng(0), k=2, hierarchies=hierarchies, levels=(2, 1, 1),
    )  # fmt: skip
    assert equivalence_classes([masked.columns[name] for name in hierarchies]).labels.tolist() in (
        [0, 0, 1, 1],
        [1, 1, 0, 0],
    )


def test_kgen_table_4_support_maps():
    table, hierarchies = problem(4)
    ages = [sorted(level.values()) for level in support_map(table, AGE)]
    alone, two, four = [[0], [1], [2], [3]], [[0, 1], [2, 3]], [[0, 1, 2, 3]]
    assert ages == [alone, alone, two, four, four]
    codes = [sorted(level.values()) for level in support_map(table, hierarchies["Postcode"])]
    assert codes == [alone, two, two, two, four, four]
    assert list(support_map(table, hierarchies["Postcode"])[1]) == ["8001*", "8507*"]


def test_kgen_table_8_bounds_and_a_node_below_them():
    table, hierarchies = problem(3)
    # 35 % of three rows: one may be suppressed.
    assert lower_bounds(table, hierarchies, 2, suppression=0.35) == {"Age": 2, "Postcode": 1, "Gender": 0}
    with pytest.raises(NoSolution, match="3 of 3 records"):
        protect(
            *(table, "full-domain", list(hierarchies)),
            rng=np.random.default_rng(0), k=2, suppression=0.35, hierarchies=hierarchies, levels=(0, 0, 0),
        )  # fmt: skip


@given(st.data(), st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.4]))
def test_no_node_below_a_bound_is_k_anonymous(data, k, suppression):
    rows = data.draw(st.integers(k, 8))
    domain = ("a", "b", "c", "d")
    columns = {
        name: data.draw(st.lists(st.sampled_from(domain), min_size=rows, max_size=rows)) for name in ("one", "two")
    }
    table = Table.from_columns(columns, [Attribute(name=name, domain=domain) for name in columns])
    hierarchies = {name: Hierarchy.of(name, domain, [["x", "x", "y", "y"], ["*"] * 4]) for name in columns}
    bounds = lower_bounds(table, hierarchies, k, suppression=suppression)
    for node in itertools.product(range(3), repeat=2):
        try:
            protect(
                *(table, "full-domain", list(columns)),
                rng=np.random.default_rng(0), k=k, suppression=suppression, hierarchies=hierarchies, levels=node,
            )  # fmt: skip
        except NoSolution:
            continue
        assert all(level >= bounds[name] for name, level in zip(columns, node, strict=True))


def test_a_k_that_no_node_has_is_refused():
    table, hierarchies = problem(3)
    with pytest.raises(NoSolution, match="has 3 records"):
        lower_bounds(table, hierarchies, 4)
    with pytest.raises(InvalidParameter, match="at least 1"):
        lower_bounds(table, hierarchies, 0)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_precisions_are_equal_floats_where_they_are_equal_and_ordered_as_they_are(heights, random):
    lattice = Lattice(tuple(map(str, range(len(heights)))), tuple(heights))
    nodes = lattice.everything()[random.sample(range(lattice.size), min(lattice.size, 60))]
    exact = [sum(map(Fraction, node, heights), start=Fraction(0)) / len(heights) for node in nodes.tolist()]
    found = lattice.precision(nodes).tolist()
    assert found == [float(each) for each in exact]
    assert np.argsort(found, kind="stable").tolist() == sorted(range(len(exact)), key=lambda place: exact[place])


def test_seven_eighteenths_are_one_float():
    lattice = Lattice(("a", "b", "c"), (1, 2, 6))
    nodes = np.array([[0, 1, 4], [0, 2, 1], [1, 0, 1]])
    assert set(lattice.precision(nodes).tolist()) == {7 / 18}
    # Added up one after the other they are not.
    assert len({(a + b / 2 + c / 6) / 3 for a, b, c in nodes.tolist()}) == 2


def test_heights_without_a_common_denominator_of_52_bits_are_divided_by_whole_numbers_of_any_length():
    heights = (53, 47, 43, 41, 37, 31, 29, 23, 19, 17, 13)
    lattice = Lattice(tuple(map(str, heights)), heights)
    nodes = lattice.drawn(np.random.default_rng(1), 20)
    exact = [float(sum(map(Fraction, node, heights), start=Fraction(0)) / 11) for node in nodes.tolist()]
    assert lattice.precision(nodes).tolist() == exact
