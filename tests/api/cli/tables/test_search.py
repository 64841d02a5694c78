"""`table search`, as typed: what it finds, what it writes, what it says, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import stat
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from lxml import html

from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches

QUASI_IDENTIFIERS = ("age", "sex", "zip")
FILES = ("age.csv", "people_sex.csv", "zip.csv")
AGES = (18, 19, 23, 25, 31, 38, 44, 52)
KEYS = {"node", "k", "l", "t", "s_k", "s_l", "glm", "cm", "precision", "suppressed"}
SEEKS_ONE = [entry.name for entry in searches.entries() if entry.method.seeks_one]
SEEKS_FRONT = [entry.name for entry in searches.entries() if entry.method.seeks_front]


@pytest.fixture
def folder(tmp_path):
    """A table of sixty people with an identifier, and the hierarchies of three columns."""
    draw = np.random.default_rng(1)
    lines = ["name,age,sex,zip,illness,income"]
    for row in range(60):
        person = (draw.choice(AGES), draw.choice(["f", "m"]), draw.choice(["8001", "8002", "8010", "8101"]))
        illness, income = draw.choice(["flu", "cold", "gout"], p=[0.6, 0.3, 0.1]), draw.choice(["low", "high"])
        lines.append(",".join(map(str, (f"person {row}", *person, illness, income))))
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    folder = tmp_path / "h"
    folder.mkdir()
    ages = "".join(f"{age};{age // 10}0s;{'young' if age < 30 else 'old'};*\n" for age in AGES)
    (folder / "age.csv").write_text(ages)
    (folder / "people_sex.csv").write_text("f;*\nm;*\n")
    codes = ("8001", "8002", "8010", "8101")
    (folder / "zip.csv").write_text("".join(f"{code};{code[:3]}*;{code[:2]}**;*\n" for code in codes))
    return tmp_path


@pytest.fixture
def suppressing(searched):
    """What chooses a node at which rows are suppressed for k=4."""
    limits = ("--algorithm", "exhaustive", "--k", 4, "--suppression", 0.1)
    solutions = searched(*limits, "--json").document["solutions"]
    place = next(place for place, each in enumerate(solutions, start=1) if each["suppressed"] > 1)
    return (*limits, "--choose", place)


@pytest.fixture
def searched(graphpriv, folder):
    """Run `table search` on the people."""

    def call(*arguments, columns="age,sex,zip", file="people.csv", hierarchies="h"):
        return graphpriv(
            *("table", "search", file, "--quasi-identifiers", columns, "--hierarchies", hierarchies),
            *("--role", "name=identifier", *arguments),
        )

    return call


def rows_of(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def files(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


def of(row, names=QUASI_IDENTIFIERS):
    return tuple(row[name] for name in names)


def labels_in(path):
    """What a hierarchy file calls each value, level by level, read anew."""
    return {line.split(";")[0]: line.split(";") for line in Path(path).read_text().splitlines()}


def plain_best(rows, k, limit):
    """By counting: the least GLM of a node with k, where at most *limit* rows go."""
    ages = {str(age): (str(age), f"{age // 10}0s", "young" if age < 30 else "old", "*") for age in AGES}
    codes = {code: (code, f"{code[:3]}*", f"{code[:2]}**", "*") for code in ("8001", "8002", "8010", "8101")}
    levels = {"age": ages, "sex": {sex: (sex, "*") for sex in "fm"}, "zip": codes}
    best = {}
    for node in np.ndindex(4, 2, 4):
        written = [
            tuple(levels[name][row[name]][level] for name, level in zip(QUASI_IDENTIFIERS, node, strict=True))
            for row in rows
        ]
        counts = Counter(written)
        kept = [each for each in written if counts[each] >= k]
        if len(rows) - len(kept) > limit:
            continue
        loss = 3.0 * (len(rows) - len(kept))
        for each in kept:
            for name, label, level in zip(QUASI_IDENTIFIERS, each, node, strict=True):
                leaves = sum(labels[level] == label for labels in levels[name].values())
                loss += (leaves - 1) / (len(levels[name]) - 1)
        best[node] = loss
    return min(best.values()), len(best)


def test_the_release_is_what_it_says_counted_from_its_cells(searched, folder):
    ended = searched(
        *("--algorithm", "exhaustive", "--k", 4, "--l", 2, "--suppression", 0.1, "--sensitive", "illness"),
        *("--out", "r.csv", "--json"),
    )
    assert ended.code == 0, ended.err
    labels = {name: labels_in(folder / "h" / file) for name, file in zip(QUASI_IDENTIFIERS, FILES, strict=True)}
    document, rows, original = ended.document, rows_of("r.csv"), rows_of("people.csv")
    assert list(rows[0]) == ["age", "sex", "zip", "illness", "income"]
    assert len(rows) == 60
    suppressed = [row for row in rows if of(row) == ("*", "*", "*")]
    kept = [row for row in rows if of(row) != ("*", "*", "*")]
    counts = Counter(map(of, kept))
    values = defaultdict(set)
    for row in kept:
        values[of(row)].add(row["illness"])
    best = document["solutions"][0]
    assert min(counts.values()) == document["release"]["k"] == best["k"] >= 4
    assert min(map(len, values.values())) == document["release"]["l"] == best["l"] >= 2
    assert len(suppressed) == document["release"]["suppressed"] == best["suppressed"] <= 6
    for before, after in zip(original, rows, strict=True):
        assert before["illness"] == after["illness"] and before["income"] == after["income"]
        for name, level in document["release"]["levels"].items():
            assert after[name] == ("*" if of(after) == ("*", "*", "*") else labels[name][before[name]][level])


@pytest.mark.parametrize("suppression", [0, 0.1])
def test_the_optimum_is_the_one_of_a_plain_count(searched, suppression):
    ended = searched("--algorithm", "exhaustive", "--k", 4, "--suppression", suppression, "--json")
    document = ended.document
    least, satisfying = plain_best(rows_of("people.csv"), 4, int(60 * suppression))
    assert document["solutions"][0]["glm"] == pytest.approx(least)
    assert document["lower_bound"] == pytest.approx(least)
    assert (document["gap"], document["satisfying"], document["lattice_nodes"]) == (0, satisfying, 32)


@pytest.mark.parametrize("algorithm", SEEKS_ONE)
def test_every_search_of_one_node_gives_a_release_that_keeps_k(algorithm, searched):
    ended = searched("--algorithm", algorithm, "--k", 5, "--suppression", 0.05, "--seed", 3, "--out", "r.csv", "--json")
    assert ended.code == 0, ended.err
    document = ended.document
    kept = Counter(of(row) for row in rows_of("r.csv") if of(row) != ("*", "*", "*"))
    assert min(kept.values()) >= 5 and sum(kept.values()) >= 57
    assert document["algorithm"] == algorithm
    assert {"lattice_nodes", "satisfying", "evaluated", "seconds", "solutions", "lower_bound", "gap"} <= set(document)
    for solution in document["solutions"]:
        assert set(solution) >= KEYS
        assert solution["l"] is solution["t"] is solution["s_l"] is solution["cm"] is None
    losses = [solution["glm"] for solution in document["solutions"]]
    assert losses == sorted(losses)


@pytest.mark.parametrize("algorithm", SEEKS_FRONT)
def test_every_search_of_a_front_sorts_it_by_the_first_objective(algorithm, searched):
    ended = searched(
        *("--algorithm", algorithm, "--objectives", "k,l,glm,cm", "--sensitive", "illness", "--class-label", "income"),
        *("--suppression", 0.02, "--seed", 3, "--json"),
    )
    assert ended.code == 0, ended.err
    document = ended.document
    ks = [solution["k"] for solution in document["solutions"]]
    assert ks == sorted(ks, reverse=True) and len(ks) > 1
    assert document["metric"] is document["lower_bound"] is document["gap"] is None
    costs = [(-each["k"], -each["l"], each["glm"], each["cm"]) for each in document["solutions"]]
    for one in costs:
        assert not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in costs)


def test_people_are_told_levels_losses_and_what_is_proven(searched):
    ended = searched("--algorithm", "exhaustive", "--k", 4, "--out", "r.csv", "--suppression", 0.1)
    said = " ".join(ended.out.split())
    assert "best by glm, found by exhaustive" in said
    assert "The lattice has 32 nodes; 32 were evaluated in" in said
    assert "satisfy k=4 with at most 6 rows suppressed." in said
    assert "Proven: no node that satisfies the limits loses less by glm." in said
    assert "What each attribute lost" in said
    assert "Wrote r.csv: 60 rows at age=" in said
    assert "Recounted from the released table: k=" in said
    assert "Dropped: name." in said
    assert "add --shuffle" in ended.err


def test_only_the_first_solutions_are_shown_and_all_are_in_the_document(searched):
    ended = searched("--algorithm", "exhaustive", "--k", 1)
    assert "The first 20 by glm; --json has all 32." in ended.out
    assert len(searched("--algorithm", "exhaustive", "--k", 1, "--json").document["solutions"]) == 32


def test_a_front_is_released_at_the_place_or_the_levels_that_are_chosen(searched, folder):
    front = ("--algorithm", "exhaustive", "--objectives", "k,glm", "--suppression", 0.02)
    solutions = searched(*front, "--json").document["solutions"]
    assert len(solutions) > 2
    node = ",".join(f"{name}={level}" for name, level in zip(QUASI_IDENTIFIERS, solutions[1]["node"], strict=True))
    by_place = searched(*front, "--out", "a.csv", "--choose", 2, "--json").document["release"]
    by_levels = searched(*front, "--out", "b.csv", "--choose", node, "--json").document["release"]
    assert by_place == by_levels
    assert (by_place["place"], by_place["k"]) == (2, solutions[1]["k"])
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert searched(*front, "--out", "c.csv", "--choose", "3,1,3", "--json").document["release"]["k"] == 60


def test_a_node_that_a_search_did_not_find_can_be_chosen_if_it_satisfies(searched):
    ended = searched("--algorithm", "ola", "--k", 4, "--out", "r.csv", "--choose", "3,1,3", "--json")
    assert ended.document["release"]["place"] is None
    assert {of(row) for row in rows_of("r.csv")} == {("*", "*", "*")}


def test_suppressed_rows_can_be_left_out(searched, folder, suppressing):
    starred = searched(*suppressing, "--out", "a.csv", "--sensitive", "illness", "--json")
    gone = starred.document["release"]["suppressed"]
    assert gone > 0
    ended = searched(*suppressing, "--out", "b.csv", "--suppressed", "drop", "--private", "p.json")
    assert f"{gone} suppressed rows are left out" in ended.out
    kept = [row for row in rows_of("a.csv") if of(row) != ("*", "*", "*")]
    assert rows_of("b.csv") == kept
    dictionary = json.loads((folder / "b.csv.dictionary.json").read_text())
    assert (dictionary["rows"], dictionary["suppressed"], dictionary["left_out"]) == (60 - gone, 0, gone)
    order = json.loads((folder / "p.json").read_text())["order"]
    assert [rows_of("people.csv")[row]["illness"] for row in order] == [row["illness"] for row in kept]


def test_who_is_told_of_a_sensitive_column_is_told_of_suppressed_rows(searched, suppressing):
    ended = searched(*suppressing, "--sensitive", "illness", "--out", "r.csv")
    assert "--suppressed drop leaves these rows out" in ended.err


def test_the_dictionary_tells_what_each_attribute_lost_and_no_seed(searched, folder):
    seed = 987654321012345
    ended = searched(
        *("--algorithm", "exhaustive", "--k", 4, "--suppression", 0.1, "--sensitive", "illness", "--out", "r.csv"),
        *("--seed", seed, "--private", "p.json", "--shuffle", "--json"),
    )
    text = (folder / "r.csv.dictionary.json").read_text()
    assert str(seed) not in text + ended.out + ended.err
    dictionary, release = json.loads(text), ended.document["release"]
    for told, known in zip(dictionary["attributes"], release["attributes"], strict=True):
        assert set(told) == {
            *("name", "level", "height", "values_after", "cells_suppressed", "general_loss", "precision", "labels")
        }
        assert {name: told[name] for name in told if name != "labels"}.items() <= known.items()
        assert told["labels"] == [{name: each[name] for name in ("label", "rows")} for each in known["labels"]]
    assert (dictionary["method"], dictionary["parameters"]["k"]) == ("full-domain", 4)
    rows = rows_of("r.csv")
    for each in release["attributes"]:
        labels = Counter(row[each["name"]] for row in rows if of(row) != ("*", "*", "*"))
        assert each["values_after"] == len(labels)
        if each["level"]:
            assert {label["label"]: label["rows"] for label in each["labels"]} == labels
    kept = json.loads((folder / "p.json").read_text())
    assert kept["seed"] == seed
    assert stat.S_IMODE((folder / "p.json").stat().st_mode) == 0o600
    assert [rows_of("people.csv")[row]["income"] for row in kept["order"]] == [row["income"] for row in rows]


def test_the_same_seed_gives_the_same_bytes(searched, folder):
    for name in ("a.csv", "b.csv"):
        ended = searched("--algorithm", "random", "--k", 4, "--seed", 5, "--shuffle", "--out", name)
        assert "a fixed seed can undo a release" in ended.err
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    searched("--algorithm", "random", "--k", 4, "--seed", 6, "--shuffle", "--out", "c.csv")
    assert (folder / "a.csv").read_bytes() != (folder / "c.csv").read_bytes()


def test_a_table_on_standard_output_is_alone_there(searched, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "people.csv").read_bytes())))
    ended = searched("--algorithm", "exhaustive", "--k", 4, "--out", "-", file="-")
    assert ended.out.splitlines()[0] == "age,sex,zip,illness,income"
    assert len(ended.out.splitlines()) == 61
    assert "What each attribute lost" in ended.err


def test_a_report_on_standard_output_is_alone_there(searched):
    ended = searched("--algorithm", "exhaustive", "--k", 4, "--html", "-")
    assert ended.out.startswith("<!DOCTYPE html>")
    assert "The lattice has 32 nodes" in ended.err


def test_a_report_holds_the_figures_of_the_document(searched):
    ended = searched("--algorithm", "exhaustive", "--k", 4, "--out", "r.csv", "--html", "r.html", "--json")
    page = html.document_fromstring(Path("r.html").read_bytes())
    best = ended.document["solutions"][0]
    for key in ("k", "glm", "precision", "discernibility"):
        (cell,) = page.xpath(f"//td[@data-key='/solutions/0/{key}']")
        assert json.loads(cell.get("data-value")) == best[key]
    (cell,) = page.xpath("//td[@data-key='/release/attributes/0/general_loss']")
    assert json.loads(cell.get("data-value")) == ended.document["release"]["attributes"][0]["general_loss"]


def test_ctrl_c_ends_a_search_with_the_best_so_far(searched, monkeypatch):
    evaluate, asked = Evaluator.evaluate, []

    def interrupted(self, nodes):
        asked.append(len(nodes))
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return evaluate(self, nodes)

    monkeypatch.setattr(Evaluator, "evaluate", interrupted)
    monkeypatch.setattr("tabular.lattice.searches.exhaustive.BATCH", 10)
    before = signal.getsignal(signal.SIGINT)
    ended = searched("--algorithm", "exhaustive", "--k", 1, "--json")
    assert ended.code == 0
    assert (ended.document["evaluated"], ended.document["ended"]) == (20, False)
    assert signal.getsignal(signal.SIGINT) is before
    said = searched("--algorithm", "exhaustive", "--k", 1, "--seconds", 0)
    assert said.code == 3


def test_a_second_ctrl_c_gives_up_and_leaves_nothing(searched, folder, monkeypatch):
    def interrupted(self, nodes):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Evaluator, "evaluate", interrupted)
    before = files(folder)
    ended = searched("--algorithm", "exhaustive", "--k", 1, "--out", "r.csv")
    assert ended.code == 1
    assert "interrupted" in ended.error
    assert files(folder) == before


def test_what_draws_does_not_say_that_no_node_satisfies_unless_it_saw_all(searched):
    limits = ("--algorithm", "random", "--k", 60, "--seed", 1, "--param")
    ended = searched(*limits, "evaluations=1")
    assert ended.code == 3
    assert ended.error.startswith("No node was found that satisfies k=60 with at most 0 rows suppressed; the nearest")
    assert searched(*limits, "evaluations=32").code == 0


def test_a_best_node_without_limits_is_told_to_protect_nobody(searched):
    assert "Without --k, --l or --t every node qualifies" in searched("--algorithm", "exhaustive").err


def test_a_search_that_is_stopped_says_that_it_is_not_done(searched, monkeypatch):
    monkeypatch.setattr("tabular.lattice.searches.exhaustive.BATCH", 10)
    ended = searched("--algorithm", "exhaustive", "--k", 1, "--evaluations", 15)
    assert "Stopped early: this is the best so far." in ended.out
    assert "No proof" in ended.out
    assert "15 (46.9 %) were evaluated" in ended.out


#: Arguments beside k, exit code, and what is said.
FRONT = ("--algorithm", "exhaustive", "--objectives", "k,glm")
REFUSED = {
    "an unknown algorithm": (("--algorithm", "exhaustiv"), 2, "No algorithm is called 'exhaustiv'; did you mean"),
    "an unknown metric": (("--metric", "gml"), 2, "No metric is called 'gml'; did you mean 'glm'?"),
    "an unknown objective": (("--objectives", "k,gml"), 2, "No objective is called 'gml'; did you mean 'glm'?"),
    "an objective twice": (("--objectives", "k,k"), 2, "none of them twice"),
    "a metric beside objectives": (("--metric", "glm", *FRONT), 2, "--metric has no effect with --objectives"),
    "objectives of a search of one node": (
        ("--algorithm", "ola", "--objectives", "k,glm"),
        2,
        "ola finds the best node by one metric, not a front of --objectives.",
    ),
    "an unknown column": (("--sensitive", "illnes"), 2, "people.csv: No column is called 'illnes'; did you mean"),
    "l without a sensitive column": (("--l", 2), 2, "--l needs a sensitive column; name it with --sensitive."),
    "t without a sensitive column": (("--t", 0.2), 2, "--t needs a sensitive column; name it with --sensitive."),
    "an objective of values": (
        (*FRONT[:2], "--objectives", "l,glm"),
        2,
        "l needs a sensitive column; name it with --sensitive.",
    ),
    "cm without a class label": (("--metric", "cm"), 2, "cm needs a class label; name its column with --class-label."),
    "a class label that is sensitive": (
        ("--sensitive", "illness", "--class-label", "illness"),
        2,
        "--class-label 'illness': this column is sensitive; it cannot be both.",
    ),
    "a class label among the quasi-identifiers": (("--class-label", "sex"), 2, "this column is a quasi-identifier"),
    "a k of 0": (("--k", 0), 2, "k must be at least 1, not 0"),
    "a t above 1": (("--t", 1.5, "--sensitive", "illness"), 2, "t must be from 0 to 1, not 1.5"),
    "a suppression above 1": (("--suppression", 1.5), 2, "suppression must be from 0 to 1, not 1.5"),
    "epsilon without objectives": (("--epsilon", "5,100"), 2, "--epsilon is for the objectives of a front"),
    "epsilon of the wrong length": (
        (*FRONT, "--epsilon", "5"),
        2,
        "epsilon must be one number for each of k,glm, not '5'.",
    ),
    "epsilon of the wrong sign": (
        (*FRONT, "--epsilon", "5,-1"),
        2,
        "epsilon of glm must be above 0 and finite, not -1.",
    ),
    "epsilon that is no number": (
        (*FRONT, "--epsilon", "5,x"),
        2,
        "epsilon must be numbers, as in '5,100', not '5,x'.",
    ),
    "epsilon of another search": ((*FRONT, "--epsilon", "5,100"), 2, "exhaustive does not take --epsilon"),
    "a generator of another search": (("--generator", "paper"), 2, "exhaustive does not take --generator"),
    "an unknown parameter": (("--param", "mot=3"), 2, "Did you mean 'most'?"),
    "a lattice too large": (
        ("--param", "most=5"),
        2,
        "The lattice has 32 nodes, and exhaustive goes through 5 at most",
    ),
    "k above the rows": (
        ("--k", 61),
        3,
        "No release with k=61 exists: the table has 60 records. The nearest limit that can be met is k=60",
    ),
    "l above the values": (
        ("--l", 4, "--sensitive", "illness"),
        3,
        "No release with l=4 exists: column 'illness' has 3 distinct values. The nearest limit that can be met is l=3",
    ),
    "a choice without a release": (("--choose", 1), 2, "--choose has no effect without --out"),
    "an order without a release": (("--shuffle",), 2, "--shuffle has no effect without --out"),
    "a private file without a release": (("--private", "p.json"), 2, "--private has no effect without --out"),
    "a release of a front": ((*FRONT, "--out", "r.csv"), 2, "A release needs one node, and a front has many"),
    "a place that is not there": (("--out", "r.csv", "--choose", 99), 2, "--choose 99: the list has places 1 to"),
    "levels that are not there": (("--out", "r.csv", "--choose", "9,0,0"), 2, "the levels of 'age' are 0 to 3"),
    "too few levels": (
        ("--out", "r.csv", "--choose", "1,0"),
        2,
        "--choose must give a level for each of 3 columns, not '1,0'",
    ),
    "a level that is missing": (("--out", "r.csv", "--choose", "age=1,sex=0"), 2, "the level of 'zip' is missing"),
    "levels that are no numbers": (("--out", "r.csv", "--choose", "a,b,c"), 2, "must give whole numbers"),
    "a node that breaks the limits": (
        ("--out", "r.csv", "--choose", "0,0,0"),
        3,
        "the node age=0, sex=0, zip=0 does not satisfy the limits: ",
    ),
    "two documents on standard output": (
        ("--out", "-", "--json"),
        2,
        "--json and --out - both write to standard output",
    ),
    "table and report on standard output": (("--out", "-", "--html", "-"), 2, "both write to standard output"),
    "outputs in one file": (("--out", "r.csv", "--html", "r.csv"), 2, "--out writes to this file, too"),
    "an output over the table": (("--out", "people.csv", "--overwrite"), 2, "this is a file that is read"),
    "an output among the hierarchies": (("--out", "h/age.csv", "--overwrite"), 2, "the files of h are read"),
    "an output of another format": (("--out", "r.xlsx"), 2, "tables are written as CSV or Parquet"),
    "a report that no folder holds": (("--html", "no/r.html"), 2, "there is no folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_left(name, searched, folder):
    arguments, code, said = REFUSED[name]
    given = arguments if "--k" in arguments else ("--k", 3, *arguments)
    given = given if {"--algorithm", "--objectives"} & set(given) else ("--algorithm", "exhaustive", *given)
    before = files(folder)
    contents = (folder / "people.csv").read_bytes()
    ended = searched(*given)
    assert ended.code == code, ended.err
    assert said in ended.error
    assert files(folder) == before
    assert (folder / "people.csv").read_bytes() == contents


def test_quasi_identifiers_are_checked_before_anything_is_searched(searched, folder):
    limits = ("--algorithm", "exhaustive", "--k", 3)
    assert "'age' appears twice" in searched(*limits, columns="age,age").error
    assert "No column is called 'agee'; did you mean 'age'?" in searched(*limits, columns="agee").error
    assert "'name' is an identifier" in searched(*limits, columns="name,age").error
    ended = searched(*limits, columns="age,income")
    assert ended.code == 2
    assert ended.error == (
        "h: there is no hierarchy for 'income', income.csv or *_income.csv; there is age.csv, people_sex.csv, zip.csv."
    )
    assert "no such folder" in searched(*limits, hierarchies="none").error


def test_a_value_that_a_hierarchy_lacks_is_named_with_column_and_file(searched, folder):
    lines = (folder / "h" / "zip.csv").read_text().splitlines()
    (folder / "h" / "zip.csv").write_text("\n".join(lines[:-1]) + "\n")
    ended = searched("--algorithm", "exhaustive", "--k", 3)
    assert ended.code == 2
    assert ended.error.startswith("h/zip.csv: Hierarchy of zip: 1 value of the column is not in it. Data row ")
    # A cell may be one person's.
    assert "8101" not in ended.err


def test_a_lattice_of_ten_to_the_eighteenth_is_refused_by_searches_that_go_through_it(graphpriv, tmp_path):
    names = [f"c{place}" for place in range(18)]
    (tmp_path / "h").mkdir()
    draw = np.random.default_rng(1).integers(0, 10, size=(30, 18))
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in draw))
    for name in names:
        rows = (";".join([str(value), *(f"{max(value, level)}" for level in range(1, 9)), "*"]) for value in range(10))
        (tmp_path / "h" / f"{name}.csv").write_text("\n".join(rows) + "\n")
    call = ("table", "search", "t.csv", "--quasi-identifiers", ",".join(names), "--hierarchies", "h", "--k", 1)
    ended = graphpriv(*call, "--algorithm", "exhaustive")
    assert ended.code == 2
    assert "The lattice has 10^18 nodes, and exhaustive goes through 5,000,000 at most." in ended.error
    assert "kgen, optimal, pbg-ea or random" in ended.error
    found = graphpriv(*call, "--algorithm", "random", "--param", "evaluations=300", "--json")
    assert found.document["lattice_nodes"] == 10**18


def test_a_column_of_distinct_values_that_nobody_described_stops_it_before_the_search(graphpriv, folder, monkeypatch):
    monkeypatch.setattr(Evaluator, "evaluate", lambda self, nodes: pytest.fail("it was searched"))
    call = ("table", "search", "people.csv", "--quasi-identifiers", "age,sex", "--hierarchies", "h", "--k", 3)
    before = files(folder)
    ended = graphpriv(*call, "--algorithm", "exhaustive", "--out", "r.csv", "--html", "r.html")
    assert ended.code == 2
    assert "'name'" in ended.error
    assert files(folder) == before


def test_what_fails_while_it_is_written_leaves_nothing(searched, folder, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tabular.files.table_files.write_csv_table", full)
    before = files(folder)
    ended = searched(
        *("--algorithm", "exhaustive", "--k", 3, "--out", "r.csv", "--private", "p.json", "--html", "r.html")
    )
    assert ended.code == 1
    assert files(folder) == before


def test_a_release_that_counts_otherwise_than_the_search_found_is_a_bug_and_does_not_go_out(
    searched, folder, suppressing, monkeypatch
):
    nobody = np.zeros(60, dtype=np.bool_)
    monkeypatch.setattr(Evaluator, "suppressed_rows", lambda self, node: nobody)
    before = files(folder)
    ended = searched(*suppressing, "--out", "r.csv", "--html", "r.html")
    assert ended.code == 1
    assert "this is a bug" in ended.error
    assert files(folder) == before


def test_files_that_exist_are_replaced_only_if_asked(searched, folder):
    (folder / "r.csv").write_text("mine")
    limits = ("--algorithm", "exhaustive", "--k", 3, "--out", "r.csv")
    assert "--overwrite" in searched(*limits).error
    assert (folder / "r.csv").read_text() == "mine"
    assert searched(*limits, "--overwrite").code == 0
    assert (folder / "r.csv").read_text() != "mine"


@pytest.fixture
def later(folder):
    """The table of a later time: seven people have gone and eight have come."""
    lines = (folder / "people.csv").read_text().splitlines()
    draw = np.random.default_rng(2)
    kept = [line for line in lines[1:] if int(line.split(",")[0].split()[1]) % 9]
    for row in range(60, 68):
        person = (draw.choice(AGES), draw.choice(["f", "m"]), draw.choice(["8001", "8002"]), "flu", "low")
        kept.append(",".join(map(str, (f"person {row}", *person))))
    (folder / "later.csv").write_text("\n".join([lines[0], *kept]) + "\n")
    return kept


def test_a_later_release_keeps_k_together_with_the_one_before(searched, folder, later):
    limits = ("--algorithm", "kgen", "--k", 3, "--suppression", 0.25, "--seed", 1)
    first = searched(*limits, "--key", "name", "--private", "one.json", "--out", "one.csv", "--suppressed", "drop")
    assert first.code == 0, first.err
    ended = searched(
        *(*limits, "--previous", "one.json", "--private", "two.json", "--out", "two.csv", "--json"), file="later.csv"
    )
    assert ended.code == 0, ended.err
    before, gone = ended.document["previous"], ended.document["release"]["suppressed"]
    assert (before["releases"], before["added"], before["removed"]) == (1, 8, 7)
    assert "by the column 'name'" in before["matched"]
    # Suppressed rows are left out, so that the record says which row is whose.
    rows, order = rows_of("two.csv"), json.loads((folder / "two.json").read_text())["order"]
    assert len(rows) == len(order) == len(later) - gone
    people = [later[row].split(",")[0] for row in order]
    published = dict(zip(people, map(of, rows), strict=True))
    kept = json.loads((folder / "one.json").read_text())["order"]
    original = [row["name"] for row in rows_of("people.csv")]
    earlier = {original[row]: of(each) for row, each in zip(kept, rows_of("one.csv"), strict=True)}
    trails = Counter((earlier.get(name), published.get(name)) for name in {*earlier, *published})
    assert min(trails.values()) >= 3
    dictionary = json.loads((folder / "two.csv.dictionary.json").read_text())
    assert (dictionary["releases"], dictionary["k_over_releases"]) == (2, min(trails.values()))
    said = searched(*limits, "--previous", "one.json", file="later.csv").out
    assert "All limits are kept together with 1 earlier release (8 rows added, 7 rows removed" in " ".join(said.split())


def test_a_previous_release_that_does_not_fit_is_refused(searched, folder, later):
    limits = ("--algorithm", "kgen", "--k", 3, "--suppression", 0.25, "--seed", 1)
    searched(*limits, "--key", "name", "--private", "one.json", "--out", "one.csv")
    again = (*limits, "--previous", "one.json")
    other = searched(*again, columns="age,sex", file="later.csv")
    assert other.code == 2
    assert "the previous release is of other quasi-identifiers: age, sex, zip; now they are age, sex." in other.error
    for arguments, said in (
        (("--algorithm", "kgen", "--previous", "one.json"), "--previous needs --k"),
        ((*again, "--suppressed", "star", "--out", "r.csv"), "--suppressed star: together with an earlier release"),
        ((*limits, "--key", "name"), "--key has no effect without --previous, or --private for a first release."),
        ((*limits, "--previous", "none.json"), "none.json"),
        ((*again, "--html", "one.json", "--overwrite"), "this is a file that is read"),
        ((*limits, "--key", "nam", "--private", "x.json", "--out", "r.csv"), "did you mean 'name'?"),
    ):
        ended = searched(*arguments, file="later.csv")
        assert ended.code == 2, arguments
        assert said in ended.error
    assert not (folder / "r.csv").exists()


def test_a_release_that_breaks_k_together_with_others_is_a_bug_and_does_not_go_out(
    searched, folder, later, monkeypatch
):
    limits = ("--algorithm", "kgen", "--k", 3, "--suppression", 0.25, "--seed", 1)
    searched(*limits, "--key", "name", "--private", "one.json", "--out", "one.csv")
    monkeypatch.setattr("tabular.lattice.search_outcome.already_told", lambda history, k: 2)
    before = files(folder)
    ended = searched(*limits, "--previous", "one.json", "--out", "two.csv", file="later.csv")
    assert ended.code == 1
    assert "this is a bug" in ended.error
    assert files(folder) == before


def test_a_heuristics_front_is_held_against_the_exact_one(searched):
    front = ("--algorithm", "random", "--param", "evaluations=6", "--objectives", "k,glm", "--seed", 4)
    found = searched(*front, "--exact", "--json").document
    exact = searched("--algorithm", "exhaustive", "--objectives", "k,glm", "--json").document["solutions"]
    assert found["exact_front"] == [{name: each[name] for name in ("node", "k", "glm")} for each in exact]
    boxes = {(each["k"], int(-each["glm"] // 1)) for each in exact}
    hit = {(each["k"], int(-each["glm"] // 1)) for each in found["solutions"]} & boxes
    assert found["comparison"]["representation_ratio"] == pytest.approx(len(hit) / len(boxes))
    assert found["comparison"]["representation_ratio"] < 1
    assert found["evaluated"] == 6
    assert "The exact front has" in searched(*front, "--exact").out
    assert "exact_front" not in searched(*front, "--json").document
    assert "exact_front" in searched(*front, "--html", "a.html", "--json").document
    assert "exact_front" not in searched(*front, "--html", "b.html", "--no-exact", "--json").document
    assert "--exact compares fronts" in searched("--algorithm", "random", "--k", 2, "--exact").error


def sentence(ended):
    """What is said on standard error, in one line."""
    return " ".join(ended.error.split())


#: Arguments and the whole text, each of what is refused before the table is read.
AT_ONCE = {
    "a private file on standard output": (
        ("--k", 3, "--out", "r.csv", "--private", "-"),
        "--private -: what leads back to the original must not mix with the release on standard output; give "
        "it a file.",
    ),
    "a time that is none": (
        ("--k", 3, "--seconds", "nan"),
        "--seconds must be a number of seconds, at least 0, not nan.",
    ),
    "a time without end": (
        ("--k", 3, "--seconds", "inf"),
        "--seconds must be a number of seconds, at least 0, not inf.",
    ),
    "a time before now": (("--k", 3, "--seconds", -1), "--seconds must be a number of seconds, at least 0, not -1."),
    "one objective": (
        ("--objectives", "k"),
        "--objectives k: a front needs two or more; for the best node by one metric give --metric, one of glm, "
        "cm, precision, discernibility, normalized_average_class_size, non_uniform_entropy.",
    ),
    "a front without objectives": (
        ("--algorithm", "pareto", "--k", 3),
        "pareto finds a front; name its --objectives, as in k,glm. For the best node by one metric use datafly, "
        "exhaustive, incognito, kgen, ola, optimal, random or samarati.",
    ),
    "objectives of a search of one node": (
        ("--algorithm", "optimal", "--objectives", "k,glm"),
        "optimal finds the best node by one metric, not a front of --objectives. Use exhaustive, pareto, pbg-ea or "
        "random for that.",
    ),
    "a k of 0": (("--k", 0), "--k must be at least 1, not 0."),
    "an l of 0": (("--l", 0, "--sensitive", "illness"), "--l must be at least 1, not 0."),
    "a t above 1": (("--t", 1.5, "--sensitive", "illness"), "--t must be from 0 to 1, not 1.5."),
    "a suppression that is no number": (
        ("--k", 3, "--suppression", "nan"),
        "--suppression must be from 0 to 1, not nan.",
    ),
    "a parameter that is too small": (
        ("--algorithm", "random", "--k", 3, "--param", "evaluations=0"),
        "--evaluations must be at least 1, not 0.",
    ),
    "a generator that there is not": (
        ("--objectives", "k,glm", "--algorithm", "pbg-ea", "--generator", "papers"),
        "--generator must be one of local, paper, not 'papers'.",
    ),
    "suppressed rows without a release": (
        ("--k", 3, "--suppressed", "drop"),
        "--suppressed has no effect without --out.",
    ),
    "replacing nothing": (("--k", 3, "--overwrite"), "--overwrite has no effect without an output."),
    "identifiers without a release": (
        ("--k", 3, "--identifiers", "star"),
        "--identifiers has no effect without --out.",
    ),
    "a key without a release": (
        ("--k", 3, "--key", "name"),
        "--key has no effect without --previous, or --private for a first release.",
    ),
    "an algorithm that there is not": (
        ("--algorithm", "foo", "--k", 3),
        "No algorithm is called 'foo'; there is datafly, exhaustive, incognito, kgen, ola, optimal, pareto, pbg-ea, "
        "random, samarati.",
    ),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_options_that_cannot_be_are_refused_by_their_names_before_the_table_is_read(name, searched, folder):
    arguments, said = AT_ONCE[name]
    before = files(folder)
    ended = searched(*arguments, file="people.csv" if "--out" in arguments else "no-such-file.csv")
    assert ended.code == 2
    assert sentence(ended) == said
    assert files(folder) == before


def test_a_private_file_of_protect_is_a_file(graphpriv, folder):
    ended = graphpriv(
        *("table", "protect", "people.csv", "--columns", "sex", "--method", "pram", "--role", "name=identifier"),
        *("--out", "-", "--private", "-"),
    )
    assert (ended.code, ended.out) == (2, "")
    assert "--private -: what leads back to the original must not mix" in ended.error


def test_who_finds_nothing_in_the_time_is_told_of_the_time(searched):
    ended = searched("--k", 3, "--seconds", 0)
    assert ended.code == 3
    assert sentence(ended).startswith("No node was found that satisfies k=3 with at most 0 rows suppressed.")
    assert sentence(ended).endswith("The time limit ended the search, --seconds 0: give it more.")
    assert "time limit" not in searched("--k", 60, "--algorithm", "random", "--evaluations", 1, "--seed", 1).error


def test_a_key_that_tells_nobody_apart_is_refused_before_the_search(searched, folder, monkeypatch):
    monkeypatch.setattr(Evaluator, "evaluate", lambda self, nodes: pytest.fail("it was searched"))
    first = ("--algorithm", "exhaustive", "--k", 3, "--out", "r.csv", "--private", "p.json", "--key")
    ended = searched(*first, "illness")
    assert ended.code == 2
    assert sentence(ended).startswith("--key: Column 'illness': rows 1 and ")
    assert sentence(ended).endswith("have the same key; every row needs its own.")
    lines = (folder / "people.csv").read_text().splitlines()
    lines[2] = lines[2].removeprefix("person 1")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    ended = searched(*first, "name")
    assert sentence(ended) == "--key: Column 'name', row 2: the key is missing; every row needs its own."


@pytest.fixture
def commas(graphpriv, tmp_path):
    """Search a table with names that hold commas, quotes and blanks."""
    lines = ['"a,b",my col,"say ""a"""', *(f"{row % 2},{row % 3},{row % 2}" for row in range(12))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "h").mkdir()
    for name, values in (("a,b", 2), ("my col", 3), ('say "a"', 2)):
        (tmp_path / "h" / f"{name}.csv").write_text("".join(f"{value};*\n" for value in range(values)))

    def call(choose, out="r.csv"):
        return graphpriv(
            *("table", "search", "t.csv", "--quasi-identifiers", '"a,b",my col,"say ""a"""', "--hierarchies", "h"),
            *("--k", 2, "--algorithm", "exhaustive", "--out", out, "--choose", choose),
        )

    return call


def test_levels_are_chosen_and_shown_with_names_that_hold_commas_in_quotes(commas):
    written = '"a,b"=1,my col=0,"say ""a"""=1'
    ended = commas(written)
    assert ended.code == 0, ended.err
    assert f"Wrote r.csv: 12 rows at {written}." in ended.out
    assert {(row["a,b"], row['say "a"']) for row in rows_of("r.csv")} == {("*", "*")}
    assert {row["my col"] for row in rows_of("r.csv")} == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("choose", "said"),
    [
        ("my col=1,my col=0", "--choose 'my col=1,my col=0': the level of 'my col' appears twice."),
        (
            '"a,b=1',
            "--choose '\"a,b=1': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands in "
            "quotes.",
        ),
        (
            "my col=1,",
            "--choose 'my col=1,': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands "
            "in quotes.",
        ),
        ("²", "--choose must give a level for each of 3 columns, not '²'."),
        ("my col=²", "--choose must give whole numbers, not {'my col': '²'}."),
    ],
)
def test_levels_that_cannot_be_read_are_refused(commas, choose, said):
    ended = commas(choose)
    assert (ended.code, sentence(ended)) == (2, said)


def test_a_value_that_a_hierarchy_lacks_is_named_with_its_first_row_and_the_line_to_add(searched, folder):
    (folder / "h" / "people_sex.csv").write_text("f;*\n")
    row = next(row for row, each in enumerate(rows_of("people.csv"), start=1) if each["sex"] == "m")
    assert sentence(searched("--algorithm", "exhaustive", "--k", 3)) == (
        f"h/people_sex.csv: Hierarchy of sex: 1 value of the column is not in it. Data row {row} is the first that has "
        "it; add a line for it to h/people_sex.csv."
    )
    (folder / "h" / "people_sex.csv").write_text("f;*\nm;*\n")
    lines = (folder / "people.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:2], "", *lines[3].split(",")[3:]])
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    assert sentence(searched("--algorithm", "exhaustive", "--k", 3)) == (
        "h/people_sex.csv: Hierarchy of sex: it does not place missing values, which the column has; add a row with "
        "an empty first cell. Data row 3 is the first that has it."
    )


def test_a_quasi_identifier_of_distinct_values_has_a_role_already(graphpriv, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{row},{row % 2}\n" for row in range(12)))
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "a.csv").write_text("".join(f"{row};*\n" for row in range(12)))
    ended = graphpriv(
        *("table", "search", "t.csv", "--quasi-identifiers", "a", "--hierarchies", "h", "--k", 1, "--out", "r.csv"),
    )
    assert ended.code == 0, ended.err
    (field, _) = json.loads((tmp_path / "r.csv.dictionary.json").read_text())["fields"]
    assert (field["name"], field["role"]) == ("a", "quasi-identifier")


def test_a_sensitive_quasi_identifier_is_not_said_to_be_kept_in_suppressed_rows(searched, suppressing):
    ended = searched(*suppressing, "--sensitive", "age", "--out", "r.csv")
    assert ended.code == 0, ended.err
    assert any(of(row) == ("*", "*", "*") for row in rows_of("r.csv"))
    assert "Suppressed rows keep" not in ended.err


def test_rows_matched_by_position_are_said_to_be_and_a_deleted_one_is_found(searched, folder):
    limits = ("--algorithm", "kgen", "--k", 3, "--suppression", 0.25, "--seed", 1)
    # No row of the first release is left out, and its levels are as low as k allows.
    first = searched(*limits, "--out", "one.csv", "--suppressed", "star")
    assert first.code == 0, first.err
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "later.csv").write_text("\n".join([*lines, "person 60,18,f,8001,flu,low"]) + "\n")
    ended = searched(*limits, "--previous", "one.csv", "--out", "two.csv", file="later.csv")
    assert ended.code == 0, ended.err
    said = "rows matched by position: row i of the table is row i of one.csv, which no value contradicts."
    assert said in " ".join(ended.out.split())
    (folder / "fewer.csv").write_text("\n".join([*lines[:5], *lines[6:], "person 60,18,f,8001,flu,low"]) + "\n")
    ended = searched(*limits, "--previous", "one.csv", file="fewer.csv")
    assert ended.code == 2
    assert "rows cannot be matched by position" in ended.error and "Give --key" in ended.error
    third = searched(*limits, "--previous", "two.csv", file="later.csv")
    assert third.code == 2
    assert sentence(third) == (
        "two.csv: by its data dictionary this is release 2 of a chain, and the file does not say what the earlier ones "
        "said of each person. Give the private record that was written with it."
    )
