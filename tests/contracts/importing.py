"""A process that imports two graphs in turn under one name until it is killed; run by the tests of the stores."""

from __future__ import annotations

import os
import sys
from itertools import cycle

from graphpriv.graph import SocialGraph
from graphpriv.store import Store, open_store
from tests.strategies import random_graph

#: The name that the process writes to.
NAME = "growing"

#: How long a server waits for a sign of life of an import, in these tests.
LEASE = 1.0


def states(users: int) -> tuple[SocialGraph, SocialGraph]:
    """The two graphs, both with something in every table."""
    return random_graph(1, users, 3 * users, places=9), random_graph(2, users + 1, 2 * users, places=5, directed=False)


def opened(url: str) -> Store:
    """The store, where imports that die are taken for dead after a short time."""
    if url.startswith("file:"):
        return open_store(url, create=True)
    from graphpriv.store.addresses import server_address
    from graphpriv.store.neo4j.store import Neo4jStore

    return Neo4jStore(server_address(url), create=True, lease=LEASE)


def main() -> None:
    """Import until killed; a line on standard output says that the first import is about to begin."""
    both = states(int(sys.argv[1]))
    with opened(os.environ["STORE_OF_THE_TEST"]) as store:
        print("ready", flush=True)
        for graph in cycle(both):
            store.save_graph(NAME, graph, overwrite=True)


if __name__ == "__main__":
    main()
