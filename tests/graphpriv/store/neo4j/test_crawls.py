"""Crawls on a real Neo4j server: the contract, and a server from before there were any."""

from __future__ import annotations

import threading

import pytest

from graphpriv.store import open_store
from graphpriv.store.crawls import SEEN, Step, document
from graphpriv.store.neo4j import schema
from tests.contracts.crawls import CrawlContract, begun
from tests.servers import Neo4jServer

pytestmark = pytest.mark.neo4j


class TestNeo4j(CrawlContract):
    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url


def test_a_server_from_before_there_were_crawls_takes_one(neo4j_url: str, neo4j_server: Neo4jServer) -> None:
    with open_store(neo4j_url, create=True):
        for name in ("record_id", "record_number", "record_due"):
            kind = "CONSTRAINT" if name == "record_id" else "INDEX"
            neo4j_server.ask(f"DROP {kind} {name}")
        neo4j_server.ask("MATCH (s:Store) SET s.schema = 3")
    with open_store(neo4j_url, create=False) as store:
        begun(store)
        assert store.check() == []
    assert neo4j_server.ask("MATCH (s:Store) RETURN s.schema") == [[len(schema.STEPS)]]


def test_records_can_be_read_while_a_crawl_takes_them_out(neo4j_url: str) -> None:
    with open_store(neo4j_url, create=True) as store, open_store(neo4j_url, create=False) as other:
        begun(store)
        ids = [f"{number:04d}" for number in range(400)]
        ended = threading.Event()

        def crawl() -> None:
            for _ in range(2):
                other.advance("town", Step(put=tuple(document(SEEN, id, {"by": []}) for id in ids)), owner="me")
                for low in range(0, len(ids), 20):
                    other.advance("town", Step(drop=tuple((SEEN, id) for id in ids[low : low + 20])), owner="me")
            ended.set()

        at_work = threading.Thread(target=crawl)
        at_work.start()
        try:
            while not ended.is_set():
                assert {each.kind for each in store.records("town", SEEN)} == {SEEN}
                assert {each.kind for each in store.records_of("town", SEEN, ids)} <= {SEEN}
        finally:
            at_work.join()
