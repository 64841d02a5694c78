from __future__ import annotations

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.matrices.stochastic import MOST_CATEGORIES, refuse_many, stochastic

SIZE = Attribute(name="size", domain=("S", "M", None))


def test_a_matrix_that_was_rounded_is_made_to_sum_to_one():
    assert stochastic(SIZE, [[0.333, 0.333, 0.333], [0, 1, 0], [0.5, 0.5, 0]]).sum(axis=1).tolist() == [1, 1, 1]


def test_a_matrix_written_in_full_stays_as_it_is_to_the_bit():
    matrix = np.random.default_rng(3).dirichlet(np.ones(3), size=3)
    assert (stochastic(SIZE, matrix) == matrix).all()


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (
            [[1, 0, 0], [0.3, 0.5, 0], [0, 0, 1]],
            "The matrix of 'size', row 'M': the probabilities must sum to 1, not 0.8.",
        ),
        (
            [[1, 0, 0], [0, 1, 0], [-0.5, 1, 0.5]],
            "The matrix of 'size', row '': a probability is from 0 to 1, not -0.5.",
        ),
        ([[1, 0, 0], [0, 1, 0], [float("nan"), 1, 0]], "row '': a probability is from 0 to 1, not nan."),
        ([[1, 0, 0], [0, 1, 0]], "The matrix of 'size' must be square; it is 2 x 3."),
        ([[1, 0], [0, 1]], "The matrix of 'size' must be 3 x 3, as the domain is; it is 2 x 2."),
        ([[1, 0], [0, 1, 0]], "The matrix of 'size' must hold numbers, in rows of equal length."),
        ("matrix.csv", "The matrix of 'size' must hold numbers, in rows of equal length."),
        (0.5, "The matrix of 'size' must be square; it is a single number."),
    ],
)
def test_what_is_no_transition_matrix_is_refused(matrix, text):
    with pytest.raises(InvalidInput) as error:
        stochastic(SIZE, matrix)
    assert text in str(error.value)


def test_too_many_categories_are_refused_before_memory_is_asked_for():
    refuse_many(SIZE)
    with pytest.raises(InvalidInput, match="has 5001 categories, and a matrix holds at most 5000: join categories"):
        refuse_many(Attribute(name="zip", domain=tuple(range(MOST_CATEGORIES + 1))))
