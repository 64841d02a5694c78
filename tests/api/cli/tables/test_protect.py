"""`table protect`, as typed: what it writes, what it says, what it refuses, and what is left behind."""

from __future__ import annotations

import csv
import json
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tabular.files.schema import read_schema
from tabular.files.table_files import read_file, read_masked
from tabular.protections import protect, protections

COLUMNS = ("size", "colour")
SCHEMA = """
[attributes.name]
role = "identifier"
[attributes.size]
order = ["S", "M", "L", "XL"]
title = "Size of the shirt"
[attributes.colour]
values = ["blue", "green", "red"]
"""


@pytest.fixture
def folder(tmp_path):
    """A table of forty shirts with their owners, and what its columns are."""
    draw = np.random.default_rng(1)
    lines = ["name,size,colour,price"]
    for row in range(40):
        size, colour = draw.choice(["S", "M", "L", "XL"], p=[0.4, 0.3, 0.2, 0.1]), draw.choice(["blue", "green", "red"])
        lines.append(f"owner {row},{size},{colour},{10 + row % 7}")
    (tmp_path / "shirts.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "shirts.toml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def protected(graphpriv, folder):
    """Run `table protect` on the shirts."""

    def call(*arguments, columns="size,colour"):
        return graphpriv("table", "protect", "shirts.csv", "--schema", "shirts.toml", "--columns", columns, *arguments)

    return call


def rows_of(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def files(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


def test_a_release_has_its_k_no_identifiers_and_a_dictionary(protected, folder):
    ended = protected("--method", "microaggregation", "--param", "k=4", "--out", "r.csv")
    assert ended.code == 0
    rows = rows_of(folder / "r.csv")
    counts = Counter((row["size"], row["colour"]) for row in rows)
    assert list(rows[0]) == ["size", "colour", "price"]
    assert min(counts.values()) >= 4
    assert f"k={min(counts.values())}" in ended.out
    assert "Dropped: name." in ended.out
    assert "--shuffle" in ended.err
    dictionary = json.loads((folder / "r.csv.dictionary.json").read_text())
    assert dictionary["k"] == min(counts.values())
    assert dictionary["rows"] == 40
    assert [field["name"] for field in dictionary["fields"]] == ["size", "colour", "price"]
    size = dictionary["fields"][0]
    assert size["meaning"] == "Size of the shirt"
    assert {value["value"]: value["count"] for value in size["values"]} == Counter(row["size"] for row in rows)


@pytest.mark.parametrize(
    "method",
    [name for name, entry in zip(protections, protections.entries(), strict=True) if "nominal" in entry.method.kinds],
)
def test_what_is_written_is_what_the_method_gives_and_what_measure_reads(method, graphpriv, protected, folder):
    assert protected("--method", method, "--seed", 3, "--out", "r.csv").code == 0
    table = read_file(folder / "shirts.csv", schema=read_schema(folder / "shirts.toml")).table
    masked = protect(table, method, COLUMNS, rng=np.random.default_rng(3))
    read = read_masked(folder / "r.csv", table, names=COLUMNS)
    for name in COLUMNS:
        assert read.values(name) == masked.values(name)
    told = protected("--method", method, "--seed", 3, "--out", "r.csv", "--overwrite", "--json").document
    measured = graphpriv(
        "table", "measure", "shirts.csv", "r.csv", "--columns", "size,colour", "--schema", "shirts.toml", "--json"
    ).document
    for key in ("information_loss", "disclosure_risk", "score_max", "score_mean"):
        assert told[key] == pytest.approx(measured[key])


def test_methods_that_promise_no_k_say_so(protected):
    ended = protected("--method", "rank-swapping", "--param", "percent=10", "--out", "r.csv")
    assert "rank-swapping promises no k" in ended.out
    document = protected("--method", "pram", "--out", "s.csv", "--json").document
    assert document["promises_k"] is False
    assert "promises no k" in json.loads(Path("s.csv.dictionary.json").read_text())["not_protected"][0]


def test_what_was_joined_is_told(graphpriv, folder):
    (folder / "ages.csv").write_text("age,x\n" + "".join(f"{age},a\n" for age in (17, 23, 28, 79, 81, 95) * 2))
    asked = ("table", "protect", "ages.csv", "--columns", "age", "--out", "out.csv", "--overwrite", "--method")
    ended = graphpriv(*asked, "top-coding", "--param", "above=80")
    assert "Joined in age: >=80 (4 rows)." in ended.out
    assert rows_of(folder / "out.csv")[4]["age"] == ">=80"
    measured = graphpriv("table", "measure", "ages.csv", "out.csv", "--columns", "age", "--json")
    assert measured.code == 0
    ended = graphpriv(*asked, "bottom-coding", "--param", "below=3")
    assert "Joined in age: nothing, since no record has such values." in ended.out


def test_the_seed_stands_nowhere_but_in_the_private_file(protected, folder):
    seed = 987654321012345
    ended = protected(
        "--method", "pram", "--out", "r.csv", "--seed", seed, "--private", "p.json", "--shuffle", "--json"
    )
    assert ended.code == 0
    for name in ("r.csv", "r.csv.dictionary.json"):
        assert str(seed) not in (folder / name).read_text()
    assert str(seed) not in ended.out + ended.err
    kept = json.loads((folder / "p.json").read_text())
    assert kept["seed"] == seed
    assert stat.S_IMODE((folder / "p.json").stat().st_mode) == 0o600


def test_a_shuffled_release_is_put_back_in_order_by_the_private_file(protected, folder):
    protected("--method", "pram", "--seed", 5, "--out", "kept.csv")
    ended = protected("--method", "pram", "--seed", 5, "--out", "mixed.csv", "--shuffle", "--private", "p.json")
    kept, mixed = rows_of(folder / "kept.csv"), rows_of(folder / "mixed.csv")
    assert kept != mixed
    order = json.loads((folder / "p.json").read_text())["order"]
    assert [kept[row] for row in order] == mixed
    assert "--shuffle" not in ended.err
    assert "random order" in json.loads((folder / "mixed.csv.dictionary.json").read_text())["order"]


def test_the_matrices_of_pram_go_out_and_in_again(protected, folder):
    ended = protected("--method", "pram", "--param", "retain=0.6", "--out", "r.csv", "--seed", 2, "--matrices-out", "m")
    assert ended.code == 0
    assert "private" in ended.out
    assert sorted(each.name for each in (folder / "m").iterdir()) == ["colour.csv", "size.csv"]
    assert stat.S_IMODE((folder / "m" / "size.csv").stat().st_mode) == 0o600
    assert protected("--method", "pram", "--param", "matrix=m", "--out", "s.csv", "--seed", 2).code == 0
    assert (folder / "r.csv").read_bytes() == (folder / "s.csv").read_bytes()
    # Where the files lie belongs to the house.
    assert json.loads((folder / "s.csv.dictionary.json").read_text())["parameters"]["matrix"] == "given"


def test_corrected_frequencies_add_up_and_undo_the_matrix(protected, folder):
    ended = protected(
        "--method", "pram", "--param", "retain=0.7", "--out", "r.csv", "--private", "p.json", "--frequencies", "f.csv"
    )
    assert ended.code == 0
    rows = [row for row in rows_of(folder / "f.csv") if row["column"] == "size"]
    kept = json.loads((folder / "p.json").read_text())["matrices"]["size"]
    assert [row["value"] for row in rows] == kept["categories"] == ["S", "M", "L", "XL"]
    estimates = np.array([float(row["estimate"]) for row in rows])
    assert estimates.sum() == pytest.approx(40)
    # The estimate is the original that the matrix takes to what was counted.
    assert estimates @ np.array(kept["matrix"]) == pytest.approx([float(row["masked"]) for row in rows])
    assert all(float(row["standard_error"]) > 0 for row in rows)
    counts = Counter(row["size"] for row in rows_of(folder / "r.csv"))
    assert {row["value"]: int(row["masked"]) for row in rows} == {each: counts[each] for each in kept["categories"]}


def test_a_table_on_standard_output_is_alone_there(protected, folder):
    ended = protected("--method", "mondrian", "--out", "-")
    assert ended.out.splitlines()[0] == "size,colour,price"
    assert len(ended.out.splitlines()) == 41
    assert "k=" in ended.err
    assert files(folder) == ["shirts.csv", "shirts.toml"]


def test_identifiers_are_starred_if_asked(protected, folder):
    protected("--method", "mondrian", "--out", "r.csv", "--identifiers", "star")
    assert {row["name"] for row in rows_of(folder / "r.csv")} == {"*"}


def test_a_hierarchy_is_read_from_its_folder(protected, folder):
    (folder / "h").mkdir()
    (folder / "h" / "size.csv").write_text("S;small;*\nM;small;*\nL;large;*\nXL;large;*\n")
    arguments = ("--method", "full-domain", "--param", "hierarchies=h", "--param", "levels=1", "--out", "r.csv")
    assert protected(*arguments, columns="size").code == 0
    assert {row["size"] for row in rows_of(folder / "r.csv")} == {"[S,M]", "[L,XL]"}


#: Arguments, exit code, and a part of the one line.
REFUSED = {
    "an unknown column": (("--method", "pram"), "size,color", 2, "did you mean 'colour'?"),
    "an unknown method": (("--method", "rank-swaping"), "size", 2, "did you mean 'rank-swapping'?"),
    "an unknown parameter": (("--method", "pram", "--param", "thta=0.5"), "size", 2, "Did you mean 'theta'?"),
    "a parameter without a value": (("--method", "pram", "--param", "theta"), "size", 2, "KEY=VALUE"),
    "a parameter that is no number": (("--method", "pram", "--param", "theta=x"), "size", 2, "must be a number"),
    "a parameter out of bounds": (("--method", "pram", "--param", "theta=2"), "size", 2, "from 0 to 1"),
    "a method of ordinal columns": (("--method", "top-coding"), "colour", 2, "is nominal"),
    "a column twice": (("--method", "pram"), "size,size", 2, "twice"),
    "an identifier": (("--method", "pram"), "name", 2, "is an identifier"),
    "k above the records": (("--method", "mondrian", "--param", "k=41"), "size", 3, "the table has 40 records"),
    "a count of all categories": (("--method", "top-coding", "--param", "count=4"), "size", 2, "from 2 to 3"),
    "matrices of another method": (("--method", "mondrian", "--matrices-out", "m"), "size", 2, "are for pram"),
    "frequencies that cannot be": (
        ("--method", "pram", "--param", "retain=0.3333333333333333", "--frequencies", "f.csv", "--private", "p.json"),
        "colour",
        3,
        "cannot be corrected",
    ),
    "a matrix that is not there": (("--method", "pram", "--param", "matrix=none.csv"), "size", 2, "none.csv"),
    "a hierarchy that is not there": (("--method", "full-domain", "--param", "hierarchies=none"), "size", 2, "none"),
    "a folder that is not there": (("--method", "pram", "--private", "no/p.json"), "size", 2, "no folder"),
    "options of the grid": (
        ("--method", "pram", "--html", "g.html"),
        "size",
        2,
        "--html has no effect with --method",
    ),
    "neither method nor grid": ((), "size", 2, "--method and --out, or --grid"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_left(name, protected, folder):
    arguments, columns, code, part = REFUSED[name]
    if name == "frequencies that cannot be":
        # Of equally frequent categories, and kept with one third, every value is as probable as the others.
        colours = [("blue", "green", "red")[row % 3] for row in range(30)]
        (folder / "shirts.csv").write_text("size,colour\n" + "".join(f"S,{each}\n" for each in colours))
    before = files(folder)
    ended = protected(*arguments, "--out", "r.csv", columns=columns)
    assert ended.code == code
    assert part in ended.error
    assert files(folder) == before


@pytest.mark.parametrize(
    ("matrix", "part"),
    [
        ("original,S,M,L,XL\nS,1,0,0,0\nM,0,1,0,0\nL,0,0,1,0\nXL,0,0,0.5,0\n", "XL"),
        ("original,S,M,L\nS,1,0,0\nM,0,1,0\nL,0,0,1\n", "missing"),
        ("original,S,M,L,XL\nS,1,0,0,0\nM,0,-1,2,0\nL,0,0,1,0\nXL,0,0,0,1\n", "M"),
        ("", "no matrix"),
    ],
)
def test_a_matrix_that_is_not_stochastic_is_refused_with_its_file(matrix, part, protected, folder):
    (folder / "m.csv").write_text(matrix)
    before = files(folder)
    ended = protected("--method", "pram", "--param", "matrix=m.csv", "--out", "r.csv", columns="size")
    assert ended.code == 2
    assert "m.csv" in ended.error
    assert part in ended.error
    assert files(folder) == before


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("name,size,colour\nAnn,S,blue\nBo,M\n", "line 3"),
        ("name,size,colour\nAnn,S,blue\nBo,XXL,red\n", "line 3"),
        ("name,size,colour\n", "no records"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(text, part, protected, folder):
    (folder / "shirts.csv").write_text(text)
    before = files(folder)
    ended = protected("--method", "mondrian", "--param", "k=1", "--out", "r.csv")
    assert ended.code == 2
    assert part in ended.error
    assert files(folder) == before


def test_a_column_of_distinct_values_that_nobody_described_stops_the_writing(graphpriv, folder):
    arguments = ("table", "protect", "shirts.csv", "--columns", "colour", "--method", "pram", "--out", "r.csv")
    before = files(folder)
    ended = graphpriv(*arguments, "--private", "p.json", "--matrices-out", "m")
    assert ended.code == 2
    assert "'name'" in ended.error
    assert files(folder) == before
    assert graphpriv(*arguments, "--role", "name=identifier").code == 0


def test_what_fails_while_it_is_written_leaves_nothing(protected, folder, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tabular.files.table_files.write_csv_table", full)
    before = files(folder)
    ended = protected("--method", "pram", "--out", "r.csv", "--private", "p.json", "--matrices-out", "m")
    assert ended.code == 1
    assert files(folder) == before


def test_files_that_exist_and_the_table_itself_are_not_replaced(protected, folder):
    (folder / "r.csv").write_text("mine")
    assert "--overwrite" in protected("--method", "pram", "--out", "r.csv").error
    assert (folder / "r.csv").read_text() == "mine"
    original = (folder / "shirts.csv").read_bytes()
    ended = protected("--method", "pram", "--out", "shirts.csv", "--overwrite")
    assert ended.code == 2
    assert "a file that is read" in ended.error
    assert (folder / "shirts.csv").read_bytes() == original
    assert "writes to this file, too" in protected("--method", "pram", "--out", "x.csv", "--private", "x.csv").error


@pytest.mark.shared_data
def test_german_credit_with_its_schema(graphpriv, tmp_path, shared_folder):
    path = shared_folder / "german_credit" / "german.data"
    ended = graphpriv(
        "table", "protect", path, "--schema", "german-credit", "--columns", "EXISTACC,SAVINGS,PRESEMPLOY",
        "--method", "clustered", "--param", "k=5", "--out", "r.data", "--seed", 1, "--json",
    )  # fmt: skip
    assert ended.code == 0
    lines = (tmp_path / "r.data").read_text().splitlines()
    assert len(lines) == 1000
    counts = Counter(tuple(line.split()[place] for place in (0, 5, 6)) for line in lines)
    assert min(counts.values()) == ended.document["k"] >= 5


def test_a_k_over_blocks_of_columns_is_not_promised_over_all(graphpriv, tmp_path):
    rows = "".join(f"{n % 7},{n % 5}\n" for n in range(40))
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    ended = graphpriv(
        *("table", "protect", "t.csv", "--columns", "a,b", "--method", "microaggregation", "--param", "k=3"),
        *("--param", "univariate=true", "--seed", 1, "--out", "m.csv"),
    )
    assert ended.code == 0
    assert "promises no k over all columns" in ended.out
    dictionary = json.loads((tmp_path / "m.csv.dictionary.json").read_text())
    assert dictionary["promises_k"] is False


def test_an_output_replaces_nothing_that_is_read(graphpriv, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n2,1\n" * 6)
    (tmp_path / "s.toml").write_text('[attributes.a]\nkind = "ordinal"\n')
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.csv").write_text("original,1,2\n1,0.9,0.1\n2,0.1,0.9\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    call = ("table", "protect", "t.csv", "--columns", "a", "--method", "pram", "--param", "matrix=m", "--overwrite")
    for out in ("t.csv", "s.toml", "m/a.csv", "m/../s.toml"):
        ended = graphpriv(*call, "--schema", "s.toml", "--out", out)
        assert ended.code == 2, out
        assert "read" in ended.error
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_numbers_masked_by_ranges_are_measured_as_categories(graphpriv, tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"{n / 4 + 0.1}\n" for n in range(30)) + '""\n')
    ended = graphpriv(
        *("table", "protect", "t.csv", "--columns", "a", "--method", "mondrian", "--param", "k=3", "--role"),
        *("a=quasi-identifier", "--out", "m.csv", "--json"),
    )
    assert ended.code == 0, ended.err
    assert 0 < ended.document["information_loss"] <= 100
    itself = graphpriv("table", "measure", "t.csv", "t.csv", "--columns", "a", "--json")
    assert itself.code == 0, itself.err
    assert (itself.document["numeric"], itself.document["information_loss"]) == (False, 0)


def test_a_header_that_is_a_guess_is_said_to_be_one(graphpriv, tmp_path):
    (tmp_path / "t.csv").write_text("a,a,sex\nb,c,m\nd,e,f\nb,c,m\nd,e,f\nb,e,m\n")
    ended = graphpriv(
        *(
            "table",
            "protect",
            "t.csv",
            "--columns",
            "column3",
            "--method",
            "mondrian",
            "--param",
            "k=2",
            "--out",
            "m.csv",
        )
    )
    assert "the header is a guess" in ended.err
