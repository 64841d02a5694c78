"""Real servers for the tests: a Neo4j and a Postgres, those that variables name, or ones that are started here.

Neo4j is started from its published jars, Postgres from Debian's package.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import neo4j
import psycopg
import pytest

from graphpriv.store.addresses import server_address

VARIABLE = "GRAPHPRIV_TEST_NEO4J"
PASSWORD = "only-for-the-tests"
START_SCRIPT = Path(__file__).resolve().parents[1] / "docker" / "neo4j_server.py"


@dataclass(frozen=True)
class Neo4jServer:
    """A server whose content the tests may delete; `process` is there if the tests have started it."""

    url: str
    process: Any = None

    def empty(self) -> None:
        """Delete all there is."""
        self.ask("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")

    def ask(self, query: str, **values: object) -> list[list[Any]]:
        """The rows that answer a query, in a transaction of its own."""
        address = server_address(self.url)
        auth = None if address.user is None else (address.user, address.password)
        with (
            neo4j.GraphDatabase.driver(address.shown, auth=auth, notifications_min_severity="OFF") as driver,
            driver.session() as session,
        ):
            return [list(record.values()) for record in session.run(query, values)]


def start_script() -> ModuleType:
    """The script of `docker/` as a module."""
    spec = importlib.util.spec_from_file_location("neo4j_server", START_SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["neo4j_server"] = module
    spec.loader.exec_module(module)
    return module


def needed_tools(script: ModuleType) -> None:
    """Skip the test, or fail in CI, where there is nothing to start a Neo4j with."""
    absent = script.missing_tools()
    if absent:
        told = f"no Neo4j to test with: install {' and '.join(absent)}, or let {VARIABLE} name an empty server"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """One server for all tests; they run in one process (see `pytest_collection_modifyitems`)."""
    named = os.environ.get(VARIABLE)
    if named:
        server = Neo4jServer(named)
        if server.ask("MATCH (n) WHERE NOT n:Store RETURN 1 LIMIT 1"):
            pytest.fail(f"The server that {VARIABLE} names holds something, and the tests would delete it; empty it.")
        yield server
        server.empty()
        return
    script = start_script()
    needed_tools(script)
    home = tmp_path_factory.mktemp("neo4j")
    # A server that lives for minutes only is quicker where Java does not optimise much.
    quick = ("-XX:TieredStopAtLevel=1",)
    process = script.Server(home, script.free_port(), PASSWORD, heap="768m", page_cache="128m", java_options=quick)
    process.start()
    try:
        yield Neo4jServer(f"neo4j://neo4j:{PASSWORD}@127.0.0.1:{process.port}", process)
    finally:
        # Nothing in it is worth the seconds of an orderly end.
        process.kill()


@pytest.fixture
def neo4j_url(neo4j_server: Neo4jServer, request: pytest.FixtureRequest) -> str:
    """The address of a real Neo4j that holds nothing; tests that use it are marked `neo4j`."""
    grouped = request.node.nodeid.endswith("@neo4j")
    if "PYTEST_XDIST_WORKER" in os.environ and not grouped:
        pytest.fail("Tests that share a server must run in one process: mark them `neo4j`, use `--dist loadgroup`.")
    neo4j_server.empty()
    return neo4j_server.url


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all tests that share a server to one process."""
    for item in items:
        for server in ("neo4j", "postgres"):
            if item.get_closest_marker(server):
                item.add_marker(pytest.mark.xdist_group(server))


POSTGRES = "GRAPHPRIV_TEST_POSTGRES"


class Postgres:
    """A server that the tests have started, as a user of its own: it refuses to run as root."""

    def __init__(self, tools: Path) -> None:
        self._tools = tools
        self._folder = Path(tempfile.mkdtemp(prefix="graphpriv-postgres-"))
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if self._user:
            shutil.chown(self._folder, "postgres", "postgres")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self._data = self._folder / "data"
        self._call("initdb", "-D", str(self._data), "-U", "tests", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://tests@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self._folder,
                    "fsync": "off", "shared_buffers": "32MB", "max_connections": 200}  # fmt: skip
        arguments = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
        self._process = subprocess.Popen(
            [self._tools / "postgres", "-D", self._data, *arguments],
            cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._user,
        )  # fmt: skip
        until = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        """End it at once, as a machine that fails would; what was committed stays."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(30)

    def remove(self) -> None:
        """End it, and delete all it has."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, tool: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._tools / tool, *arguments], cwd=self._folder, capture_output=True, text=True, **self._user
        )
        assert done.returncode == 0, done.stderr


def postgres_tools() -> Path:
    """The folder of Debian's Postgres, of the latest version there is; without one, skip the test, or fail in CI."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda each: int(each.parts[-3]))
    if not folders:
        told = f"no Postgres to test with: install postgresql, or let {POSTGRES} name a server"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    return folders[-1].parent


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres | str]:
    """One server for all tests, or the address of the one that is named."""
    named = os.environ.get(POSTGRES)
    if named:
        yield named
        return
    server = Postgres(postgres_tools())
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_url(postgres_server: Postgres | str) -> Iterator[str]:
    """The address of an empty database of a real Postgres; tests that use it are marked `postgres`."""
    url = postgres_server if isinstance(postgres_server, str) else postgres_server.url
    name = f"tests_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{url.rpartition('/')[0]}/{name}"
    with contextlib.suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
