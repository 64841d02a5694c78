"""What a verb leaves as a job is what it leaves on the command line."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

from api.verbs import verbs
from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph
from tests.api.jobs import samples
from tests.api.jobs.conftest import left_by, without_jobs

#: What says how long something took.
CLOCKS = {"seconds", "moments", "compile_seconds"}

ROWS = "age,town,illness\n" + "".join(f"{20 + row % 9},{'ABC'[row % 3]},{'xy'[row % 2]}\n" for row in range(60))
AGES = "".join(f"{age};{age // 5 * 5};*\n" for age in range(20, 29))
COLUMNS = {"file": "t.csv", "columns": ["age", "town"]}

#: Options of each verb; what is not here needs a machine of its own.
OPTIONS = {
    "graph import": {"file": "g.json", "graph": "new"},
    "graph export": {"name": "g", "out": "out.json"},
    "graph list": {},
    "graph show": {"name": "r"},
    "graph delete": {"name": "old"},
    "graph forget": {"name": "g", "user": "u1"},
    "protect": {"name": "other", "k": 5, "into": "other-k5"},
    "audit": {"original": "g", "released": "r", "html": "audit.html", "fail_if": "k > 1"},
    "sweep": {"name": "g", "k": ["2", "4"], "runs": 1, "attacker": "ego", "html": "sweep.html"},
    "microdata": {"name": "r", "out": "micro.csv"},
    "table describe": {"file": "t.csv"},
    "table check": {"file": "t.csv", "quasi_identifiers": ["age"]},
    "table hierarchy": {"file": "t.csv", "column": "age", "by": "range", "param": ["widths=5,10"], "out": "age.csv"},
    "table protect": {**COLUMNS, "method": "pram", "out": "p.csv", "private": "p.json", "matrices_out": "matrices"},
    "table measure": {"original": "t.csv", "masked": "masked.csv", "columns": ["age", "town"]},
    "table compare": {**COLUMNS, "k": 3, "hierarchies": "levels", "sample": 2, "html": "map.html"},
    "table evolve": {
        **COLUMNS,
        "what": "records",
        "generations": 20,
        "out": "e.csv",
        "population_out": "every",
        "html": "e.html",
    },
    "table search": {"file": "t.csv", "quasi_identifiers": ["age"], "hierarchies": "levels", "k": 3, "out": "best.csv"},
    "topics": {"file": "texts.txt"},
    "places": {"file": "texts.txt"},
    "enrich": {"name": "other", "pages": 0},
    "store check": {},
    "store backup": {"file": "backup.db"},
}

ELSEWHERE = {"demo", "warm-up", "store restore", "table import", "crawl", "graph refresh"}


#: The seconds in a report.
CLOCK = re.compile(rb'data-key="/seconds"[^<]*')


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    (folder / "levels").mkdir(parents=True, exist_ok=True)
    (folder / "levels" / "age.csv").write_text(AGES)
    for name in ("t.csv", "masked.csv"):
        (folder / name).write_text(ROWS)
    (folder / "texts.txt").write_text("Two goals in the final\nShares rose on higher profits\n")
    for number, name in enumerate(("g", "other"), 1):
        write_graph(synthetic_graph(80, rng=np.random.default_rng(number)), folder / f"{name}.json")
    store = f"file:{tmp_path / 'graphs.db'}"
    for name, file in (("g", "g.json"), ("other", "other.json"), ("old", "g.json")):
        without_jobs("graph import", {"file": file, "graph": name}, 0, folder, store)
    without_jobs("protect", {"name": "g", "k": 4, "into": "r"}, 0, folder, store)
    return folder


def test_every_verb_has_options_here():
    # Accounts and tokens are no work for a job.
    here = {each for each in verbs if each.split()[0] not in ("account", "token")}
    assert set(OPTIONS) | ELSEWHERE == here - set(samples.SAMPLES)


def without_clocks(left):
    """The files that a verb left, but for how long it took, which a report shows."""
    return {name: CLOCK.sub(b"", data) for name, data in left.items() if name != "document"}


@pytest.mark.heavy
def test_a_verb_leaves_as_a_job_what_it_leaves_on_the_command_line(jobs, worker, tables, tmp_path):
    worker(spare=True)
    for verb, options in OPTIONS.items():
        if verb == "graph forget":
            options = {**options, "user": json.loads((tables / "g.json").read_text())["nodes"][0]["id"]}
        shutil.copy(tmp_path / "graphs.db", tmp_path / "copy.db")
        folder = tmp_path / verb
        folder.mkdir()
        for each in tables.iterdir():
            (folder / each.name).symlink_to(each)
        expected = without_jobs(verb, options, 7, folder, f"file:{tmp_path / 'copy.db'}")
        job = jobs.submit(verb, options, account="a", seed=7)
        ended = jobs.wait(job.id, 60)
        assert ended.state == "done", (verb, jobs.failure(job.id))
        left = left_by(jobs, job)
        assert timeless(left["document"]) == timeless(expected["document"]), verb
        assert set(left) == set(expected), verb
        if verb != "store backup":
            assert without_clocks(left) == without_clocks(expected), verb
        assert str(tmp_path) not in json.dumps(left["document"]), verb


def timeless(document):
    """A document without times, as JSON has it."""
    read = json.loads(json.dumps(document))
    return {name: value for name, value in read.items() if name not in CLOCKS}
