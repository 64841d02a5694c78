"""What reaches a terminal: nothing that came from a file acts on it, at any door."""

from __future__ import annotations

import ast
import csv
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.progress import _Lines
from api.cli.terminal import visible, visible_json
from api.cli.words import write_line
from api.http.access_log import Log

ROOT = Path(__file__).parents[3]

#: Clears the screen; colours all that follows in one character (C1); turns text around; rings; takes one back.
ACTS = "\x1b[2J\x9b31m\u202e\u2066\x07\x08"


def acting(text: str) -> list[str]:
    """The characters of a text that act on a terminal."""
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [
        each
        for each in text.replace("\n", "")
        if unicodedata.category(each) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(each) in turning
        or each in "\u200e\u200f\u061c"
    ]


@given(st.text(st.characters()))
def test_no_character_of_a_text_acts_and_json_keeps_them_all(text):
    assert acting(visible(text)) == [] and "\n" not in visible(text)
    for indent in (None, 2):
        assert acting(visible_json({text: [text]}, indent=indent)) == []
        assert json.loads(visible_json({text: [text]}, indent=indent)) == {text: [text]}


def test_every_control_and_every_bidirectional_character_is_seen():
    every = "".join(map(chr, range(0x110000)))
    assert acting(visible(every)) == []
    # And no more than that: an accent, a right-to-left letter, an emoji with its joiner stay as they are.
    plain = "é שלום مرحبا 한국어 👩\u200d💻 a\u0301"
    assert visible(plain) == plain


def test_all_that_the_command_line_says_goes_through_one_place():
    for path in (ROOT / "api" / "cli").rglob("*.py"):
        if path.name != "terminal.py":
            called = [
                ast.unparse(each.func) for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)
            ]
            # The help of click, which holds nothing of a file, comes from click.
            shown = [each for each in called if each in ("click.echo", "print", "click.secho", "traceback.print_exc")]
            assert shown == (["click.echo"] if path.name == "commands.py" else []), path


@pytest.fixture
def hostile_table(tmp_path):
    """A table whose columns and values act on a terminal."""
    header = [f"{name}{ACTS}" for name in ("age", "town", "illness")]
    rows = [[str(20 + row % 3), f"T{row % 2}{ACTS}", f"I{row % 3}{ACTS}"] for row in range(12)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return header


def test_names_of_columns_and_values_act_on_no_terminal(graphpriv, hostile_table, tmp_path):
    age, town, illness = hostile_table
    quasi = f"{age},{town}"
    asked = [
        ("table", "describe", "t.csv"),
        ("table", "check", "t.csv", "--quasi-identifiers", quasi, "--sensitive", illness),
        ("table", "check", "t.csv", "--quasi-identifiers", "none"),
        ("table", "check", "t.csv", "--quasi-identifiers", f"{ACTS}none"),
        ("table", "hierarchy", "t.csv", "--column", town, "--by", "star", "--out", "h.csv"),
        ("table", "protect", "t.csv", "--method", "mondrian", "--columns", quasi, "--param", "k=3", "--out", "m.csv"),
        ("table", "protect", "t.csv", "--method", "mondrian", "--columns", quasi, "--param", f"k={ACTS}"),
        ("table", "measure", "t.csv", "m.csv", "--columns", quasi),
        ("table", "measure", "t.csv", f"{ACTS}.csv", "--columns", quasi),
    ]
    ended = [graphpriv(*each, "--seed", 1) if each[1] == "protect" else graphpriv(*each) for each in asked]
    assert {each.code for each in ended} == {0, 2}
    said = [each.out + each.err for each in ended]
    assert [acting(each) for each in said] == [[] for _ in said]
    assert "\\x1b[2J\\x9b31m\\u202e" in said[0] and "\\x1b[2J" in said[3]
    # A file keeps what it is given, and JSON gives it back.
    assert town in (tmp_path / "m.csv").read_text()
    told = graphpriv("table", "describe", "t.csv", "--json")
    assert acting(told.out) == []
    assert [each["name"] for each in told.document["columns"]] == hostile_table


def test_names_of_users_places_and_topics_act_on_no_terminal(graphpriv, tmp_path):
    place = [[f"Town{ACTS}", "locality"], [f"Land{ACTS}", "country"], ["Europe", "continent"], ["world", "world"]]
    graph = {
        "directed": True,
        "nodes": [{"id": f"u{n}{ACTS}", "location": "t", "topics": [f"Topic{n % 2}{ACTS}"]} for n in range(8)],
        "edges": [{"source": f"u{n}{ACTS}", "target": f"u{(n + 1) % 8}{ACTS}"} for n in range(8)],
        "locations": {"t": place},
    }
    (tmp_path / "g.json").write_text(json.dumps(graph), encoding="utf-8")
    asked = [
        ("graph", "import", "g.json", "--graph", "g"),
        ("graph", "show", "g"),
        ("graph", "list"),
        ("graph", "show", f"{ACTS}"),
        ("graph", "forget", "g", f"nobody{ACTS}"),
        ("protect", "g", "--k", "2", "--into", "r", "--seed", "1"),
        ("audit", "g", "r", "--attacker", "ego"),
        ("audit", "g", "r", "--attacker", "ego", "--fail-if", f"{ACTS} > 1"),
        ("graph", "export", "r", "--out", f"{ACTS}.json"),
        ("graph", "export", "r", "--out", f"no{ACTS}/x.json"),
        ("microdata", "r", "--out", f"m{ACTS}.csv", "--seed", "1"),
        ("store", "check"),
        ("store", "backup", f"no{ACTS}/b.db"),
        ("graph", "forget", "g", f"u1{ACTS}"),
        ("run", f"{ACTS}.toml"),
        ("no", ACTS),
    ]
    ended = [graphpriv(*each) for each in asked]
    said = [each.out + each.err for each in ended]
    assert [acting(each) for each in said] == [[] for _ in said]
    assert {each.code for each in ended} == {0, 2}
    assert "\\x1b[2J" in said[6]
    told = graphpriv("audit", "g", "r", "--attacker", "ego", "--json")
    assert acting(told.out) == []


def test_progress_lines_of_answers_and_logs_act_on_no_terminal(capsys, monkeypatch, tmp_path):
    lines = _Lines()
    lines.told(f"Reading {ACTS}", 1, 2)
    lines.begin()
    write_line({"text": ACTS})
    said = capsys.readouterr()
    assert acting(said.out + said.err) == []
    assert json.loads(said.out) == {"text": ACTS}
    Log(str(tmp_path / "log")).write(route=ACTS)
    logged = (tmp_path / "log").read_text(encoding="utf-8")
    assert acting(logged) == [] and json.loads(logged)["route"] == ACTS
