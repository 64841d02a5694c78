"""The operators of PBG-EA, each against its words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.lattice.fronts.recombination import crossed, dominance_fitness, stepped, tournaments
from tests.strategies import seeds
from tests.tabular.lattice.fronts.test_front import dominates, points


@given(points())
def test_fitness_is_the_sum_of_the_dominance_counts_of_those_that_dominate(costs):
    counts = [sum(dominates(row, other) for other in costs) for row in costs]
    expected = [
        sum(count for other, count in zip(costs, counts, strict=True) if dominates(other, row)) for row in costs
    ]
    assert dominance_fitness(costs).tolist() == expected


def test_a_tournament_is_won_by_the_lower_fitness():
    rng = np.random.default_rng(0)
    won = Counter(tournaments(np.array([0, 7, 7]), 9000, rng).tolist())
    # The best wins wherever it is drawn: 1 - (2/3)^2; the others share the rest.
    assert won[0] / 9000 == pytest.approx(5 / 9, abs=0.02)
    assert won[1] / 9000 == pytest.approx(2 / 9, abs=0.02)


@given(st.integers(1, 9), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]), seeds)
def test_crossover_keeps_the_levels_of_each_attribute_and_exchanges_the_ends_of_pairs(count, width, chance, seed):
    # The level says whose it was.
    nodes = np.tile(np.arange(count, dtype=np.int16)[:, np.newaxis], (1, width))
    children = crossed(nodes, chance, np.random.default_rng(seed))
    assert children.shape == nodes.shape
    for place in range(width):
        assert sorted(children[:, place].tolist()) == list(range(count))
    for first in range(0, count - 1, 2):
        pair = children[first : first + 2]
        mixed = {tuple(row) for row in pair.T.tolist()}
        assert len(mixed) <= 2
        changes = (np.diff(pair[0].astype(int)) != 0).sum()
        assert changes <= 1
        if chance == 1 and width > 1:
            assert changes == 1
        if chance == 0:
            assert changes == 0
    if count % 2:
        assert len(set(children[-1].tolist())) == 1


def test_every_crossover_point_is_as_likely():
    nodes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.int16)
    rng, found = np.random.default_rng(1), Counter()
    for _ in range(3000):
        found[int(np.flatnonzero(np.diff(crossed(nodes, 1.0, rng)[0]))[0])] += 1
    assert set(found) == {0, 1, 2}
    assert all(count / 3000 == pytest.approx(1 / 3, abs=0.04) for count in found.values())


def test_mutation_moves_each_level_by_one_up_or_down_with_its_chance():
    heights = np.array([6, 6], dtype=np.int16)
    nodes = np.full((20_000, 2), 3, dtype=np.int16)
    moved = stepped(nodes, heights, 0.25, np.random.default_rng(0)) - nodes
    shares = Counter(moved.ravel().tolist())
    assert set(shares) == {-1, 0, 1}
    assert shares[1] / 40_000 == pytest.approx(0.125, abs=0.01)
    assert shares[-1] / 40_000 == pytest.approx(0.125, abs=0.01)


def test_mutation_stays_within_the_hierarchies():
    heights = np.array([1, 0, 2], dtype=np.int16)
    nodes = np.array([[0, 0, 2], [1, 0, 0]] * 200, dtype=np.int16)
    moved = stepped(nodes, heights, 1.0, np.random.default_rng(0))
    assert moved.min() == 0
    assert (moved <= heights).all()
    assert set(moved[::2, 0].tolist()) == {0, 1}
