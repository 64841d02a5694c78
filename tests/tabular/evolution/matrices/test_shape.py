from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.evolution.matrices.genotype import crossed, encoded, mutated
from tabular.evolution.matrices.shape import Shape, is_invertible
from tabular.table import Table
from tests.strategies import generators


def column(codes, size):
    return Table.from_columns({"degree": codes}, [Attribute(name="degree", kind="ordinal", domain=tuple(range(size)))])


@st.composite
def shapes(draw):
    """A column and the shape of its matrices: any of invariance, bounds and a window, or all of them."""
    size = draw(st.integers(1, 6))
    table = column(draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=40)), size)
    ends = draw(st.sampled_from([None, (0.55, 0.75), (0.0, 0.9), (0.2, 0.4), (0.6, 1.0)]))
    reach = draw(st.sampled_from([None, 1, 2]))
    try:
        return Shape.of(table, "degree", invariant=draw(st.booleans()), bounds=ends, reach=reach)
    except NoSolution:
        assume(False)


@settings(deadline=None, max_examples=80)
@given(shapes(), generators)
def test_every_matrix_of_an_evolution_has_its_shape(shape, rng):
    size = len(shape.frequencies)
    genes, made = encoded(rng.dirichlet(np.full(size, 0.4), size=size)), 0
    for _ in range(25):
        genes = mutated(genes, rng, shape.window) if rng.random() < 0.5 else crossed(genes, rng)
        matrix = shape.of_genes(genes)
        if matrix is None:
            continue
        made += 1
        assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert (matrix >= -1e-15).all()
        assert is_invertible(matrix) and np.linalg.matrix_rank(matrix) == size
        if shape.bounds is not None:
            assert (np.diag(matrix) >= shape.bounds[0] - 1e-9).all()
            assert (np.diag(matrix) <= shape.bounds[1] + 1e-9).all()
        if shape.window is not None:
            assert (matrix[~shape.window] == 0).all()
        if shape.invariant:
            v = shape.frequencies / shape.frequencies.sum()
            assert v @ matrix == pytest.approx(v, abs=1e-9)
    assert made


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("window", [None, 3])
def test_matrices_of_hundreds_of_categories_are_exact(invariant, window):
    """Rows sum to 1 within 1e-12, frequencies are kept within 1e-9, and the inverse gives them back."""
    size, rng = 150, np.random.default_rng(5)
    # Some categories are a hundred times as frequent as others, and some do not occur.
    codes = rng.choice(size, 3000, p=(weights := rng.pareto(1.0, size)) / weights.sum())
    shape = Shape.of(column(codes.tolist(), size), "degree", invariant=invariant, bounds=(0.3, 0.98), reach=window)
    genes = encoded(rng.dirichlet(np.full(size, 0.4), size=size))
    v = shape.frequencies / shape.frequencies.sum()
    for _ in range(5):
        genes = crossed(mutated(genes, rng, shape.window), rng)
        matrix = shape.of_genes(genes)
        assert matrix is not None and (matrix >= 0).all()
        assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert (np.diag(matrix) >= 0.3 - 1e-9).all() and (np.diag(matrix) <= 0.98 + 1e-9).all()
        assert np.linalg.solve(matrix.T, matrix.T @ v) == pytest.approx(v, abs=1e-9)
        if invariant:
            assert v @ matrix == pytest.approx(v, abs=1e-9)


def test_a_matrix_that_fits_is_not_changed():
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    shape = Shape.of(column([0, 1, 2], 3), "degree", bounds=(0.55, 0.75))
    assert (shape.matrix(matrix) == matrix).all()


def test_a_singular_matrix_is_mixed_with_the_identity():
    found = Shape.of(column([0, 1], 2), "degree").matrix(np.full((2, 2), 0.5))
    assert found == pytest.approx(np.array([[0.505, 0.495], [0.495, 0.505]]))


def test_what_no_matrix_can_be_is_refused():
    with pytest.raises(NoSolution, match="can be inverted with so narrow a diagonal"):
        Shape.of(column([0, 1], 2), "degree", bounds=(0.5, 0.5))
    with pytest.raises(NoSolution, match="too many for that"):
        Shape.of(column([0] * 9 + [1], 2), "degree", invariant=True, bounds=(0.55, 0.75))
    with pytest.raises(NoSolution, match="takes values at most 1 place away"):
        Shape.of(column([0] * 4 + [1] + [2] * 5, 3), "degree", invariant=True, bounds=(0.55, 0.75), reach=1)
    with pytest.raises(InvalidParameter, match="window must be 1 or more places"):
        Shape.of(column([0, 1], 2), "degree", reach=0)
