"""What `table search --out` writes into cells and beside them: what the hierarchies say, whoever is in the table."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tabular.release import LABELS, LABELS_OF_HIERARCHIES

NAMES = ("age", "town")
LAND = {"Aix": "FR", "Dole": "FR", "Lourdes": "FR", "Pau": "FR", "Bonn": "DE", "Jena": "DE"}
#: Of the oldest there is one, and nobody comes from Pau.
PEOPLE = [
    *(("ann", 60, "Aix"), ("bo", 97, "Dole"), ("cy", 61, "Aix"), ("di", 64, "Lourdes"), ("ed", 66, "Aix")),
    *(("fe", 21, "Bonn"), ("gu", 25, "Jena"), ("hu", 33, "Bonn"), ("io", 47, "Jena"), ("jo", 58, "Bonn")),
    *(("ka", 22, "Jena"), ("li", 36, "Bonn"), ("mo", 71, "Dole"), ("nu", 68, "Lourdes")),
]


def age_levels(age):
    return (str(age), "60+" if age >= 60 else f"{age // 20 * 20}-{age // 20 * 20 + 19}", "any age")


def town_levels(town):
    return (town, LAND[town], "*")


LEVELS = {
    "age": {str(age): age_levels(age) for age in range(20, 100)},
    "town": {town: town_levels(town) for town in LAND},
}


def write_people(path, people):
    lines = [",".join(map(str, (*person, "flu" if place % 3 else "cold"))) for place, person in enumerate(people)]
    Path(path).write_text("\n".join(["name,age,town,illness", *lines]) + "\n")


def rows_of(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def of(row):
    return tuple(row[name] for name in NAMES)


@pytest.fixture
def searched(graphpriv, tmp_path):
    """Run `table search` on the people with an exhaustive search."""
    (tmp_path / "h").mkdir()
    for name, levels in LEVELS.items():
        (tmp_path / "h" / f"{name}.csv").write_text("".join(";".join(each) + "\n" for each in levels.values()))
    write_people(tmp_path / "people.csv", PEOPLE)

    def call(*arguments, file="people.csv", algorithm="exhaustive"):
        return graphpriv(
            *("table", "search", file, "--quasi-identifiers", ",".join(NAMES), "--hierarchies", "h"),
            *("--role", "name=identifier", "--role", "age=quasi-identifier", "--algorithm", algorithm, *arguments),
        )

    return call


@pytest.mark.parametrize("node", [(age, town) for age in (1, 2) for town in range(3)])
def test_each_cell_is_the_label_of_the_hierarchy_file_or_a_star(searched, node):
    levels = dict(zip(NAMES, node, strict=True))
    choice = ",".join(f"{name}={level}" for name, level in levels.items())
    ended = searched(
        *("--k", 3, "--suppression", 0.7, "--sensitive", "illness", "--choose", choice, "--out", "r.csv", "--json")
    )
    assert ended.code == 0, ended.err
    original, rows = rows_of("people.csv"), rows_of("r.csv")
    written = [tuple(LEVELS[name][row[name]][level] for name, level in levels.items()) for row in original]
    counts = Counter(written)
    wanted = [each if counts[each] >= 3 else ("*", "*") for each in written]
    assert [of(row) for row in rows] == wanted
    release = ended.document["release"]
    assert release["suppressed"] == sum(counts[each] < 3 for each in written)
    kept = [(each, row["illness"]) for each, row in zip(written, original, strict=True) if counts[each] >= 3]
    values = defaultdict(set)
    for each, illness in kept:
        values[each].add(illness)
    assert release["k"] == min(Counter(each for each, _ in kept).values(), default=0)
    assert release["l"] == min(map(len, values.values()), default=0)


def test_what_goes_with_a_release_names_no_value_under_a_label(searched, tmp_path):
    ended = searched("--k", 4, "--out", "r.csv", "--choose", "1,1", "--suppression", 0.4, "--html", "r.html")
    assert ended.code == 0, ended.err
    texts = [(tmp_path / name).read_text() for name in ("r.csv", "r.csv.dictionary.json", "r.html")]
    assert not any(word in text for word in ("97", "Aix|", "Lourdes") for text in texts[:2])
    assert "97]" not in texts[2] and "Lourdes" not in texts[2]
    dictionary = json.loads(texts[1])
    assert dictionary["labels"] == LABELS_OF_HIERARCHIES
    assert "values_before" not in texts[1] and "entropy" not in texts[1]
    rows = rows_of("r.csv")
    out = sum(of(row) == ("*", "*") for row in rows)
    for each in dictionary["attributes"]:
        counts = Counter(row[each["name"]] for row in rows if of(row) != ("*", "*"))
        assert {label["label"]: label["rows"] for label in each["labels"]} == counts
        # From the whole hierarchy and the rows of the release alone.
        called = Counter(levels[1] for levels in LEVELS[each["name"]].values())
        lost = sum((called[label] - 1) * rows for label, rows in counts.items()) / (len(LEVELS[each["name"]]) - 1)
        assert each["general_loss"] == pytest.approx((lost + out) / len(rows))


def test_the_dictionary_is_the_same_whichever_values_occur_under_the_labels(searched, tmp_path):
    other = [(name, {60: 99, 97: 60}.get(age, age), {"Dole": "Pau"}.get(town, town)) for name, age, town in PEOPLE]
    write_people(tmp_path / "other.csv", other)
    chosen = ("--k", 3, "--suppression", 0.4, "--choose", "1,1", "--out")
    assert searched(*chosen, "a.csv").code == searched(*chosen, "b.csv", file="other.csv").code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv.dictionary.json").read_bytes() == (tmp_path / "b.csv.dictionary.json").read_bytes()


def test_labels_can_be_sets_that_a_measure_reads(searched, graphpriv, tmp_path):
    chosen = ("--k", 3, "--suppression", 0.4, "--choose", "1,1", "--out", "r.csv", "--labels", "sets")
    ended = searched(*chosen, "--private", "p.json", "--seed", 1)
    assert ended.code == 0, ended.err
    assert "The label of a set, such as {A|B}, lists the values under it" in ended.err
    assert ">=60" in {row["age"] for row in rows_of("r.csv")}
    assert json.loads((tmp_path / "r.csv.dictionary.json").read_text())["labels"] == LABELS
    # What later releases are held against has other labels.
    assert "history" not in json.loads((tmp_path / "p.json").read_text())
    measured = graphpriv("table", "measure", "people.csv", "r.csv", "--role", "name=identifier", "--columns", "age")
    assert measured.code == 0, measured.err


def test_sets_are_refused_for_releases_that_follow_each_other(searched, tmp_path):
    first = ("--k", 3, "--suppression", 0.4, "--out", "r.csv", "--labels", "sets")
    assert "--labels sets: such labels name" in searched(*first, "--key", "name", "--private", "p.json").error
    ended = searched(*first, "--previous", "one.json")
    assert ended.code == 2 and "--labels sets: such labels name" in ended.error
    assert not (tmp_path / "r.csv").exists()


def test_no_label_changes_from_release_to_release_though_people_leave(searched, tmp_path):
    remaining = list(PEOPLE)
    limits = ("--k", 2, "--suppression", 0.5, "--seed", 1)
    before, cells, trails = ("--key", "name"), {}, defaultdict(list)
    for number, leaving in enumerate(((), ("bo", "di", "nu"), ("jo", "fe")), start=1):
        remaining = [each for each in remaining if each[0] not in leaving]
        write_people(tmp_path / f"{number}.csv", remaining)
        ended = searched(
            *(*limits, *before, "--private", f"{number}.json", "--out", f"r{number}.csv", "--suppressed", "drop"),
            file=f"{number}.csv",
            algorithm="kgen",
        )
        assert ended.code == 0, ended.err
        rows, record = rows_of(f"r{number}.csv"), json.loads((tmp_path / f"{number}.json").read_text())
        # The record has what the table has: for each person the same words.
        publication = record["history"]["releases"][-1]
        said = dict(zip(record["history"]["persons"], publication["said"], strict=True))
        for place, row in zip(record["order"], rows, strict=True):
            person = remaining[place]
            assert tuple(publication["tuples"][said[person[0]]]) == of(row)
            for name, value, level in zip(NAMES, person[1:], publication["levels"], strict=True):
                assert row[name] == LEVELS[name][str(value)][level]
                assert cells.setdefault((name, value, level), row[name]) == row[name]
        published = {remaining[place][0]: of(row) for place, row in zip(record["order"], rows, strict=True)}
        for name, _, _ in PEOPLE:
            trails[name].append(published.get(name))
        before = ("--previous", f"{number}.json")
    assert record["history"]["releases"][0]["levels"] is not None and len(record["history"]["releases"]) == 3
    together = Counter(map(tuple, trails.values()))
    assert min(count for trail, count in together.items() if any(trail)) >= 2


def test_rows_go_beside_others_that_are_starred_wholly_in_a_later_release(searched, tmp_path):
    # At the top all rows are alike, and who has left alone would still be told from the others: two more must go.
    (tmp_path / "h" / "age.csv").write_text("".join(f"{age};*\n" for age in range(20, 100)))
    limits = ("--k", 3, "--suppression", 0.5, "--seed", 1, "--key", "name")
    assert searched(*limits, "--private", "1.json", "--out", "1.csv", "--choose", "1,2").code == 0
    write_people(tmp_path / "later.csv", PEOPLE[1:])
    ended = searched(
        *limits[:-2], "--previous", "1.json", "--out", "2.csv", "--choose", "1,2", "--json", file="later.csv"
    )
    assert ended.code == 0, ended.err
    gone = ended.document["release"]["suppressed"]
    assert gone == 2
    rows = rows_of("2.csv")
    assert len(rows) == ended.document["release"]["k"] == len(PEOPLE) - 1 - gone
    assert {of(row) for row in rows} == {("*", "*")}


def test_a_star_in_the_input_is_refused_with_column_and_row(searched, tmp_path):
    (tmp_path / "h" / "town.csv").write_text("".join(f"{town};{LAND[town]};*\n" for town in LAND) + "*;*;*\n")
    write_people(tmp_path / "starred.csv", [*PEOPLE, ("ox", 44, "*")])
    ended = searched("--k", 2, "--out", "r.csv", file="starred.csv")
    assert ended.code == 2
    assert f"Column 'town', row {len(PEOPLE) + 1}: the value is *, which means any value" in ended.error
    assert "search in the original" in ended.error
    assert not (tmp_path / "r.csv").exists()


def test_a_release_without_a_limit_is_refused_unless_a_node_is_chosen(searched, tmp_path):
    ended = searched("--out", "r.csv")
    assert ended.code == 2
    assert "give --k (or --l, --t), or pick a node with --choose" in ended.error
    assert not (tmp_path / "r.csv").exists()
    for choice, promised in (("0,0", False), ("2,1", True)):
        ended = searched("--out", "r.csv", "--choose", choice, "--overwrite")
        assert ended.code == 0, ended.err
        dictionary = json.loads((tmp_path / "r.csv.dictionary.json").read_text())
        k = min(Counter(map(of, rows_of("r.csv"))).values())
        assert (dictionary["k"], dictionary["promises_k"], k >= 2) == (k, promised, promised)
        assert any("promises no k" in each for each in dictionary["not_protected"]) is not promised
