"""Progress on standard error: nothing for quick work, lines or a bar for long work."""

from __future__ import annotations

import io
import re
from itertools import groupby

import pytest
import rich.console

from api.cli import progress as module
from api.cli.progress import progress


class Clock:
    """Stands in for the timer: the test says when the time is up."""

    def __init__(self, seconds, function):
        self.ring, self.running = function, None
        Clock.last = self

    def start(self):
        self.running = True

    def cancel(self):
        self.running = False


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(module.threading, "Timer", Clock)
    monkeypatch.setattr(module.os, "isatty", lambda _: False)


def test_quick_work_shows_nothing(capsys):
    with progress() as report:
        report("Reading", 0, 0)
        report("Runs", 1, 2)
    assert not Clock.last.running
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_what_it_is_at_and_each_further_phase(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress() as report:
        report("Reading", 0, 0)
        report("Clustering", 0, 0)
        Clock.last.ring()
        assert capsys.readouterr().err == "Clustering …\n"
        report("Runs", 0, 2000)
        report("Runs", 1, 2000)
        now[0] += 1.5
        report("Runs", 1500, 2000)
        report("Reading users", 10_000, 0)
    assert capsys.readouterr() == (
        "",
        "Runs: 0 of 2,000\nRuns: 1,500 of 2,000, about 1 s left\nReading users: 10,000\n",
    )


def test_the_time_left_is_reckoned_from_the_pace_of_the_phase(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress() as report:
        Clock.last.ring()
        for moment, phase, done in ((0.0, "Reading", 0), (50.0, "Runs", 5), (110.0, "Runs", 10), (200.0, "Runs", 25)):
            now[0] = moment
            report(phase, done, 25 if phase == "Runs" else 0)
    # From the fifth run on each takes 12 seconds.
    shown = ["Reading …", "Runs: 5 of 25", "Runs: 10 of 25, about 3 min left", "Runs: 25 of 25"]
    assert capsys.readouterr().err.splitlines() == shown


def test_the_steps_of_quick_runs_are_not_shown_one_by_one(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress() as report:
        Clock.last.ring()
        for run in range(400):
            report("Runs", run, 400)
            report(f"Run {run + 1} of 400, k=2: Clustering", 0, 0)
            now[0] += 0.01
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Runs: 0 of 400"
    assert len(lines) == 4


def test_the_end_of_work_that_fails_is_the_end_of_progress(capsys):
    with pytest.raises(KeyError), progress() as report:
        report("Reading", 0, 0)
        raise KeyError
    Clock.last.ring()
    report("Reading", 1, 2)
    assert not Clock.last.running
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(module.os, "isatty", lambda _: True)
    console = rich.console.Console
    monkeypatch.setattr("rich.console.Console", lambda **_: console(file=screen, force_terminal=True, width=80))
    with progress() as report:
        report("Runs", 3, 12)
        assert screen.getvalue() == ""
        Clock.last.ring()
        first = screen.getvalue()
        report("Storing", 0, 0)
    assert "Runs" in first
    assert "3 of 12" in first
    (last,) = {
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in screen.getvalue().splitlines() if "Storing" in line
    }
    assert " of " not in last


@pytest.fixture
def told(monkeypatch):
    """Commands whose work is long from the beginning."""

    class Late(Clock):
        def start(self):
            self.ring()

    monkeypatch.setattr(module.threading, "Timer", Late)

    def phases(ended):
        assert ended.code == 0, ended.err
        return [
            line.rstrip(" …").split(":")[0]
            for line in ended.err.splitlines()
            if not line.startswith(("warning", "Compiling"))
        ]

    return phases


def once(phases):
    """Phases without those that only say again how far they are."""
    return [phase for phase, _ in groupby(phases)]


def test_the_phases_of_an_import_a_protection_an_audit_and_a_demo(told, graphpriv, small):
    (small.parent / "e.csv").write_text("source,target\na,b\nb,a\n")
    (small.parent / "e.users.csv").write_text("id\na\nb\n")
    ended = graphpriv("graph", "import", "e.csv", "--graph", "e", "--json")
    assert told(ended) == ["Reading", "Reading users", "Reading edges", "Checking", "Computing figures", "Storing"]
    assert ended.document["users"] == 2
    for suffix in ("json", "graphml", "gexf"):
        graphpriv("graph", "export", "e", "--out", f"e.{suffix}")
        ended = graphpriv("graph", "import", f"e.{suffix}", "--graph", suffix)
        assert told(ended) == ["Reading", "Checking", "Computing figures", "Storing"]
    graphpriv("graph", "import", small, "--graph", "g")
    protecting = ["Loading", "Clustering", "Bounding", "Releasing", "Verifying", "Computing figures", "Storing"]
    assert once(told(graphpriv("protect", "g", "--k", 2, "--into", "r", "--seed", 1)))[:7] == protecting
    ended = graphpriv("audit", "g", "r", "--scenario", "all", "--json")
    attacking = [
        f"Attacker {attacker}, {scenario}" for attacker in ("ego", "subgraph") for scenario in ("all", "structure")
    ]
    assert told(ended) == ["Loading", *attacking, "Measuring"]
    ended = graphpriv("demo", "--users", 20, "--seed", 1, "--json")
    collecting = ["Drawing 20 users", "Crawling", "Enriching", "Reading linked pages", "Enriching"]
    first, phases = [*collecting, *protecting[1:5]], once(told(ended))
    assert (phases[:9], phases[-3:]) == (first, ["Measuring", "Describing", "Writing"])
    assert phases[9].startswith("Attacker ego, ")


def test_a_sweep_counts_its_runs(told, graphpriv, small):
    graphpriv("graph", "import", small, "--graph", "g")
    ended = graphpriv("sweep", "g", "--k", "2", "--runs", 2)
    assert [phase for phase in told(ended) if not phase.startswith("Run ")] == ["Loading", "Runs"]
    # Two of each protection.
    assert "Runs: 0 of 4" in ended.err
