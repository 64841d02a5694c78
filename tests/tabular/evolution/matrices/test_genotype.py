from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.genome import from_gray_code
from tabular.evolution.matrices.genotype import BITS, crossed, decoded, encoded, exchanged, halvings, mutated
from tabular.matrices.transition import retaining
from tests.strategies import generators

#: T Figure 4.1.
MATRIX = np.array([[0.185, 0.283, 0.532], [0.609, 0.089, 0.302], [0.002, 0.277, 0.721]])
GENOME = [
    ["0011100101", "0110010110", "1100011110"],
    ["1101010001", "0001110101", "0110111001"],
    ["0000000011", "0110011111", "1110111001"],
]


def written(genes):
    return [[f"{gene:0{BITS}b}" for gene in row] for row in genes.tolist()]


def genomes():
    return st.tuples(st.integers(1, 5), generators).map(lambda case: case[1].integers(0, 1024, (case[0], case[0])))


def test_figure_4_1():
    assert written(encoded(MATRIX)) == GENOME
    assert decoded(encoded(MATRIX)) == pytest.approx(MATRIX)


def test_figure_4_3_crossover():
    found = written(exchanged(encoded(MATRIX), 3, 7, 2))
    assert found == [
        ["0011100101", "0110010110", "1100011110"],
        ["0110011111", "1110111001", "0110111001"],
        ["0000000011", "1101010001", "0001110101"],
    ]


def test_figure_4_2_is_one_of_the_mutations():
    rng, seen = np.random.default_rng(1), set()
    for _ in range(3000):
        seen.add(str(written(mutated(encoded(MATRIX), rng))))
    assert len(seen) == 9 * BITS
    assert str([GENOME[0], ["1101011001", *GENOME[1][1:]], GENOME[2]]) in seen


def test_probabilities_are_rounded():
    # Both are cut off to 0.066 by the thesis; 0.333 three times is the row again.
    assert from_gray_code(encoded(np.array([0.0665, 0.06699]))).tolist() == [66, 67]
    assert decoded(encoded(np.full((3, 3), 1 / 3))) == pytest.approx(np.full((3, 3), 1 / 3))


@given(genomes(), generators)
def test_a_mutation_is_one_bit(genes, rng):
    changed = genes ^ mutated(genes, rng)
    assert np.count_nonzero(changed) == 1
    assert changed.max().bit_count() == 1
    assert changed.max() < 1 << BITS


@given(genomes(), generators)
def test_a_crossover_exchanges_two_ranges(genes, rng):
    found, size = crossed(genes, rng), genes.size
    ways = [
        exchanged(genes, first, second, count)
        for first in range(size)
        for second in range(first + 1, size)
        for count in range(1, min(size - second, second - first) + 1)
    ]
    assert any((found == way).all() for way in ways) if ways else (found == genes).all()


def test_every_crossover_of_four_values_is_one_that_the_thesis_allows():
    genes, rng, seen = np.arange(4).reshape(2, 2), np.random.default_rng(3), set()
    for _ in range(500):
        seen.add(tuple(crossed(genes, rng).flat))
    # Any two values, or the first pair and the last one.
    swaps = [(1, 0, 2, 3), (2, 1, 0, 3), (3, 1, 2, 0), (0, 2, 1, 3), (0, 3, 2, 1), (0, 1, 3, 2)]
    assert seen == {*swaps, (2, 3, 0, 1)}


@given(genomes())
def test_rows_of_a_decoded_genome_sum_to_one(genes):
    found = decoded(genes)
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found >= 0).all()


def test_a_row_without_any_probability_keeps_its_value():
    assert decoded(np.zeros((2, 2), dtype=np.int64)).tolist() == [[1, 0], [0, 1]]


@given(genomes(), generators)
def test_cells_that_are_not_allowed_hold_nothing_and_do_not_mutate(genes, rng):
    allowed = np.abs(np.subtract.outer(np.arange(len(genes)), np.arange(len(genes)))) <= 1
    assert (decoded(genes, allowed)[~allowed] == 0).all()
    assert (mutated(genes, rng, allowed) == genes)[~allowed].all()


@pytest.mark.parametrize("size", [12, 40, 300])
def test_many_categories_lose_nothing_to_rounding(size):
    matrix = retaining(np.arange(1, size + 1), 0.8)
    found = decoded(encoded(matrix))
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    # Whole thousandths would leave nothing of a fifth in 299 parts.
    assert (found > 0).all() and abs(found - matrix).max() < 0.01 / size


@pytest.mark.parametrize("size", [11, 60])
def test_every_bit_of_many_categories_can_mutate(size):
    rng = np.random.default_rng(size)
    genes = encoded(rng.dirichlet(np.ones(size), size=size))
    bits = {int((genes ^ mutated(genes, rng)).max()).bit_length() - 1 for _ in range(400)}
    assert bits == set(range(BITS + halvings(size)))
