"""Limits of readers: a file that holds too much is refused before it takes the memory."""

import csv
import re
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import outcome_of
from tabular.errors import InvalidInput
from tabular.files.csv_tables import Dialect
from tabular.files.csv_texts import reads_quickly
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


def test_without_a_word_the_limits_are_those_of_a_large_table(monkeypatch):
    for name in ("MOST_COLUMNS", "MOST_CELLS", "LONGEST_FIELD"):
        monkeypatch.delenv(f"GRAPHPRIV_{name}", raising=False)
    assert Limits.of_environment() == Limits(columns=100_000, cells=2_000_000_000)


def test_a_million_columns_are_refused_by_their_number_unless_somebody_says_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHPRIV_MOST_COLUMNS", raising=False)
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{place}" for place in range(100_001)) + "\n")
    told = refused(path)
    assert "the table has 100,001 columns; here it may have 100,000 (GRAPHPRIV_MOST_COLUMNS)." in told
    limits = Limits.of_environment()
    limits.check("t", columns=100_000, rows=20_000)
    with pytest.raises(TooMuch, match=r"2,000,100,000 cells; here it may have 2,000,000,000 \(GRAPHPRIV_MOST_CELLS\)"):
        limits.check("t", columns=100_000, rows=20_001)
    monkeypatch.setenv("GRAPHPRIV_MOST_COLUMNS", "100001")
    Limits.of_environment().check("t", columns=100_001)


@pytest.mark.parametrize("number", ["9" * 19, "9" * 5000, "-1", "1e3", "\u0663"])
@pytest.mark.parametrize("name", ["most_columns", "most_cells", "longest_field"])
def test_a_limit_that_is_no_number_is_told(limited, tmp_path, name, number):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    limited(**{name: number})
    with pytest.raises(InvalidInput, match=f"GRAPHPRIV_{name.upper()} must be a whole number of at most 18 digits"):
        read_file(tmp_path / "t.csv")
    limited(**{name: "9" * 18})
    assert len(read_file(tmp_path / "t.csv").table) == 1


def test_a_quote_that_is_never_closed_takes_no_more_memory_than_the_text(monkeypatch):
    text = 'a,b\n1,"x\n' + "12345,678\n" * 100_000
    tracemalloc.start()
    assert not reads_quickly(text, Dialect(delimiter=",", quote='"'))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * len(text)


@given(st.text('",\na;', max_size=30))
def test_quotes_are_judged_as_by_going_through_all_ways(text):
    end = r"[^,\r\n]"
    plainly = '"' not in re.sub(rf'(?<!{end})"(?:[^"]|"")*"(?!{end})', "", text)
    dialect = Dialect(delimiter=",", quote='"')
    expected = not text[:1].isspace() and ('"' not in text or plainly)
    assert reads_quickly(text, dialect) == expected


def test_rows_for_which_there_is_no_memory_are_refused_by_the_footer(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1] * 3000, "b": ["x"] * 3000}), path)
    monkeypatch.setattr("tabular.files.parquet.free_memory", lambda: 95_000)
    assert "its 6,000 cells take at least 0.0 GB of memory" in refused(path)
    monkeypatch.setattr("tabular.files.parquet.free_memory", lambda: 96_000)
    assert len(read_file(path).table) == 3000
