from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.evolution.matrices.guards import Recovery, complaint, remark
from tabular.protections.pram import drawn
from tests.strategies import generators

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
        "unchanged: a risk that the score does not count."
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


def test_what_is_wrong_is_said_in_words():
    matrices, counts = {"degree": np.array([[0.02, 0.98], [0.97, 0.03]])}, {"degree": np.array([60, 40])}
    assert complaint(matrices, counts, 0.95) is None
    assert complaint(matrices, counts, 0.9) == (
        "lets whoever knows the matrix of 'degree' read back 97.6 % of its values, 100 % of them under another "
        "category: nearly a permutation (blind guessing finds 60.0 %; the limit is 90 % of the rest)"
    )
    assert "in their own place" in complaint({"degree": np.eye(2)}, counts, 0.95)
