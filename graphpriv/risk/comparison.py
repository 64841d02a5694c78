"""Two graphs side by side: their neighbourhoods, labels and classes, worked out once for all attackers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph, common_codes
from graphpriv.measures import Pair
from graphpriv.risk.equal_neighbourhoods import NeighbourhoodClasses, equal_neighbourhoods
from graphpriv.risk.neighbourhoods import Neighbourhoods, closed_neighbourhoods
from tabular.errors import UnknownName
from tabular.table import equivalence_classes


@dataclass(frozen=True, eq=False)
class Comparison:
    """An original and a masked graph with common codes, and what several attackers need of them."""

    original: SocialGraph
    masked: SocialGraph
    mapping: NDArray[np.int64] | None
    workers: int
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
    ) -> Comparison:
        """Put two graphs side by side; *mapping* says for each original user where it is in *masked*, -1 nowhere."""
        pair = Pair.of(original, masked, mapping)
        return cls(pair.original, pair.masked, pair.mapping, workers or os.cpu_count() or 1)

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """The closed neighbourhoods of both graphs."""
        return closed_neighbourhoods(self.original, self.masked, self.workers)

    def labels(self, attributes: tuple[str, ...]) -> NDArray[np.int32]:
        """One code a user, the original users first."""
        if attributes not in self._labels:
            self._labels[attributes] = user_labels(self.original, self.masked, attributes)
        return self._labels[attributes]

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
