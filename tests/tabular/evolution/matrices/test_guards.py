from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.matrices.guards import Limits, Recovery, complaint, remark
from tabular.protections.pram import drawn
from tests.strategies import generators
from tests.tabular.evolution.matrices.credit import added

FREQUENCIES = np.array([50, 30, 20])


def test_what_stays_is_read_back():
    found = Recovery.of(np.eye(3), FREQUENCIES)
    assert (found.recovered, found.renamed, found.blind, found.share) == (1, 0, 0.5, 1)


def test_a_permutation_is_read_back_under_other_names():
    found = Recovery.of(np.eye(3)[[1, 2, 0]], FREQUENCIES)
    assert (found.recovered, found.renamed, found.share) == (1, 1, 1)


def test_the_owner_is_told_of_what_is_only_renamed():
    renamed = Recovery.of(np.eye(3)[[1, 2, 0]] * 0.9 + np.eye(3) * 0.1, FREQUENCIES)
    assert remark("degree", renamed) == (
        "Whoever knows the matrix of 'degree' reads back 90.0 % of its values, though only 10.0 % stand in the file "
        "unchanged; of the values that neither stand nor are guessed blindly it adds 85.0 %: a risk that the score "
        "does not count."
    )
    assert remark("degree", Recovery.of(np.eye(3), FREQUENCIES)) is None
    assert remark("degree", Recovery.of(np.full((3, 3), 1 / 3), FREQUENCIES)) is None


def test_of_values_drawn_alike_only_the_most_frequent_is_guessed():
    found = Recovery.of(np.full((3, 3), 1 / 3), FREQUENCIES)
    assert found.recovered == pytest.approx(found.blind)
    assert found.share == pytest.approx(0)
    assert Recovery.of(np.eye(2), np.array([7, 0])).share == 0


@given(st.integers(2, 4), generators)
def test_nobody_guesses_better_on_a_drawn_file_than_expected(size, rng):
    frequencies = rng.integers(1, 50, size)
    matrix = rng.dirichlet(np.full(size, 0.5), size=size)
    original = np.repeat(np.arange(size), frequencies).astype(np.int32)
    guesses = (frequencies[:, None] * matrix).argmax(axis=0)
    right = [(guesses[drawn(original, matrix, rng)] == original).mean() for _ in range(40)]
    assert np.mean(right) == pytest.approx(Recovery.of(matrix, frequencies).recovered, abs=0.2)


@given(st.integers(2, 5), generators)
def test_what_a_matrix_adds_is_the_share_of_what_others_miss(size, rng):
    frequencies = rng.integers(0, 30, size)
    frequencies[0] += 1
    matrix = rng.dirichlet(np.full(size, 0.5), size=size)
    found = Recovery.of(matrix, frequencies)
    assert found.added == pytest.approx(added(np.repeat(np.arange(size), frequencies), matrix), abs=1e-9)
    assert 0 <= found.added <= 1 + 1e-12


def test_swapping_two_rare_categories_counts_though_few_records_are_in_them():
    matrix = np.eye(4)[[0, 1, 3, 2]]
    assert Recovery.of(matrix, np.array([500, 480, 10, 10])).added == 1
    # Where the others are hidden, the records that are read back are one in fifty, and the categories two in four.
    matrix[:2] = [0.5, 0.5, 0, 0]
    found = Recovery.of(matrix, np.array([500, 480, 10, 10]))
    assert found.recovered - found.blind == pytest.approx(0.02)
    assert found.added == pytest.approx((0.75 - 0.25) / (1 - 0.25))


def test_what_is_wrong_is_said_in_words():
    swapped, counts = {"degree": np.array([[0.02, 0.98], [0.97, 0.03]])}, {"degree": np.array([60, 40])}
    assert complaint(swapped, counts, Limits(added=1.0, recovered=0.95)) is None
    assert complaint(swapped, counts, Limits(added=1.0, recovered=0.9)) == (
        "lets whoever knows the matrix of 'degree' read back 97.6 % of its values (blind guessing finds 60.0 %; the "
        "limit is 90 % of the rest)"
    )
    assert complaint(swapped, counts, Limits(added=0.1, recovered=0.9)) == (
        "lets whoever knows the matrix of 'degree' read back 97.6 % of its values, while 2.4 % stand unchanged and "
        "blind guessing finds 60.0 %: knowing the matrix adds 95.0 % of what both miss, rare categories counted as "
        "well; 10 % are the most"
    )
    still = {"degree": np.array([[0.97, 0.03], [0.04, 0.96]])}
    assert complaint(still, counts, Limits(added=1.0, recovered=1.0)) == (
        "is expected to equal the original in 96.6 % of the protected cells; 95 % are the most"
    )
