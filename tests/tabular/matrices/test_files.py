from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, NameTaken
from tabular.matrices.files import matrix_path, read_matrices, read_matrix, write_matrix
from tests.strategies import generators

SIZE = Attribute(name="size", domain=("S", "M", "L"))
labels = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from(["a,b", "=1+1", "-1x", "'q", '"x"', "#5", " a", "original", "a\nb"])
)


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
        (",S,M,L\nS,1,0,0\nM,0,1,0\nM,0,0,1\n", "m.csv, line 4: 'M' stands twice."),
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
