"""The operators of KGEN, by the paper's examples and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.lattice.searches.kgen_operators import (
    OLD,
    between,
    crossed,
    moved_sideways,
    mutated,
    pairs,
    weights,
)
from tabular.lattice.space import as_nodes, as_tuples
from tests.strategies import seeds


def rows(*nodes):
    return as_nodes(nodes, len(nodes[0]))


def flags(*given):
    return np.array(given, dtype=bool)


def test_weights_fall_with_the_loss_and_with_every_generation_to_nothing_at_the_tenth():
    losses = np.array([0.0, 0.11, 0.33, 0.33, 0.33, 0.33, 1.0])
    found = weights(losses, np.array([0, 0, 0, 1, 9, 10, 0]))
    assert found.tolist() == pytest.approx([1.0, 0.89, 0.67, 0.67 * 0.9, 0.67 * 0.1, 0.0, 0.0])
    assert weights(np.zeros(3), np.array([OLD - 1, OLD, 3 * OLD])).tolist() == pytest.approx([0.1, 0, 0])


def test_parents_are_drawn_by_their_share_of_the_weights():
    weight, count = np.array([0.5, 0.0, 0.3, 0.2]), 20_000
    first, second = pairs(weight, count, 1, np.random.default_rng(3))
    shares = np.bincount(first, minlength=4) / count
    # Five standard deviations of a share are 0.018 at most.
    assert shares == pytest.approx([0.5, 0, 0.3, 0.2], abs=0.018)
    after_the_first = np.bincount(second[first == 0], minlength=4) / (first == 0).sum()
    assert after_the_first == pytest.approx([0, 0, 0.6, 0.4], abs=0.026)
    assert (first != second).all()


def test_of_several_draws_the_heaviest_is_the_parent():
    weight, count = np.array([0.5, 0.3, 0.2]), 20_000
    first, _ = pairs(weight, count, 2, np.random.default_rng(3))
    # The heaviest is missed by both draws, or the second, too.
    assert np.bincount(first) / count == pytest.approx([1 - 0.5**2, 0.5**2 - 0.2**2, 0.2**2], abs=0.018)


def test_where_one_node_alone_or_none_has_a_weight_all_others_are_alike():
    first, second = pairs(np.array([0.0, 1.0, 0.0]), 3000, 1, np.random.default_rng(3))
    assert set(first.tolist()) == {1}
    assert np.bincount(second, minlength=3) / 3000 == pytest.approx([0.5, 0, 0.5], abs=0.046)
    first, second = pairs(np.zeros(3), 3000, 1, np.random.default_rng(3))
    assert np.bincount(first) / 3000 == pytest.approx([1 / 3] * 3, abs=0.044)
    assert (first != second).all()
    assert [each.tolist() for each in pairs(np.ones(1), 2, 1, np.random.default_rng(3))] == [[0, 0], [0, 0]]


@given(st.lists(st.sampled_from([0.0, 1e-300, 0.1, 1.0]), min_size=2, max_size=6), st.integers(1, 3), seeds)
def test_who_has_no_weight_is_a_parent_only_where_too_few_have_one(given_weights, rounds, seed):
    weight = np.array(given_weights)
    first, second = pairs(weight, 50, rounds, np.random.default_rng(seed))
    assert (first != second).all()
    if weight.any():
        assert (weight[first] > 0).all()
    if (weight > 0).sum() > 1:
        assert (weight[second] > 0).all()


#: As in Figure 6: of Age, Postcode and Gender, two parents neither of which is above the other.
FIRST, SECOND = rows((1, 3, 0)), rows((2, 1, 1))
LOWEST, HIGHEST = (1, 1, 0), (2, 3, 1)


def children(first_holds, second_holds, lowest_holds=False, seed=0):
    hold = (flags(first_holds), flags(second_holds))
    return as_tuples(crossed((FIRST, SECOND), hold, flags(lowest_holds), np.random.default_rng(seed)))


def test_two_parents_that_hold_have_their_lowest_node_for_a_child_if_it_holds():
    assert children(True, True, lowest_holds=True) == [LOWEST]


def test_two_parents_that_hold_have_else_one_child_below_each_of_them():
    below_first = {(1, 1, 0), (1, 2, 0), (1, 3, 0)}
    below_second = {(age, 1, gender) for age in (1, 2) for gender in (0, 1)}
    found = [children(True, True, seed=seed) for seed in range(200)]
    assert {one for one, _ in found} == below_first
    assert {other for _, other in found} == below_second


def test_two_parents_that_do_not_hold_have_their_highest_node_for_a_child():
    assert children(False, False) == [HIGHEST]


def test_of_one_parent_that_holds_the_child_is_between_it_and_the_lowest_node():
    found = [children(False, True, seed=seed) for seed in range(200)]
    assert {child for (child,) in found} == {(age, 1, gender) for age in (1, 2) for gender in (0, 1)}
    found = [children(True, False, seed=seed) for seed in range(200)]
    assert {child for (child,) in found} == {(1, 1, 0), (1, 2, 0), (1, 3, 0)}


def test_pairs_are_crossed_each_by_its_own_case():
    first, second = rows((0, 2), (0, 2), (3, 0), (1, 1)), rows((2, 0), (2, 0), (0, 3), (1, 1))
    hold = flags(True, False, False, True), flags(True, False, False, True)
    found = crossed((first, second), hold, flags(True, False, False, False), np.random.default_rng(0))
    assert as_tuples(found) == [(0, 0), (1, 1), (1, 1), (2, 2), (3, 3)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6), seeds)
def test_between_has_both_ends_and_nothing_outside(pairs_of_levels, seed):
    low = np.array([[min(each) for each in pairs_of_levels]], dtype=np.int16)
    high = np.array([[max(each) for each in pairs_of_levels]], dtype=np.int16)
    found = between(np.repeat(low, 400, axis=0), np.repeat(high, 400, axis=0), np.random.default_rng(seed))
    for column, (small, great) in zip(
        found.T.tolist(), zip(low[0].tolist(), high[0].tolist(), strict=True), strict=True
    ):
        assert set(column) == set(range(small, great + 1))


def test_kgen_example_of_a_horizontal_mutation():
    # Five attributes from 0 to 4, all on 2, half of them: one goes up from 2 to 4, one down from 2 to 0.
    low, high, node = (np.full(5, level, dtype=np.int16) for level in (0, 4, 2))
    many = np.repeat(node[None], 20_000, axis=0)
    found = set(as_tuples(moved_sideways(many, low, high, rate=1.0, share=0.5, rng=np.random.default_rng(0))))
    expected = set()
    for up in range(5):
        for down in set(range(5)) - {up}:
            for more in (0, 1, 2):
                for less in (0, 1, 2):
                    moved = [2] * 5
                    moved[up] += more
                    moved[down] -= less
                    expected.add(tuple(moved))
    assert found == expected
    assert (2, 2, 3, 0, 2) in found


@pytest.mark.parametrize(
    ("attributes", "share", "moved"), [(1, 1.0, 0), (2, 0.0, 2), (3, 0.5, 2), (7, 0.5, 3), (4, 1.0, 4)]
)
def test_a_horizontal_mutation_takes_its_share_rounded_down_and_two_at_least(attributes, share, moved):
    low, high = np.zeros(attributes, dtype=np.int16), np.full(attributes, 1000, dtype=np.int16)
    many = np.full((500, attributes), 500, dtype=np.int16)
    found = moved_sideways(many, low, high, rate=1.0, share=share, rng=np.random.default_rng(1))
    up, down = (found > 500).sum(axis=1), (found < 500).sum(axis=1)
    assert up.max() == (moved + 1) // 2
    assert down.max() == moved // 2
    assert (many == 500).all()


@pytest.mark.parametrize("rate", [0.0, 0.2, 1.0])
def test_a_standard_mutation_puts_one_attribute_to_another_level(rate):
    low, high = np.array([1, 2, 0], dtype=np.int16), np.array([4, 2, 1], dtype=np.int16)
    many = np.repeat(rows((2, 2, 1)), 4000, axis=0)
    found = mutated(many, low, high, rate, np.random.default_rng(2))
    changed = found[(found != many).any(axis=1)]
    # Five standard deviations at most.
    assert len(changed) / 4000 == pytest.approx(rate, abs=0.04)
    assert set(as_tuples(changed)) == ({(1, 2, 1), (3, 2, 1), (4, 2, 1), (2, 2, 0)} if rate else set())
    assert ((changed != rows((2, 2, 1))).sum(axis=1) == 1).all()


def test_nothing_is_mutated_where_there_is_no_other_level():
    level = np.array([1, 3], dtype=np.int16)
    assert as_tuples(mutated(rows((1, 3)), level, level, 1.0, np.random.default_rng(0))) == [(1, 3)]
