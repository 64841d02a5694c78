"""One audit as a job of one worker and of two that share it, each on a processor of its own; the bytes are compared."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.jobs.workers import command_of
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph

DAY = 86_400.0


def main() -> None:
    """Make the graph and its release, then audit them by one worker and by two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--steps", type=int, default=24_000_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), store=f"file:{folder}/graphs.db", help_after=1.0)
        prepare(settings, arguments.users)
        for workers in (1, 2):
            row(settings, workers, {"original": "g", "released": "r", "steps": arguments.steps})


def prepare(settings: Settings, users: int) -> None:
    """Put a made graph and its release into the store."""
    file = settings.home / "g.json"
    write_graph(synthetic_graph(users, rng=np.random.default_rng(1)), file)
    for verb, options in (
        ("graph import", {"file": str(file), "graph": "g"}),
        ("protect", {"name": "g", "k": 5, "into": "r"}),
    ):
        perform(made(verbs[verb].method, options), Work(store=settings.store, seed=1))


def row(settings: Settings, count: int, options: dict[str, Any]) -> None:
    """Perform one audit by so many workers, and print what it took."""
    with closing(Jobs.opened(settings)) as jobs:
        # They end with this process: the end of their input tells them.
        command = [*command_of(settings), "--attached"]
        environment = os.environ | {"GRAPHPRIV_JOBS_STORE": settings.store}
        workers = [
            subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                preexec_fn=partial(os.sched_setaffinity, 0, {number}),
            )
            for number in range(count)
        ]
        # Until all of them are there.
        warm = jobs.submit("graph list", {}, account="a")
        jobs.wait(warm.id, DAY)
        began = time.perf_counter()
        job = jobs.submit("audit", options, account="a", seed=1)
        ended = jobs.wait(job.id, DAY)
        seconds = time.perf_counter() - began
        document = json.dumps(jobs.result(job.id).document, sort_keys=True)
        digest = hashlib.sha256(document.encode()).hexdigest()[:16]
        print(f"{count} worker(s): {ended.state} after {seconds:.1f} s, sha256 of the document {digest}", flush=True)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


if __name__ == "__main__":
    main()
