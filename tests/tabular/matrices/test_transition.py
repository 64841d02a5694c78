from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, NameTaken, NoSolution
from tabular.matrices.transition import (
    MOST_CATEGORIES,
    corrected_frequencies,
    matrix_path,
    read_matrices,
    read_matrix,
    refuse_many,
    retaining,
    stochastic,
    write_matrix,
)
from tabular.protections.pram import drawn
from tabular.table import Table
from tests.strategies import generators

WITH_GAP = Attribute(name="size", domain=("S", "M", None))
SIZE = Attribute(name="size", domain=("S", "M", "L"))
labels = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from(["a,b", "=1+1", "-1x", "'q", '"x"', "#5", " a", "original", "a\nb"])
)

#: T Table 4.2, the categories that occur.
DEGREE = np.array([98, 173, 251, 195, 170, 80, 33])


def test_a_matrix_that_was_rounded_is_made_to_sum_to_one():
    assert stochastic(WITH_GAP, [[0.333, 0.333, 0.333], [0, 1, 0], [0.5, 0.5, 0]]).sum(axis=1).tolist() == [1, 1, 1]


def test_a_matrix_written_in_full_stays_as_it_is_to_the_bit():
    matrix = np.random.default_rng(3).dirichlet(np.ones(3), size=3)
    assert (stochastic(WITH_GAP, matrix) == matrix).all()


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
        stochastic(WITH_GAP, matrix)
    assert text in str(error.value)


def test_too_many_categories_are_refused_before_memory_is_asked_for():
    refuse_many(WITH_GAP)
    with pytest.raises(InvalidInput, match="has 5001 categories, and a matrix holds at most 5000: join categories"):
        refuse_many(Attribute(name="zip", domain=tuple(range(MOST_CATEGORIES + 1))))


@given(st.lists(labels, min_size=1, max_size=6, unique_by=str), generators)
def test_a_round_trip_changes_no_bit(tmp_path_factory, domain, rng):
    attribute = Attribute(name="x", domain=tuple(domain))
    matrix = rng.dirichlet(np.ones(len(domain)), size=len(domain))
    path = tmp_path_factory.mktemp("matrices") / "x.csv"
    write_matrix(path, attribute, matrix)
    assert (read_matrix(path, attribute) == matrix).all()


def test_a_file_has_the_labels_above_and_before_the_numbers(tmp_path):
    write_matrix(tmp_path / "m.csv", SIZE, np.array([[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]]))
    assert (tmp_path / "m.csv").read_text() == "original,S,M,L\nS,0.5,0.25,0.25\nM,0.0,1.0,0.0\nL,0.0,0.0,1.0\n"


def test_rows_and_columns_are_found_by_their_labels(tmp_path):
    (tmp_path / "m.csv").write_text(";L;S;M\nM;0;0.1;0.9\nS;0.3;0.7;0\nL;0.6;0.2;0.2\n")
    assert read_matrix(tmp_path / "m.csv", SIZE).tolist() == [[0.7, 0, 0.3], [0.1, 0.9, 0], [0.2, 0.2, 0.6]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.csv: there is no matrix in it."),
        (
            ",S,M,L\nS,1,0,0\nM,0.3,0.5,0\nL,0,0,1\n",
            "m.csv: The matrix of 'size', row 'M': the probabilities must sum to 1, not 0.8.",
        ),
        (
            ",S,M,L\nS,1,0,0\nM,0,1,0\n",
            "m.csv: the matrix has 2 rows and 3 columns beside the labels; it must be square.",
        ),
        (",S,M,L\nS,1,0,0\nMm,0,1,0\nL,0,0,1\n", "m.csv, line 3: 'Mm' is no category of 'size'; did you mean 'M'?"),
        (",S,M,X\nS,1,0,0\nM,0,1,0\nL,0,0,1\n", "m.csv, line 1: 'X' is no category of 'size'; there is 'S', 'M', 'L'."),
        (",S,M,L\nS,1,0,0\nM,0,1,0\nM,0,0,1\n", "m.csv, line 4: 'M' appears twice."),
        (",S,M\nS,1,0\nM,0,1\n", "m.csv: category 'L' of 'size' is missing; each has a row and a column."),
        (",S,M,L\nS,1,0\nM,0,1,0\nL,0,0,1\n", "m.csv, line 2: this row has 2 numbers, the header 3 labels."),
        (",S,M,L\n\nS,1,0,0\nM,x,1,0\nL,0,0,1\n", "m.csv, line 4: 'x' is not a number."),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, text, message):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InvalidInput) as error:
        read_matrix(tmp_path / "m.csv", SIZE)
    assert str(error.value) == f"{tmp_path}/{message}"


def test_a_folder_holds_a_file_for_each_column(tmp_path):
    year = Attribute(name="income/year", domain=("low", "high"))
    matrices = {"size": np.eye(3), "income/year": np.full((2, 2), 0.5)}
    (tmp_path / "out").mkdir()
    written = [matrix_path(tmp_path / "out", each) for each in (SIZE, year)]
    assert [path.name for path in written] == ["size.csv", "income%2Fyear.csv"]
    for path, each in zip(written, (SIZE, year), strict=True):
        write_matrix(path, each, matrices[each.name])
    found = read_matrices(tmp_path / "out", [SIZE, year])
    assert {name: matrix.tolist() for name, matrix in found.items()} == {
        name: matrix.tolist() for name, matrix in matrices.items()
    }
    assert list(read_matrices(written[0], [SIZE])) == ["size"]
    with pytest.raises(InvalidInput, match=r"weight\.csv"):
        read_matrices(tmp_path / "out", [Attribute(name="weight", domain=("low",))])


def test_nothing_is_written_where_the_file_exists(tmp_path):
    (tmp_path / "b.csv").write_text("kept")
    with pytest.raises(NameTaken):
        write_matrix(tmp_path / "b.csv", Attribute(name="b", domain=("x",)), np.eye(1))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("b.csv", "kept")]


def test_categories_written_alike_cannot_be_told_apart(tmp_path):
    twins = Attribute(name="x", domain=(1, "1"))
    with pytest.raises(InvalidInput, match="Two categories of 'x' are written '1'"):
        write_matrix(tmp_path / "m.csv", twins, np.eye(2))
    assert not list(tmp_path.iterdir())


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
