import pytest

ROWS = "id;age;sex;pay\n" + "".join(
    f"p{place};{30 + place % 3};{'fm'[place % 2]};{place % 4},50\n" for place in range(12)
)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    return "t.csv"


def test_a_table_is_described(graphpriv, table):
    ended = graphpriv("table", "describe", table)
    assert ended.code == 0
    assert ended.out.startswith(
        "t.csv: CSV, 12 rows, 4 columns; cells separated by semicolon, quotes double, utf-8, lines end in LF, a "
        "header, "
        "decimal comma.\n"
    )
    assert "identifier?" in ended.out
    assert "id: all values are distinct, so none is shown" in ended.out
    assert "p1" not in ended.out
    assert "--role NAME=ROLE" in ended.err


def test_the_description_is_a_document(graphpriv, table):
    document = graphpriv("table", "describe", table, "--role", "id=identifier", "--json").document
    assert (document["file"], document["format"], document["rows"]) == ("t.csv", "csv", 12)
    assert document["dialect"] == {
        "delimiter": "semicolon",
        "quote": "double",
        "encoding": "utf-8",
        "line_end": "LF",
        "header": True,
        "space_after_delimiter": False,
        "decimal": ",",
    }
    columns = {column["name"]: column for column in document["columns"]}
    assert columns["id"]["role"] == "identifier"
    assert (columns["age"]["kind"], columns["age"]["lowest"], columns["age"]["highest"]) == ("ordinal", "30", "32")
    assert columns["pay"]["kind"] == "continuous"


def test_options_overrule_what_is_found(graphpriv, table):
    document = graphpriv("table", "describe", table, "--delimiter", "pipe", "--no-header", "--json").document
    assert len(document["columns"]) == 1
    assert document["dialect"]["header"] is False
    document = graphpriv("table", "describe", table, "--missing", "f", "--decimal", ".", "--json").document
    columns = {column["name"]: column for column in document["columns"]}
    assert (columns["sex"]["missing"], columns["sex"]["missing_marker"]) == (6, "f")
    assert columns["pay"]["holds"] == "text"


def test_a_guess_is_said(graphpriv, tmp_path):
    (tmp_path / "t.txt").write_text("New York\nLos Angeles\n")
    ended = graphpriv("table", "describe", "t.txt")
    assert "the delimiter is a guess; --delimiter sets it." in ended.err
    assert "the header is a guess; --header sets it." in ended.err
    assert graphpriv("table", "describe", "t.txt", "--json").document["unsure"] == ["delimiter", "header"]


def test_a_schema_is_a_file_or_one_that_ships(graphpriv, table, tmp_path):
    (tmp_path / "s.toml").write_text(
        '[attributes.id]\nrole = "identifier"\n[attributes.sex]\ntitle = "S"\n[attributes.other]\n'
    )
    ended = graphpriv("table", "describe", table, "--schema", "s.toml")
    assert "s.toml describes columns that the file lacks: other." in ended.out
    ended = graphpriv("table", "describe", table, "--schema", "german-credit")
    assert ended.code == 2
    assert "none of its attributes is a column of t.csv" in ended.error


def test_a_table_comes_from_standard_input(graphpriv, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    document = graphpriv("table", "describe", "-", "--json").document
    assert (document["file"], document["rows"]) == ("standard input", 12)


def test_parquet_is_described(graphpriv, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1, 2, 2]}), tmp_path / "t.parquet")
    assert graphpriv("table", "describe", "t.parquet").out.startswith("t.parquet: Parquet, 3 rows, 1 column.")
    assert graphpriv("table", "describe", "t.parquet", "--json").document["dialect"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "nothing.csv: No such file or directory."),
        (["t.csv", "--schema", "adlt"], "No schema is called 'adlt'; did you mean 'adult'?"),
        (["t.csv", "--role", "ag=sensitive"], "t.csv: No column is called 'ag'; did you mean 'age'?"),
        (["t.csv", "--role", "age=sensitve"], "did you mean 'sensitive'?"),
        (["t.csv", "--role", "age"], "--role 'age': write NAME=ROLE"),
        (["t.csv", "--delimiter", "komma"], "did you mean 'comma'?"),
        (["t.csv", "--encoding", "utf9"], "did you mean 'utf-8'?"),
        (["t.csv", "--quote", ";", "--delimiter", ";"], "two different characters"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(graphpriv, table, arguments, message):
    ended = graphpriv("table", "describe", *arguments)
    assert ended.code == 2
    assert message in ended.error
    assert ended.out == ""
