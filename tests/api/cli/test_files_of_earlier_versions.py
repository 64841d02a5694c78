"""Files that version 0.1 wrote, opened by the command line of today."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from graphpriv import open_store

WRITTEN = Path(__file__).parents[2] / "data" / "earlier" / "0.1"
STORE = ("--store", "file:store.sqlite")
EXPORTS = ("released.json", "released.graphml", "released.gexf", "released.csv")
#: The options of every search of the people.
SEARCH = ("--quasi-identifiers", "age,sex,town", "--hierarchies", "levels", "--role", "name=identifier")
#: What version 0.1.0 said of follows-k4; the risk is that of an attacker `ego` who knows the second topic.
USERS, EDGES, K, LOSS, RISK = 40, 110, 4, 0.5499729437229437, 0.075


@pytest.fixture
def opened(graphpriv, tmp_path):
    """Run a command that has to end well, in a copy of the folder, and give its document."""
    shutil.copytree(WRITTEN, tmp_path, dirs_exist_ok=True)

    def call(*arguments):
        ended = graphpriv(*arguments, "--json")
        assert ended.code == 0, ended.err
        return ended.document

    return call


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_graphs_of_a_store_are_listed_and_shown(opened):
    listed = {each["name"]: each for each in opened("graph", "list", *STORE)["graphs"]}
    assert {name: (each["kind"], each["original"], each["k"]) for name, each in listed.items()} == {
        "follows": ("original", None, None),
        "follows-k4": ("release", "follows", K),
    }
    for name in listed:
        shown = opened("graph", "show", name, *STORE)
        assert (shown["users"], shown["edges"]) == (USERS, EDGES)


def test_a_store_is_sound_and_keeps_its_runs(opened):
    assert opened("store", "check", *STORE) == {"sound": True, "problems": []}
    with open_store("file:store.sqlite", create=False) as store:
        assert [(run.verb, run.version) for run in store.runs("follows")] == [("protect", "0.1.0"), ("audit", "0.1.0")]


def test_a_release_in_a_store_is_audited(opened):
    audited = opened("audit", "follows", "follows-k4", *STORE)
    assert (audited["users"], audited["k"]) == (USERS, K)
    assert audited["information_loss"]["mean"] == pytest.approx(LOSS)
    assert audited["disclosure_risk"]["ego"]["topic2"] == pytest.approx(RISK)


def test_a_store_takes_another_release_and_forgets_a_person(opened):
    beside = opened("protect", "follows", "--k", K, "--into", "again", "--previous", "follows-k4", *STORE)
    assert (beside["users"], beside["beside"], beside["joint_k"]) == (USERS, ["follows-k4"], K)
    opened("graph", "forget", "follows", "u00", *STORE)
    assert opened("graph", "show", "follows", *STORE)["users"] == USERS - 1
    assert opened("store", "check", *STORE)["sound"]


def test_a_store_gives_the_same_files_again(opened):
    opened("graph", "export", "follows-k4", "--out", "new.json", "--mapping", "new.csv", *STORE)
    assert rows_of("new.csv") == rows_of("mapping.csv")
    assert json.loads(Path("new.json").read_text()) == json.loads(Path("released.json").read_text())


def test_a_backup_is_restored(opened):
    new = ("--store", "file:restored.sqlite")
    assert sorted(opened("store", "restore", "backup.sqlite", *new)["graphs"]) == ["follows", "follows-k4"]
    assert opened("store", "check", *new)["sound"]
    assert opened("audit", "follows", "follows-k4", *new)["information_loss"]["mean"] == pytest.approx(LOSS)


@pytest.mark.parametrize("released", EXPORTS)
def test_an_exported_release_is_audited_with_its_mapping(opened, released):
    audited = opened("audit", "--files", "original.json", released, "--mapping", "mapping.csv")
    assert audited["information_loss"]["mean"] == pytest.approx(LOSS)
    assert audited["disclosure_risk"]["ego"]["topic2"] == pytest.approx(RISK)


@pytest.mark.parametrize("exported", [*EXPORTS, "original.json"])
def test_an_exported_graph_is_imported(opened, exported):
    imported = opened("graph", "import", exported, "--graph", "again")
    assert (imported["users"], imported["edges"], imported["directed"]) == (USERS, EDGES, True)
    opened("graph", "export", "again", "--out", "again.json")
    kept = "original.json" if exported == "original.json" else "released.json"
    assert json.loads(Path("again.json").read_text()) == json.loads(Path(kept).read_text())


@pytest.mark.parametrize("table", ["microdata.csv", "shuffled.csv", "first.csv", "second.csv", "ordered.csv"])
def test_a_released_table_has_the_k_of_its_dictionary(opened, table):
    dictionary = json.loads(Path(f"{table}.dictionary.json").read_text())
    columns = ",".join(dictionary["protected_columns"])
    checked = opened("table", "check", table, "--header", "--quasi-identifiers", columns)
    assert (checked["rows"], checked["k"]) == (dictionary["rows"], dictionary["k"])


@pytest.mark.parametrize(
    ("table", "previous", "releases"),
    [
        ("people-later.csv", "first.private.json", 1),
        ("people-later.csv", "second.private.json", 2),
        ("people.csv", "ordered.csv", 1),
    ],
)
def test_a_chain_of_releases_goes_on(opened, table, previous, releases):
    found = opened(
        *("table", "search", table, *SEARCH, "--k", 2, "--suppression", 0.2, "--previous", previous),
        *("--shuffle", "--private", "new.private.json", "--out", "new.csv"),
    )
    assert found["previous"]["releases"] == releases
    assert min(each["k"] for each in found["solutions"]) >= 2
    again = opened("table", "search", table, *SEARCH, "--k", 2, "--suppression", 0.2, "--previous", "new.private.json")
    assert again["previous"]["releases"] == releases + 1


def test_matrices_are_read_with_the_table_they_masked(opened):
    measure = ("table", "measure", "people.csv", "masked.csv", "--role", "name=identifier", "--columns", "sex,illness")
    assert opened(*measure)["ebil"] == pytest.approx(67.09966156887211)
    assert opened(*measure, "--matrices", "matrices")["ebil"] == pytest.approx(77.13235662119632)


def test_matrices_mask_a_table_again(opened):
    columns = ("--columns", "sex,illness", "--role", "name=identifier")
    written = opened(
        *("table", "protect", "people.csv", *columns, "--method", "pram", "--param", "matrix=matrices"),
        *("--out", "new.csv"),
    )
    assert written["rows"] == 60


def test_a_private_record_leads_back_to_the_order_of_the_original(opened):
    rows, order = rows_of("shuffled.csv"), json.loads(Path("shuffled.private.json").read_text())["order"]
    with Path("back.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row for _, row in sorted(zip(order, rows, strict=True), key=lambda each: each[0]))
    measured = opened(
        *("table", "measure", "people.csv", "back.csv", "--role", "name=identifier", "--columns", "age,sex,town")
    )
    dictionary = json.loads(Path("shuffled.csv.dictionary.json").read_text())
    assert measured["information_loss"] == pytest.approx(dictionary["information_loss"])
