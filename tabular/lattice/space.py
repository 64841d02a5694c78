"""The lattice of full-domain generalisations: one level for each quasi-identifier is a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.hierarchy import Hierarchy

#: One level for each quasi-identifier, in their order.
Node = tuple[int, ...]

#: Many nodes, one a row.
Nodes = NDArray[np.int16]


@dataclass(frozen=True)
class Lattice:
    """The nodes from level 0 of every attribute to its height; a node is below all that have no lower level."""

    names: tuple[str, ...]
    heights: tuple[int, ...]

    @classmethod
    def of(cls, hierarchies: Mapping[str, Hierarchy]) -> Lattice:
        """The lattice of the *hierarchies*, in their order."""
        if not hierarchies:
            raise InvalidInput("A lattice needs one or more quasi-identifiers.")
        return cls(tuple(hierarchies), tuple(each.height for each in hierarchies.values()))

    @cached_property
    def size(self) -> int:
        """How many nodes there are.

        >>> Lattice(("age", "sex"), (3, 1)).size
        8
        """
        return prod(height + 1 for height in self.heights)

    @property
    def bottom(self) -> Node:
        """The node that keeps every value."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """The node of one class."""
        return self.heights

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The attributes that have more than one level."""
        return tuple(place for place, height in enumerate(self.heights) if height)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of an array with a place for each node; only free attributes have a dimension, 64 at most."""
        return tuple(self.heights[place] + 1 for place in self.free)

    def box(self, low: Sequence[int], high: Sequence[int]) -> tuple[slice, ...]:
        """Where the nodes from *low* to *high* stand in an array of this shape.

        >>> Lattice(("age", "sex", "all"), (3, 1, 0)).box((1, 0, 0), (3, 1, 0))
        (slice(1, 4, None), slice(0, 2, None))
        """
        return tuple(slice(low[place], high[place] + 1) for place in self.free)

    def __contains__(self, node: object) -> bool:
        return (
            isinstance(node, tuple)
            and len(node) == len(self.heights)
            and all(0 <= level <= height for level, height in zip(node, self.heights, strict=True))
        )

    def __iter__(self) -> Iterator[Node]:
        return product(*(range(height + 1) for height in self.heights))

    def successors(self, node: Node) -> list[Node]:
        """The nodes one step above *node*: one attribute a level higher.

        >>> Lattice(("age", "sex"), (3, 1)).successors((1, 1))
        [(2, 1)]
        """
        return [
            (*node[:place], level + 1, *node[place + 1 :])
            for place, level in enumerate(node)
            if level < self.heights[place]
        ]

    def predecessors(self, node: Node) -> list[Node]:
        """The nodes one step below *node*."""
        return [(*node[:place], level - 1, *node[place + 1 :]) for place, level in enumerate(node) if level]

    def everything(self) -> Nodes:
        """All nodes in the order of their levels; ask for `size` first."""
        return self.at(np.arange(self.size))

    def at(self, places: NDArray[np.int64]) -> Nodes:
        """The nodes at *places* of that order, one each; the lattice must have fewer than 2^63 nodes.

        >>> Lattice(("age", "sex"), (3, 1)).at(np.array([0, 1, 7])).tolist()
        [[0, 0], [0, 1], [3, 1]]
        """
        nodes = np.zeros((len(places), len(self.heights)), dtype=np.int16)
        left = np.asarray(places, dtype=np.int64)
        for place, height in reversed(list(enumerate(self.heights))):
            left, nodes[:, place] = np.divmod(left, height + 1)
        return nodes

    def drawn(self, rng: np.random.Generator, count: int) -> Nodes:
        """*count* nodes at random, each with the same chance, repetitions and all."""
        return rng.integers(0, np.array(self.heights) + 1, size=(count, len(self.heights))).astype(np.int16)


def as_nodes(nodes: Sequence[Node] | Nodes, attributes: int) -> Nodes:
    """*nodes* as one array, a node a row."""
    return np.asarray(nodes, dtype=np.int16).reshape(-1, attributes)


def as_tuples(nodes: Nodes) -> list[Node]:
    """The rows of an array as nodes."""
    return [tuple(row) for row in nodes.tolist()]
