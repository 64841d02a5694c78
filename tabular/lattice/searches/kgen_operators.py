"""The operators of KGEN: who mates, what comes of it, and how it changes (De Pascale and others 2023, section 3.5).

Nodes are rows of arrays throughout; the least and the greatest level of each attribute are arrays of one row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.space import Nodes

#: The age from which a node is no parent any more.
OLD = 10

Shares = NDArray[np.float64]
Flags = NDArray[np.bool_]


def weights(shares: Shares, ages: NDArray[np.int64]) -> Shares:
    """How readily each node is taken as a parent: by the *shares* that it keeps, less with every generation it is old.

    *shares* are of loss, 0 to 1. KGEN's eq 3 has the loss itself for a weight, which would prefer the worst.

    >>> weights(np.array([0.2, 0.2, 0.2]), np.array([0, 5, 10])).tolist()
    [0.8, 0.4, 0.0]
    """
    return (1 - shares) * np.maximum(OLD - ages, 0) / OLD


def pairs(
    weight: Shares, count: int, rounds: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """*count* pairs of parents: each the heaviest of *rounds* drawn by weight, the second other than the first.

    With one round the chances are those of KGEN's eq 3. Where nothing that can be drawn has a weight, all are alike.
    """
    table = np.tile(weight, (count, 1))
    first = _heaviest(table, weight, rounds, rng)
    if len(weight) == 1:
        return first, first
    places = np.arange(count)
    table[places, first] = 0
    without = ~table.any(axis=1)
    table[without] = 1
    table[places, first] = 0
    return first, _heaviest(table, weight, rounds, rng)


def _heaviest(table: Shares, weight: Shares, rounds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each row of *table* the heaviest of so many places drawn by the weights in it."""
    table = np.where(table.any(axis=1, keepdims=True), table, 1.0)
    sums = np.cumsum(table, axis=1)
    marks = rng.random((len(table), rounds)) * sums[:, -1:]
    # The place whose weight reaches over the mark; one without weight never does.
    drawn = (sums[:, None, :] <= marks[:, :, None]).sum(axis=2)
    best = np.argmax(weight[drawn], axis=1)
    found: NDArray[np.int64] = drawn[np.arange(len(table)), best]
    return found


def between(low: Nodes, high: Nodes, rng: np.random.Generator) -> Nodes:
    """A random node from each of *low* up to each of *high*, both included."""
    return rng.integers(low, high, endpoint=True, dtype=np.int16)


def crossed(
    parents: tuple[Nodes, Nodes], hold: tuple[Flags, Flags], lowest_holds: Flags, rng: np.random.Generator
) -> Nodes:
    """The children of pairs, by whether both parents, neither or one of them *hold* the limits.

    Both: their lowest node if that holds, too, else one random node from the lowest up to each of the parents.
    Neither: their highest node. One: a random node from the lowest up to the parent that holds.
    """
    (first, second), low = parents, np.minimum(*parents)
    both = hold[0] & hold[1]
    found, open_pairs, one = both & lowest_holds, both & ~lowest_holds, hold[0] ^ hold[1]
    holder = np.where(hold[0][:, None], first, second)
    return np.concatenate(
        [
            low[found],
            between(low[open_pairs], first[open_pairs], rng),
            between(low[open_pairs], second[open_pairs], rng),
            np.maximum(first, second)[~hold[0] & ~hold[1]],
            between(low[one], holder[one], rng),
        ]
    )


def mutated(nodes: Nodes, low: Nodes, high: Nodes, rate: float, rng: np.random.Generator) -> Nodes:
    """*nodes* of which each had, at a chance of *rate*, one attribute that has several levels put to another one."""
    changed = nodes.copy()
    free = np.flatnonzero(high > low)
    for place in np.flatnonzero(rng.random(len(nodes)) < rate):
        if len(free):
            gene = rng.choice(free)
            level = rng.integers(low[gene], high[gene])
            # The levels but the present one: those from it on are one further.
            changed[place, gene] = level + (level >= nodes[place, gene])
    return changed


def moved_sideways(
    nodes: Nodes, low: Nodes, high: Nodes, *, rate: float, share: float, rng: np.random.Generator
) -> Nodes:
    """*nodes* of which each had, at a chance of *rate*, a *share* of its attributes moved up and down by turns.

    At random the one goes up from its level to its greatest, the next down to its least, and so on. The share is
    rounded down, but at least two are moved, so that the node leaves the paths it is on; one alone is not moved.
    """
    changed = nodes.copy()
    attributes = nodes.shape[1]
    count = max(2, int(share * attributes))
    for place in np.flatnonzero(rng.random(len(nodes)) < rate):
        if attributes > 1:
            genes = rng.choice(attributes, size=count, replace=False)
            up, down = genes[0::2], genes[1::2]
            changed[place, up] = rng.integers(nodes[place, up], high[up], endpoint=True)
            changed[place, down] = rng.integers(low[down], nodes[place, down], endpoint=True)
    return changed
