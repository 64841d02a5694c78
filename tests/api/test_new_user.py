"""The service as somebody meets it who starts it for the first time: import, protect, audit, fetch what came of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph

TOP = Path(__file__).parents[2]


class Served:
    """A service as a process of its own, and its first custodian."""

    def __init__(self, process):
        self.process = process
        self.url = re.search(r"http://[0-9.]+:[0-9]+", process.stderr.readline())[0]
        self.token = re.search(r"gp_\S+", process.stderr.readline())[0]

    def bytes_of(self, method, path, body=None, **headers):
        """The body of an answer."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        kind = {} if isinstance(body, bytes | None) else {"Content-Type": "application/json"}
        headers = {"Authorization": f"Bearer {self.token}", **kind, **headers}
        asked = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.read()

    def __call__(self, *given, **headers):
        return json.loads(self.bytes_of(*given, **headers))

    def workers(self):
        return psutil.Process(self.process.pid).children()


@contextmanager
def serving(folder):
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0", "--home", "home"]
    quick = {"GRAPHPRIV_JOBS_SILENCE": "2", "GRAPHPRIV_JOBS_BEAT": "0.2", "GRAPHPRIV_STORE": "file:served.db"}
    environment = {**os.environ, **quick, "PYTHONPATH": str(TOP)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        try:
            served = Served(process)
            yield served
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()


def until(holds):
    end = time.monotonic() + 60
    while not (found := holds()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


@pytest.mark.xdist_group("service")
def test_the_way_of_a_new_user_with_a_worker_that_is_killed(tmp_path):
    write_graph(synthetic_graph(120, rng=np.random.default_rng(1)), tmp_path / "g.json")
    data = (tmp_path / "g.json").read_bytes()
    with serving(tmp_path) as ask:
        id = ask("POST", "/v1/uploads", {"size": len(data)})["id"]
        for offset in range(0, len(data), 20_000):
            ask("PUT", f"/v1/uploads/{id}?offset={offset}", data[offset : offset + 20_000])
        imported = ask("PUT", "/v1/graphs/people", {"upload": id}, Prefer="wait=30")
        assert imported["users"] == 120
        assert ask("POST", "/v1/protect", {"name": "people", "k": 4, "into": "v1"}, Prefer="wait=30")["k"] == 4
        job = ask("POST", "/v1/audit", {"original": "people", "released": "v1", "html": "audit.html"})["id"]
        until(lambda: ask("GET", f"/v1/jobs/{job}")["state"] != "queued")
        (worker,) = ask.workers()
        assert worker.nice() >= 10
        worker.kill()
        until(lambda: ask("GET", f"/v1/jobs/{job}")["state"] not in ("queued", "running"))
        assert ask("GET", f"/v1/jobs/{job}/result")["k"] == 4
        assert ask("GET", f"/v1/jobs/{job}/files")["files"][0]["name"] == "audit.html"
        assert b"<html" in ask.bytes_of("GET", f"/v1/jobs/{job}/files/audit.html")
        (log,) = [each for each in ask("GET", "/v1/audit-log")["entries"] if each["action"] == "audit"]
        assert log["object"] == "people"
        left = ask.workers()
    # The workers have left with the service, and nobody else can look into its folder.
    until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in left))
    home = tmp_path / "home"
    assert {oct(each.stat().st_mode & 0o077) for each in (home, *home.glob("*"))} == {"0o0"}
