"""The operators of PBG-EA (Dewri and others 2010, section 6), on nodes as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.space import Nodes


def dominance_fitness(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each row of *costs* the sum, over those that dominate it, of how many each of them dominates; 0 is best.

    >>> dominance_fitness(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 1.0], [3.0, 3.0]])).tolist()
    [0, 3, 3, 5]
    """
    no_worse = (costs[:, np.newaxis] <= costs[np.newaxis]).all(axis=2)
    dominates = no_worse & ~no_worse.T
    fitness: NDArray[np.int64] = dominates.T.astype(np.int64) @ dominates.sum(axis=1)
    return fitness


def tournaments(fitness: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The winners of *count* tournaments between two drawn at random: the lower fitness; a tie goes to the first."""
    rivals = rng.integers(len(fitness), size=(count, 2))
    winners: NDArray[np.int64] = np.where(fitness[rivals[:, 1]] < fitness[rivals[:, 0]], rivals[:, 1], rivals[:, 0])
    return winners


def crossed(nodes: Nodes, probability: float, rng: np.random.Generator) -> Nodes:
    """Pairs of *nodes*, drawn without replacement, exchange what lies behind a point at random, or stay as they are.

    Of an odd number one is left over and stays as it is.
    """
    children = nodes[rng.permutation(len(nodes))]
    attributes = nodes.shape[1]
    if attributes < 2:
        return children
    pairs = len(nodes) // 2
    points = rng.integers(1, attributes, size=pairs)
    points[rng.random(pairs) >= probability] = attributes
    behind = np.arange(attributes) >= points[:, np.newaxis]
    first, second = children[0 : 2 * pairs : 2].copy(), children[1 : 2 * pairs : 2].copy()
    children[0 : 2 * pairs : 2] = np.where(behind, second, first)
    children[1 : 2 * pairs : 2] = np.where(behind, first, second)
    return children


def stepped(nodes: Nodes, heights: NDArray[np.int16], probability: float, rng: np.random.Generator) -> Nodes:
    """Each level goes one up or one down with this *probability*; what would leave the hierarchy stays at its end."""
    steps = rng.choice(np.array([-1, 1], dtype=np.int16), size=nodes.shape)
    moved = nodes + np.where(rng.random(nodes.shape) < probability, steps, 0).astype(np.int16)
    return np.clip(moved, 0, heights).astype(np.int16)
