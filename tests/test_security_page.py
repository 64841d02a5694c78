"""`docs/security.md` has every requirement of levels 1 and 2 once, and names tests that are there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from api.http import gate
from api.jobs.records import Settings as JobSettings
from api.service import accounts, answers, listeners
from api.service.settings import Settings
from api.service.signing import second_factors, sessions
from api.service.uploads import uploads
from graphpriv.formats.contract import ALWAYS_ALLOWED, MOST_GROWTH
from tabular.files import limits

TOP = Path(__file__).parents[1]
PAGE = (TOP / "docs" / "security.md").read_text()
STATES = ("yes", "part", "not yet", "yours", "n/a")

ROW = re.compile(rf"^\| (\d+\.\d+\.\d+) \| ([12]) \| (.+?) \| ({'|'.join(STATES)}) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = ROW.findall(PAGE)


def standard():
    """The level of each requirement by its number."""
    lines = (TOP / "tests" / "data" / "asvs" / "5.0.0.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


@cache
def names_of(path):
    """The names of the tests in a file, those of its classes too."""
    tree = ast.parse((TOP / path).read_text())
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_every_requirement_stands_there_once_with_its_level():
    assert len(standard()) == 253
    assert Counter(number for number, *_ in ROWS) == Counter(standard().keys())
    assert {number: level for number, level, *_ in ROWS} == standard()
    assert len(ROWS) == len(re.findall(r"^\| \d+\.\d+\.\d+ ", PAGE, re.MULTILINE))


def test_every_test_that_is_named_is_there():
    named = TEST.findall(PAGE)
    assert len(named) > 200 and len(named) == PAGE.count("::test_")
    missing = [f"{path}::{name}" for path, name in named if name not in names_of(path)]
    assert not missing


def test_a_row_says_what_shows_it():
    for number, _, _, state, by in ROWS:
        said = re.findall(r"docs/[\w/.-]+\.md", by)
        assert all((TOP / path).is_file() for path in said), number
        if state in ("yes", "part"):
            assert TEST.search(by) or said, number
        else:
            # A reason, in a sentence.
            assert by.endswith((".", "`")) and len(by.split()) > 2, number


def test_the_summary_counts_what_the_tables_say():
    found = Counter(state for *_, state, _ in ROWS)
    for state in STATES:
        assert f"| {state} | {found[state]} |" in PAGE
    chapters = re.search(r"## Attackers.*?(?=\n## )", PAGE, re.DOTALL)
    assert chapters is not None and len(chapters[0].splitlines()) <= 40


def _minutes(seconds):
    return f"{seconds / 60:g} minutes"


def test_the_limits_of_the_page_are_those_of_the_code():
    service, queue = Settings(), JobSettings(home=Path())
    said = {
        "requests a second per account": f"{service.rate_limit:g}, after a burst of {2 * service.rate_limit:g}",
        "wrong tokens per address": "20, then one every 5 seconds",
        "wrong codes in a row per account": f"{second_factors.FREE_TRIES}, then a wait of "
        f"{second_factors._FIRST_WAIT / 60:g} minute, doubled up to {second_factors._LONGEST_WAIT / 60:g}",
        "requests at once": f"{gate.AT_ONCE}, of one account {gate.OF_ONE}",
        "streams at once": f"{listeners.MOST}",
        "body of a request": f"{gate.LARGEST_BODY >> 20} MiB",
        "upload": f"{service.largest_upload:.0e} bytes".replace("e+", "^").replace("1^", "10^"),
        "upload that nobody continues": _minutes(uploads.ABANDONED),
        "columns per table": f"{service.most_columns:,}",
        "cells per table": f"{service.most_cells:,}",
        "characters per cell": f"{service.longest_field:,}",
        "text of a Parquet file, unpacked": f"{limits._TEXT} characters per cell that a table may have",
        "packed graph, unpacked": f"{MOST_GROWTH} times its size, or {ALWAYS_ALLOWED >> 20} MiB; in one request 8 MiB",
        "unfinished jobs per account": f"{queue.most}",
        "running jobs per account": f"{queue.per_account}",
        "life of a token": f"{accounts.DAYS} days unless set otherwise",
        "life of the first token of an account": f"{accounts.FIRST_DAYS} days",
        "what a form asks of an original": f"{answers.ASKED_IDLE / 60:g} minutes after it was last looked at, at most "
        f"{answers.ASKED_LONGEST / 60:g}, of one account {answers._FORMS}; in memory alone",
        "life of a session": f"{sessions.LONGEST.total_seconds() / 3600:g} hours",
        "session without a request": f"{sessions.IDLE.total_seconds() / 3600:g} hour",
        "answer kept for its Idempotency-Key": f"{answers.KEPT.total_seconds() / 3600:g} hours",
    }
    for name, value in said.items():
        assert f"| {name} | {value} |" in PAGE, name


def sources(*folders):
    return [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]


CODE = sources("api", "graphpriv", "tabular", "crawler")


@cache
def calls(path):
    """What a module calls, by its whole name, and how."""
    found = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return [(_name_of(node.func), node) for node in found]


def _name_of(function):
    if isinstance(function, ast.Attribute):
        return f"{_name_of(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def test_no_code_runs_a_text():
    runs = {"eval", "exec", "os.system", "os.popen", "pickle.load", "pickle.loads", "marshal.loads", "yaml.load"}
    started = []
    for path in CODE:
        for name, call in calls(path):
            assert name not in runs, path
            if name.startswith("subprocess."):
                started.append(path.relative_to(TOP).as_posix())
                assert "shell" not in [each.arg for each in call.keywords], path
                assert not (call.args and isinstance(call.args[0], ast.Constant | ast.JoinedStr)), path
    ours = ["api/jobs/process.py", "api/jobs/workers.py", "crawler/web/extraction.py", "tabular/compiling.py"]
    assert sorted(started) == ours


def test_no_pattern_is_made_of_what_somebody_sends():
    # What makes the docs reads nothing of anybody.
    for path in set(CODE) - {TOP / "api" / "reference.py"}:
        for name, call in calls(path):
            if re.fullmatch(r"re\.(compile|match|search|fullmatch|sub|findall|split|finditer)", name):
                parts = [node.value for node in ast.walk(call.args[0]) if isinstance(node, ast.FormattedValue)]
                for part in map(ast.unparse, parts):
                    # Constants of the module, or texts that are escaped.
                    assert part.startswith("re.escape(") or part.isupper() or part in _escaped(path), (path, part)


def _escaped(path):
    """The names that a module gives to texts which are escaped."""
    made = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Assign)]
    targets = [each for node in made if "re.escape(" in ast.unparse(node.value) for each in node.targets]
    return {name.id for each in targets for name in ast.walk(each) if isinstance(name, ast.Name)}


def test_a_parameter_comes_from_one_place():
    for path in sources("api/http", "api/pages"):
        assert "request.values" not in path.read_text(), path


def test_hashes_are_sha_2_or_3_and_secrets_are_drawn_by_the_system():
    used = Counter(name for path in CODE for name, _ in calls(path) if re.fullmatch(r"hashlib\.\w+", name))
    assert set(used) <= {"hashlib.sha256", "hashlib.shake_256", "hashlib.file_digest"} and used["hashlib.sha256"] > 5
    # The generator of the standard library can be foreseen; ours are handed in with their seeds.
    for path in CODE:
        assert not re.search(r"^(import random|from random import)", path.read_text(), re.MULTILINE), path


def test_our_scripts_write_text_and_keep_nothing():
    scripts = sorted((TOP / "api" / "pages" / "static").glob("*.js"))
    assert len(scripts) >= 3
    for path in scripts:
        risky = (
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage|sessionStorage"
            r"|indexedDB|document\.cookie|postMessage|\"message\"|__proto__|Object\.assign\(\{\}, JSON"
        )
        assert not re.search(risky, path.read_text()), path
