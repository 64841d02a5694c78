"""The command of the image: gunicorn, with workers as in containers of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from gunicorn.arbiter import Arbiter

from api.gunicorn_settings import ServingProcess
from graphpriv import connect
from tests.api.conftest import SMALL
from tests.test_docker import DOCKERFILE, TOP, compose, environment_of_the_image, instructions

BIN = Path(sys.executable).parent


def environment(folder, **more):
    """What the image sets, with *folder* for its volume."""
    told = {name: value.replace("/data", str(folder)) for name, value in environment_of_the_image().items()}
    told.pop("GRAPHPRIV_CACHE_DIR")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHPRIV_")}
    return {**inherited, **told, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": str(TOP), **more}


@contextmanager
def started(command, folder, **more):
    """A process, and all of its that is left is ended."""
    with subprocess.Popen(
        command, cwd=folder, env=environment(folder, **more), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def found(pattern, lines):
    for line in lines:
        match = re.search(pattern, line)
        if match:
            return match[1]
    raise AssertionError(f"nothing said {pattern}")


def said(address, text):
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(text)
        return connection.recv(100)


@pytest.mark.xdist_group("service")
def test_the_command_of_the_image_serves_and_workers_of_other_containers_do_the_jobs(tmp_path):
    (image,) = [json.loads(rest) for name, rest in instructions(DOCKERFILE) if name == "CMD"]
    work = compose()["services"]["worker"]["command"]
    web = {"GRAPHPRIV_WORKERS": "0", "GUNICORN_CMD_ARGS": "--bind 127.0.0.1:0"}
    with (
        started(image, tmp_path, **web) as process,
        started(work, tmp_path, PATH=f"{BIN}:/usr/bin", GRAPHPRIV_JOBS_BEAT="0.2") as worker,
    ):
        url = found(r"Listening at: (http://\S+)", process.stderr)
        token = found(r"(gp_\S+)", process.stderr)
        for path in ("/healthz", "/readyz", "/"):
            with urllib.request.urlopen(url + path, timeout=30) as answer:
                assert answer.status == 200
        service = connect(url, token)
        assert list(service.rows("graphs")) == []
        (tmp_path / "small.json").write_text(json.dumps(SMALL))
        assert service.put("graphs/people", tmp_path / "small.json")["users"] == 4
        job = service.start("protect", name="people", k=2, into="v1")
        asked = urllib.request.Request(f"{url}/v1/jobs/{job}/events", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert '"done"' in answer.read().decode()
        assert service.result(job)["k"] == 2
        host, _, port = url.removeprefix("http://").partition(":")
        address = (host, int(port))
        length = b"POST /v1/uploads HTTP/1.1\r\nHost: a\r\nContent-Length: 500000000\r\n\r\n"
        assert b" 413 " in said(address, length)
        half = [socket.create_connection(address) for _ in range(150)]
        for each in half:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
        assert b" 200 " in said(address, b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        for each in half:
            each.close()
        for each in (worker, process):
            each.send_signal(signal.SIGTERM)
            assert each.wait(timeout=30) == 0
        lines = [json.loads(line) for line in process.stderr if line.startswith("{")]
    assert {"/healthz", "/v1/uploads"} <= {line["route"] for line in lines}
    assert {oct(each.stat().st_mode & 0o077) for each in (tmp_path / "service", *(tmp_path / "service").glob("*"))} == {
        "0o0"
    }


def test_what_keeps_the_service_from_starting_is_one_line(monkeypatch, capsys):
    monkeypatch.setenv("GRAPHPRIV_RATE_LIMIT", "much")
    with pytest.raises(SystemExit) as caught:
        ServingProcess.load_wsgi(ServingProcess.__new__(ServingProcess))
    # By this gunicorn knows that starting it again is of no use.
    assert caught.value.code == Arbiter.WORKER_BOOT_ERROR
    assert capsys.readouterr().err == "graphpriv: error: GRAPHPRIV_RATE_LIMIT must be a number, not 'much'.\n"
