"""An evolution as a job: killed, it goes on from its last checkpoint and leaves what it leaves on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from tests.api.jobs.conftest import left_by, until, without_jobs

OPTIONS = {
    "file": "t.csv", "what": "records", "columns": ["age", "town"], "generations": 1500, "param": ["recount=400"],
    "shuffle": True, "out": "best.csv",
}  # fmt: skip


def timeless(left):
    document = {name: value for name, value in left["document"].items() if name != "seconds"}
    return {**left, "document": document}


@pytest.mark.heavy
def test_a_killed_evolution_goes_on_where_it_stood(jobs, worker, tmp_path):
    draw = np.random.default_rng(1)
    rows = "".join(f"{draw.integers(20, 26)},{'ABCD'[draw.integers(4)]}\n" for _ in range(80))
    for folder in (tmp_path / "tables", tmp_path / "plain"):
        folder.mkdir(exist_ok=True)
        (folder / "t.csv").write_text(f"age,town\n{rows}")
    expected = without_jobs("table evolve", OPTIONS, 7, tmp_path / "plain")
    first = worker()
    job = jobs.submit("table evolve", OPTIONS, account="a", seed=7)
    parts = tmp_path / "jobs" / job.id / "parts"
    until(lambda: parts.is_dir() and any(each.stat().st_size > 2000 for each in parts.iterdir()), 120)
    seen = until(lambda: jobs.get(job.id).best, 60)
    assert {"generation", "best", "mean", "worst", "population"} <= set(seen)
    first.kill()
    worker()
    ended = jobs.wait(job.id, 240)
    assert ended.state == "done", jobs.failure(job.id)
    assert timeless(left_by(jobs, job)) == timeless(expected)
