"""Limits of readers: a file that holds too much is refused before it takes the memory."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.errors import outcome_of
from tabular.errors import InvalidInput
from tabular.files.limits import Limits, TooMuch
from tabular.files.parquet import write_parquet
from tabular.files.table_files import read_file


@pytest.fixture
def limited(monkeypatch):
    def limit(**limits):
        for name, number in limits.items():
            monkeypatch.setenv(f"GRAPHPRIV_{name.upper()}", str(number))

    usual = csv.field_size_limit()
    yield limit
    csv.field_size_limit(usual)


def refused(path):
    with pytest.raises(TooMuch) as caught:
        read_file(path)
    assert outcome_of(caught.value).status == 413
    return str(caught.value)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " "])
def test_columns_are_counted_whatever_separates_them(limited, tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(mark.join(f"c{n}" for n in range(30)) + "\n" + mark.join(str(n) for n in range(30)) + "\n")
    limited(most_columns=30)
    assert len(read_file(path).table.names) == 30
    limited(most_columns=29)
    assert "30 columns; here it may have 29" in refused(path)


def test_commas_in_quotes_are_no_columns(limited, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a, b, c, d",e\n1,2\n')
    limited(most_columns=2)
    assert len(read_file(path).table.names) == 2


def test_cells_are_rows_times_columns(limited, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 100)
    limited(most_cells=202)
    assert len(read_file(path).table) == 100
    limited(most_cells=199)
    refused(path)


def test_the_footer_of_parquet_tells_before_it_is_unpacked(limited, tmp_path):
    path = tmp_path / "t.parquet"
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100)
    with path.open("wb") as file:
        write_parquet(file, read_file(tmp_path / "t.csv").table)
    limited(most_cells=199)
    assert "200 cells" in refused(path)
    limited(most_cells=1000, most_columns=1)
    assert "2 columns" in refused(path)


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())])
def test_a_text_that_stands_once_in_a_parquet_file_and_many_times_in_its_rows_is_counted(
    limited, tmp_path, kind, dictionary
):
    path = tmp_path / "t.parquet"
    texts = pa.array([b"x" * 1000 if kind == pa.binary() else "x" * 1000] * 1000)
    table = pa.table({"n": range(1000), "t": texts.cast(kind), "empty": pa.nulls(1000)})
    pq.write_table(table, path, use_dictionary=dictionary, compression="zstd")
    assert path.stat().st_size < 20_000
    limited(most_cells=99_999)
    assert "1,000,000 characters; here they may have 999,990" in refused(path) or not dictionary
    limited(most_cells=200_000, longest_field=999)
    assert "a cell has 1,000 characters" in refused(path)
    if kind != pa.binary():
        limited(longest_field=1000)
        assert len(read_file(path).table) == 1000


@pytest.mark.parametrize("rows", [2, 20_000])
def test_a_field_has_an_end(limited, tmp_path, rows):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * rows + f'3,"{"x" * 999}"\n')
    limited(longest_field=999)
    assert len(read_file(path).table) == rows + 1
    limited(longest_field=998)
    with pytest.raises(InvalidInput):
        read_file(path)


def test_a_million_columns_are_refused_at_once(limited, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(map(str, range(10**6))) + "\n" + "1," * 999_999 + "1\n")
    limited(most_columns=10_000)
    refused(path)


def test_without_a_word_there_is_no_limit(monkeypatch):
    for name in ("MOST_COLUMNS", "MOST_CELLS", "LONGEST_FIELD"):
        monkeypatch.delenv(f"GRAPHPRIV_{name}", raising=False)
    assert Limits.of_environment() == Limits()
