"""How often values occur: among users, at the ends of links, among degrees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np

from graphpriv.queries import contract
from graphpriv.queries.cells import Cells, Tally
from graphpriv.queries.contract import Page, Query, Row, Rows, queries
from graphpriv.queries.cursors import Place
from graphpriv.queries.keys import SINGLE, Key, key_of, names_of
from graphpriv.queries.selection import Selection, refuse_undirected, selected
from graphpriv.store import Store, summary
from graphpriv.store.view import View
from tabular.registry import option

#: So many links are read at a time.
_LINKS = 1 << 20


@dataclass(frozen=True, eq=False)
class Table:
    """Counted cells with what their codes stand for."""

    keys: Sequence[Key]
    names: tuple[str, ...]
    counted: str
    cells: Cells
    facts: Mapping[str, Any]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the cells of a row."""
        return (*self.names, self.counted)

    def rows(self, begin: int, end: int) -> list[Row]:
        """A range of rows."""
        counts = self.cells.counts[begin:end].tolist()
        return [self._row(*each) for each in zip(self.cells.codes(begin, end), counts, strict=True)]

    def _row(self, codes: Sequence[int], count: int) -> Row:
        values = (key.value(code) for key, code in zip(self.keys, codes, strict=True))
        return Row(zip(self.header, (*values, count), strict=True))


@dataclass(frozen=True, kw_only=True)
class Tabulation(Query):
    """A question whose answer is a table of counts."""

    order: str = option(
        "value", choices=("value", "count"), help="Rows in the order of their values, or the largest counts first."
    )

    @abstractmethod
    def table(self, view: View) -> Table:
        """The whole table."""

    def page(self, view: View, after: Place | None, size: int) -> tuple[Page, Place | None]:
        table = self.table(view)
        begin = 0 if after is None else table.cells.first_after(after)
        end = min(begin + size, len(table.cells))
        page = Page(header=table.header, rows=table.rows(begin, end), next=None, facts=table.facts)
        return page, table.cells.place(end - 1) if end < len(table.cells) else None

    def stream(self, store: Store, name: str) -> Rows:
        # To count anew for each page takes longer than to hold the cells.
        table = store.answer(name, self.table)
        steps = range(0, len(table.cells), contract.STREAMED)
        parts = (table.rows(begin, begin + contract.STREAMED) for begin in steps)
        return Rows(table.header, table.facts, chain.from_iterable(parts))


@queries.add("counts")
@dataclass(frozen=True, kw_only=True)
class Counts(Tabulation, Selection):
    """How many users have each value, or each combination of values."""

    by: str = option(
        help="What to count by, with commas: location (the place itself), location:country and so on (the highest "
        "place above it of the level of that type), topic1 to topic3, topics (each topic of a user, at any rank), "
        "degree, following, followers."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        names_of(self.by)

    def table(self, view: View) -> Table:
        keys = [key_of(view, name) for name in names_of(self.by)]
        tally, users = Tally([key.size + 1 for key in keys]), 0
        columns = dict.fromkeys(column for key in keys for column in key.columns)
        for positions, read in selected(view, self.conditions(view), columns):
            users += len(positions)
            codes = [key.codes(read) for key in keys]
            for chosen in product(*(range(each.shape[1]) for each in codes)):
                tally.add([each[:, at] for each, at in zip(codes, chosen, strict=True)])
        cells = tally.cells(largest_first=self.order == "count")
        return Table(keys, tuple(key.name for key in keys), "users", cells, {"users": users})


@queries.add("degrees")
@dataclass(frozen=True, kw_only=True)
class Degrees(Tabulation, Selection):
    """How many users have each degree."""

    of: str = option(
        "degree",
        choices=("degree", "following", "followers"),
        help="Which degree: all neighbours, those whom a user follows, or those who follow a user.",
    )

    def table(self, view: View) -> Table:
        asked = {
            name: getattr(self, name) for name in ("location", "topic", "rank", "degree", "following", "followers")
        }
        refuse_undirected(view, self.of, "of")
        counted = Counts(by=self.of, order=self.order, **asked).table(view)
        degrees, users = counted.cells.keys, counted.cells.counts
        facts: dict[str, Any] = dict(counted.facts)
        if len(degrees):
            mean = int((degrees * users).sum()) / facts["users"]
            facts |= {"least": int(degrees.min()), "mean": mean, "largest": int(degrees.max())}
        return replace(counted, facts=facts)


@queries.add("mixing", cites="Mares Soler (2013), eq 6.4")
@dataclass(frozen=True, kw_only=True)
class Mixing(Tabulation):
    """How many links run from each value to each value: the matrix that AAMIL compares.

    A link without direction counts once each way, as in AAMIL. `within` is the share of links whose ends have the
    same value, and have one.
    """

    by: str = option(
        choices=SINGLE, help="The value of a user: location, location:country and so on, topic1 to topic3, degree."
    )

    def table(self, view: View) -> Table:
        key = key_of(view, self.by)
        tally = Tally([key.size + 1, key.size + 1])
        codes = _all_codes(view, key)
        links = within = 0
        for near, far in _links(view):
            ends = codes[near], codes[far]
            tally.add(ends)
            links += len(far)
            within += int(((ends[0] == ends[1]) & (ends[0] < key.size)).sum())
        facts = {"links": links, "within": within / links if links else None}
        cells = tally.cells(largest_first=self.order == "count")
        return Table((key, key), ("from", "to"), "links", cells, facts)


def _all_codes(view: View, key: Key) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The codes of all users: links lead anywhere."""
    codes = np.empty(view.users, dtype=np.int64)
    for positions, read in selected(view, (), key.columns):
        codes[positions] = key.codes(read)[:, 0]
    return codes


def _links(view: View) -> Iterator[tuple[Any, Any]]:
    """All links as positions of both ends, some at a time."""
    for low in range(0, view.users, summary.CHUNK):
        high = min(low + summary.CHUNK, view.users)
        offsets = view.columns.slice("out_offsets", low, high + 1)
        near = np.repeat(np.arange(low, high), np.diff(offsets))
        for begin in range(0, len(near), _LINKS):
            end = min(begin + _LINKS, len(near))
            yield near[begin:end], view.columns.slice("out", int(offsets[0]) + begin, int(offsets[0]) + end)
