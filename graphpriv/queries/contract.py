"""What every question about a graph has in common: its options, pages, rows, and the two ways to ask it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Any

from graphpriv.queries import cursors
from graphpriv.store import Store
from graphpriv.store.records import Unsettled
from graphpriv.store.view import View
from tabular.errors import InvalidParameter
from tabular.registry import Method, Registry, option

#: The most rows of a page that somebody asks for, and how many are read at a time when all are wanted.
LARGEST_PAGE, STREAMED = 1_000, 5_000


class Row(dict[str, Any]):
    """One row of an answer, ready for JSON; `cells` are its values for a table, in the order of the header."""

    @property
    def cells(self) -> tuple[Any, ...]:
        """The values side by side: of a path its key alone, of a list one value a column, "" for what is not known."""
        flat: list[Any] = []
        for name, value in self.items():
            if name != "path":
                flat += value if isinstance(value, list) else [value]
        return tuple("" if value is None else value for value in flat)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A part of the rows of an answer, what is true of all of them, and where the next page begins."""

    #: The names of the cells of a row.
    header: tuple[str, ...]
    rows: Sequence[Row]
    #: The cursor of the page after this one; None where this is the last.
    next: str | None
    #: Figures of the whole answer, whatever the page.
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """The page, ready for JSON."""
        return {**self.facts, "rows": list(self.rows), "next": self.next}


class Rows(Iterator[Row]):
    """All rows of an answer, one after the other, with the header and the figures of the whole."""

    def __init__(self, header: tuple[str, ...], facts: Mapping[str, Any], rows: Iterator[Row]) -> None:
        self.header, self.facts = header, facts
        self._rows = rows

    def __next__(self) -> Row:
        return next(self._rows)


@dataclass(frozen=True, kw_only=True)
class Query(Method):
    """A question about one graph."""

    limit: int = option(100, low=1, high=LARGEST_PAGE, help="How many rows a page holds at most.")
    cursor: str | None = option(None, help="Where the page begins: the `next` of the page before.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            value, kind = getattr(self, each.name), str(each.type)
            if value is not None and kind.startswith("str") and not isinstance(value, str):
                raise InvalidParameter.wrong(each.name, must="be a text", was=value)
            if value is not None and kind.startswith("int") and not isinstance(value, int):
                raise InvalidParameter.wrong(each.name, must="be a whole number", was=value)

    @abstractmethod
    def page(self, view: View, after: cursors.Place | None, size: int) -> tuple[Page, cursors.Place | None]:
        """At most *size* rows *after* a place in the order, and the place of the last if there are more."""

    def asked(self, view: View) -> cursors.Question:
        """What a cursor belongs to: a graph, and all options but for the page's.

        The name is not in it: a service may call the graph by another one, and its own is nobody's business.
        """
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("limit", "cursor")}
        return cursors.question(view.created, type(self).__name__, options)

    def stream(self, store: Store, name: str) -> Rows:
        """All rows, page by page; an error where the graph changes before the last one is read."""
        first = replace(self, cursor=None)
        revision, page = store.answer(name, partial(_streamed, first))
        return Rows(page.header, page.facts, chain(page.rows, first._later(store, name, revision, page.next)))

    def _later(self, store: Store, name: str, revision: str, cursor: str | None) -> Iterator[Row]:
        """The rows of the pages from a *cursor* on."""
        while cursor is not None:
            now, page = store.answer(name, partial(_streamed, replace(self, cursor=cursor)))
            if revision != now:
                raise Unsettled(store.address, f"graph {name!r}")
            yield from page.rows
            cursor = page.next


#: The questions by name.
queries: Registry[Query] = Registry("query")


def answer(store: Store, name: str, query: Query) -> Page:
    """One page of the answer to a *query* about the graph *name*."""
    return store.answer(name, lambda view: _answered(query, view, query.limit))


def rows(store: Store, name: str, query: Query) -> Rows:
    """All rows of the answer from its beginning, whatever the page asked for; memory stays that of a page.

    Tables of counts hold their cells, 16 bytes each. What is wrong with the query is told before the first row.
    """
    return query.stream(store, name)


def _streamed(query: Query, view: View) -> tuple[str, Page]:
    return view.revision, _answered(query, view, STREAMED)


def _answered(query: Query, view: View, size: int) -> Page:
    asked = query.asked(view)
    after = None if query.cursor is None else cursors.read(query.cursor, asked)
    page, last = query.page(view, after, size)
    return page if last is None else replace(page, next=cursors.written(last, asked))
