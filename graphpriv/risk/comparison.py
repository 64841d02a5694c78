"""Two graphs side by side: their neighbourhoods, labels and classes, worked out once for all attackers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, common_codes
from graphpriv.measures import Pair
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.equal_neighbourhoods import NeighbourhoodClasses, equal_neighbourhoods
from graphpriv.risk.neighbourhoods import Neighbourhoods, closed_neighbourhoods
from graphpriv.structure import structure
from tabular.errors import UnknownName
from tabular.loop import ALONE, Parts, key_of, processors
from tabular.table import equivalence_classes


@dataclass(frozen=True, eq=False)
class ComparedLinks:
    """The links of two graphs, and what was found by these alone: it holds for any two graphs with such links."""

    pair: Pair = field(repr=False)
    workers: int
    #: What attackers found who know no attributes, by attacker.
    disclosures: dict[Hashable, Disclosure] = field(default_factory=dict, repr=False)

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """The closed neighbourhoods of both graphs."""
        return closed_neighbourhoods(self.pair.original, self.pair.masked, self.workers)

    @cached_property
    def key(self) -> str:
        """A digest of the links and the counterparts."""
        graphs = (self.pair.original, self.pair.masked)
        links = [each for graph in graphs for each in (graph.directed, graph.follows.offsets, graph.follows.targets)]
        return key_of(*links, self.pair.mapping)

    @cached_property
    def structure(self) -> dict[str, Any]:
        """The figures of the original that an audit compares."""
        return structure(self.pair.original)

    def fits(self, pair: Pair) -> bool:
        """Whether the users of *pair* are linked in the same way, and have the same counterparts."""
        return (
            self.pair.original.same_links(pair.original)
            and self.pair.masked.same_links(pair.masked)
            and _equal(self.pair.mapping, pair.mapping)
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """An original and a masked graph with common codes, and what several attackers need of them."""

    original: SocialGraph
    masked: SocialGraph
    mapping: NDArray[np.int64] | None
    workers: int
    links: ComparedLinks = field(repr=False)
    parts: Parts = field(repr=False)
    _labels: dict[tuple[str, ...], NDArray[np.int32]] = field(default_factory=dict, repr=False)
    _classes: dict[tuple[tuple[str, ...], int], NeighbourhoodClasses] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        original: SocialGraph,
        masked: SocialGraph,
        mapping: NDArray[np.int64] | None = None,
        *,
        workers: int | None = None,
        links: ComparedLinks | None = None,
        parts: Parts = ALONE,
    ) -> Comparison:
        """Put two graphs side by side; *mapping* says for each original user where it is in *masked*, -1 nowhere.

        *links* are those of an earlier comparison: if they are the same, what was found by them is not looked for
        again. The search goes by *parts*.
        """
        pair, workers = Pair.of(original, masked, mapping), workers or processors()
        if links is None or not links.fits(pair):
            links = ComparedLinks(pair, workers)
        return cls(pair.original, pair.masked, pair.mapping, workers, links, parts)

    @property
    def neighbourhoods(self) -> Neighbourhoods:
        """The closed neighbourhoods of both graphs."""
        return self.links.neighbourhoods

    def labels(self, attributes: tuple[str, ...]) -> NDArray[np.int32]:
        """One code a user, the original users first."""
        if attributes not in self._labels:
            self._labels[attributes] = user_labels(self.original, self.masked, attributes)
        return self._labels[attributes]

    def key(self, attributes: tuple[str, ...]) -> str:
        """A digest of all that attackers are told who know these *attributes*."""
        return key_of(self.links.key, self.labels(attributes))

    def labelled(self, attributes: tuple[str, ...]) -> Neighbourhoods:
        """The neighbourhoods under those labels."""
        return self.neighbourhoods.labelled(self.labels(attributes))

    def classes(self, attributes: tuple[str, ...], *, steps: int) -> NeighbourhoodClasses:
        """The classes of equal neighbourhoods under *attributes*."""
        key = (attributes, steps)
        if key not in self._classes:
            self._classes[key] = equal_neighbourhoods(
                self.labelled(attributes), len(self.original), steps=steps, workers=self.workers
            )
        return self._classes[key]


def user_labels(original: SocialGraph, masked: SocialGraph, attributes: tuple[str, ...]) -> NDArray[np.int32]:
    """One code a user for its values of *attributes*, equal exactly where all values are; the original users first."""
    for name in attributes:
        if name not in ATTRIBUTES:
            raise UnknownName.among("attribute", name, ATTRIBUTES)
    original, masked = common_codes(original, masked)
    columns = [np.concatenate([original.attribute(name), masked.attribute(name)]) for name in attributes]
    if not columns:
        return np.zeros(len(original) + len(masked), dtype=np.int32)
    return equivalence_classes(columns).labels.astype(np.int32)


def _equal(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)
