import json

import pytest


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(
        "age,day,zip,place\n17,2024-01-31,80012,Rome\n25,2024-02-01,80021,Bari\n31,1999-12-01,90001,Oslo\n"
    )
    return "t.csv"


def made(graphpriv, tmp_path, *arguments):
    ended = graphpriv("table", "hierarchy", "t.csv", *arguments, "--out", "h.csv")
    assert ended.code == 0, ended.err
    return (tmp_path / "h.csv").read_text().splitlines()


@pytest.mark.parametrize(
    ("column", "arguments", "first"),
    [
        ("age", ["range", "--param", "widths=5,10"], "17;15-19;10-19;*"),
        ("age", ["balanced", "--param", "fan-out=2"], "17;[17,25];*"),
        ("day", ["date"], "1999-12-01;1999-12;1999;1990s;*"),
        ("zip", ["star", "--param", "step=2"], "80012;800**;8****;*"),
    ],
)
def test_a_hierarchy_is_written_as_arx_has_it(graphpriv, tmp_path, table, column, arguments, first):
    assert made(graphpriv, tmp_path, "--column", column, "--by", *arguments)[0] == first


def test_a_hierarchy_that_is_there_is_checked_and_cut(graphpriv, tmp_path, table):
    (tmp_path / "all.csv").write_text("31,old,*\n17,young,*\n25,young,*\n99,old,*\n")
    rows = made(graphpriv, tmp_path, "--column", "age", "--by", "csv", "--param", "file=all.csv")
    assert rows == ["17;young;*", "25;young;*", "31;old;*"]


def test_places_are_named_in_a_file(graphpriv, tmp_path, table):
    (tmp_path / "p.json").write_text(json.dumps({"Rome": ["Italy"], "Bari": ["Italy"], "Oslo": ["Norway"]}))
    rows = made(graphpriv, tmp_path, "--column", "place", "--by", "places", "--param", "file=p.json")
    assert rows == ["Bari;Italy;*", "Oslo;Norway;*", "Rome;Italy;*"]


def test_the_levels_are_a_document(graphpriv, table):
    ended = graphpriv("table", "hierarchy", table, "--column", "day", "--by", "date", "--out", "h.csv", "--json")
    assert ended.document == {
        "hierarchy": "h.csv",
        "column": "day",
        "by": "date",
        "values": 3,
        "levels": [{"level": level, "labels": labels} for level, labels in enumerate([3, 3, 2, 2, 1])],
    }
    ended = graphpriv("table", "hierarchy", table, "--column", "day", "--by", "date", "--out", "-")
    assert ended.out.splitlines()[-1] == "2024-02-01;2024-02;2024;2020s;*"
    assert ended.err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column", "agee", "--by", "range"], "No column is called 'agee'; did you mean 'age'?"),
        (
            ["--column", "place", "--by", "range"],
            "Intervals need numbers up to 1e15; 'place' holds a value that is none.",
        ),
        (["--column", "place", "--by", "balanced"], "'place' is nominal"),
        (["--column", "age", "--by", "date"], "'age' holds a value that is no date"),
        (
            ["--column", "age", "--by", "range", "--param", "width=5"],
            "--param 'width=5'",
        ),
        (["--column", "age", "--by", "range", "--param", "widths=5,7"], "7 is none of 5"),
        (["--column", "age", "--by", "ranges"], "No kind of hierarchy is called 'ranges'; did you mean 'range'?"),
        (["--column", "age", "--by", "csv"], "--by csv takes one parameter, --param file=FILE."),
        (["--column", "age", "--by", "csv", "--param", "file=x"], "x: No such file or directory."),
        (["--column", "age", "--by", "places", "--param", "file=t.csv"], "t.csv: this is not JSON"),
        (["--column", "age", "--by", "range", "--json", "--out", "-"], "both write to standard output"),
    ],
)
def test_what_makes_no_hierarchy_is_said_and_leaves_no_file(graphpriv, tmp_path, table, arguments, message):
    ended = graphpriv("table", "hierarchy", table, *arguments, *([] if "--out" in arguments else ["--out", "h.csv"]))
    assert ended.code == 2
    assert message in ended.error
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_file_is_replaced_only_when_asked(graphpriv, tmp_path, table):
    (tmp_path / "h.csv").write_text("mine")
    arguments = ("table", "hierarchy", table, "--column", "age", "--by", "range", "--out", "h.csv")
    assert "--overwrite" in graphpriv(*arguments).error
    assert (tmp_path / "h.csv").read_text() == "mine"
    assert graphpriv(*arguments, "--overwrite").code == 0
