"""A graph of a store for whoever writes it down: profiles as codes, the rest read page by page when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import PRIVATE, pairs
from graphpriv.places import PlaceTree
from graphpriv.store.assembly import numbered_tree, table
from graphpriv.store.contract import Store
from graphpriv.store.records import GraphInfo
from graphpriv.store.statements import Head
from graphpriv.topics import EMPTY, RANKS, in_order


@dataclass(frozen=True, eq=False)
class Pages:
    """A graph as `SocialGraph` shows it, of which no more than 32 bytes a user are held.

    Each walk through users or edges opens the store anew; an error where the graph has changed since.
    """

    opened: Callable[[], AbstractContextManager[Store]]
    head: Head
    info: GraphInfo
    places: PlaceTree
    location: NDArray[np.int32]
    topic_names: tuple[str, ...]
    topics: NDArray[np.int32]
    #: By number in the store the position of each user.
    _position: NDArray[np.int32]

    @classmethod
    def of(cls, opened: Callable[[], AbstractContextManager[Store]], name: str) -> Pages:
        """The graph called *name* of a store that is *opened* when it is read."""
        with opened() as store:
            outline = store.outline(name)
            rows = ([row[0], *row[2 : 3 + RANKS]] for row in store.user_rows(outline.head))
            numbers = (-1 if number is None else number for row in rows for number in row)
            codes = np.fromiter(numbers, dtype=np.int64).reshape(-1, 2 + RANKS)
        tree, place_codes = numbered_tree(outline.places)
        names = in_order(outline.topics.values())
        code = {topic: position for position, topic in enumerate(names)}
        topic_codes = table({number: code[topic] for number, topic in outline.topics.items()})
        position = np.full(int(codes[-1, 0]) + 1 if len(codes) else 0, EMPTY, dtype=np.int32)
        position[codes[:, 0]] = np.arange(len(codes))
        return cls(
            opened=opened,
            head=outline.head,
            info=outline.info,
            places=tree,
            location=place_codes[codes[:, 1]],
            topic_names=names,
            topics=topic_codes[codes[:, 2:]],
            _position=position,
        )

    def __len__(self) -> int:
        return self.head.users

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self.head.directed

    @property
    def edge_count(self) -> int:
        """How many edges there are; an undirected one counts once."""
        return self.head.edges

    @property
    def private(self) -> Sequence[str]:
        """The names of the private columns."""
        return self.head.private

    def profiles(self) -> NDArray[np.int32]:
        """One row a user: location and the three topics, as codes."""
        return np.column_stack([self.location, self.topics]).astype(np.int32)

    def people(self) -> Iterator[tuple[str, Sequence[str | None]]]:
        """The id of each user, in order, and what the private columns hold."""
        columns = [3 + RANKS + PRIVATE.index(column) for column in self.private]
        with self.opened() as store:
            for row in store.user_rows(self.head):
                yield row[1], [row[column] for column in columns]

    def ends(self) -> Iterator[tuple[int, int]]:
        """Source and target of each edge, by position, sorted; of an undirected one the lower end first."""
        with self.opened() as store:
            for page in store.follow_rows(self.head):
                yield from pairs(*self._position[page.T])
