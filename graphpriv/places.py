"""Places: a tree whose nodes have a type and, by it, a level (Mares Soler 2013, section 6.2.1, Table 6.1).

A node is known by its whole path, so Paris in Texas and Paris in France are two nodes. Nodes stand in the order of
their paths read from `world` downwards: a parent comes before its children, and the places below a place are the
contiguous run from it to `ends` of it. Node 0 is `world`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidRecord

#: One step of a path: the name and the type of a place.
Step = tuple[str, str]
#: From the most specific place to `world`.
Path = tuple[Step, ...]
Key = TypeVar("Key", bound=Hashable)

#: Table 6.1: the level of abstraction of each type.
LEVELS = {
    "route": 0,
    "sublocality": 0,
    "natural_feature": 0,
    "point_of_interest": 0,
    "neighborhood": 0,
    "locality": 1,
    "colloquial_area": 1,
    "administrative_area_level_3": 2,
    "administrative_area_level_2": 3,
    "administrative_area_level_1": 4,
    "country": 5,
    "political": 5,
    "continent": 6,
    "world": 7,
}
TOP = max(LEVELS.values())
KNOWN_TYPES = f"there is {', '.join(LEVELS)}"
WORLD: Step = ("world", "world")

#: The code of an unknown location: a value of its own below `world`.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class PlaceTree:
    """The tree of all places of a graph, world on top."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    parents: NDArray[np.int32]
    _nodes: Mapping[Path, int] = field(repr=False)

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> PlaceTree:
        """The tree of all places on *paths*, which have been checked (see `check_path`)."""
        # Read from the world down, a path sorts right after the path of its parent.
        downwards: set[Path] = {(WORLD,)}
        for path in paths:
            down = tuple(reversed(path))
            downwards.update(down[:length] for length in range(1, len(down) + 1))
        ordered = sorted(downwards)
        position = {down: node for node, down in enumerate(ordered)}
        parents = [position[down[:-1]] if len(down) > 1 else -1 for down in ordered]
        return cls(
            names=tuple(down[-1][0] for down in ordered),
            types=tuple(down[-1][1] for down in ordered),
            parents=np.array(parents, dtype=np.int32),
            _nodes={tuple(reversed(down)): node for down, node in position.items()},
        )

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlaceTree) and self._nodes == other._nodes

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def levels(self) -> NDArray[np.int8]:
        """The level of each place by its type."""
        return np.array([LEVELS[each] for each in self.types], dtype=np.int8)

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        """For each place, one past the last of the places below it."""
        ends = np.arange(1, len(self) + 1, dtype=np.int32)
        for node in range(len(self) - 1, 0, -1):
            parent = self.parents[node]
            ends[parent] = max(ends[parent], ends[node])
        return ends

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """A canonical name for each place: its name, with what lies above it where the name alone is not unique."""
        return tuple(_canonical_names([self.path(node) for node in range(len(self))]))

    @cached_property
    def by_key(self) -> dict[str, int]:
        """The node of each canonical name."""
        return {key: node for node, key in enumerate(self.keys)}

    def path(self, node: int) -> Path:
        """The places from *node* to `world`, both included."""
        steps = []
        while node >= 0:
            steps.append((self.names[node], self.types[node]))
            node = int(self.parents[node])
        return tuple(steps)

    def node(self, path: Path) -> int:
        """The node at the end of *path*."""
        return self._nodes[path]

    def find(self, path: Path) -> int | None:
        """The node at the end of *path*, or None where there is no such place."""
        return self._nodes.get(path)

    def steps(self, ones: NDArray[np.integer], others: NDArray[np.integer]) -> NDArray[np.int8]:
        """Eq 6.1 for arrays of places, in sevenths: 0 to 7."""
        ones, others = np.asarray(ones), np.asarray(others)
        lower, upper = np.maximum(ones, others), np.minimum(ones, others)
        # An unknown place is on no branch; it indexes the last node here, and is put right below.
        on_branch = (lower < self.ends[upper]) & (upper != UNKNOWN)
        apart = np.abs(self.levels[lower] - self.levels[upper])
        steps = np.where(on_branch, apart, TOP)
        return np.where(ones == others, 0, steps).astype(np.int8)

    def restricted(self, nodes: Iterable[int]) -> tuple[PlaceTree, NDArray[np.int32]]:
        """The tree of *nodes* and what lies above them, and for each old node its new one (UNKNOWN where dropped)."""
        kept = PlaceTree.from_paths(self.path(node) for node in sorted(set(nodes)) if node != UNKNOWN)
        return kept, self.positions_in(kept)

    def union(self, other: PlaceTree) -> tuple[PlaceTree, NDArray[np.int32], NDArray[np.int32]]:
        """The tree of all places of both, and where the nodes of each went."""
        both = PlaceTree.from_paths([*self._nodes, *other._nodes])
        return both, self.positions_in(both), other.positions_in(both)

    def positions_in(self, other: PlaceTree) -> NDArray[np.int32]:
        """For each node the same place's node in *other*, UNKNOWN where it has none."""
        found = (other.find(self.path(node)) for node in range(len(self)))
        return np.array([UNKNOWN if node is None else node for node in found], dtype=np.int32)


def check_paths(
    paths: Mapping[Key, Sequence[Sequence[str]]], at: Callable[[int], str] = lambda position: f"Path {position}"
) -> dict[Key, Path]:
    """The *paths* as tuples, or an error; *at* says where a path stands, by its position among them.

    A path runs from a place to `world`, each type is known, no level falls on the way up, and no place lies above
    itself, neither on one path nor through several. Names are not shown: they may be what a person wrote.
    """
    checked = {key: _check_path(path, position, at) for position, (key, path) in enumerate(paths.items())}
    _refuse_cycles(list(checked.values()), at)
    for position, path in enumerate(checked.values()):
        for step, ((_, low), (_, high)) in enumerate(pairwise(path), start=1):
            if LEVELS[low] > LEVELS[high]:
                raise InvalidRecord(
                    f"{at(position)}: step {step} ({low}, level {LEVELS[low]}) lies below "
                    f"step {step + 1} ({high}, level {LEVELS[high]}); levels must not fall on the way to world."
                )
    return checked


def _check_path(path: object, position: int, at: Callable[[int], str]) -> Path:
    if not isinstance(path, Sequence) or isinstance(path, str) or not path:
        raise InvalidRecord(f"{at(position)}: a path is a list of [name, type] from the place to world.")
    steps: list[Step] = []
    for number, step in enumerate(path, start=1):
        pair = tuple(step) if isinstance(step, Sequence) and not isinstance(step, str) else ()
        if len(pair) != 2 or not all(isinstance(part, str) and part for part in pair):
            raise InvalidRecord(f"{at(position)}: step {number} must be [name, type], two texts.")
        name, kind = pair
        if kind not in LEVELS:
            raise InvalidRecord(f"{at(position)}: step {number} has an unknown type of place; {KNOWN_TYPES}.")
        if (name, kind) in steps:
            first = steps.index((name, kind)) + 1
            raise InvalidRecord(
                f"{at(position)}: step {number} is the place of step {first} again, which would lie above itself; "
                "a path has no cycle."
            )
        steps.append((name, kind))
    if steps[-1] != WORLD or any(kind == "world" for _, kind in steps[:-1]):
        raise InvalidRecord(f"{at(position)}: a path ends at world, once: its last step must be ['world', 'world'].")
    return tuple(steps)


def _refuse_cycles(paths: Sequence[Path], at: Callable[[int], str]) -> None:
    """Find a place that lies above another on one path and below it on a second one."""
    # For each place those above it, each with where that is said: the path and the step.
    above: dict[Step, dict[Step, tuple[int, int]]] = {}
    for position, path in enumerate(paths):
        for number, (lower, upper) in enumerate(pairwise(path), start=1):
            above.setdefault(lower, {}).setdefault(upper, (position, number))
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        # Each place of the cycle lies above the next one; the way round is told where it was said last.
        position, number = max(above[lower][upper] for upper, lower in pairwise(error.args[1]))
        raise InvalidRecord(
            f"{at(position)}: step {number} lies below step {number + 1} here and above it elsewhere; "
            "places must not form a cycle."
        ) from None


def _canonical_names(paths: Sequence[Path]) -> list[str]:
    names = [path[0][0] for path in paths]
    for above in range(1, max(len(path) for path in paths)):
        taken = Counter(names)
        for node, path in enumerate(paths):
            # The same name, told apart by what lies above, one step at a time.
            if taken[names[node]] > 1 and above < len(path) - 1:
                names[node] += f", {path[above][0]}"
    taken = Counter(names)
    names = [f"{name} ({path[0][1]})" if taken[name] > 1 else name for name, path in zip(names, paths, strict=True)]
    # Names that are made alike by the rules above, or that were given so, are told apart by their count.
    seen: Counter[str] = Counter()
    given = set(names)
    for node, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            number = seen[name]
            while f"{name} [{number}]" in given:
                number += 1
            names[node] = f"{name} [{number}]"
            given.add(names[node])
    return names
