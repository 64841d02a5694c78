"""What a real Neo4j server keeps of enrichment."""

from __future__ import annotations

import pytest

from graphpriv.store import Store
from graphpriv.store.crawls import FOR_EVER
from graphpriv.store.enriched import Linked
from tests.contracts.enriched import EnrichedContract
from tests.servers import Neo4jServer

pytestmark = pytest.mark.neo4j


class TestNeo4j(EnrichedContract):
    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url

    def test_a_deleted_graph_leaves_nothing_on_the_server(self, store: Store, neo4j_server: Neo4jServer) -> None:
        store.put_linked("town", {"https://ana.example/": Linked("read")}, {"https://ana.example/": ["17"]}, FOR_EVER)
        store.put_profiles("town", {}, {"17": {"posts": []}})
        assert neo4j_server.ask("MATCH (n:Record) RETURN count(n)") == [[3]]
        store.delete_graph("town")
        assert neo4j_server.ask("MATCH (n:Record) RETURN count(n)") == [[0]]
