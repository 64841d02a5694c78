"""Several pieces in one picture: components in cells side by side, discs pushed apart until none covers another.

From: cells on shelves after Coffman, Garey, Johnson and Tarjan (1980), Performance bounds for level-oriented
two-dimensional packing algorithms; here a shelf also takes cells one above the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled

Floats = NDArray[np.float64]

#: What stays free of the side of a cell: a part of it, and no less than a part of the side of a linked user's share.
FREE, LEAST_FREE = 0.05, 0.5

#: So many users of a component, at least, have a bulk that its outliers must not dwarf: this share of them.
FEW, BULK = 50, 0.97

#: Outliers lie at most this much farther out than the bulk, as a share of its radius.
REACH = 0.3

#: How much the users of a large component are spread evenly along each axis, from 0 to 1 (the same gap after each).
EVENLY = 0.25

#: Users without links take at most this share of the area that linked users take.
ISOLATED = 0.2

#: Widths of shelves that are tried, as multiples of the side of a square with the area of all cells.
WIDTHS = np.linspace(1.0, 1.5, 26)

#: Discs cover this share of the unit square before they are pushed apart.
COVERED = 0.6

#: How far discs move towards the middle in a round, at first, as a share of the way.
PULL = 0.01

#: Steps of a sequence that fills the unit square evenly.
SCATTER = np.array([0.7548776662466927, 0.5698402909980532])

#: Rounds of pushing, and the overlap that may stay, as a share of the sum of two radii.
ROUNDS, SLIGHT = 3000, 0.005


def packed(points: Floats, bounds: NDArray[np.int64]) -> Floats:
    """Coordinates in the unit square of users whose components stand between *bounds*, largest component first."""
    if not len(points):
        return points
    sizes = np.diff(bounds)
    sides = _sides(sizes)
    corners = _cells(sides)
    component = np.repeat(np.arange(len(sizes)), sizes)
    filled = sides - np.maximum(FREE * sides, np.minimum(LEAST_FREE, sides / 2))
    inner = filled[component, None] * _unit(_spread(points, bounds), bounds)
    return _fitted(corners[component] + sides[component, None] / 2 + inner)


def _fitted(points: Floats) -> Floats:
    """The same *points*, as large as the unit square allows, in its middle."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = (high - low).max()
    centred: Floats = 0.5 + (points - (low + high) / 2) / (extent if extent > 0 else 1.0)
    return centred


def _sides(sizes: NDArray[np.int64]) -> Floats:
    """The side of the cell of each component: its area goes by the number of users."""
    alone = sizes == 1
    linked = int(sizes[~alone].sum())
    area = 1.0 if not linked else min(1.0, ISOLATED * linked / max(int(alone.sum()), 1))
    sides: Floats = np.sqrt(np.where(alone, area, sizes))
    return sides


def _cells(sides: Floats) -> Floats:
    """The corners of cells, largest first, on the shelves that come closest to a square."""
    area = np.sqrt((sides * sides).sum())
    tried = [_shelves(sides, max(width * area, sides[0])) for width in WIDTHS.tolist()]
    extents = [float((corners + sides[:, None]).max()) for corners in tried]
    return tried[int(np.argmin(extents))]


@compiled
def _shelves(sides: Floats, width: float) -> Floats:
    """The corners of cells, largest first: in columns as high as the shelf's first cell, on shelves of *width*."""
    corners = np.empty((len(sides), 2))
    shelf, height, left, column, top = 0.0, sides[0], 0.0, sides[0], 0.0
    # Sums of sides are off by a rounding error.
    slack = 1e-9 * width
    for cell in range(len(sides)):
        side = sides[cell]
        if top + side > height + slack:
            left, top, column = left + column, 0.0, side
        if left + side > width + slack:
            shelf, height, left, column, top = shelf + height, side, 0.0, side, 0.0
        corners[cell, 0], corners[cell, 1] = left, shelf + top
        top += side
    return corners


def _spread(points: Floats, bounds: NDArray[np.int64]) -> Floats:
    """The same *points*, those of large components spread out: dense parts wider, outliers nearer."""
    spread = points.copy()
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        # Components go by size.
        if high - low < FEW:
            break
        near = _fitted(_outliers_nearer(points[low:high]))
        ranks = np.argsort(np.argsort(near, axis=0, kind="stable"), axis=0, kind="stable")
        spread[low:high] = (1 - EVENLY) * near + EVENLY * (ranks + 0.5) / (high - low)
    return spread


def _outliers_nearer(points: Floats) -> Floats:
    out = points - np.median(points, axis=0)
    radius = np.sqrt((out * out).sum(axis=1))
    bulk = float(np.quantile(radius, BULK)) + 1e-300
    beyond = np.maximum(radius / bulk - 1, 0)
    nearer = np.minimum(radius, bulk) + bulk * REACH * beyond / (REACH + beyond)
    moved: Floats = out * (nearer / np.maximum(radius, 1e-300))[:, None]
    return moved


def _unit(points: Floats, bounds: NDArray[np.int64]) -> Floats:
    """Each component moved and scaled to reach from -0.5 to 0.5 along its longer side."""
    low = np.minimum.reduceat(points, bounds[:-1], axis=0)
    high = np.maximum.reduceat(points, bounds[:-1], axis=0)
    longer = (high - low).max(axis=1)
    scale = np.where(longer > 0, longer, 1.0)
    sizes = np.diff(bounds)
    inner: Floats = (points - np.repeat((low + high) / 2, sizes, axis=0)) / np.repeat(scale, sizes)[:, None]
    return inner


def discs_apart(centres: Floats, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Centres and radii of discs in the unit square, their areas by *sizes*, none over another more than slightly."""
    if not len(sizes):
        return centres, np.empty(0)
    radii = np.sqrt(COVERED / np.pi * sizes / int(sizes.sum()))
    # Discs in one point would not know which way to go: the least step tells them.
    moved = centres + 1e-6 * (np.arange(len(sizes))[:, None] * SCATTER % 1.0)
    _push_apart(moved, radii, ROUNDS, SLIGHT)
    low, high = (moved - radii[:, None]).min(axis=0), (moved + radii[:, None]).max(axis=0)
    extent = (high - low).max()
    return 0.5 + (moved - (low + high) / 2) / extent, radii / extent


@compiled
def _push_apart(centres: Floats, radii: Floats, rounds: int, slight: float) -> None:
    """Move overlapping discs apart, small ones farther, and draw all towards the middle while there is room."""
    discs = len(radii)
    for step in range(rounds):
        # The pull ends half way: what overlaps then is only pushed.
        pull = max(PULL * (1.0 - 2.0 * step / rounds), 0.0)
        for disc in range(discs):
            for axis in range(2):
                centres[disc, axis] += pull * (0.5 - centres[disc, axis])
        worst = 0.0
        for disc in range(discs):
            for other in range(disc):
                across = centres[disc, 0] - centres[other, 0]
                down = centres[disc, 1] - centres[other, 1]
                reach = radii[disc] + radii[other]
                far = across * across + down * down
                if far >= reach * reach:
                    continue
                far = np.sqrt(far) + 1e-300
                worst = max(worst, 1.0 - far / reach)
                lack = (reach - far) / far
                share = radii[other] * radii[other] / (radii[disc] * radii[disc] + radii[other] * radii[other])
                centres[disc, 0] += share * lack * across
                centres[disc, 1] += share * lack * down
                centres[other, 0] -= (1.0 - share) * lack * across
                centres[other, 1] -= (1.0 - share) * lack * down
        if pull == 0.0 and worst <= slight:
            break
