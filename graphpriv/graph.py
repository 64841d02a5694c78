"""The social graph: users with a place and three topics, and who follows whom."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import UNKNOWN, PlaceTree
from graphpriv.topics import EMPTY, RANKS, in_order

if TYPE_CHECKING:
    import networkx as nx

#: The attributes of a profile, in the order of the thesis.
ATTRIBUTES = ("location", "topic1", "topic2", "topic3")

#: What an original may know of a person beside the profile; no release carries any of it.
PRIVATE = ("handle", "name", "location_text")

#: How many elements of an array are turned into Python objects at a time.
BLOCK = 100_000

#: How a neighbour stands to the centre, as bits: the centre follows it, it follows the centre.
FOLLOWS, FOLLOWED = 1, 2


@dataclass(frozen=True)
class Dropped:
    """Edges that an import counted, reported and left out."""

    self_loops: int = 0
    parallel: int = 0


@dataclass(frozen=True)
class Links:
    """Rows of neighbours one after the other: those of user u stand from offsets[u] to offsets[u + 1], sorted."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]

    def of(self, user: int) -> NDArray[np.int32]:
        """The neighbours of *user*."""
        return self.targets[self.offsets[user] : self.offsets[user + 1]]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many neighbours each user has."""
        return np.diff(self.offsets)

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """For each entry of `targets` the user in whose row it stands."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), self.counts)

    @classmethod
    def from_pairs(cls, sources: NDArray[np.int32], targets: NDArray[np.int32], users: int) -> Links:
        """The rows of distinct pairs, in any order."""
        keys = np.sort(sources.astype(np.int64) * users + targets)
        return cls._from_keys(keys, users)

    @classmethod
    def _from_keys(cls, keys: NDArray[np.int64], users: int) -> Links:
        rows = keys // max(users, 1)
        offsets = np.zeros(users + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=users)[:users], out=offsets[1:])
        return cls(offsets, (keys - rows * users).astype(np.int32))


@dataclass(frozen=True, eq=False)
class SocialGraph:
    """Users in the order of their import, their profiles as codes, and their follows as sorted rows.

    In an undirected graph each edge stands in the rows of both its ends.
    """

    ids: tuple[str, ...]
    directed: bool
    follows: Links
    places: PlaceTree
    location: NDArray[np.int32]
    topic_names: tuple[str, ...]
    topics: NDArray[np.int32]
    private: Mapping[str, tuple[str | None, ...]] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @classmethod
    def build(
        cls,
        ids: Sequence[str],
        sources: NDArray[np.int32],
        targets: NDArray[np.int32],
        *,
        directed: bool,
        places: PlaceTree,
        location: NDArray[np.int32],
        topics: Sequence[Sequence[str | None]],
        private: Mapping[str, Sequence[str | None]] | None = None,
    ) -> tuple[SocialGraph, Dropped]:
        """The graph of sound records; self-loops and parallel edges are counted and left out."""
        users = len(ids)
        follows, dropped = links_of(sources, targets, users, directed=directed)
        names = in_order({topic for row in topics for topic in row if topic is not None})
        code: dict[str | None, int] = {name: position for position, name in enumerate(names)}
        code[None] = EMPTY
        flat = np.fromiter((code[topic] for row in topics for topic in row), dtype=np.int32, count=users * RANKS)
        graph = cls(
            ids=tuple(ids),
            directed=directed,
            follows=follows,
            places=places,
            location=np.asarray(location, dtype=np.int32),
            topic_names=names,
            topics=flat.reshape(users, RANKS),
            private=MappingProxyType({key: tuple(column) for key, column in (private or {}).items()}),
        )
        return graph, dropped

    @classmethod
    def empty(cls, *, directed: bool) -> SocialGraph:
        """A graph without users."""
        none = np.empty(0, dtype=np.int32)
        places = PlaceTree.from_paths(())
        return cls.build((), none, none, directed=directed, places=places, location=none, topics=())[0]

    @classmethod
    def from_networkx(cls, graph: nx.Graph) -> SocialGraph:
        """The social graph of a NetworkX graph; see `graphpriv.formats.node_link`."""
        from graphpriv.formats.node_link import imported_from_networkx

        return imported_from_networkx(graph).graph

    def to_networkx(self) -> nx.Graph:
        """The same graph for NetworkX, with `location` and `topics` on its nodes and `locations` on the graph."""
        from graphpriv.formats.node_link import to_networkx

        return to_networkx(self)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<SocialGraph of {len(self):,} users and {self.edge_count:,} edges>"

    def _repr_html_(self) -> str:
        from tabular.report.kit.page import table_snippet

        said = {
            "users": len(self),
            "edges": self.edge_count,
            "directed": self.directed,
            "places": len(np.unique(self.location[self.location != UNKNOWN])),
            "topics": len(self.topic_names),
        }
        return table_snippet("Social graph.", ["", "Value"], [*said.items()])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SocialGraph)
            and self.ids == other.ids
            and self.same_links(other)
            and self.topic_names == other.topic_names
            and np.array_equal(self.topics, other.topics)
            and self.places == other.places
            and np.array_equal(self.location, other.location)
            and dict(self.private) == dict(other.private)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def edge_count(self) -> int:
        """How many edges there are; an undirected one counts once."""
        return len(self.follows.targets) if self.directed else len(self.follows.targets) // 2

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each id."""
        return {user: position for position, user in enumerate(self.ids)}

    @cached_property
    def followers(self) -> Links:
        """Who follows each user."""
        if not self.directed:
            return self.follows
        return Links.from_pairs(self.follows.targets, self.follows.sources, len(self))

    @cached_property
    def neighbours(self) -> Links:
        """The users linked with each user in either direction, each once."""
        return self.undirected().follows

    @cached_property
    def directions(self) -> NDArray[np.int8]:
        """For each entry of `neighbours` how it is linked: FOLLOWS, FOLLOWED or both; an undirected edge is both."""
        users = len(self)
        both = self.neighbours.sources.astype(np.int64) * users + self.neighbours.targets
        out = self.follows.sources.astype(np.int64) * users + self.follows.targets
        back = self.followers.sources.astype(np.int64) * users + self.followers.targets
        found = FOLLOWS * _contains(out, both) + FOLLOWED * _contains(back, both)
        return found.astype(np.int8)

    def same_links(self, other: SocialGraph) -> bool:
        """Whether the users of both graphs, by position, are linked in the same way."""
        return (
            self.directed == other.directed
            and np.array_equal(self.follows.offsets, other.follows.offsets)
            and np.array_equal(self.follows.targets, other.follows.targets)
        )

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Sources and targets of all edges, sorted; an undirected edge stands once, its lower end first."""
        sources, targets = self.follows.sources, self.follows.targets
        if self.directed:
            return sources, targets
        once = sources < targets
        return sources[once], targets[once]

    def people(self) -> Iterator[tuple[str, Sequence[str | None]]]:
        """The id of each user, in order, and what the private columns hold."""
        private: Iterable[tuple[str | None, ...]] = (
            zip(*self.private.values(), strict=True) if self.private else repeat(())
        )
        return zip(self.ids, private, strict=False)

    def ends(self) -> Iterator[tuple[int, int]]:
        """Source and target of each edge in the order of `edges`, for a loop in Python."""
        return pairs(*self.edges())

    def undirected(self) -> SocialGraph:
        """The same graph without directions."""
        if not self.directed:
            return self
        both, _ = links_of(self.follows.sources, self.follows.targets, len(self), directed=False)
        return replace(self, directed=False, follows=both)

    def attribute(self, name: str) -> NDArray[np.int32]:
        """The codes of one attribute of the profile."""
        return self.location if name == "location" else self.topics[:, ATTRIBUTES.index(name) - 1]

    def profiles(self) -> NDArray[np.int32]:
        """One row a user: location and the three topics, as codes."""
        return np.column_stack([self.location, self.topics]).astype(np.int32)

    def among(self, users: NDArray[np.int64]) -> SocialGraph:
        """The graph among *users*, in the order given, with the edges between them; places and topics stay."""
        position = np.full(len(self), -1, dtype=np.int32)
        position[users] = np.arange(len(users))
        sources, targets = position[self.follows.sources], position[self.follows.targets]
        inside = (sources >= 0) & (targets >= 0)
        return replace(
            self,
            ids=tuple(self.ids[user] for user in users),
            follows=Links.from_pairs(sources[inside], targets[inside], len(users)),
            location=self.location[users],
            topics=self.topics[users],
            private=MappingProxyType(
                {key: tuple(column[user] for user in users) for key, column in self.private.items()}
            ),
        )

    def restricted(self, users: NDArray[np.int64]) -> SocialGraph:
        """The same, with only those places and topics that occur among *users*."""
        among = self.among(users)
        places, moved = self.places.restricted(np.unique(among.location).tolist())
        names, topics = only_used(self.topic_names, among.topics)
        location = np.where(among.location == UNKNOWN, UNKNOWN, moved[among.location]).astype(np.int32)
        return replace(among, places=places, location=location, topic_names=names, topics=topics)


def in_blocks(values: NDArray[Any]) -> Iterator[Any]:
    """The elements of an array as Python objects, not all of them at once."""
    for start in range(0, len(values), BLOCK):
        yield from values[start : start + BLOCK].tolist()


def pairs(sources: NDArray[np.integer[Any]], targets: NDArray[np.integer[Any]]) -> Iterator[tuple[int, int]]:
    """Two arrays as pairs of Python numbers, not all of them at once."""
    return zip(in_blocks(sources), in_blocks(targets), strict=True)


def links_of(
    sources: NDArray[np.int32], targets: NDArray[np.int32], users: int, *, directed: bool
) -> tuple[Links, Dropped]:
    """The rows of the given edges without self-loops and repetitions, and how many of each were dropped."""
    loops = sources == targets
    low, high = sources[~loops].astype(np.int64), targets[~loops].astype(np.int64)
    if not directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    # Sorting is several times as fast here as `np.unique`, which hashes first.
    keys = np.sort(low * users + high)
    keys = keys[np.diff(keys, prepend=-1) > 0]
    dropped = Dropped(self_loops=int(loops.sum()), parallel=int(len(low) - len(keys)))
    if not directed:
        low, high = keys // max(users, 1), keys % max(users, 1)
        keys = np.sort(np.concatenate([keys, high * users + low]))
    return Links._from_keys(keys, users), dropped


def common_codes(one: SocialGraph, other: SocialGraph) -> tuple[SocialGraph, SocialGraph]:
    """Both graphs with the same tree of places and the same topics, so that equal codes mean equal values."""
    if one.topic_names == other.topic_names and one.places == other.places:
        return one, other
    places, *moved = one.places.union(other.places)
    names = in_order([*one.topic_names, *other.topic_names])
    code = {name: position for position, name in enumerate(names)}
    aligned = []
    for graph, places_moved in zip((one, other), moved, strict=True):
        topics_moved = np.array([*(code[name] for name in graph.topic_names), EMPTY], dtype=np.int32)
        aligned.append(
            replace(
                graph,
                places=places,
                # UNKNOWN and EMPTY are -1 and find themselves at the end of each table.
                location=np.append(places_moved, np.int32(UNKNOWN))[graph.location],
                topic_names=names,
                topics=topics_moved[graph.topics],
            )
        )
    return aligned[0], aligned[1]


def only_used(names: tuple[str, ...], topics: NDArray[np.int32]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    used = np.unique(topics)
    used = used[used != EMPTY]
    moved = np.full(len(names) + 1, EMPTY, dtype=np.int32)
    moved[used] = np.arange(len(used))
    return tuple(names[code] for code in used), moved[topics]


def _contains(sorted_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=np.bool_)
    position = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.equal(sorted_keys[position], keys)


def fingerprint(graph: SocialGraph) -> str:
    """The SHA-256 of all that a graph holds, in the order of its users."""
    digest = hashlib.sha256(b"graph 1\n")
    digest.update(b"directed\n" if graph.directed else b"undirected\n")
    _add_texts(digest, graph.ids)
    for array in (graph.follows.offsets, graph.follows.targets, graph.location, graph.topics):
        _add_numbers(digest, array)
    _add_texts(digest, graph.places.names)
    _add_texts(digest, graph.places.types)
    _add_numbers(digest, graph.places.parents)
    _add_texts(digest, graph.topic_names)
    for key in sorted(graph.private):
        _add_texts(digest, [key])
        _add_texts(digest, ["" if value is None else f"={value}" for value in graph.private[key]])
    return f"sha256:{digest.hexdigest()}"


def _add_texts(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    """Add a list of texts to a *digest*."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    # With the lengths before them, no two lists of texts read the same.
    _add_numbers(digest, np.array([len(part) for part in parts], dtype=np.int64))
    digest.update(b"".join(parts))


def _add_numbers(digest: hashlib._Hash, numbers: NDArray[np.integer]) -> None:
    """Add an array of numbers with its shape to a *digest*."""
    digest.update(np.array(numbers.shape, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
