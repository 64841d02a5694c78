"""`table compare`, as typed."""

from __future__ import annotations

import pytest

ROWS = [f"{20 + row % 9},{'ABC'[row % 3]},{'xy'[row % 2]}" for row in range(60)]


@pytest.fixture
def compared(graphpriv, tmp_path):
    """Run `table compare` on sixty people."""
    (tmp_path / "t.csv").write_text("\n".join(["age,town,illness", *ROWS]) + "\n")
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "age.csv").write_text("".join(f"{age};{age // 5 * 5}s;*\n" for age in range(20, 29)))
    (tmp_path / "levels" / "town.csv").write_text("A;AB;*\nB;AB;*\nC;C;*\n")
    return lambda *words: graphpriv("table", "compare", "t.csv", "--columns", "age,town", "--seed", 1, *words)


def test_methods_that_promise_k_stand_beside_the_best_generalisation(compared):
    document = compared("--k", 4, "--hierarchies", "levels", "--json").document
    every = {each["method"]: each for each in document["protections"]}
    assert set(every) == {"full-domain", "mondrian", "microaggregation"}
    assert all(each["k"] >= 4 and set(each["losses"]) == {"age", "town"} for each in every.values())
    assert every["full-domain"]["parameters"]["levels"].count(",") == 1
    assert [each["method"] for each in document["left_out"]] == ["global-median"]
    scores = [each["score_max"] for each in document["protections"]]
    assert scores == sorted(scores)


def test_without_hierarchies_the_generalisation_is_left_out_and_the_reason_told(compared):
    ended = compared("--k", 4)
    assert "Left out: full-domain k=4 suppression=0.01: There is no hierarchy for 'age', 'town'." in ended.out
    assert "mondrian k=4" in ended.out


def test_a_column_without_a_hierarchy_is_not_generalised_as_in_a_search(compared, graphpriv, tmp_path):
    (tmp_path / "levels" / "town.csv").unlink()
    document = compared("--k", 4, "--hierarchies", "levels", "--json").document
    (left,) = [each for each in document["left_out"] if each["method"].startswith("full-domain")]
    assert left["reason"] == "There is no hierarchy for 'town'."
    assert "full-domain" not in [each["method"] for each in document["protections"]]
    searched = graphpriv(
        "table", "search", "t.csv", "--quasi-identifiers", "age,town", "--hierarchies", "levels", "--k", 4
    )
    assert searched.code == 2 and "there is no hierarchy for 'town'" in searched.error


@pytest.mark.parametrize("verb", [("protect", "--method", "pram", "--out", "o.csv"), ("compare",)])
def test_a_table_without_rows_is_wrong_input_whatever_it_is_for(graphpriv, tmp_path, verb):
    (tmp_path / "t.csv").write_text("age,town\n")
    ended = graphpriv("table", verb[0], "t.csv", "--columns", "age", *verb[1:])
    assert ended.code == 2 and "The table has no records" in ended.error


def test_protections_can_be_named_with_their_parameters(compared, tmp_path):
    given = ("--protection", "pram retain=0.5", "--protection", "full-domain k=3 levels=age=1,town=1")
    ended = compared(*given, "--hierarchies", "levels", "--json", "--html", "map.html")
    assert [each["method"] for each in ended.document["protections"]] in (
        ["pram", "full-domain"],
        ["full-domain", "pram"],
    )
    assert (tmp_path / "map.html").exists()


def test_a_sample_is_of_the_rows_before_and_after_in_one_order(compared):
    document = compared("--k", 4, "--hierarchies", "levels", "--sample", 3, "--json").document
    sample = document["sample"]
    assert sample["rows"] == [1, 21, 41]
    assert sample["before"] == [ROWS[row - 1].split(",")[:2] for row in sample["rows"]]
    place = [each["method"] for each in document["protections"]].index("full-domain")
    level = document["protections"][place]["parameters"]["levels"].split(",")[0]
    ages = [row[0] for row in sample["before"]]
    labels = {"0": ages, "1": [f"{int(age) // 5 * 5}s" for age in ages], "2": ["*"] * 3}
    # As it would be released: labels of the hierarchy, not sets.
    assert [row[0] for row in sample["after"][place]] == labels[level]
    assert "sample" not in compared("--k", 4, "--json").document


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--protection", "mondrain k=3"), "did you mean 'mondrian'"),
        (("--protection", "pram matrix=m.csv"), "takes no files"),
        (("--k", 1), "--k must be at least 2"),
    ],
)
def test_what_is_wrong_is_refused(compared, given, words):
    ended = compared(*given)
    assert ended.code == 2 and words in ended.error
