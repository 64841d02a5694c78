"""Where to draw each user: links pull, users push, and the push of all on all is a convolution on a grid.

Forces follow Jacomy, Venturini, Heymann and Bastian (2014), "ForceAtlas2": a user pushes by its degree, so hubs keep
their followers around them. The steps are cooled as in Fruchterman and Reingold (1991). The start is pivot
multidimensional scaling (Brandes and Pich, 2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from graphpriv.graph import Links

#: Cells along one side of the grid, steps, pivots; strength of the push and of the pull to the middle.
_CELLS, _STEPS, _PIVOTS = 96, 260, 24
_PUSH, _GRAVITY = 1.0, 0.06

Points = NDArray[np.float64]


def layout(neighbours: Links, *, seed: int = 0) -> Points:
    """A point in the unit square for each user; the same links and seed give the same points."""
    users = len(neighbours.offsets) - 1
    if users < 3:
        return np.column_stack([np.linspace(0.3, 0.7, users), np.full(users, 0.5)])
    mass = 1.0 + neighbours.counts.astype(np.float64)
    # Rounded, so that the last bits of the start do not differ between machines.
    points = np.round(_start(neighbours, np.random.default_rng(seed)), 6) * np.sqrt(users)
    sources, targets = neighbours.sources, neighbours.targets
    reach = np.sqrt(users) / 4
    push = _Push()
    for step in range(_STEPS):
        force = _PUSH * push(points, mass) + _pull(points, sources, targets, users) / mass[:, None]
        force -= _GRAVITY * points / (1e-9 + np.hypot(*points.T))[:, None]
        length = np.hypot(*force.T)[:, None] + 1e-12
        limit = reach * (1 - step / _STEPS) ** 1.5 + 1e-3
        points = points + force / length * np.minimum(length, limit)
    return _into_unit_square(points)


class _Push:
    """The force of all on all, 1 / distance, softened below the size of a cell."""

    def __init__(self) -> None:
        side = 2 * _CELLS
        away = np.fft.fftfreq(side, 1 / side)
        across, down = np.meshgrid(away, away, indexing="ij")
        square = across**2 + down**2 + 0.5
        self._kernels = np.fft.rfft2(across / square), np.fft.rfft2(down / square)
        self._shape = (side, side)

    def __call__(self, points: Points, mass: NDArray[np.float64]) -> Points:
        low = points.min(axis=0)
        cell = float(np.max(points.max(axis=0) - low)) / (_CELLS - 2) + 1e-9
        place = (points - low) / cell
        corner = place.astype(np.int64)
        inside = place - corner
        weights, at = [], []
        for right in (0, 1):
            for below in (0, 1):
                share = np.abs(1 - right - inside[:, 0]) * np.abs(1 - below - inside[:, 1])
                weights.append(share)
                at.append((corner[:, 0] + right) * self._shape[1] + corner[:, 1] + below)
        size = self._shape[0] * self._shape[1]
        filled = np.bincount(np.concatenate(at), np.concatenate([mass * each for each in weights]), minlength=size)
        spectrum = np.fft.rfft2(filled.reshape(self._shape))
        fields = [np.fft.irfft2(spectrum * kernel, self._shape).ravel() for kernel in self._kernels]
        return np.column_stack(
            [sum(field[where] * share for where, share in zip(at, weights, strict=True)) / cell for field in fields]
        )


def _pull(points: Points, sources: NDArray[np.int32], targets: NDArray[np.int32], users: int) -> Points:
    between = points[targets] - points[sources]
    return np.column_stack([np.bincount(sources, between[:, axis], minlength=users) for axis in (0, 1)])


def _start(neighbours: Links, rng: np.random.Generator) -> Points:
    users = len(neighbours.offsets) - 1
    links = csr_array((np.ones(len(neighbours.targets)), neighbours.targets, neighbours.offsets), shape=(users, users))
    pivot = int(np.argmax(neighbours.counts))
    columns = []
    nearest = np.full(users, np.inf)
    for _ in range(min(_PIVOTS, users)):
        steps = dijkstra(links, unweighted=True, indices=pivot)
        columns.append(steps)
        nearest = np.minimum(nearest, steps)
        # What no pivot reaches is looked at last: first the far ends of the part that holds the hub.
        pivot = int(np.argmax(np.where(np.isfinite(nearest), nearest, -1)))
    distances = np.column_stack(columns)
    reached = np.isfinite(distances)
    distances[~reached] = distances[reached].max() + 2
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = centred @ vectors[:, -2:]
    # The sign of an eigenvector is a matter of taste of the library; ours is that the largest part is positive.
    found *= np.sign(found[np.abs(found).argmax(axis=0), [0, 1]] + 1e-300)
    found /= np.abs(found).max(axis=0) + 1e-9
    start: Points = found + rng.normal(scale=0.05, size=found.shape)
    return start


def _into_unit_square(points: Points) -> Points:
    middle = np.median(points, axis=0)
    # A few users far out would shrink all others; they are moved to the rim.
    distance = np.hypot(*(points - middle).T)
    rim = max(float(np.quantile(distance, 0.985)) * 1.15, 1e-9)
    moved = (points - middle) * np.minimum(1, rim / np.maximum(distance, 1e-9))[:, None]
    span = float(np.max(moved.max(axis=0) - moved.min(axis=0))) or 1.0
    unit: Points = 0.5 + (moved - (moved.max(axis=0) + moved.min(axis=0)) / 2) / span
    return unit
