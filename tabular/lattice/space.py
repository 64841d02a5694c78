"""The lattice of full-domain generalisations: its nodes, and the limits that they must keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput, NoSolution, named
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.protections import check_k
from tabular.registry import Method, option
from tabular.table import Table, suppression_limit

#: The most rows of a table that is searched: for so many it is shown, where it is added up, that every sum of the
#: lattice stays within 64 bits.
MOST_ROWS = 10**9

#: Whole numbers below this are divided as they are.
WHOLE = 1 << 52

#: One level for each quasi-identifier, in their order.
Node = tuple[int, ...]

#: Many nodes, one a row; and one of them.
Nodes = NDArray[np.int16]
Levels = NDArray[np.int16]

#: Arrays as all of the lattice has them: whole numbers, other numbers, yes or no.
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


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

    @cached_property
    def node_heights(self) -> NDArray[np.int32]:
        """The height of each node, which is the sum of its levels, in the order of their levels.

        >>> Lattice(("age", "sex"), (2, 1)).node_heights.tolist()
        [0, 1, 1, 2, 2, 3]
        """
        levels = np.indices(self.shape, dtype=np.int32, sparse=True)
        return sum(levels, start=np.zeros(self.shape, dtype=np.int32)).ravel()

    @cached_property
    def precision_shares(self) -> tuple[Numbers, ...]:
        """By attribute and level what a level adds to the precision, as a whole multiple of 1 / `precision_parts`.

        >>> [each.tolist() for each in Lattice(("age", "sex"), (3, 2)).precision_shares]
        [[0, 2, 4, 6], [0, 3, 6]]
        """
        parts = self.precision_parts // len(self.heights)
        kind = np.int64 if self.precision_parts < WHOLE else object
        return tuple(np.arange(height + 1).astype(kind) * (parts // max(height, 1)) for height in self.heights)

    @cached_property
    def precision_parts(self) -> int:
        """The common denominator of the precision of all nodes."""
        return lcm(*(height for height in self.heights if height), 1) * len(self.heights)

    def precision(self, nodes: Nodes) -> Floats:
        """The precision of *nodes*: one whole number divided by another, so that equal ones have the same digits.

        Precisions that differ are different floats, too, where the heights have a common denominator of up to 52 bits.

        >>> Lattice(("a", "b", "c"), (2, 3, 4)).precision(np.array([[1, 1, 2], [0, 1, 4], [1, 2, 1]])).tolist()
        [0.4444444444444444, 0.4444444444444444, 0.4722222222222222]
        """
        shares = [each[nodes[:, place]] for place, each in enumerate(self.precision_shares)]
        return np.asarray(sum(shares[1:], start=shares[0]) / self.precision_parts, dtype=np.float64)

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

    def at(self, places: Numbers) -> Nodes:
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


@dataclass(frozen=True, kw_only=True)
class Limits(Method):
    """The least k and l, the greatest t, and the share of the rows that may be suppressed.

    With k or l given, the classes that break one of them are suppressed, and a node satisfies where these are no more
    rows than may go. A row in a class that keeps both is in such a class on every coarser node, too: so the nodes that
    satisfy k and l are closed upwards, whatever may be suppressed. t is asked of the rows that are left.

    With neither, each node has the k of property-based generalisation (Dewri and others 2010, section 6): the smallest
    size s such that more rows than may be suppressed lie in classes of up to s rows; smaller classes are suppressed.
    """

    k: int | None = option(None, low=1, help="rows of a class, at least")
    l: int | None = option(None, low=1, help="distinct sensitive values of a class, at least")  # noqa: E741
    t: float | None = option(None, low=0, high=1, help="distance of a class's sensitive values from all, at most")
    suppression: float = option(0.0, low=0, high=1, help="share of the rows that may be suppressed")

    @property
    def are_fixed(self) -> bool:
        """Whether classes are suppressed for k and l that are given; else each node has a k of its own."""
        return self.k is not None or self.l is not None

    @property
    def are_monotone(self) -> bool:
        """Whether all nodes above one that satisfies do so: t breaks that where rows can be suppressed."""
        return self.t is None or self.suppression == 0

    def suppressible(self, rows: int) -> int:
        """How many of *rows* may be suppressed; never all."""
        return min(suppression_limit(self.suppression, rows), rows - 1)


def refuse_unreachable(table: Table, limits: Limits, sensitive: str | None = None) -> None:
    """Refuse a k or an l that not even all rows together have.

    The top of the lattice puts all rows into one class, which has their number for k, all sensitive values for l and
    0 for t, and suppresses none: whatever it does not satisfy, no node does.
    """
    rows = len(table)
    if limits.k is not None and limits.k > rows > 0:
        raise NoSolution(
            f"No release with k={limits.k} exists: the table has {rows} records. The nearest limit that can be met is "
            f"k={rows}, by the node that makes them all alike. Lower {named('k')} or add records."
        )
    if limits.l is not None and sensitive is not None and rows:
        values = len(np.unique(table.columns[sensitive]))
        if limits.l > values:
            raise NoSolution(
                f"No release with l={limits.l} exists: column {sensitive!r} has {values} distinct values. The nearest "
                f"limit that can be met is l={values}, by the node that makes all records alike. Lower {named('l')}."
            )


def lower_bounds(
    table: Table, hierarchies: Mapping[str, Hierarchy], k: int, *, suppression: float = 0.0
) -> dict[str, int]:
    """For each attribute the lowest level at which no more rows lie in classes below *k* than may be suppressed.

    No node with a lower level is k-anonymous: a row in a small class on one attribute is in one on any combination of
    attributes, so that too many rows would have to go (KGEN, section 3.2; taken without the limit, as its section 7
    warns, the bound does not hold where rows are suppressed).
    """
    check_k(k, len(table))
    limit = Limits(suppression=suppression).suppressible(len(table))
    bounds = {}
    for name, given in hierarchies.items():
        codes, levels = table.columns[name], given.over(table.attribute(name).domain).levels
        for number, level in enumerate(levels):
            sizes = np.bincount(level.groups[codes], minlength=len(level.labels))
            # The last level has one class of all rows: some level always does.
            if int(sizes[sizes < k].sum()) <= limit:
                bounds[name] = number
                break
    return bounds
