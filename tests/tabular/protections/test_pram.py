from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tabular.matrices.formulas import Formula
from tabular.matrices.invariance import bounded, invariant
from tabular.matrices.transition import by_frequency, retaining
from tabular.protections import protect
from tabular.protections.pram import PRAM, drawn
from tabular.table import Table
from tests.strategies import generators, seeds

DEGREE = np.array([98, 173, 251, 195, 170, 80, 33, 0])
DOMAIN = ("1", "2", "3", "4", "5", "6", "9", ".")


def housing(times=1):
    codes = np.repeat(np.arange(8), DEGREE * times)
    degree = Attribute(name="degree", kind="ordinal", domain=DOMAIN)
    return Table((degree, Attribute(name="school", domain=("a", "b"))), {"degree": codes, "school": codes % 2})


def slow_drawn(codes, matrix, uniform):
    """Go along the probabilities of the old category until they sum to more than the number drawn."""
    found = []
    for code, number in zip(codes, uniform, strict=True):
        total = 0.0
        for category, probability in enumerate(matrix[code]):
            total += probability
            if number < total:
                found.append(category)
                break
        else:
            found.append(int(np.flatnonzero(matrix[code])[-1]))
    return found


def test_a_permutation_matrix_moves_every_value():
    table = housing()
    masked = protect(table, "pram", ["degree"], rng=np.random.default_rng(1), matrix=np.roll(np.eye(8), 1, axis=1))
    assert masked.columns["degree"].tolist() == ((table.columns["degree"] + 1) % 8).tolist()
    assert masked.columns["school"].tolist() == table.columns["school"].tolist()


@given(st.integers(1, 6), st.integers(0, 40), seeds)
def test_drawing_is_going_along_the_probabilities(size, rows, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(size, 0.3), size=size) * (rng.random((size, size)) < 0.8) + np.eye(size) * 0.1
    matrix /= matrix.sum(axis=1, keepdims=True)
    codes = rng.integers(0, size, rows).astype(np.int32)
    expected = slow_drawn(codes, matrix, np.random.default_rng(seed).random(rows))
    assert drawn(codes, matrix, np.random.default_rng(seed)).tolist() == expected


@given(generators)
def test_what_has_no_probability_is_never_drawn(rng):
    # In floating point 0.1 + 0.2 + 0.7 is not what a sum of probabilities should be.
    matrix = np.array([[0.1, 0.2, 0.7, 0.0]] * 3 + [[0.0, 0.0, 0.0, 1.0]])
    assert (drawn(np.zeros(2000, dtype=np.int32), matrix, rng) < 3).all()


def test_values_become_others_as_often_as_the_matrix_says():
    table, matrix = housing(100), retaining(DEGREE, 0.5)
    masked = protect(table, "pram", ["degree"], rng=np.random.default_rng(5), retain=0.5)
    for code in range(7):
        became = np.bincount(masked.columns["degree"][table.columns["degree"] == code], minlength=8)
        assert chisquare(became, matrix[code] * DEGREE[code] * 100).pvalue > 0.001


@pytest.mark.parametrize("diagonal", [None, "0.55,0.75"])
def test_invariant_pram_keeps_the_frequencies_in_expectation(diagonal):
    table, occurring = housing(100), DEGREE > 0
    masked = protect(
        table, "pram", ["degree"], rng=np.random.default_rng(8), retain=0.4, invariant=True, diagonal=diagonal
    )
    counts = np.bincount(masked.columns["degree"], minlength=8)
    assert counts[~occurring].tolist() == [0]
    # Records move each by itself, so the counts vary less than the chi-square of drawing them all would have it.
    assert chisquare(counts[occurring], 100 * DEGREE[occurring]).pvalue > 0.01
    assert (masked.columns["degree"] != table.columns["degree"]).mean() > 0.2
    # The same matrix without invariance does not keep them.
    plain = protect(table, "pram", ["degree"], rng=np.random.default_rng(8), retain=0.4, diagonal=diagonal)
    assert np.abs(np.bincount(plain.columns["degree"], minlength=8) / 100 - DEGREE).max() > 50


def test_the_matrix_of_a_column_follows_from_the_parameters():
    table = housing()
    degree = table.attribute("degree")

    def matrix(**parameters):
        return PRAM(**parameters).matrices(table, ["degree"])["degree"]

    assert (matrix() == retaining(DEGREE, 0.8)).all()
    assert (matrix(retain=0.0) == retaining(DEGREE, 0.0)).all()
    assert (matrix(theta=0.3) == by_frequency(DEGREE, 0.3)).all()
    by_formula = Formula.read("freq_min / freq_i + (i=j)").matrix(DEGREE)
    assert (matrix(formula="freq_min / freq_i + (i=j)") == by_formula).all()
    assert (
        matrix(formula="freq_j", invariant=True) == invariant(Formula.read("freq_j").matrix(DEGREE), DEGREE, degree)
    ).all()
    assert (matrix(matrix=np.eye(8).tolist()) == np.eye(8)).all()
    assert (matrix(theta=0.3, invariant=True) == invariant(by_frequency(DEGREE, 0.3), DEGREE, degree)).all()
    within = bounded(by_frequency(DEGREE, 0.3), (0.6, 0.7), degree)
    assert (matrix(theta=0.3, diagonal=(0.6, 0.7)) == within).all()
    assert (matrix(theta=0.3, diagonal=" 0.6, 0.7") == within).all()
    both = invariant(by_frequency(DEGREE, 0.3), DEGREE, degree, (0.6, 0.7))
    assert (matrix(theta=0.3, diagonal=[0.6, 0.7], invariant=True) == both).all()


def test_each_column_can_have_a_matrix_of_its_own():
    table = housing()
    swap = {"school": [[0, 1], [1, 0]], "degree": np.eye(8)}
    masked = protect(table, "pram", ["degree", "school"], rng=np.random.default_rng(1), matrix=swap)
    assert masked.columns["degree"].tolist() == table.columns["degree"].tolist()
    assert masked.columns["school"].tolist() == (1 - table.columns["school"]).tolist()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"retain": 0.5, "theta": 0.5}, "PRAM takes one of matrix, retain, theta and formula, not retain and theta."),
        (
            {"formula": "freq_k"},
            "formula cannot be read at character 1: 'freq_k' stands where one of N, freq_max, "
            "freq_min, freq_i, freq_j, i=j or ( must stand.",
        ),
        ({"retain": 1.5}, "PRAM: retain must be from 0 to 1, not 1.5."),
        ({"theta": "much"}, "PRAM: theta must be a number, not 'much'."),
        ({"diagonal": "0.5"}, "PRAM: diagonal must be two probabilities, lo,hi, not '0.5'."),
        ({"diagonal": "a,b"}, "PRAM: diagonal must be two probabilities, lo,hi, not 'a,b'."),
        ({"diagonal": "0.9,0.5"}, "PRAM: diagonal must be two probabilities, the lower one first, not '0.9,0.5'."),
        ({"invariant": "yes"}, "PRAM: invariant must be true or false, not 'yes'."),
        ({"matrix": "m.csv"}, "PRAM: matrix must be numbers, as read_matrix and read_matrices give, not 'm.csv'."),
        ({"matrix": np.eye(3)}, "The matrix of 'degree' must be 8 x 8, as the domain is; it is 3 x 3."),
        ({"matrix": {"degree": np.eye(8)}}, "PRAM: matrix has no matrix for column 'school'."),
        ({"matrix": {"degre": np.eye(8)}}, "No column to protect is called 'degre'; did you mean 'degree'?"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, text):
    with pytest.raises((InvalidInput, InvalidParameter, UnknownName)) as error:
        protect(housing(), "pram", ["degree", "school"], rng=np.random.default_rng(1), **parameters)
    assert str(error.value) == text


def test_bounds_that_no_invariant_matrix_has_are_told():
    school = Table.from_columns({"school": ["a"] * 9 + ["b"]})
    with pytest.raises(NoSolution, match=r"90 % of the records have 'a'.* A diagonal from 0\.5 to 0\.945 works"):
        protect(school, "pram", ["school"], rng=np.random.default_rng(1), invariant=True, diagonal=(0.5, 0.8))


def test_one_formula_masks_any_table():
    other = Table.from_columns({"colour": ["red"] * 6 + ["blue"] * 3 + ["green"]})
    matrix = PRAM(formula="freq_j").matrices(other, ["colour"])["colour"]
    frequencies = np.bincount(other.columns["colour"])
    assert matrix == pytest.approx(np.tile(frequencies / 10, (3, 1)))
    masked = protect(other, "pram", ["colour"], rng=np.random.default_rng(2), formula="freq_j")
    assert len(masked) == 10


def test_a_missing_value_is_a_category_like_the_others():
    table = Table.from_columns({"school": ["a", "b", None] * 100})
    masked = protect(table, "pram", ["school"], rng=np.random.default_rng(1), retain=0.5)
    assert set(masked.values("school")) == {"a", "b", None}
    assert {new for new, old in zip(masked.values("school"), table.values("school"), strict=True) if old is None} > {
        None
    }
