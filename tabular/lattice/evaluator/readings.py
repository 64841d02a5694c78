"""What was found of nodes: one array a metric, one place a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.metrics import METRICS
from tabular.lattice.space import Node, Nodes, as_tuples


@dataclass(frozen=True, eq=False)
class Readings:
    """The metrics of nodes, with `suppressed` rows and whether each `satisfies` the limits.

    All are of the release that suppresses those rows, also where they are more than may be.
    """

    nodes: Nodes
    values: Mapping[str, NDArray[Any]]

    @classmethod
    def together(cls, parts: Sequence[Readings]) -> Readings:
        """All of the *parts*, one after the other."""
        return cls(
            np.concatenate([part.nodes for part in parts]),
            {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values},
        )

    @classmethod
    def gathered(cls, places: Sequence[tuple[Readings, int]]) -> Readings:
        """Single readings put together: of each pair the one at that place."""
        return cls(
            np.stack([found.nodes[place] for found, place in places]),
            {name: np.array([found[name][place] for found, place in places]) for name in places[0][0].values},
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    @property
    def satisfying(self) -> NDArray[np.bool_]:
        """Which nodes satisfy the limits."""
        return self.values["satisfies"]

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_] | Sequence[int]) -> Readings:
        """The readings at *places*, in that order."""
        chosen = np.asarray(places)
        if not chosen.size:
            chosen = np.zeros(0, dtype=np.int64)
        return Readings(self.nodes[chosen], {name: array[chosen] for name, array in self.values.items()})

    def tuples(self) -> list[Node]:
        """The nodes as tuples."""
        return as_tuples(self.nodes)

    def costs(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The objectives *names* with lower numbers for what is better, one column each."""
        columns = [self[name] if METRICS[name].is_loss else -self[name].astype(np.float64) for name in names]
        return np.stack(columns, axis=1).astype(np.float64)

    def ordered(self, names: Sequence[str]) -> Readings:
        """Sorted, the best by the first of the objectives *names* first; ties by the others, then by the levels."""
        costs = self.costs(names)
        keys = [*self.nodes.T[::-1], *costs.T[::-1]]
        return self.take(np.lexsort(keys))

    def document(self, place: int) -> dict[str, Any]:
        """One node as plain values; None stands for what cannot be had, such as an infinite number."""
        found: dict[str, Any] = {"node": self.nodes[place].tolist()}
        for name, array in self.values.items():
            value = array[place].item()
            found[name] = value if not isinstance(value, float) or isfinite(value) else None
        return found
