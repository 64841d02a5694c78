"""What may be asked of a graph in a store: users, neighbours, counts, mixing, degrees, components, clustering.

    from graphpriv.queries import answer, queries, rows
    page = answer(store, "release", queries["users"].make({"location": "Spain", "topic": "Sports"}))
    for row in rows(store, "release", queries["counts"].make({"by": "location:country,topic1"})):
        ...

Each answer is computed from that one graph alone, in its state of one moment.
"""

from graphpriv.queries.contract import Page, Query, Row, Rows, answer, queries, rows

queries.load(__name__)

__all__ = ["Page", "Query", "Row", "Rows", "answer", "queries", "rows"]
