"""A graph before and after its protection, each user at the same place, coloured by topic or by continent.

Links pull, users push, and the push of all on all is a convolution on a grid. Forces follow Jacomy, Venturini, Heymann
and Bastian (2014), "ForceAtlas2": a user pushes by its degree, so hubs keep their followers around them. The steps are
cooled as in Fruchterman and Reingold (1991). The start is pivot multidimensional scaling (Brandes and Pich, 2007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from graphpriv.graph import Links, SocialGraph
from graphpriv.places import UNKNOWN
from tabular.report.kit.drawing import drawing
from tabular.report.kit.figures import element, isolated, join
from tabular.report.kit.page import SERIES

#: Of a larger graph, a drawing shows so many users: the nearest ones to the hub.
MOST_USERS = 2000

_SIDE, _MARGIN = 600, 14
#: Dots of users with fewer than so many links, and the size of the dot.
_SIZES = ((4, 6.5), (15, 9.0), (None, 15.0))
#: Values without a colour of their own, and the name of all users drawn in grey.
_PLAIN = frozenset({"world", "unknown", "no topic"})
_OTHERS = {"continent": "anywhere in the world, or unknown"}
_OTHER_TOPICS = "another topic, or none"


@dataclass(frozen=True)
class Drawing:
    """A graph before and, if there is a release, after; made by `draw`."""

    attribute: str
    before: Markup
    after: Markup | None
    legend: tuple[str, ...]
    note: str | None = None
    #: Whether a user stands at the same place in both, which takes the mapping.
    aligned: bool = True


def draw(
    original: SocialGraph,
    released: SocialGraph | None = None,
    mapping: NDArray[np.int64] | None = None,
    *,
    attributes: Sequence[str] = ("topic1", "continent"),
    seed: int = 0,
) -> list[Drawing]:
    """One drawing an attribute (`topic1`, `topic2`, `topic3` or `continent`), all with the same places."""
    shown = _nearest_to_the_hub(original)
    note = None
    if len(shown) < len(original):
        note = (
            f"The drawing shows {len(shown):,} of {len(original):,} users, the nearest to the user with most links, "
            "and the links among them."
        )
    part = original.restricted(shown)
    points = layout(part.neighbours, seed=seed)
    after = None if released is None else _after(released, mapping, shown, points, seed)
    drawings = []
    for attribute in attributes:
        before_values = categories(part, attribute)
        legend = _most_frequent([each for each in before_values if each not in _PLAIN])
        legend.append(_OTHERS.get(attribute, _OTHER_TOPICS))
        drawings.append(
            Drawing(
                attribute,
                _picture(part, points, before_values, legend, "before"),
                after and _picture(after[0], after[1], categories(after[0], attribute), legend, "after"),
                tuple(legend),
                note,
                aligned=released is not None and mapping is not None,
            )
        )
    return drawings


def shares(
    original: SocialGraph, released: SocialGraph | None, attribute: str, *, most: int = 12
) -> list[tuple[str, float, float | None]]:
    """The most frequent values of an attribute with their share of users before and after."""
    before = categories(original, attribute)
    after = None if released is None else categories(released, attribute)
    rows = []
    for name in _most_frequent(before + (after or []), most):
        share = None if after is None else after.count(name) / max(len(after), 1)
        rows.append((name, before.count(name) / max(len(before), 1), share))
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def categories(graph: SocialGraph, attribute: str) -> list[str]:
    """For each user the value of an attribute in words; `continent` is that of the location."""
    if attribute != "continent":
        codes = graph.attribute(attribute)
        names = (*graph.topic_names, "no topic")
        return [names[code] for code in codes.tolist()]
    tree = graph.places
    above: list[str] = []
    for node, kind in enumerate(tree.types):
        parent = int(tree.parents[node])
        named = kind == "continent" or parent < 0
        # A place that hangs below the world without a continent stands for the world.
        above.append(tree.names[node] if named else above[parent])
    above.append("unknown")
    return [above[code if code != UNKNOWN else -1] for code in graph.location.tolist()]


def _most_frequent(values: Sequence[str], most: int = len(SERIES)) -> list[str]:
    counts = Counter(values)
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


def _nearest_to_the_hub(graph: SocialGraph) -> NDArray[np.int64]:
    users = len(graph)
    if users <= MOST_USERS:
        return np.arange(users)
    links = graph.neighbours
    table = csr_array((np.ones(len(links.targets)), links.targets, links.offsets), shape=(users, users))
    order = breadth_first_order(table, int(np.argmax(links.counts)), return_predecessors=False)
    return np.sort(order[:MOST_USERS]).astype(np.int64)


def _after(
    released: SocialGraph, mapping: NDArray[np.int64] | None, shown: NDArray[np.int64], points: Points, seed: int
) -> tuple[SocialGraph, Points]:
    """The release among the users shown, at their places; without a mapping it has places of its own."""
    if mapping is None:
        part = released.restricted(_nearest_to_the_hub(released))
        return part, layout(part.neighbours, seed=seed)
    target = mapping[shown]
    return released.restricted(target[target >= 0]), points[target >= 0]


def _picture(graph: SocialGraph, points: Points, values: Sequence[str], legend: Sequence[str], when: str) -> Markup:
    places = np.round(_MARGIN + points * (_SIDE - 2 * _MARGIN)).astype(np.int64)
    undirected = replace(graph, directed=False, follows=graph.neighbours)
    sources, targets = undirected.edges()
    ends = np.column_stack([places[sources], places[targets] - places[sources]]).tolist()
    links = element("path", d="".join(f"M{x} {y}l{dx} {dy}" for x, y, dx, dy in ends), class_="links")
    label = f"Drawing of the graph {when} protection: {len(graph):,} users and {graph.edge_count:,} links."
    dots = _dots(places.tolist(), values, legend, graph.neighbours.counts.tolist())
    return drawing(join(links, dots), _SIDE, label, width=_SIDE, kind="graph")


def _dots(
    places: Sequence[Sequence[int]], values: Sequence[str], legend: Sequence[str], degrees: Sequence[int]
) -> list[Markup]:
    """One path for all users of one colour and size: each user is a line of no length with round ends."""
    groups: dict[tuple[int, int], list[str]] = {}
    position = {name: place for place, name in enumerate(legend[:-1])}
    for (x, y), value, degree in zip(places, values, degrees, strict=True):
        size = next(index for index, (limit, _) in enumerate(_SIZES) if limit is None or degree < limit)
        groups.setdefault((size, position.get(value, len(legend) - 1)), []).append(f"M{x} {y}h0")
    return [
        element(
            "path", element("title", isolated(legend[place])), d="".join(dots), stroke_width=_SIZES[size][1],
            class_=f"users line-{_colour(place, legend)}",
        )
        for (size, place), dots in sorted(groups.items(), key=lambda each: (each[0][0], -each[0][1]))
    ]  # fmt: skip


def _colour(position: int, legend: Sequence[str]) -> str:
    return f"series-{position + 1}" if position < len(legend) - 1 else "rest"


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
