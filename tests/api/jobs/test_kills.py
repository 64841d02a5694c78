"""Workers killed at random moments of a mixed load: what comes out is the same as without jobs and kills.

What should come out is what the same verbs give, performed in this process with the same seeds.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.graph import fingerprint
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tests.api.jobs.conftest import children, left_by, until, without_jobs

#: What a search says of time, and nothing else may differ.
CLOCKS = ("seconds", "moments")

SEARCH = {
    "file": "t.csv",
    "quasi_identifiers": ["age", "town"],
    "hierarchies": "levels",
    "k": 3,
    "shuffle": True,
    "out": "best.csv",
}


@dataclass
class Load:
    """Jobs of several verbs on things of their own, so that their order makes no difference."""

    home: Path
    rounds: int
    #: The verb, its options and its seed.
    jobs: list[tuple[str, dict[str, Any], int]] = field(default_factory=list)

    @property
    def store(self) -> str:
        return f"file:{self.home / 'graphs.db'}"

    def prepare(self) -> None:
        """Make tables and graphs, and list the jobs."""
        tables = self.home / "tables"
        (tables / "levels").mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(1)
        write_graph(synthetic_graph(150, rng=rng), tables / "g.json")
        rows = "".join(f"{rng.integers(20, 40)},{'ABCD'[rng.integers(4)]}\n" for _ in range(120))
        (tables / "t.csv").write_text(f"age,town\n{rows}")
        ages = "".join(f"{age};{age // 5 * 5};{age // 10 * 10};*\n" for age in range(20, 40))
        (tables / "levels" / "age.csv").write_text(ages)
        (tables / "levels" / "town.csv").write_text("A;AB;*\nB;AB;*\nC;CD;*\nD;CD;*\n")
        without_jobs("graph import", {"file": "g.json", "graph": "audited"}, 0, tables, self.store)
        without_jobs("protect", {"name": "audited", "k": 3, "into": "audited-k3"}, 0, tables, self.store)
        for number in range(self.rounds):
            # Each has data of its own: what is released under one name is not released again under another.
            own = f"g-{number}.json"
            write_graph(synthetic_graph(150, rng=rng), tables / own)
            for name, file in ((f"original-{number}", own), (f"old-{number}", "g.json")):
                without_jobs("graph import", {"file": file, "graph": name}, 0, tables, self.store)
            self.jobs += [
                ("graph import", {"file": "g.json", "graph": f"new-{number}"}, 1),
                ("protect", {"name": f"original-{number}", "k": 5, "into": f"release-{number}"}, 100 + number),
                ("table search", SEARCH, 200 + number),
                ("graph delete", {"name": f"old-{number}"}, 1),
                ("sweep", {"name": "audited", "k": ["2", "4"], "runs": 2}, 400 + number),
                ("audit", {"original": "audited", "released": "audited-k3", "html": "audit.html"}, 1),
                ("sample draw", {"numbers": 50, "pause": 0.02}, 300 + number),
            ]

    def expected(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What each job should leave, and what the store should hold."""
        left = []
        for number, (verb, options, seed) in enumerate(self.jobs):
            folder = self.home / f"expected-{number}"
            folder.mkdir()
            for name in ("g.json", "t.csv", "levels"):
                (folder / name).symlink_to(self.home / "tables" / name)
            left.append(timeless(without_jobs(verb, options, seed, folder, self.store)))
        return left, self.held()

    def held(self) -> dict[str, Any]:
        """What the store holds."""
        with open_store(self.store, create=False) as store:
            assert store.check() == []
            infos = store.graphs()
            graphs = {each.name: fingerprint(store.load_graph(each.name)) for each in infos}
            return graphs | {
                f"{each.name}'s mapping": store.mapping(each.original, each.name).tolist()
                for each in infos
                if each.original is not None
            }


def timeless(left: dict[str, Any]) -> dict[str, Any]:
    """What a job left but for times."""
    document = {name: value for name, value in left["document"].items() if name not in CLOCKS}
    files = {name: content for name, content in left.items() if name != "document"}
    return {"document": json.loads(json.dumps(document)), **files}


@pytest.fixture
def killed(jobs, worker, tmp_path):
    """Run a mixed load under so many kills, and compare what it leaves with what it should."""

    def run(kills: int, rounds: int, seed: int) -> None:
        chance = random.Random(seed)
        plain = Load(tmp_path / "plain", rounds)
        plain.prepare()
        load = Load(tmp_path, rounds)
        load.prepare()
        left, held = plain.expected()
        sent = [
            jobs.submit(verb, options, account=str(number % 4), seed=seed)
            for number, (verb, options, seed) in enumerate(load.jobs)
        ]
        workers = [worker(), worker()]
        for _ in range(kills):
            time.sleep(chance.uniform(0.1, 1.0))
            chosen = chance.randrange(2)
            workers[chosen].kill()
            workers[chosen] = worker()
        ended = [jobs.wait(each.id, 120) for each in sent]
        assert [(each.verb, each.state) for each in ended] == [(each.verb, "done") for each in sent]
        for job, expected in zip(sent, left, strict=True):
            assert timeless(left_by(jobs, job)) == expected, job.verb
        assert all(jobs.get(each.id).best["loss"] > 0 for each in sent if each.verb == "table search")
        assert load.held() == held
        # Nothing is half-written, and nothing waits for anybody.
        for job in sent:
            until(lambda job=job: [each.name for each in (tmp_path / "jobs" / job.id).iterdir()] == ["kept"])
        assert not jobs.list(state="running") + jobs.list(state="queued")

    return run


def test_five_kills_of_workers_change_nothing(killed):
    killed(kills=5, rounds=1, seed=random.SystemRandom().randrange(10**6))


@pytest.mark.heavy
@pytest.mark.parametrize("verb", ["audit", "sweep"])
def test_two_workers_share_a_long_job_one_is_killed_and_the_bytes_are_those_of_one(jobs, worker, tmp_path, verb):
    tables, store = tmp_path / "tables", f"file:{tmp_path / 'graphs.db'}"
    write_graph(synthetic_graph(30_000, rng=np.random.default_rng(1)), tables / "g.json")
    without_jobs("graph import", {"file": "g.json", "graph": "g"}, 0, tables, store)
    without_jobs("protect", {"name": "g", "k": 5, "into": "r"}, 0, tables, store)
    options = {
        "audit": {"original": "g", "released": "r", "steps": 3 * 10**9, "at_risk": 100},
        "sweep": {"name": "g", "k": ["3", "5"], "runs": 3, "steps": 10**9},
    }[verb]
    expected = without_jobs(verb, options, 7, tmp_path / "alone", store)
    both = [worker(help_after=0.0, silence=5.0) for _ in range(2)]
    job = jobs.submit(verb, options, account="a", seed=7)
    parts = tmp_path / "jobs" / job.id / "parts"
    # Each works at it, and something is done.
    until(lambda: all(map(children, both)) and len([*parts.glob("?" * 64)]) > 1, 120)
    both[0].kill()
    worker(help_after=0.0, silence=5.0)
    assert jobs.wait(job.id, 600).state == "done"
    assert json.loads(json.dumps(left_by(jobs, job))) == json.loads(json.dumps(expected))
    until(lambda: [each.name for each in (tmp_path / "jobs" / job.id).iterdir()] == ["kept"])


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_thirty_kills_of_workers_change_nothing(killed, seed):
    killed(kills=30, rounds=4, seed=seed)


#: Sixteen columns of eight values that hang together, with four levels each.
WIDE = 16


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_search_for_an_optimum_goes_on_where_it_was_killed(jobs, worker, tmp_path, seed):
    rng, chance = np.random.default_rng(1), random.Random(seed)
    common, names = rng.integers(0, 8, 3000), [f"q{place}" for place in range(WIDE)]
    drawn = [rng.integers(0, 8, 3000) for _ in names]
    columns = [np.where(rng.random(3000) < 0.8, (common + place) % 8, each) for place, each in enumerate(drawn)]
    rows = "".join(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))
    for folder in (tmp_path / "tables", tmp_path / "plain"):
        (folder / "levels").mkdir(parents=True, exist_ok=True)
        (folder / "t.csv").write_text(f"{','.join(names)}\n{rows}")
        for name in names:
            levels = "".join(f"{value};a{value // 2};b{value // 4};*\n" for value in range(8))
            (folder / "levels" / f"{name}.csv").write_text(levels)
    options = {
        **SEARCH, "quasi_identifiers": names, "k": 5, "suppression": 0.1, "metric": "precision", "algorithm": "optimal",
    }  # fmt: skip
    expected = without_jobs("table search", options, 7, tmp_path / "plain")
    assert expected["document"]["seconds"] > 5
    folder, stood = tmp_path / "jobs", []
    first, kills = worker(), 0
    job = jobs.submit("table search", options, account="a", seed=7)

    def kept():
        return [(each.name, each.stat().st_mtime_ns) for each in (folder / job.id / "parts").glob("?" * 64)]

    while kills < 4:
        # After something new was kept, at any moment.
        until(lambda stood=stood: jobs.get(job.id).has_ended or kept() not in ([], stood), 120)
        if jobs.get(job.id).has_ended:
            break
        stood = kept()
        time.sleep(chance.uniform(0, 1.5))
        first.kill()
        kills += 1
        first = worker()
    assert jobs.wait(job.id, 300).state == "done"
    assert kills >= 2
    assert timeless(left_by(jobs, job)) == timeless(expected)
    # What was found in the two seconds before a kill is found again.
    best = [each.data["loss"] for each in jobs.events({job.id: 0}, limit=10**6) if each.kind == "best"]
    assert best[-1] == expected["document"]["solutions"][0]["precision"]
