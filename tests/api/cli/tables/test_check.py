"""`graphpriv table check`."""

from __future__ import annotations

import pytest

TABLE = "age,sex,illness\n20-29,f,flu\n20-29,f,cold\n20-29,f,flu\n30-39,m,flu\n30-39,m,flu\n*,*,cold\n"


@pytest.fixture
def table(tmp_path):
    """Two classes and a suppressed row."""
    (tmp_path / "table.csv").write_text(TABLE)
    return "table.csv"


def checked(graphpriv, *arguments):
    return graphpriv("table", "check", *arguments)


def test_a_table_is_checked_as_it_stands(graphpriv, table):
    ended = checked(graphpriv, table, "--quasi-identifiers", "age,sex", "--sensitive", "illness", "--json")
    assert ended.code == 0
    document = ended.document
    assert (document["rows"], document["suppressed"], document["classes"]) == (6, 1, 2)
    assert (document["k"], document["l"], document["s_k"], document["s_l"]) == (2, 1, 9 + 4, 2 + 2 + 1 + 2 + 2)
    assert document["class_sizes"] == [[2, 1], [3, 1]]
    # Flu has four fifths of the table and all of the second class.
    assert document["t"] == pytest.approx(1 / 5)
    assert document["beta"] == pytest.approx((1 / 3 - 1 / 5) / (1 / 5))
    assert document["enhanced_beta"] is None
    assert document["prosecutor_risk"] == document["journalist_risk"] == 0.5
    assert document["marketer_risk"] == pytest.approx(2 / 5)


def test_without_a_sensitive_column_there_are_classes_and_risks(graphpriv, table):
    document = checked(graphpriv, table, "--quasi-identifiers", "sex", "--json").document
    assert (document["k"], document["l"], document["t"]) == (2, None, None)
    ended = checked(graphpriv, table, "--quasi-identifiers", "sex")
    assert "6 rows, 1 suppressed, 2 classes of 2 to 3 rows" in ended.out
    assert "entropy-l" not in ended.out


def test_several_sensitive_columns_are_told_apart(graphpriv, table):
    arguments = (table, "--quasi-identifiers", "sex", "--sensitive", "illness,age")
    document = checked(graphpriv, *arguments, "--json").document
    assert document["by_attribute"]["illness"]["t"] == pytest.approx(1 / 5)
    assert document["t"] == max(each["t"] for each in document["by_attribute"].values())
    ended = checked(graphpriv, *arguments)
    for text in ("By sensitive column", "illness", "infinite", "Rows of the smallest class"):
        assert text in ended.out


def test_a_schema_says_which_values_are_ordered(graphpriv, tmp_path):
    (tmp_path / "table.csv").write_text("a,s\nx,low\nx,low\ny,high\ny,mid\n")
    (tmp_path / "schema.toml").write_text('[attributes.s]\nkind = "ordinal"\norder = ["low", "mid", "high"]\n')
    arguments = ("table.csv", "--quasi-identifiers", "a", "--sensitive", "s", "--json")
    assert checked(graphpriv, *arguments).document["t"] == pytest.approx(1 / 2)
    # The mass of half a class is moved by one and by two of two steps.
    ordered = checked(graphpriv, *arguments, "--schema", "schema.toml")
    assert ordered.document["t"] == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_a_population_lowers_the_risks_that_know_only_it(graphpriv, table, tmp_path):
    (tmp_path / "people.csv").write_text("sex,age\n" + "f,20-29\n" * 5 + "m,30-39\n" * 4 + "*,*\n")
    arguments = ("table.csv", "--quasi-identifiers", "age,sex", "--json", "--population")
    document = checked(graphpriv, *arguments, "people.csv").document
    assert (document["prosecutor_risk"], document["journalist_risk"]) == (0.5, 0.25)
    assert document["marketer_risk"] == pytest.approx((3 / 5 + 2 / 4) / 5)
    (tmp_path / "few.csv").write_text("sex,age\nf,20-29\n")
    ended = checked(graphpriv, *arguments, "few.csv")
    assert ended.code == 2
    assert "the table must be a part of the population" in ended.error


def test_a_condition_stops_a_pipeline(graphpriv, table):
    arguments = (table, "--quasi-identifiers", "age,sex", "--sensitive", "illness", "--fail-if")
    assert checked(graphpriv, *arguments, "k < 3").code == 4
    assert checked(graphpriv, *arguments, "k < 2 or by_attribute.illness.l < 1").code == 0
    ended = checked(graphpriv, "nowhere.csv", "--quasi-identifiers", "age", "--fail-if", "kk < 3")
    assert (ended.code, ended.error) == (2, "No number of the result is called 'kk'; did you mean 'k'?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--quasi-identifiers", "agge"), "table.csv: No column is called 'agge'; did you mean 'age'?"),
        (
            ("--quasi-identifiers", "age", "--sensitive", "age"),
            "Column 'age' cannot be a quasi-identifier and sensitive",
        ),
        (("--quasi-identifiers", "age,,sex"), "--quasi-identifiers 'age,,sex': name one or more columns"),
        (("--quasi-identifiers", "age", "--schema", "adlt"), "No schema is called 'adlt'; did you mean 'adult'?"),
    ],
)
def test_what_cannot_be_checked_is_one_line(graphpriv, table, arguments, said):
    ended = checked(graphpriv, table, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.error.startswith(said)


def test_an_empty_table_has_nothing_to_say(graphpriv, tmp_path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    ended = checked(graphpriv, "empty.csv", "--quasi-identifiers", "a")
    assert ended.code == 2
    assert ended.error.startswith("empty.csv: ")


def test_too_little_memory_is_one_line_and_no_bug(graphpriv, tmp_path, monkeypatch):
    def exhausted(*given, **more):
        raise MemoryError

    (tmp_path / "people.csv").write_text("age,town\n1,a\n2,b\n")
    monkeypatch.setattr("tabular.criteria.check", exhausted)
    ended = graphpriv("table", "check", "people.csv", "--quasi-identifiers", "age")
    assert ended.code == 2
    assert ended.error == "not enough memory: take fewer rows or columns, or a machine with more memory."
