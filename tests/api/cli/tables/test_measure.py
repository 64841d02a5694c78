"""`graphpriv table measure`."""

from __future__ import annotations

import pytest

ORIGINAL = "id,age,sex,town\n1,20,f,Ager\n2,30,m,Bern\n3,40,f,Bern\n4,50,m,\n"
MASKED = 'id,age,sex,town\n9,"[20,30]",f,Bern\n8,30,m,Bern\n7,40,*,{Ager|Bern}\n6,40,m,\n'


@pytest.fixture
def files(tmp_path):
    """An original, and a masked file with sets, a missing value and other identifiers."""
    for name, text in (("original.csv", ORIGINAL), ("masked.csv", MASKED)):
        (tmp_path / name).write_text(text)
    return "original.csv", "masked.csv"


def measured(graphpriv, *arguments):
    return graphpriv("table", "measure", *arguments)


def test_a_document_has_what_scripts_hold_on_to(graphpriv, files):
    ended = measured(graphpriv, *files, "--columns", "age,sex,town", "--json")
    assert ended.code == 0
    document = ended.document
    for key in (
        "ctbil",
        "actbil",
        "dbil",
        "ebil",
        "id",
        "dbrl",
        "prl",
        "prl_em",
        "rsrl",
        "informed",
        "raw",
        "clustering",
    ):
        assert key in document
    loss = (document["ctbil"] + document["dbil"] + document["ebil"]) / 3
    risk = (document["id"] + max(document["dbrl"], document["prl"])) / 2
    assert document["information_loss"] == pytest.approx(loss)
    assert document["disclosure_risk"] == pytest.approx(risk)
    assert document["score_mean"] == pytest.approx((loss + risk) / 2)
    assert document["score_max"] == pytest.approx(max(loss, risk))
    highest = max((document[name], name) for name in ("dbrl", "prl", "rsrl"))
    assert document["highest_linkage"]["value"] == highest[0]
    assert document["score_max_em"] <= document["score_max"]
    # 20 lies half a step of four from [20,30], 50 a step from 40; f half from *; Ager 1 from Bern, Bern half from both.
    assert document["raw"]["dbil"] == pytest.approx((1 / 2 + 1) / 4 + 1 / 2 + 1 + 1 / 2)


def test_a_file_against_itself_loses_nothing(graphpriv, files):
    document = measured(graphpriv, files[0], files[0], "--columns", "age,sex,town", "--json").document
    assert document["information_loss"] == 0
    assert document["id"] == 100


def test_people_see_a_table_that_says_what_each_number_is(graphpriv, files):
    ended = measured(graphpriv, *files, "--columns", "age,sex")
    assert ended.code == 0
    assert ended.out.startswith("Highest linkage: ")
    for text in (
        "% of the records are linked",
        "4 records, 2 columns, read as categories",
        "ctbil",
        "Mean distance between",
        "score_max",
    ):
        assert text in ended.out


def test_numbers_are_read_as_numbers(graphpriv, tmp_path):
    (tmp_path / "a.csv").write_text("x\n1.5\n2.5\n4.5\n")
    (tmp_path / "b.csv").write_text("x\n1.5\n2.25\n5.0\n")
    document = measured(graphpriv, "a.csv", "b.csv", "--columns", "x", "--json").document
    assert document["numeric"] is True
    assert document["information_loss"] == document["pil"] > 0
    assert document["ctbil"] is None
    assert "read as numbers" in measured(graphpriv, "a.csv", "b.csv", "--columns", "x").out


def test_a_condition_stops_a_pipeline(graphpriv, files):
    arguments = (*files, "--columns", "age,sex", "--fail-if")
    assert measured(graphpriv, *arguments, "information_loss > 1 and raw.dbrl >= 0").code == 4
    assert measured(graphpriv, *arguments, "score_max > 100").code == 0
    assert measured(graphpriv, *arguments, "highest_linkage.value > 1").code == 4
    ended = measured(graphpriv, "nowhere.csv", "nowhere.csv", "--columns", "age", "--fail-if", "scor_max > 1")
    assert (ended.code, ended.error) == (2, "No number of the result is called 'scor_max'; did you mean 'score_max'?")


def test_measures_take_parameters_and_can_be_left_out(graphpriv, files):
    few = ("--columns", "age,sex", "--json", "--without", "prl")
    ended = measured(graphpriv, *files, *few, "--param", "id.percent=0", "--param", "id.percent=100")
    assert ended.document["prl"] is None
    assert ended.document["disclosure_risk"] is None
    wide = ended.document["id"]
    assert wide >= measured(graphpriv, *files, *few, "--param", "id.percent=0").document["id"]
    assert "did you mean 'rsrl'" in measured(graphpriv, *files, *few, "--param", "rsrll.percent=1").error
    assert "write MEASURE.KEY=VALUE" in measured(graphpriv, *files, *few, "--param", "percent=1").error
    assert "from 0 to 100" in measured(graphpriv, *files, *few, "--param", "rsrl.percent=101").error
    assert "did you mean 'prl'" in measured(graphpriv, *files, "--columns", "age", "--without", "pral").error


def test_many_columns_are_measured_and_what_cannot_be_is_said_at_once(graphpriv, tmp_path):
    names = ",".join(f"c{place}" for place in range(30))
    rows = [
        "\n".join(",".join(str((row + place + shift * (row % 2)) % 5) for place in range(1, 31)) for row in range(9))
        for shift in (0, 1)
    ]
    for name, text in zip(("a.csv", "b.csv"), rows, strict=True):
        (tmp_path / name).write_text(f"{names}\n{text}\n")
    ended = measured(graphpriv, "a.csv", "b.csv", "--columns", names, "--json")
    assert ended.code == 0, ended.err
    assert ended.document["prl"] > 0
    assert (ended.document["prl_em"], ended.document["score_max_em"]) == (None, None)
    for condition in ("prl_em > 5", "score_max_em > 5", "raw.prl_em > 5", "bounds.prl_em > 5"):
        ended = measured(graphpriv, "nowhere.csv", "b.csv", "--columns", names, "--fail-if", condition)
        assert (ended.code, ended.error[:10]) == (2, "No number ")


def test_matrices_tell_what_the_attacker_knows(graphpriv, tmp_path):
    (tmp_path / "a.csv").write_text("x\np\np\nq\nq\n")
    (tmp_path / "b.csv").write_text("x\np\nq\nq\np\n")
    (tmp_path / "matrices").mkdir()
    (tmp_path / "matrices" / "x.csv").write_text(",p,q\np,0.9,0.1\nq,0.2,0.8\n")
    by_files = measured(graphpriv, "a.csv", "b.csv", "--columns", "x", "--json")
    by_matrix = measured(graphpriv, "a.csv", "b.csv", "--columns", "x", "--json", "--matrices", "matrices")
    assert (by_files.code, by_matrix.code) == (0, 0), by_matrix.err
    assert by_files.document["highest_linkage"]["measure"] != "informed"
    assert by_matrix.document["highest_linkage"]["measure"] in ("informed", "dbrl")
    assert by_matrix.document["ebil"] != by_files.document["ebil"]
    assert by_matrix.document["dbil"] == by_files.document["dbil"]


@pytest.mark.parametrize(
    ("masked", "columns", "said"),
    [
        (
            "age,sex\n20,f\n30,m\n",
            "age,sex",
            "bad.csv: it has 2 rows, original.csv has 4; row i of both must be the same",
        ),
        ("age\n20\n35\n40\n50\n", "age", "bad.csv: Column 'age', row 2: neither a value of the domain nor a set"),
        ("age\n20\n30\n40\n50\n", "age,sex", "bad.csv: No column is called 'sex'"),
        ("age\n20\n30\n40\n50\n", "age,sax", "original.csv: No column is called 'sax'; did you mean 'sex'?"),
        ("age\n20\n", "age,age", "--columns: 'age' appears twice."),
        ("age\n20\n", "", "--columns '': name one or more columns, with commas between them."),
        ("", "age", "bad.csv: the file is empty."),
    ],
)
def test_files_that_are_no_versions_of_each_other_are_refused(graphpriv, files, tmp_path, masked, columns, said):
    (tmp_path / "bad.csv").write_text(masked)
    ended = measured(graphpriv, files[0], "bad.csv", "--columns", columns, "--json")
    assert ended.code == 2
    assert ended.out == ""
    assert ended.error.startswith(said)


def test_one_of_both_files_has_a_name(graphpriv):
    assert "cannot both come from standard input" in measured(graphpriv, "-", "-", "--columns", "a").error


def test_a_guessed_kind_on_which_distances_depend_is_said(graphpriv, tmp_path):
    rows = [f"{1000 + 7 * i},{i % 3}" for i in range(150)]
    (tmp_path / "revenues.csv").write_text("\n".join(["revenue,grade", *rows]) + "\n")
    command = ("table", "measure", "revenues.csv", "revenues.csv", "--columns", "revenue,grade")
    said = "revenues.csv: guessed from whole numbers: revenue is continuous, grade is ordinal; --kind NAME=KIND sets"
    assert said in graphpriv(*command).err
    assert "guessed" not in graphpriv(*command, "--kind", "revenue=continuous", "--kind", "grade=nominal").err
