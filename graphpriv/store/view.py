"""One state of a graph as questions see it: its places and topics, its summary, and the ids of its users."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import PlaceTree
from graphpriv.store.assembly import numbered_tree
from graphpriv.store.statements import Head
from graphpriv.store.summary import FIGURES, Columns
from graphpriv.store.transaction import Transaction
from graphpriv.topics import in_order


class Unsummarised(Exception):
    """The store keeps no summary of the graph as it is now."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that profiles of a graph can have, in the order of their codes."""

    places: PlaceTree
    topic_names: tuple[str, ...]


#: The domains of the graphs that were asked about last, by revision: to read a large tree takes longer than a page may.
_domains: OrderedDict[str, Domain] = OrderedDict()
_HELD = 8
_lock = threading.Lock()


class View:
    """What questions may read of one graph; none of it belongs to another graph."""

    def __init__(self, at: Transaction, head: Head, made: Mapping[int, bytes] | None) -> None:
        self._at, self._head, self._made = at, head, made
        self.name, self.revision, self.created = head.name, head.revision, head.created
        self.directed, self.users, self.edges = head.directed, head.users, head.edges
        self.columns = Columns(self._fetch)
        #: The figures of `graphpriv.structure.anatomy`.
        self.figures: Mapping[str, Any] = _figures(self._fetch([FIGURES])[0])

    def _fetch(self, numbers: Sequence[int]) -> Sequence[bytes]:
        found = self._at.pieces(self._head.key, numbers) if self._made is None else self._made
        if any(number not in found for number in numbers):
            raise Unsummarised
        return [found[number] for number in numbers]

    @cached_property
    def domain(self) -> Domain:
        """The places and topics of the graph."""
        with _lock:
            if self.revision in _domains:
                _domains.move_to_end(self.revision)
                return _domains[self.revision]
        tree, _ = numbered_tree(self._at.places(self._head.key))
        found = Domain(tree, in_order(self._at.topics(self._head.key).values()))
        with _lock:
            _domains[self.revision] = found
            while len(_domains) > _HELD:
                _domains.popitem(last=False)
        return found

    def ids(self, positions: NDArray[np.int64]) -> list[str]:
        """The ids of the users at sorted *positions*."""
        numbers = self.columns.at(["number"], positions)["number"].tolist()
        found = self._at.ids(self._head.key, numbers)
        return [found[number] for number in numbers]

    def position(self, user: str) -> int | None:
        """Where the user of an id stands; None where there is nobody of that id."""
        known = self._at.known(self._head.key, "users", [user])
        return self.position_of(known[user]) if known else None

    def position_of(self, number: int) -> int:
        """Where the user of a number stands, or where the first one after it does."""
        if not self._head.forgotten:
            return min(max(number, 0), self.users)
        return int(np.searchsorted(self.columns.slice("number", 0, self.users), number))

    def number_of(self, position: int) -> int:
        """The number of the user at a position, which stays when others before it are gone."""
        return int(self.columns.slice("number", position, position + 1)[0])


def _figures(data: bytes) -> Mapping[str, Any]:
    """The figures of a summary; one that is damaged is made anew like one that is not there."""
    try:
        figures = json.loads(data)
    except (ValueError, RecursionError):
        raise Unsummarised from None
    if not isinstance(figures, dict):
        raise Unsummarised
    return figures
