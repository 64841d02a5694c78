"""An evolution as a job: killed, it goes on from its last checkpoint and leaves what it leaves on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from api.jobs.records import NoResult
from tests.api.jobs.conftest import left_by, until, without_jobs

#: So long that it can be killed and cancelled on a quick machine, too.
OPTIONS = {
    "file": "t.csv", "what": "records", "columns": ["age", "town"], "generations": 6000, "param": ["recount=400"],
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
    kept = lambda: parts.glob("?" * 64)  # noqa: E731 (locks and files that are being written come and go)
    until(lambda: parts.is_dir() and any(each.stat().st_size > 2000 for each in kept()), 120)
    seen = until(lambda: jobs.get(job.id).best, 60)
    assert {"generation", "best", "mean", "worst", "population"} <= set(seen)
    first.kill()
    worker()
    ended = jobs.wait(job.id, 240)
    assert ended.state == "done", jobs.failure(job.id)
    assert timeless(left_by(jobs, job)) == timeless(expected)


@pytest.mark.heavy
def test_a_cancelled_evolution_is_taken_up_again_and_ends_as_if_nobody_had_stopped_it(jobs, worker, tmp_path):
    draw = np.random.default_rng(1)
    rows = "".join(f"{draw.integers(20, 26)},{'ABCD'[draw.integers(4)]}\n" for _ in range(80))
    for folder in (tmp_path / "tables", tmp_path / "plain"):
        folder.mkdir(exist_ok=True)
        (folder / "t.csv").write_text(f"age,town\n{rows}")
    expected = without_jobs("table evolve", OPTIONS, 7, tmp_path / "plain")
    worker()
    job = jobs.submit("table evolve", OPTIONS, account="a", seed=7)
    until(lambda: (jobs.get(job.id).best or {}).get("generation"), 120)
    assert not jobs.can_go_on(job.id)
    jobs.cancel(job.id)
    assert jobs.wait(job.id, 60).state == "cancelled" and jobs.can_go_on(job.id)
    folder = jobs.folder(job.id)
    assert not (folder / "parts").exists() and (folder / "left").stat().st_mode & 0o077 == 0
    stood = jobs.get(job.id).best["generation"]
    new = jobs.go_on(job.id, OPTIONS, account="a")
    # Nobody takes it up twice, and the seed is gone with it.
    assert not (folder / "left").exists() and not jobs.can_go_on(job.id)
    assert jobs.private.get(jobs.get(job.id).private).seed is None
    with pytest.raises(NoResult, match="cannot be taken up again"):
        jobs.go_on(job.id, OPTIONS, account="a")
    first = until(lambda: jobs.get(new.id).best, 60)
    assert first["generation"] >= stood > 0
    assert jobs.wait(new.id, 240).state == "done", jobs.failure(new.id)
    assert timeless(left_by(jobs, new)) == timeless(expected)
    assert not (jobs.folder(new.id) / "parts").exists()
