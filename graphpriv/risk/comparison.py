"""Two graphs side by side: their neighbourhoods, labels and classes, worked out once for all attackers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.risk.classes import Classes, equal_neighbourhoods
from graphpriv.risk.neighbourhoods import Neighbourhoods, closed_neighbourhoods
from graphpriv.risk.scenarios import user_labels, with_common_codes
from tabular.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Comparison:
    """An original and a masked graph with common codes, and what several attackers need of them."""

    original: SocialGraph
    masked: SocialGraph
    mapping: NDArray[np.int64] | None
    workers: int
    _labels: dict[tuple[str, ...], NDArray[np.int32]] = field(default_factory=dict, repr=False)
    _classes: dict[tuple[tuple[str, ...], int], Classes] = field(default_factory=dict, repr=False)

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
        if mapping is not None:
            mapping = np.asarray(mapping, dtype=np.int64)
            if len(mapping) != len(original):
                raise InvalidInput(f"The mapping has {len(mapping)} users, the original graph {len(original)}.")
            if len(mapping) and (mapping.max() >= len(masked) or mapping.min() < -1):
                raise InvalidInput("The mapping names a user that the released graph does not have.")
        one, other = with_common_codes(original, masked)
        return cls(one, other, mapping, workers or os.cpu_count() or 1)

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """The closed neighbourhoods of both graphs."""
        return closed_neighbourhoods(self.original, self.masked, self.workers)

    def labels(self, attributes: tuple[str, ...]) -> NDArray[np.int32]:
        """One code a user, the original users first."""
        if attributes not in self._labels:
            self._labels[attributes] = np.concatenate(user_labels(self.original, self.masked, attributes))
        return self._labels[attributes]

    def classes(self, attributes: tuple[str, ...], *, budget: int) -> Classes:
        """The classes of equal neighbourhoods under *attributes*."""
        key = (attributes, budget)
        if key not in self._classes:
            self._classes[key] = equal_neighbourhoods(
                self.neighbourhoods,
                self.labels(attributes),
                len(self.original),
                budget=budget,
                workers=self.workers,
            )
        return self._classes[key]
