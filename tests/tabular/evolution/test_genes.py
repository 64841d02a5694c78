"""What genes mutate to."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.genes import Categories, WholeNumbers
from tabular.evolution.genome import genome
from tests.strategies import seeds


def test_table_3_1_a_number_mutates_by_one_bit_of_its_genome():
    genes = WholeNumbers(np.array([[1000]]), np.array([0]), np.array([4000]))
    found = {genes.other(0, 1500, np.random.default_rng(seed)) for seed in range(200)}
    own = 0b10100101110
    genomes = {int(genome(np.array([value]), np.array([1000]))[0]) for value in found}
    assert genomes == {own ^ (1 << bit) for bit in range(11)}


def test_a_number_that_is_its_original_changes_by_the_lowest_bit():
    genes = WholeNumbers(np.array([[7], [12]]), np.array([0]), np.array([20]))
    assert genes.other(0, 7, np.random.default_rng(1)) == 6
    assert genes.other(1, 12, np.random.default_rng(1)) == 13


@given(st.lists(st.tuples(st.integers(-999, 999), st.integers(-999, 999)), min_size=1, max_size=20), seeds)
def test_numbers_stay_within_their_column(pairs, seed):
    original, masked = (np.array(each)[:, None] for each in zip(*pairs, strict=True))
    genes = WholeNumbers.over(original, [masked])
    found = genes.others(np.arange(len(pairs)), masked.reshape(-1), np.random.default_rng(seed))
    low, high = min(map(min, pairs)), max(map(max, pairs))
    assert ((low <= found) & (found <= high)).all()
    inside = (low < found) & (found < high)
    shift = min(low, 0)
    changed = genome(found - shift, masked.reshape(-1) - shift)
    assert all(int(bits).bit_count() == 1 for bits in changed[inside])


def test_a_column_of_one_number_cannot_change():
    genes = WholeNumbers.over(np.array([[1, 5], [1, 6]]), [np.array([[1, 5], [1, 5]])])
    assert genes.mutable.tolist() == [1]
    assert Categories((1, 4, 2)).mutable.tolist() == [1, 2]


@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), seeds)
def test_a_category_mutates_to_any_other(sizes, seed):
    genes, rng = Categories(sizes), np.random.default_rng(seed)
    places = np.arange(len(sizes) * 3)
    values = rng.integers(np.array(sizes * 3))
    found = genes.others(places, values, rng)
    assert ((found != values) & (found >= 0) & (found < np.array(sizes * 3))).all()
    assert genes.unpacked(genes.packed(values)).tolist() == values.tolist()
