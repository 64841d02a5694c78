from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given

from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, slow_ebil

EBIL = measures["ebil"].method


def test_a_case_worked_by_hand():
    original = Table.from_columns({"a": ["x", "y", "x", "x"], "b": ["p", "p", "p", "p"]})
    masked = original.masked({"a": ["x", "x", "*", "*"], "b": ["p", "p", "p", "p"]})
    # Given x the original is x or y, half and half; given * it is x for sure.
    reading = EBIL().measure(original, masked, ["a", "b"])
    assert reading.raw == pytest.approx(2 * log(2))
    assert reading.percent == pytest.approx(100 * (2 * log(2) / (4 * log(2)) + 0) / 2)


@given(pairs_of_tables())
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    losses = slow_ebil(original, masked)
    reading = EBIL().measure(original, masked, original.names)
    assert reading.raw == pytest.approx(sum(losses))
    sizes = [len(attribute.domain) for attribute in original.attributes]
    shares = [loss / log(size) if size > 1 else 0 for loss, size in zip(losses, sizes, strict=True)]
    assert reading.percent == pytest.approx(100 * sum(shares) / len(original) / len(sizes))


def test_a_permutation_of_the_categories_loses_nothing():
    original = Table.from_columns({"a": ["x", "y", "z", "x"]})
    masked = original.masked({"a": ["y", "z", "x", "y"]})
    assert EBIL().measure(original, masked, ["a"]).raw == 0


def test_a_matrix_gives_the_probabilities_by_bayes():
    original = Table.from_columns({"a": ["x", "x", "x", "y"]})
    masked = original.masked({"a": ["x", "x", "y", "y"]})
    matrix = np.array([[0.8, 0.2], [0.4, 0.6]])
    # P(x|x) = 3 x 0.8 / (3 x 0.8 + 0.4), P(x|y) = 3 x 0.2 / (3 x 0.2 + 0.6).
    entropy = [-sum(p * log(p) for p in (q, 1 - q)) for q in (2.4 / 2.8, 0.6 / 1.2)]
    reading = EBIL(matrices={"a": matrix}).measure(original, masked, ["a"])
    assert reading.raw == pytest.approx(2 * entropy[0] + 2 * entropy[1])
    assert EBIL(matrices={"b": matrix}).measure(original, masked, ["a"]) == EBIL().measure(original, masked, ["a"])


def test_the_matrix_that_changes_nothing_loses_nothing():
    original = Table.from_columns({"a": ["x", "x", "x", "y"]})
    assert EBIL(matrices={"a": np.eye(2)}).measure(original, original, ["a"]).raw == 0


@pytest.mark.parametrize(
    ("matrix", "masked", "said"),
    [
        (np.eye(3), ["x", "y"], "must be 2 x 2"),
        (np.array([[0.5, 0.4], [0, 1]]), ["x", "y"], "not stochastic"),
        (np.array([[1.5, -0.5], [0, 1]]), ["x", "y"], "not stochastic"),
        (np.array([[1.0, 0], [1, 0]]), ["x", "y"], "cannot have made"),
        (np.eye(2), ["*", "y"], "stand for sets"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(matrix, masked, said):
    original = Table.from_columns({"a": ["x", "y"]})
    with pytest.raises(InvalidInput, match=said):
        EBIL(matrices={"a": matrix}).measure(original, original.masked({"a": masked}), ["a"])
