"""Saving and loading a graph in both stores, each beside a plain way to do the same.

The plain way into SQLite is a table of users and one of follows by their ids, as NetworkX names them, filled by
`executemany` and indexed for reading; into Neo4j it is one statement a record, measured on a sample and extrapolated.
Each row is a process of its own, so that the peak of memory is that of the row.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import neo4j
import numpy as np

from graphpriv.graph import SocialGraph
from graphpriv.store import open_store
from graphpriv.store.addresses import server_address
from graphpriv.synthetic import synthetic_graph
from tests.servers import start_script

PASSWORD = "only-for-the-benchmark"
GIB = 1 << 20  # ru_maxrss counts in KiB


def main() -> None:
    """Print a row for each store and each peer."""
    arguments = sizes(__doc__)
    print(f"{'store':<24}{'users':>10}{'follows':>10}  what was done, in seconds; peak memory of this process")
    with tempfile.TemporaryDirectory() as directory:
        alone(in_store, f"file:{directory}/graphs.db", *arguments.sqlite, "SQLite (limit 180)")
        alone(in_plain_tables, f"{directory}/plain.db", *arguments.sqlite, "SQLite, plain")
    if not arguments.without_neo4j:
        with server() as url:
            alone(in_store, url, *arguments.neo4j, "Neo4j (limit 300)")
            alone(in_single_statements, url, *arguments.neo4j, "Neo4j, plain")


def sizes(told: str | None) -> argparse.Namespace:
    """The sizes of the graphs from the command line of a benchmark that is *told* so."""
    parser = argparse.ArgumentParser(description=(told or "").splitlines()[0])
    parser.add_argument("--sqlite", type=int, nargs=2, default=(1_000_000, 5_000_000), metavar=("USERS", "FOLLOWS"))
    parser.add_argument("--neo4j", type=int, nargs=2, default=(100_000, 500_000), metavar=("USERS", "FOLLOWS"))
    parser.add_argument("--without-neo4j", action="store_true")
    return parser.parse_args()


def alone(measure: Callable[..., None], *arguments: object) -> None:
    """Run one row in a process of its own."""
    process = multiprocessing.get_context("spawn").Process(target=measure, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{arguments[-1]}: ended with {process.exitcode}")


def in_store(url: str, users: int, follows: int, title: str) -> None:
    """What the stores do."""
    graph = drawn(users, follows)
    with open_store(url, create=True) as store:
        seconds = {"save": timed(lambda: store.save_graph("g", graph))}
        loaded: list[SocialGraph] = []
        seconds["load"] = timed(lambda: loaded.append(store.load_graph("g")))
        assert loaded[0] == graph
        problems: list[str] = []
        seconds["check"] = timed(lambda: problems.extend(store.check()))
        assert problems == []
        seconds["forget"] = timed(lambda: store.forget("g", graph.ids[users // 2]))
        with tempfile.TemporaryDirectory() as directory:
            seconds["backup"] = timed(lambda: store.backup(Path(directory) / "backup.db"))
        seconds["delete"] = timed(lambda: store.delete_graph("g"))
    row(title, graph, seconds)


def in_plain_tables(path: str, users: int, follows: int, title: str) -> None:
    """What one writes down in ten lines."""
    graph = drawn(users, follows)
    sources, targets = graph.edges()
    db = sqlite3.connect(path)

    def save() -> None:
        db.execute("CREATE TABLE users (id TEXT PRIMARY KEY, location TEXT, topic1 TEXT, topic2 TEXT, topic3 TEXT)")
        db.execute("CREATE TABLE follows (source TEXT, target TEXT, PRIMARY KEY (source, target))")
        db.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?)", profiles(graph))
        ends = ((graph.ids[a], graph.ids[b]) for a, b in zip(sources, targets, strict=True))
        db.executemany("INSERT INTO follows VALUES (?, ?)", ends)
        db.commit()

    seconds = {"save": timed(save)}
    read: list[object] = []
    seconds["load"] = timed(lambda: read.extend(db.execute("SELECT * FROM follows").fetchall()))
    assert len(read) == graph.edge_count
    row(title, graph, seconds)


def in_single_statements(url: str, users: int, follows: int, title: str) -> None:
    """One statement a record, each a transaction, extrapolated from a sample of each kind."""
    graph = drawn(users, follows)
    sample = 300
    address = server_address(url)
    sources, targets = graph.edges()
    ends = [(graph.ids[a], graph.ids[b]) for a, b in zip(sources[:sample], targets[:sample], strict=True)]
    with (
        neo4j.GraphDatabase.driver(address.shown, auth=(address.user or "", address.password)) as driver,
        driver.session() as session,
    ):
        session.run("CREATE CONSTRAINT plain IF NOT EXISTS FOR (n:Plain) REQUIRE n.id IS UNIQUE").consume()

        def save_users() -> None:
            for user, *profile in islice(profiles(graph), sample):
                session.run(
                    "MERGE (n:Plain {id: $id}) SET n.profile = $profile",
                    id=user,
                    profile=[part or "" for part in profile],
                ).consume()

        def save_follows() -> None:
            for a, b in ends:
                session.run(
                    "MERGE (a:Plain {id: $a}) MERGE (b:Plain {id: $b}) MERGE (a)-[:KNOWS]->(b)", a=a, b=b
                ).consume()

        # Once for the server to warm up.
        save_users()
        save_follows()
        extrapolated = timed(save_users) * len(graph) / sample + timed(save_follows) * graph.edge_count / sample
        session.run("MATCH (n:Plain) DETACH DELETE n").consume()
        session.run("DROP CONSTRAINT plain").consume()
    row(title, graph, {f"save, extrapolated from {sample}": extrapolated})


def drawn(users: int, follows: int) -> SocialGraph:
    """The synthetic graph, the same in every row."""
    return synthetic_graph(users, follows, rng=np.random.default_rng(1))


def profiles(graph: SocialGraph) -> Iterator[tuple[str | None, ...]]:
    """The users with their place and topics as texts."""
    names: tuple[str | None, ...] = (*graph.topic_names, None)
    places: tuple[str | None, ...] = (*graph.places.keys, None)
    for user, place, topics in zip(graph.ids, graph.location.tolist(), graph.topics.tolist(), strict=True):
        yield (user, places[place], *(names[topic] for topic in topics))


def timed(work: Callable[[], object]) -> float:
    """How many seconds the *work* takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(title: str, graph: SocialGraph, seconds: dict[str, float]) -> None:
    """Print what one process did."""
    steps = ", ".join(f"{step} {taken:.1f}" for step, taken in seconds.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    print(f"{title:<24}{len(graph):>10}{graph.edge_count:>10}  {steps}; {peak:.1f} GiB", flush=True)


@contextmanager
def server() -> Iterator[str]:
    """The Neo4j that GRAPHPRIV_TEST_NEO4J names, or one started by the script of `docker/`."""
    named = os.environ.get("GRAPHPRIV_TEST_NEO4J")
    if named:
        yield named
        return
    script = start_script()
    with tempfile.TemporaryDirectory() as home:
        process = script.Server(Path(home), script.free_port(), PASSWORD)
        process.start()
        try:
            yield f"neo4j://neo4j:{PASSWORD}@127.0.0.1:{process.port}"
        finally:
            process.stop()


if __name__ == "__main__":
    main()
