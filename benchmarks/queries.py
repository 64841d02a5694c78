"""Questions about a stored graph in both stores, each beside a plain query of the same rows.

The plain queries are what one writes down in SQL and Cypher over the rows that the stores keep, with their indexes.
Times are in milliseconds: the first one of a process that has just opened the store, then the median and the longest of
the repeats. Limits are for 10^6 users in SQLite: a page within 50 ms, counts within 1 s.
"""

from __future__ import annotations

import resource
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import neo4j

from benchmarks.store import alone, drawn, server, sizes, timed
from graphpriv.queries import answer, queries, rows
from graphpriv.store import Store, open_store
from graphpriv.store.addresses import server_address

GIB = 1 << 20  # ru_maxrss counts in KiB
REPEATS = 9

#: The questions: what is said of each, its name, its options, and its limit in milliseconds.
ASKED: tuple[tuple[str, str, dict[str, Any], int], ...] = (
    ("the first 100 users", "users", {}, 50),
    ("1,000 users", "users", {"limit": 1000}, 50),
    ("1,000 users at a place, with a topic", "users", {"location": "{place}", "topic": "{topic}", "limit": 1000}, 50),
    ("all with degree 500 or more", "users", {"degree": "500..", "limit": 1000}, 50),
    ("nobody: a place, a topic at rank 3, a degree", "users",
     {"location": "{place}", "topic": "{topic}", "rank": 3, "degree": "100000.."}, 50),
    ("1,000 neighbours of the largest hub", "neighbours", {"user": "{hub}", "limit": 1000}, 50),
    ("counts by country", "counts", {"by": "location:country"}, 1000),
    ("counts by place, largest first", "counts", {"by": "location", "order": "count"}, 1000),
    ("counts by topics at any rank", "counts", {"by": "topics"}, 1000),
    ("counts by place and three topics", "counts", {"by": "location,topic1,topic2,topic3"}, 1000),
    ("counts by degree, at a place", "counts", {"by": "degree", "location": "{place}"}, 1000),
    ("mixing by topic1", "mixing", {"by": "topic1"}, 1000),
    ("mixing by country", "mixing", {"by": "location:country"}, 1000),
    ("mixing by place", "mixing", {"by": "location"}, 1000),
    ("degrees", "degrees", {}, 1000),
    ("components", "components", {}, 1000),
    ("clustering", "clustering", {}, 1000),
)  # fmt: skip

#: The same in SQL, where the rows can say it.
SQL = {
    "the first 100 users": """
        SELECT id, place, topic1, topic2, topic3,
            (SELECT COUNT(*) FROM follows WHERE graph = 1 AND source = users.number) FROM users
        WHERE graph = 1 ORDER BY number LIMIT 100""",
    "counts by place, largest first": """
        SELECT place, COUNT(*) FROM users WHERE graph = 1 GROUP BY place ORDER BY 2 DESC""",
    "counts by place and three topics": """
        SELECT place, topic1, topic2, topic3, COUNT(*) FROM users WHERE graph = 1 GROUP BY 1, 2, 3, 4""",
    "mixing by topic1": """
        SELECT near.topic1, far.topic1, COUNT(*) FROM follows
        JOIN users near ON near.graph = 1 AND near.number = source
        JOIN users far ON far.graph = 1 AND far.number = target WHERE follows.graph = 1 GROUP BY 1, 2""",
    "degrees": """
        SELECT degree, COUNT(*) FROM (SELECT COUNT(*) AS degree FROM (
            SELECT source AS one, target AS other FROM follows WHERE graph = 1
            UNION SELECT target, source FROM follows WHERE graph = 1) GROUP BY one) GROUP BY degree""",
}

#: The same in Cypher.
CYPHER = {
    "the first 100 users": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0 AND u.number < 100
        RETURN u.id, [(u)-[:LIVES_IN]->(p) | p.name], [(u)-[:INTERESTED_IN]->(t) | t.name],
            COUNT { (u)-[:FOLLOWS]-() } ORDER BY u.number""",
    "counts by place, largest first": """
        MATCH (u:User)-[:LIVES_IN]->(p:Place) WHERE u.graph = $key RETURN p.number, count(u) AS users
        ORDER BY users DESC""",
    "mixing by topic1": """
        MATCH (s:Topic)<-[:INTERESTED_IN {rank: 1}]-(u:User)-[:FOLLOWS]->(v:User)-[:INTERESTED_IN {rank: 1}]->(t:Topic)
        WHERE u.graph = $key RETURN s.number, t.number, count(*)""",
    "degrees": """
        MATCH (u:User) WHERE u.graph = $key AND u.number >= 0
        RETURN COUNT { (u)-[:FOLLOWS]-() } AS degree, count(*)""",
}


def main() -> None:
    """Print a row for each question."""
    arguments = sizes(__doc__)
    print(f"{'question':<50}{'first':>9}{'median':>9}{'longest':>9}{'limit':>9}{'plain':>9}")
    with tempfile.TemporaryDirectory() as directory:
        both(f"file:{directory}/graphs.db", *arguments.sqlite, "SQLite")
    if not arguments.without_neo4j:
        with server() as url:
            both(url, *arguments.neo4j, "Neo4j")


def both(url: str, users: int, follows: int, title: str) -> None:
    """Save a graph in one process and ask about it in another, so that the peak of memory is that of the questions."""
    alone(saved, url, users, follows, title)
    alone(asked, url, title)


def saved(url: str, users: int, follows: int, title: str) -> None:
    """Save the graph, and make its summary once more from the rows."""
    graph = drawn(users, follows)
    with open_store(url, create=True) as store:
        seconds = [timed(lambda: store.save_graph("g", graph)), timed(lambda: store._summarise("g"))]
    took = f"saved in {seconds[0]:.1f} s, summary made anew in {seconds[1]:.1f} s"
    print(f"{title}: {users} users, {follows} follows; {took}", flush=True)


def asked(url: str, title: str) -> None:
    """Ask all questions, then the plain queries, which take memory of their own."""
    found: dict[str, list[float]] = {}
    with open_store(url, create=False) as store:
        values = said(store)
        for label, name, options, _ in ASKED:
            query = queries[name].make({key: _filled(value, values) for key, value in options.items()})
            found[label] = [timed(lambda query=query: answer(store, "g", query)) for _ in range(REPEATS + 1)]
        streamed = [_streamed(store, *each) for each in (("users", {}), ("mixing", {"by": "location"}))]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    plain = plain_in_neo4j(url) if title == "Neo4j" else plain_in_sqlite(url)
    for label, _, _, limit in ASKED:
        first, *times = found[label]
        beside = f"{1000 * timed(lambda label=label: plain(label)):9.0f}" if has(title, label) else ""
        figures = "".join(f"{1000 * each:9.1f}" for each in (first, sorted(times)[REPEATS // 2], max(times)))
        print(f"{label:<50}{figures}{limit:>9}{beside}", flush=True)
    print(*streamed, f"{title}: peak of memory {peak:.2f} GiB", sep="\n", flush=True)


def _streamed(store: Store, name: str, options: Mapping[str, Any]) -> str:
    counted: list[int] = []
    seconds = timed(lambda: counted.append(sum(1 for _ in rows(store, "g", queries[name].make(options)))))
    return f"all {counted[0]} rows of {name}: {seconds:.1f} s"


def said(store: Store) -> dict[str, str]:
    """A place and a topic that many have, and the user with most neighbours."""
    (first,) = answer(store, "g", queries["counts"].make({"by": "location,topic1", "order": "count", "limit": 1})).rows
    largest = answer(store, "g", queries["degrees"].make({})).facts["largest"]
    (hub, *_) = answer(store, "g", queries["users"].make({"degree": str(largest)})).rows
    return {"place": first["location"] or "world", "topic": first["topic1"] or "", "hub": hub["id"]}


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    return value.format(**values) if isinstance(value, str) else value


def has(title: str, label: str) -> bool:
    """Whether there is a plain query for a question."""
    return label in (CYPHER if title == "Neo4j" else SQL)


def plain_in_sqlite(url: str) -> Callable[[str], object]:
    """Runs the plain query of a question over the same file."""
    db = sqlite3.connect(url.removeprefix("file:"))
    db.execute("PRAGMA cache_size = -262144")
    return lambda label: db.execute(SQL[label]).fetchall()


def plain_in_neo4j(url: str) -> Callable[[str], object]:
    """Runs the plain query of a question over the same server."""
    address = server_address(url)
    driver = neo4j.GraphDatabase.driver(address.shown, auth=(address.user or "", address.password))
    key = driver.execute_query("MATCH (g:Graph {name: 'g'}) RETURN g.key").records[0][0]
    return lambda label: driver.execute_query(CYPHER[label], key=key)


if __name__ == "__main__":
    main()
