"""A real Neo4j for the tests: the one that GRAPHPRIV_TEST_NEO4J names, or one started from its published jars."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import neo4j
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
    absent = script.missing_tools()
    if absent:
        told = f"no Neo4j to test with: install {' and '.join(absent)}, or let {VARIABLE} name an empty server"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
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
    """Give all tests that share the server to one process."""
    for item in items:
        if item.get_closest_marker("neo4j"):
            item.add_marker(pytest.mark.xdist_group("neo4j"))
