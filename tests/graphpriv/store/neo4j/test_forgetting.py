"""What a Neo4j server tells of who was forgotten, and of originals: the contract, over all nodes and links."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import replace

import pytest

from graphpriv.graph import fingerprint
from graphpriv.store import Run, Store, open_store
from graphpriv.store.records import keyed
from tests.contracts import importing
from tests.contracts.forgetting import ForgettingContract
from tests.contracts.store import little, release_of
from tests.servers import Neo4jServer

pytestmark = pytest.mark.neo4j


class TestNeo4j(ForgettingContract):
    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url

    @pytest.fixture(autouse=True)
    def _server(self, neo4j_server: Neo4jServer) -> None:
        self.server = neo4j_server

    def everything(self, store: Store) -> bytes:
        nodes = self.server.ask("MATCH (n) RETURN labels(n), properties(n)")
        links = self.server.ask("MATCH ()-[r]->() RETURN type(r), properties(r)")
        return b"".join(_bytes([nodes, links]))


def _bytes(value: object) -> list[bytes]:
    """The bytes of all texts and byte strings in a value, raw answers also unpacked."""
    if isinstance(value, dict):
        return [part for pair in value.items() for each in pair for part in _bytes(each)]
    if isinstance(value, list | tuple):
        return [part for each in value for part in _bytes(each)]
    if isinstance(value, bytes | bytearray):
        with contextlib.suppress(zlib.error):
            return [bytes(value), zlib.decompress(bytes(value))]
        return [bytes(value)]
    return [str(value).encode()]


def test_plain_fingerprints_of_an_older_store_are_keyed(neo4j_url: str, neo4j_server: Neo4jServer) -> None:
    plain, note = fingerprint(little()), {"input": "7c1f" * 16, "posts": 1}
    run = Run(verb="protect", parameters={"k": 2}, input_hash=plain)
    with importing.opened(neo4j_url) as store:
        store.save_graph("town", little())
        store.save_release("town", "out", release_of(little()), seed=1, run=run)
        store.add_run("town", replace(run, verb="audit"))
        store.put_profiles("town", {}, {"17": note})
    # Nothing was sealed then.
    neo4j_server.ask("MATCH (n:Piece) DELETE n")
    neo4j_server.ask("MATCH (s:Store) SET s.schema = 4")
    with open_store(neo4j_url, create=False) as opened:
        assert [each.input_hash for each in opened.runs("town")] == [keyed(opened.secret(), plain), ""]
        assert opened.people("town", 0, 1)[0][0].note == {**note, "input": keyed(opened.secret(), note["input"])}
        assert opened.check() == []
