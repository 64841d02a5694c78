"""The store on a real Neo4j server."""

from __future__ import annotations

import pytest

from graphpriv.store import Store
from tests.contracts.store import StoreContract
from tests.servers import Neo4jServer

pytestmark = pytest.mark.neo4j


class TestNeo4j(StoreContract):
    users_when_killed = 800
    seconds_to_kill = 3.0

    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url

    @pytest.fixture(autouse=True)
    def _server(self, neo4j_server: Neo4jServer) -> None:
        self.server = neo4j_server

    def nothing_is_left_over(self, store: Store) -> None:
        assert self.server.ask("MATCH (u:User) RETURN count(u)") == [[sum(each.users for each in store.graphs())]]
        assert self.server.ask("MATCH (g:Graph) RETURN count(g)") == [[len(store.graphs())]]
