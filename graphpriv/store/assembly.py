"""Users, places and topics by the numbers that a store gives them: put together, and numbered on as users are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import Links, SocialGraph, links_of
from graphpriv.places import LEVELS, Path, PlaceTree
from graphpriv.store.records import User
from graphpriv.topics import EMPTY, RANKS, in_order
from tabular.errors import StoreUnavailable

#: Of a place: its number, that of the place above it (None for `world`), its name and its type.
PlaceRow = tuple[int, int | None, str, str]


@dataclass(frozen=True)
class Parts:
    """A graph as a store holds it: users, places and topics by number, in any numbering with gaps; -1 is none."""

    directed: bool
    numbers: NDArray[np.int64]
    ids: Sequence[str]
    location: NDArray[np.int64]
    topics: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    places: Sequence[PlaceRow]
    topic_names: Mapping[int, str]
    private: Mapping[str, Sequence[str | None]]

    def assemble(self) -> SocialGraph:
        """The graph with users, places and topics in their order."""
        users = len(self.ids)
        tree, place_codes = numbered_tree(self.places)
        names = in_order(self.topic_names.values())
        code = {name: position for position, name in enumerate(names)}
        topic_codes = table({number: code[name] for number, name in self.topic_names.items()})
        position = table({}, size=int(self.numbers[-1]) + 1 if users else 0)
        position[self.numbers] = np.arange(users, dtype=np.int32)
        return SocialGraph(
            ids=tuple(self.ids),
            directed=self.directed,
            follows=_rows(position[self.sources], position[self.targets], users, self.directed),
            places=tree,
            location=place_codes[self.location],
            topic_names=names,
            topics=topic_codes[self.topics].reshape(users, RANKS),
            private=MappingProxyType({key: tuple(column) for key, column in self.private.items()}),
        )


def or_none(codes: NDArray[np.int32]) -> list[int | None]:
    """Codes as a store keeps them, None for -1."""
    return [None if code == EMPTY else code for code in codes.tolist()]


def table(codes: Mapping[int, int], *, size: int = 0) -> NDArray[np.int32]:
    """Codes by number as an array, -1 where there is none, also for the number -1."""
    found = np.full(max([size, *(number + 1 for number in codes)]) + 1, EMPTY, dtype=np.int32)
    for number, code in codes.items():
        found[number] = code
    return found


def place_paths(rows: Sequence[PlaceRow]) -> dict[int, Path]:
    """The path of each place by its number; places above which there is no `world` have none."""
    row_of = {row[0]: row for row in rows}
    paths: dict[int, Path] = {}
    for number in row_of:
        way: list[int] = []
        step: int | None = number
        while step is not None and step not in paths and step in row_of and step not in way:
            way.append(step)
            step = row_of[step][1]
        if step is not None and step not in paths:
            continue
        above = () if step is None else paths[step]
        for each in reversed(way):
            above = ((row_of[each][2], row_of[each][3]), *above)
            paths[each] = above
    return paths


def place_problems(rows: Sequence[PlaceRow]) -> list[str]:
    """The problems of the places of a graph, in sentences."""
    problems = []
    paths = place_paths(rows)
    if len(paths) < len(rows):
        problems.append(f"{len(rows) - len(paths)} places form a cycle or hang on nothing.")
    if sum(parent is None for _, parent, _, _ in rows) != 1:
        problems.append("there is not one place above all others.")
    unknown = {kind for _, _, _, kind in rows} - set(LEVELS)
    problems += [f"{kind!r} is no type of place." for kind in sorted(unknown)]
    if len(set(paths.values())) < len(paths):
        problems.append("the same place appears twice.")
    return problems


def numbered_tree(rows: Sequence[PlaceRow]) -> tuple[PlaceTree, NDArray[np.int32]]:
    """The tree of the places, and the node of each number."""
    paths = place_paths(rows)
    if len(paths) < len(rows):
        raise StoreUnavailable("The places of the graph do not form a tree; `graphpriv store check` tells more.")
    tree = PlaceTree.from_paths(paths.values())
    return tree, table({number: tree.node(path) for number, path in paths.items()})


def _rows(sources: NDArray[np.int32], targets: NDArray[np.int32], users: int, directed: bool) -> Links:
    if directed:
        return Links.from_pairs(sources, targets, users)
    return links_of(sources, targets, users, directed=False)[0]


def mapping_of(numbers: NDArray[np.int64], matches: NDArray[np.int64] | Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Where each user of the original went, from pairs of a number and a position in the release; -1: nowhere."""
    mapping = np.full(len(numbers), -1, dtype=np.int64)
    rows = np.array(matches, dtype=np.int64).reshape(-1, 2)
    mapping[np.searchsorted(numbers, rows[:, 0])] = rows[:, 1]
    return mapping


class Profiles:
    """Numbers to places and topics and back; what is new gets the next number and stands in the lists of the added."""

    def __init__(self, places: Sequence[PlaceRow], topics: Mapping[int, str]) -> None:
        self._paths = place_paths(places)
        self._names = dict(topics)
        self._place_numbers = {path: number for number, path in self._paths.items()}
        self._topic_numbers = {name: number for number, name in self._names.items()}
        self._first_place, self._first_topic = max(self._paths, default=-1) + 1, max(self._names, default=-1) + 1
        self.added_places: list[PlaceRow] = []
        self.added_topics: list[tuple[int, str]] = []

    def user(self, user: str, place: int | None, topics: Sequence[int | None], private: Sequence[str | None]) -> User:
        """The record of a user by numbers."""
        handle, name, location_text = private
        return User(
            id=user,
            location=None if place is None else self._paths[place],
            topics=tuple(None if topic is None else self._names[topic] for topic in topics),
            handle=handle,
            name=name,
            location_text=location_text,
        )

    def numbers(self, user: User) -> list[int | None]:
        """The numbers of a user's place and topics."""
        topics = [None if topic is None else self._topic(topic) for topic in user.topics]
        place = None if user.location is None else self._place(tuple((name, kind) for name, kind in user.location))
        return [place, *topics, *(None,) * (RANKS - len(topics))]

    def _place(self, path: Path) -> int:
        if path not in self._place_numbers:
            above = self._place(path[1:]) if len(path) > 1 else None
            number = self._place_numbers[path] = self._first_place + len(self.added_places)
            self.added_places.append((number, above, *path[0]))
        return self._place_numbers[path]

    def _topic(self, topic: str) -> int:
        if topic not in self._topic_numbers:
            number = self._topic_numbers[topic] = self._first_topic + len(self.added_topics)
            self.added_topics.append((number, topic))
        return self._topic_numbers[topic]
