import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabular.lattice.fronts.candidates import _applied, _fitted
from tests.strategies import generators


@given(generators, st.integers(1, 40), st.integers(1, 12), st.integers(1, 3))
def test_the_regression_is_that_of_linear_algebra(rng, rows, size, columns):
    known = rng.integers(0, 2, (rows, size)) * rng.choice([1.0, 3.0], (rows, 1))
    rest = rng.normal(size=(rows, columns))
    expected = np.linalg.solve(known.T @ known + 0.3 * np.eye(size), known.T @ rest)
    effects = _fitted(known, rest, 0.3)
    np.testing.assert_allclose(effects, expected, atol=1e-9)
    np.testing.assert_allclose(_applied(known, effects), known @ expected, atol=1e-8)
