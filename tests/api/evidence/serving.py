"""`graphpriv serve` as a process group of its own, which can be killed and started again, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg

TOP = Path(__file__).parents[3]

COMMAND = [sys.executable, "-c", "from api.cli import main; main()", "serve"]

#: Workers that notice soon that others are gone.
QUICK = {"GRAPHPRIV_JOBS_SILENCE": "2", "GRAPHPRIV_JOBS_BEAT": "0.2"}

#: How long something may take on a busy machine, in seconds.
PATIENCE = 120.0


class Gone(Exception):
    """The service, or what it stands on, does not answer; the same can be asked again later."""


@dataclass(frozen=True)
class Answer:
    """What a request was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def asked(url, token, method, path, body=None, **headers):
    """The answer to one request, over a connection of its own."""
    is_json = body is not None and not isinstance(body, bytes)
    data = json.dumps(body).encode() if is_json else body
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"Authorization": f"Bearer {token}", **({"Content-Type": "application/json"} if is_json else {}), **headers}
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    try:
        connection.request(method, path, data, sent)
        found = connection.getresponse()
        return Answer(found.status, dict(found.getheaders()), found.read())
    except (OSError, http.client.HTTPException) as error:
        raise Gone from error
    finally:
        connection.close()


class Served:
    """A service in a folder; killing it kills its workers and their verbs, too."""

    def __init__(self, folder, *options, **environment):
        self.folder, self.home = folder, folder / "home"
        self.store = f"file:{folder / 'graphs.db'}"
        self.url = f"http://127.0.0.1:{free_port()}"
        self._options = options
        self._environment = {"GRAPHPRIV_STORE": self.store, **QUICK, **environment}
        self._said = folder / "said.txt"
        self.token = None
        self.is_up = threading.Event()

    def start(self):
        """Start it, and wait until it answers."""
        port = self.url.rpartition(":")[2]
        given = ["--port", port, "--home", str(self.home), "--rate-limit", "1e6", "--workers", "2", *self._options]
        environment = {**os.environ, **self._environment, "PYTHONPATH": str(TOP)}
        with self._said.open("ab") as said:
            self.process = subprocess.Popen(
                COMMAND + given, cwd=self.folder, env=environment, stdout=said, stderr=said, start_new_session=True
            )
        self._wait(lambda: asked(self.url, "", "GET", "/healthz").status == 200)
        if self.token is None:
            self.token = self._wait(lambda: re.search(r"gp_\S+", self.said()))[0]
        self.is_up.set()

    def _wait(self, holds):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            assert self.process.poll() is None, self.said()
            try:
                if found := holds():
                    return found
            except Gone:
                pass
            time.sleep(0.05)
        raise AssertionError(self.said())

    def kill(self):
        """As kill -9 of everything that belongs to it does."""
        self.is_up.clear()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + PATIENCE
        while any(is_of(each, self.process.pid) for each in psutil.pids()):
            assert time.monotonic() < until
            time.sleep(0.01)

    def stop(self):
        """End it as its operator would, and fail if that is no clean end."""
        self.is_up.clear()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()

    def database_of_jobs(self):
        """All that the database of jobs holds: the bytes of its files, or the rows of all tables of a Postgres."""
        urls = [each for each in self._options if each.startswith("postgresql:")]
        if not urls:
            return b"".join(path.read_bytes() for path in self.home.glob("jobs.db*"))
        with psycopg.connect(urls[0]) as connection:
            asked = (
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('public', 'dbos')"
            )
            tables = [name for (name,) in connection.execute(asked)]
            return str([connection.execute(f"SELECT t::text FROM {name} t").fetchall() for name in tables]).encode()

    def said(self):
        return self._said.read_text()

    def ask(self, method, path, body=None, **headers):
        """The answer to a request; one for which the service or its store is away is `Gone`."""
        found = asked(self.url, self.token, method, path, body, **headers)
        if found.status == 503:
            raise Gone
        assert found.status < 500, (method, path, found.status, found.body)
        return found


def is_of(process, group):
    """Whether a process is of a group and alive."""
    try:
        return os.getpgid(process) == group and psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
