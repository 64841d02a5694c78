"""Measures of what a masked graph lost against its original (Mares Soler 2013, section 6.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, Links, SocialGraph, common_codes
from graphpriv.places import TOP
from tabular.errors import InvalidInput
from tabular.registry import Method, Registry

__all__ = ["Measure", "Pair", "Reading", "information_loss", "measures"]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two graphs with common codes, and for each original user its position in the masked one (-1: none) or None."""

    original: SocialGraph
    masked: SocialGraph
    mapping: NDArray[np.int64] | None

    @classmethod
    def of(cls, original: SocialGraph, masked: SocialGraph, mapping: NDArray[np.int64] | None = None) -> Pair:
        """The pair in common codes; a mapping that does not fit, or one graph directed and one not, is refused."""
        if original.directed != masked.directed:
            raise InvalidInput(
                "One of the two graphs is directed and the other is not; read both as undirected to compare them."
            )
        if mapping is not None:
            mapping = _checked(np.asarray(mapping), len(original), len(masked))
        return cls(*common_codes(original, masked), mapping)

    @property
    def left_out(self) -> int:
        """How many users of either graph have no counterpart in the other; 0 where the mapping is not known."""
        if self.mapping is None:
            return 0
        known = int((self.mapping >= 0).sum())
        return len(self.original) + len(self.masked) - 2 * known

    @cached_property
    def aligned(self) -> Pair:
        """The pair with the masked users in the order of the original ones, where everybody has a counterpart.

        What is found in it does not depend on the order that the release happens to have.
        """
        if self.mapping is None or self.left_out:
            return self
        users = np.arange(len(self.original), dtype=np.int64)
        return Pair(self.original, self.masked.among(self.mapping), users)

    @cached_property
    def shared(self) -> Pair:
        """The pair among the users who are in both graphs, with the edges between them.

        After a person was forgotten, the release still has a user whom no original user stands for: losses are then
        those of all the others. Without a mapping nobody can be told apart, and the pair stays as it is.
        """
        if self.mapping is None or not self.left_out:
            return self
        known = np.flatnonzero(self.mapping >= 0)
        return Pair.of(
            self.original.restricted(known),
            self.masked.restricted(self.mapping[known]),
            np.arange(len(known), dtype=np.int64),
        )


def _checked(mapping: NDArray[np.int64], users: int, masked_users: int) -> NDArray[np.int64]:
    if mapping.shape != (users,):
        raise InvalidInput(f"The mapping has {mapping.size} entries; it must have one for each of {users} users.")
    if users and (mapping.min() < -1 or mapping.max() >= masked_users):
        raise InvalidInput(
            f"The mapping names a user that the released graph does not have; it has {masked_users} users."
        )
    known = mapping[mapping >= 0]
    if len(np.unique(known)) < len(known):
        raise InvalidInput("The mapping gives two users the same counterpart; each must have one of its own.")
    return mapping.astype(np.int64)


@dataclass(frozen=True)
class Reading:
    """What a measure returns: the loss of each attribute and their mean, 0 where nothing was lost."""

    by_attribute: Mapping[str, float]
    mean: float

    @classmethod
    def of(cls, by_attribute: Mapping[str, float]) -> Reading:
        """The reading with the plain mean over the attributes (eq 6.3 and 6.5)."""
        return cls(by_attribute, sum(by_attribute.values()) / len(by_attribute))


@dataclass(frozen=True, kw_only=True)
class Measure(Method):
    """A way to compare an original with a masked graph."""

    @abstractmethod
    def measure(self, pair: Pair) -> Reading | None:
        """The loss by attribute; None where it cannot be known because the mapping is not."""


measures: Registry[Measure] = Registry("measure")


def information_loss(pair: Pair) -> float | None:
    """The mean of AAMIL, CDIL and DBIL (Mares Soler 2013, eq 6.8); None without a mapping."""
    readings = [measures[name].method().measure(pair) for name in ("aamil", "cdil", "dbil")]
    means = [reading.mean for reading in readings if reading is not None]
    return sum(means) / len(means) if len(means) == len(readings) else None


@measures.add(
    "aamil",
    cites="Mares Soler (2013), eq 6.3 and 6.4",
    limits="needs no mapping; exceeds 1 where the masked graph has more edges than the original",
)
@dataclass(frozen=True, kw_only=True)
class AdjacencyLoss(Measure):
    """Share of links that now run between other values, by attribute (0 without edges)."""

    def measure(self, pair: Pair) -> Reading:
        """Eq 6.4: links from value to value, counted in both graphs; an undirected edge counts in both directions."""
        return _reading(pair.shared, rows_of_original=False)


@measures.add(
    "aamil-anchored",
    cites="Mares Soler (2013), Figure 6.6",
    limits="needs the mapping; links are those of the masked graph, whose edges may be others than the original's",
)
@dataclass(frozen=True, kw_only=True)
class AnchoredAdjacencyLoss(Measure):
    """Share of links whose far end has a new value, with the near end at its original one."""

    def measure(self, pair: Pair) -> Reading | None:
        """As Figure 6.6 counts: rows by the original value of the node, columns by the masked value of the neighbour.

        Links are taken from the masked graph, so that edges added or removed count as well.
        """
        return None if pair.mapping is None else _reading(pair.shared, rows_of_original=True)


#: The cells of an adjacency matrix that are not 0, as keys, and the number of links in each.
Cells = tuple[NDArray[np.int64], NDArray[np.int64]]


def _reading(pair: Pair, *, rows_of_original: bool) -> Reading:
    by_attribute = {}
    for name in ATTRIBUTES:
        before, after = pair.original.attribute(name), pair.masked.attribute(name)
        near = after
        if rows_of_original and pair.mapping is not None:
            near = np.empty_like(after)
            near[pair.mapping] = before
        values = len(pair.original.places if name == "location" else pair.original.topic_names)
        by_attribute[name] = adjacency_loss(
            adjacency(pair.original.follows, before, before, values),
            adjacency(pair.masked.follows, near, after, values),
        )
    return Reading.of(by_attribute)


def adjacency(links: Links, near: NDArray[np.int32], far: NDArray[np.int32], values: int) -> Cells:
    """The links from value to value, near ends by *near* and far ends by *far*; -1 is a value like any of *values*."""
    # A matrix of all places by all places would be mostly 0.
    keys = (near[links.sources] + 1).astype(np.int64) * (values + 1) + far[links.targets] + 1
    return np.unique(keys, return_counts=True)


def adjacency_loss(before: Cells, after: Cells) -> float:
    """Eq 6.4 for the cells of two matrices.

    >>> original = np.array([1, 3, 2, 6]), np.array([1, 1, 1, 1])
    >>> masked = np.array([0, 3, 6]), np.array([2, 1, 1])
    >>> adjacency_loss(original, masked)
    0.5
    """
    links = int(before[1].sum())
    if not links:
        return 0.0
    _, cell = np.unique(np.concatenate([before[0], after[0]]), return_inverse=True)
    difference = np.zeros(len(cell), dtype=np.int64)
    np.add.at(difference, cell, np.concatenate([before[1], -after[1]]))
    # Whole numbers are summed and divided once: the same figure whatever the order of users and links.
    return int(np.abs(difference).sum()) / (2 * links)


@measures.add(
    "cdil",
    cites="Mares Soler (2013), eq 6.5 and 6.6",
    limits="needs no mapping; sees how often a value occurs, not where",
)
@dataclass(frozen=True, kw_only=True)
class DistributionLoss(Measure):
    """Share of users that moved between values, judged by the frequencies of the values."""

    def measure(self, pair: Pair) -> Reading:
        """Eq 6.6 for each attribute."""
        pair = pair.shared
        return Reading.of(
            {name: distribution_loss(pair.original.attribute(name), pair.masked.attribute(name)) for name in ATTRIBUTES}
        )


def distribution_loss(before: NDArray[np.int32], after: NDArray[np.int32]) -> float:
    """Eq 6.6 for two columns of codes; -1, unknown or empty, is a value of its own.

    >>> distribution_loss(np.array([0, 0, 1]), np.array([0, 0, 0]))
    0.3333333333333333
    """
    if not len(before):
        return 0.0
    values = int(max(before.max(), after.max(initial=-1))) + 2
    difference = np.bincount(before + 1, minlength=values) - np.bincount(after + 1, minlength=values)
    return int(np.abs(difference).sum()) / (2 * len(before))


@measures.add(
    "dbil",
    cites="Mares Soler (2013), eq 6.7",
    limits="needs the mapping",
)
@dataclass(frozen=True, kw_only=True)
class DistanceLoss(Measure):
    """Mean distance between a user's original and released profile."""

    def measure(self, pair: Pair) -> Reading | None:
        """Eq 6.7, by attribute and over all."""
        if pair.mapping is None:
            return None
        moved = sevenths(pair.shared)
        whole = TOP * max(len(moved), 1)
        totals = [int(total) for total in moved.sum(axis=0, dtype=np.int64)]
        return Reading(
            by_attribute={name: total / whole for name, total in zip(ATTRIBUTES, totals, strict=True)},
            mean=sum(totals) / (len(ATTRIBUTES) * whole),
        )


def sevenths(pair: Pair) -> NDArray[np.int8]:
    """For each original user with a counterpart and each attribute the distance between the two values, in sevenths.

    Distances are those of eq 6.1 for the location and of eq 6.2 for topics. The row's sum over 28 is the DBIL of the
    user, as in Figure 6.8.
    """
    if pair.mapping is None:
        raise ValueError("The mapping of users is not known.")
    known = np.flatnonzero(pair.mapping >= 0)
    into = pair.mapping[known]
    steps = pair.original.places.steps(pair.original.location[known], pair.masked.location[into])
    topics = TOP * (pair.original.topics[known] != pair.masked.topics[into]).astype(np.int8)
    return np.column_stack([steps, topics]).astype(np.int8)
