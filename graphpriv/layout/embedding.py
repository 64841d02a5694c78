"""Coordinates of linked users: a spectral start, then attraction along links and repulsion by sampled others.

From: Koren (2005), Drawing graphs by eigenvectors, for the start; Tang, Liu, Zhang and Mei (2016), LargeVis, for
attraction and negative sampling; the weak spring that keeps communities from drifting apart is ours.

Limits: one thread, so that a seed gives the same bytes anywhere; distances between communities mean little, only
who is near whom; links have no weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.synthetic import next_uniform
from tabular.kernels import compiled

Floats = NDArray[np.float64]

#: Rounds of power iteration: enough to tell large communities apart, which is all that a start must do.
ROUNDS = 100

#: Each entry of the rows of neighbours is looked at so often, less often if there are many of them.
LEAST_EPOCHS, MOST_EPOCHS, LOOKS = 10, 150, 20_000_000

#: Users that push each end of a link away each time it is looked at, and how hard.
NEGATIVES, PUSH = 5, 2.0

#: The spring along links, beside an attraction that fades with distance. Without it communities drift far apart and
#: the picture is mostly empty; with a stronger one they run into each other. At first it is so many times as strong on
#: top: users with few links get where they belong.
SPRING, STARTING = 0.08, 4.0

#: Users with more neighbours than this make shorter steps, as they make more of them: a hub would jump about else. They
#: are also pushed less hard, or a hub would be driven out of the midst of its neighbours.
STEADY = 16

#: No step is longer than this at first; it shrinks to nothing at the end.
LONGEST_STEP = 4.0


def embedded(offsets: NDArray[np.int64], targets: NDArray[np.int32], bounds: NDArray[np.int64], seed: int) -> Floats:
    """Coordinates of users whose components stand one after the other, each between two of the *bounds*.

    Each component has coordinates of its own, around 0; those of different components say nothing of each other.
    """
    points = np.zeros((len(offsets) - 1, 2))
    epochs = min(max(LOOKS // max(len(targets), 1), LEAST_EPOCHS), MOST_EPOCHS)
    _embed(offsets, targets, bounds, epochs, np.uint64(seed % (1 << 64)), points)
    return points


@compiled
def _embed(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    bounds: NDArray[np.int64],
    epochs: int,
    seed: np.uint64,
    points: Floats,
) -> None:
    """Fill in the *points* of each component in turn."""
    state = np.array([seed], dtype=np.uint64)
    for component in range(len(bounds) - 1):
        low, high = bounds[component], bounds[component + 1]
        if high - low == 2:
            points[low, 0], points[high - 1, 0] = -1.0, 1.0
        elif high - low > 2:
            _start(offsets, targets, low, high, state, points)
            _settle(offsets, targets, low, high, epochs, state, points)


@compiled
def _start(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    low: int,
    high: int,
    state: NDArray[np.uint64],
    points: Floats,
) -> None:
    """Place a component by two leading eigenvectors of its random walk, the constant one left out.

    The walk stays where it is every other time: a component with two sides would swing between them for ever.
    """
    users = high - low
    roots, after = np.empty(users), np.empty((users, 2))
    weight = 0.0
    for user in range(users):
        count = offsets[low + user + 1] - offsets[low + user]
        roots[user] = np.sqrt(count)
        weight += count
        points[low + user, 0] = next_uniform(state) - 0.5
        points[low + user, 1] = next_uniform(state) - 0.5
    for _ in range(ROUNDS):
        for user in range(users):
            x, y = 0.0, 0.0
            for at in range(offsets[low + user], offsets[low + user + 1]):
                other = targets[at]
                x += points[other, 0] / roots[other - low]
                y += points[other, 1] / roots[other - low]
            after[user, 0] = points[low + user, 0] + x / roots[user]
            after[user, 1] = points[low + user, 1] + y / roots[user]
        for axis in range(2):
            constant, first, length = 0.0, 0.0, 0.0
            for user in range(users):
                constant += after[user, axis] * roots[user]
            for user in range(users):
                after[user, axis] -= constant / weight * roots[user]
                if axis == 1:
                    first += after[user, 0] * after[user, 1]
            for user in range(users):
                if axis == 1:
                    after[user, 1] -= first * after[user, 0]
                length += after[user, axis] * after[user, axis]
            length = np.sqrt(length) + 1e-300
            for user in range(users):
                after[user, axis] /= length
        points[low:high] = after
    # Users far out in a spectrum hold all others together in a point: far points come nearer. Those with the same
    # neighbours have one place: a little noise tells them apart.
    size = users / np.sqrt(weight) / 3.0
    for user in range(users):
        for axis in range(2):
            far = points[low + user, axis] / roots[user] * np.sqrt(weight)
            far = far / np.sqrt(1.0 + far * far / 4.0)
            points[low + user, axis] = size * (far + 0.1 * (next_uniform(state) - 0.5))


@compiled
def _settle(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    low: int,
    high: int,
    epochs: int,
    state: NDArray[np.uint64],
    points: Floats,
) -> None:
    """Let linked users of a component attract each other, and users drawn at random push each other away."""
    users = high - low
    for epoch in range(epochs):
        rate = 1.0 - epoch / epochs
        most = LONGEST_STEP * LONGEST_STEP * rate * rate
        for user in range(low, high):
            x, y = points[user, 0], points[user, 1]
            own = min(STEADY / (offsets[user + 1] - offsets[user]), 1.0)
            for at in range(offsets[user], offsets[user + 1]):
                other = targets[at]
                across, down = points[other, 0] - x, points[other, 1] - y
                far = across * across + down * down
                force = rate * (2.0 / (1.0 + far) + SPRING * (1.0 + STARTING * rate * rate))
                if force * force * far > most:
                    force = np.sqrt(most / far)
                x += own * force * across
                y += own * force * down
                force *= min(STEADY / (offsets[other + 1] - offsets[other]), 1.0)
                points[other, 0] -= force * across
                points[other, 1] -= force * down
                for _ in range(NEGATIVES):
                    other = low + int(next_uniform(state) * users)
                    across, down = x - points[other, 0], y - points[other, 1]
                    far = across * across + down * down
                    if other != user and far > 0.0:
                        force = rate * own * 2.0 * PUSH / ((0.001 + far) * (1.0 + far))
                        if force * force * far > most:
                            force = np.sqrt(most / far)
                        x += own * force * across
                        y += own * force * down
            points[user, 0], points[user, 1] = x, y
