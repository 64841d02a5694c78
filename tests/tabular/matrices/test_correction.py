from __future__ import annotations

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, NoSolution
from tabular.matrices.correction import corrected_frequencies
from tabular.matrices.stochastic import retaining
from tabular.protections.pram import drawn
from tabular.table import Table

#: T Table 4.2, the categories that occur.
DEGREE = np.array([98, 173, 251, 195, 170, 80, 33])


def table_of(counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    attribute = Attribute(name="degree", domain=tuple(f"v{code}" for code in range(len(counts))))
    return Table((attribute,), {"degree": codes})


def test_a_correction_worked_by_hand():
    # t (0.8 0.2; 0.5 0.5) = (58, 42) gives t1 = (58 - 50) / 0.3 = 26.67; var = (t1 0.16 + t2 0.25) / 0.09.
    found = corrected_frequencies(table_of([58, 42]), "degree", [[0.8, 0.2], [0.5, 0.5]])
    first = 8 / 0.3
    assert found.estimates == pytest.approx([first, 100 - first])
    error = np.sqrt((first * 0.16 + (100 - first) * 0.25) / 0.09)
    assert found.errors == pytest.approx([error, error])
    assert found.masked.tolist() == [58, 42]
    assert found.rows()[0] == pytest.approx(("v0", 58, first, error))
    assert (found.attribute.name, found.attribute.domain, found.masked.tolist()) == ("degree", ("v0", "v1"), [58, 42])
    assert found.errors == pytest.approx([error, error])


def test_the_identity_needs_no_correction():
    found = corrected_frequencies(table_of(DEGREE), "degree", np.eye(7))
    assert found.estimates.tolist() == DEGREE.tolist()
    assert found.errors.tolist() == [0] * 7


def test_estimates_are_unbiased_and_their_errors_are_those_of_two_thousand_runs():
    runs, rng = 2000, np.random.default_rng(20)
    original = table_of(DEGREE)
    matrix = retaining(DEGREE, 0.7)
    found = [
        corrected_frequencies(
            original.with_codes(degree=drawn(original.columns["degree"], matrix, rng)), "degree", matrix
        )
        for _ in range(runs)
    ]
    estimates = np.array([each.estimates for each in found])
    errors = np.array([each.errors for each in found])
    spread = estimates.std(axis=0, ddof=1)
    assert (np.abs(estimates.mean(axis=0) - DEGREE) <= 3 * spread / np.sqrt(runs)).all()
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(spread, rel=0.06)
    covered = (np.abs(estimates - DEGREE) <= 1.96 * errors).mean(axis=0)
    assert ((covered > 0.93) & (covered < 0.97)).all()


def test_a_matrix_without_an_inverse_corrects_nothing():
    with pytest.raises(NoSolution, match="'degree' cannot be corrected: its matrix has no inverse"):
        corrected_frequencies(table_of([5, 5]), "degree", np.full((2, 2), 0.5))


def test_sets_are_refused():
    table = table_of([2, 2, 2])
    with pytest.raises(InvalidInput, match="labels that stand for sets"):
        corrected_frequencies(table.masked({"degree": ["*"] * 6}), "degree", np.eye(3))
