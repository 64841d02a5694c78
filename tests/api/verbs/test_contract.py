"""Performing verbs: what was cut off is finished or undone first, and a mix of two releases is refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tabular.masking import Masking
from tabular.table import Table

ROWS = "age,town\n" + "".join(f"{20 + row % 9},{'ABC'[row % 3]}\n" for row in range(60))
PROTECT = ("table", "protect", "t.csv", "--columns", "age,town", "--method", "pram", "--out", "r.csv")


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path


def test_dictionary_and_private_record_have_the_id_of_the_release(graphpriv, table):
    document = graphpriv(*PROTECT, "--private", "p.json", "--json").document
    assert document["release_id"].startswith("sha256:")
    for name in ("r.csv.dictionary.json", "p.json"):
        assert json.loads((table / name).read_text())["release"] == document["release_id"]


def test_a_table_with_the_dictionary_of_another_release_is_refused(graphpriv, table):
    graphpriv(*PROTECT)
    first = (table / "r.csv").read_bytes()
    assert graphpriv("table", "measure", "t.csv", "r.csv", "--columns", "age,town").code == 0
    graphpriv(*PROTECT, "--overwrite")
    (table / "r.csv").write_bytes(first)
    ended = graphpriv("table", "measure", "t.csv", "r.csv", "--columns", "age,town")
    assert ended.code == 2
    assert ended.error == (
        "r.csv: this is not the release that r.csv.dictionary.json belongs to; take both from the same run."
    )


def test_a_graph_with_the_dictionary_of_another_release_is_refused(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)
    graphpriv("graph", "export", "g", "--out", "g.json")
    for name in ("r.json", "r.csv"):
        graphpriv("graph", "export", "r", "--out", name, "--mapping", f"{name}.map")
        audit = ("audit", "--files", "g.json", name, "--mapping", f"{name}.map")
        assert graphpriv(*audit).code == 0
        changed = tmp_path / ("r.users.csv" if name == "r.csv" else name)
        changed.write_bytes(changed.read_bytes() + b"\n")
        assert graphpriv(*audit).error.startswith(f"{name}: this is not the release that")


def test_a_previous_release_with_the_dictionary_of_another_is_refused(graphpriv, table):
    (table / "h").mkdir()
    for column in ("age", "town"):
        by = ("range", "--param", "widths=3") if column == "age" else ("star",)
        made = graphpriv("table", "hierarchy", "t.csv", "--column", column, "--by", *by, "--out", f"h/{column}.csv")
        assert made.code == 0, made.err
    search = ("table", "search", "t.csv", "--quasi-identifiers", "age,town", "--hierarchies", "h", "--k", 3)
    assert graphpriv(*search, "--out", "one.csv").code == 0
    again = (*search, "--previous", "one.csv")
    assert graphpriv(*again).code == 0
    (table / "one.csv").write_text((table / "one.csv").read_text() + "*,*\n")
    assert graphpriv(*again).error.startswith("one.csv: this is not the release that one.csv.dictionary.json")


#: Ends the process as a kill would, at the second of the renames that put the new files in their places.
KILLED = """
import os, sys
from api.cli import run
replace, seen = os.replace, []
def replaced(source, target):
    # Kernels that are kept on the disk are renamed, too.
    if str(target).endswith((".csv", ".json")):
        seen.append(target)
    if len(seen) == 2:
        os._exit(9)
    replace(source, target)
os.replace = replaced
sys.exit(run(sys.argv[1:]))
"""


def test_what_a_kill_left_is_put_right_by_the_next_command(graphpriv, table):
    assert graphpriv(*PROTECT, "--private", "p.json").code == 0
    names = ("r.csv", "r.csv.dictionary.json", "p.json")
    before = {name: (table / name).read_bytes() for name in names}
    again = [*map(str, PROTECT), "--private", "p.json", "--overwrite"]
    code = subprocess.run([sys.executable, "-c", KILLED, *again], cwd=table, capture_output=True).returncode
    assert code == 9
    assert {name: (table / name).read_bytes() for name in names} != before
    assert any(path.name.startswith(".graphpriv-") for path in table.iterdir())
    # Whatever command reads or writes there next begins by putting it right.
    assert graphpriv("table", "measure", "t.csv", "r.csv", "--columns", "age,town").code == 0
    assert {name: (table / name).read_bytes() for name in names} == before
    assert sorted(path.name for path in Path(table).iterdir()) == sorted(["t.csv", *names])


def test_a_plan_does_not_replace_what_the_command_reads_or_writes_or_the_store(graphpriv, table, small):
    graphpriv("graph", "import", small, "--graph", "g")
    stored, rows = (table / "graphpriv.db").read_bytes(), (table / "t.csv").read_bytes()
    assert "a file that is read" in graphpriv(*PROTECT, "--plan", "t.csv", "--overwrite").error
    graphpriv(*PROTECT)
    assert "a file that is read" in graphpriv(*PROTECT, "--plan", "r.csv", "--overwrite").error
    ended = graphpriv("protect", "g", "--k", 2, "--into", "r", "--plan", "graphpriv.db", "--overwrite")
    assert "this is the store" in ended.error
    assert ((table / "graphpriv.db").read_bytes(), (table / "t.csv").read_bytes()) == (stored, rows)
    assert graphpriv("graph", "list", "--plan", "p.toml", "--json").document == {"plan": "p.toml"}
    assert graphpriv("graph", "list", "--plan", "p.toml", "--overwrite").code == 0
    assert "GRAPHPRIV_NEO4J_PASSWORD" in graphpriv("graph", "list", "--store", "neo4j://u:pw@h", "--plan", "-").error
    graphpriv(*PROTECT, "--plan", "q.toml", "--overwrite")
    assert "a file that is read" in graphpriv("run", "q.toml", "--set", "out=q.toml", "--overwrite").error


def test_a_report_does_not_replace_the_users_beside_an_edge_list(graphpriv, small, tmp_path):
    graphpriv("graph", "import", small, "--graph", "g")
    graphpriv("graph", "export", "g", "--out", "g.csv")
    users = (tmp_path / "g.users.csv").read_bytes()
    ended = graphpriv("audit", "--files", "g.csv", "g.csv", "--html", "g.users.csv", "--overwrite")
    assert "a file that is read" in ended.error
    assert (tmp_path / "g.users.csv").read_bytes() == users


def test_a_hierarchy_does_not_replace_the_file_it_is_made_from(graphpriv, table):
    (table / "L.csv").write_text("".join(f"{age};*\n" for age in range(20, 40)))
    made = ("table", "hierarchy", "t.csv", "--column", "age", "--by", "csv", "--param", "file=L.csv", "--out")
    assert "a file that is read" in graphpriv(*made, "L.csv", "--overwrite").error
    assert len((table / "L.csv").read_text().splitlines()) == 20
    assert graphpriv(*made, "M.csv").code == 0


def test_the_tables_of_a_grid_can_be_written_again(graphpriv, table):
    grid = ("table", "protect", "t.csv", "--columns", "age,town", "--grid", "--out-dir", "G")
    assert graphpriv(*grid).code == 0
    assert "give --overwrite" in graphpriv(*grid).error
    assert graphpriv(*grid, "--overwrite").code == 0


def test_the_files_of_the_demo_are_bound_by_their_ids(graphpriv, tmp_path):
    graphpriv("demo", "--users", 60, "--k", 3, "--out", "d", "--seed", 1)
    audit = ("audit", "--files", "d/original.json", "d/released.json", "--mapping", "d/mapping.csv")
    assert graphpriv(*audit).code == 0
    for name in ("released.json", "microdata.csv"):
        data = (tmp_path / "d" / name).read_bytes()
        dictionary = json.loads((tmp_path / "d" / f"{name}.dictionary.json").read_text())
        assert dictionary["release"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    (tmp_path / "d" / "released.json").write_bytes((tmp_path / "d" / "released.json").read_bytes() + b"\n")
    assert graphpriv(*audit).error.startswith("d/released.json: this is not the release that")


def test_a_number_without_end_is_too_large_and_no_bug(graphpriv, small, table):
    graphpriv("graph", "import", small, "--graph", "g")
    huge = "9" * 400
    assert graphpriv("protect", "g", "--k", huge, "--into", "r").code == 3
    assert graphpriv("protect", "g", "--k", 2, "--into", "r", "--plan", "p.json").code == 0
    text = (table / "p.json").read_text()
    (table / "p.json").write_text(text.replace('"k": 2', f'"k": {huge}'))
    assert graphpriv("run", "p.json").code == 3
    (table / "p.json").write_text(text.replace('"r"', '"r\\u0000"'))
    assert graphpriv("run", "p.json").code == 2
    (table / "p.json").write_text(text.replace('"k": 2', '"k": 1'))
    assert graphpriv("run", "p.json").error == "p.json: --k must be at least 2, not 1."


def test_the_owner_of_a_masked_table_may_show_it_without_its_order():
    made = Masking(method="pram", columns=("age",), shuffle=True, measure=False)
    table = Table.from_columns({"age": [1, 2, 3, 1, 2, 3]})
    text = repr(made.run(table, rng=np.random.default_rng(1)))
    assert "order" not in text and "matri" not in text and "private" not in text
