"""Find what is wrong with an embedded store."""

from __future__ import annotations

import sqlite3
from collections import Counter

from graphpriv.store.soundness import count_problems, place_problems

#: Counts of a graph that must be 0: what is wrong, and the query; `?1` is its key.
_NONE_OF = {
    "follows of oneself": "SELECT COUNT(*) FROM follows WHERE graph = ?1 AND source = target",
    "follows to or from nobody": """
        SELECT COUNT(*) FROM follows WHERE graph = ?1 AND (
            NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = source)
            OR NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = target))""",
    "undirected follows with the ends in the wrong order": """
        SELECT COUNT(*) FROM follows WHERE graph = ?1 AND source > target
            AND NOT (SELECT directed FROM graphs WHERE key = ?1)""",
    "users out of the order of import": """
        SELECT COUNT(*) FROM users WHERE graph = ?1
            AND number NOT BETWEEN 0 AND (SELECT users + forgotten - 1 FROM graphs WHERE key = ?1)""",
    "released users with private columns": """
        SELECT COUNT(*) FROM persons WHERE graph = ?1 AND EXISTS (SELECT 1 FROM releases WHERE graph = ?1)""",
    "rows of the mapping that lead to nobody": """
        SELECT COUNT(*) FROM mappings WHERE graph = ?1
            AND NOT EXISTS (SELECT 1 FROM users WHERE graph = ?1 AND number = released)""",
    "rows of the mapping that lead to a released user twice": """
        SELECT COUNT(*) - COUNT(DISTINCT released) FROM mappings WHERE graph = ?1""",
    "rows of the mapping that come from nobody": """
        SELECT COUNT(*) FROM mappings WHERE graph = ?1
            AND NOT EXISTS (SELECT 1 FROM users WHERE graph = mappings.original AND number = user)""",
    "rows of the mapping of another original": """
        SELECT COUNT(*) FROM mappings JOIN releases USING (graph)
            WHERE graph = ?1 AND mappings.original IS NOT releases.original""",
}


def problems_of(db: sqlite3.Connection) -> list[str]:
    """The problems, in sentences that name graphs but no person."""
    problems = [f"The file is damaged: {text}." for (text,) in db.execute("PRAGMA integrity_check") if text != "ok"]
    if problems:
        # What stands in damaged pages says nothing.
        return problems
    broken = Counter(row[0] for row in db.execute("PRAGMA foreign_key_check"))
    problems += [f"{count} rows of {table} refer to something that is not there." for table, count in broken.items()]
    for key, name, users, edges in db.execute("SELECT key, name, users, edges FROM graphs ORDER BY name").fetchall():
        problems += [f"Graph {name!r}: {problem}" for problem in _problems_of_graph(db, key, users, edges)]
    if db.execute("SELECT 1 FROM erasures").fetchone():
        problems.append("The files still hold what was deleted, because another process reads them; check again.")
    return problems


def _problems_of_graph(db: sqlite3.Connection, key: int, users: int, edges: int) -> list[str]:
    counted = []
    for table, noted in (("users", users), ("follows", edges)):
        query = f"SELECT COUNT(*) FROM {table} WHERE graph = ?"  # noqa: S608 (our own names)
        counted.append((table, int(db.execute(query, (key,)).fetchone()[0]), noted))
    problems = count_problems(counted)
    for what, query in _NONE_OF.items():
        (count,) = db.execute(query, (key,)).fetchone()
        if count:
            problems.append(f"{count} {what}.")
    rows = db.execute("SELECT number, parent, name, type FROM places WHERE graph = ?", (key,)).fetchall()
    return problems + place_problems(rows)
