"""Performing verbs: what was cut off is finished or undone first, and a mix of two releases is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
