"""The layout of a graph: where its users are drawn or, if there are too many, discs of its communities.

A layout reads the links of the one graph it is given and a seed of its own: no profile, no id, and nothing of an
original behind a release. Users stand in the order of the graph. Same links and same seed, same bytes, however many
threads there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import Links, SocialGraph, links_of
from graphpriv.layout.communities import MOST, Communities, communities
from graphpriv.layout.embedding import embedded
from graphpriv.layout.packing import discs_apart, packed
from graphpriv.layout.sampling import LinkSample, sampled_links
from graphpriv.structure import components

#: More users than this are drawn as discs of communities.
MOST_USERS = 20_000

#: Coordinates are whole numbers from 0 to this one.
SIDE = 65_535

#: Each community stays near so many others that it is most strongly linked with.
NEAREST = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """A graph ready to be drawn: points and the links between them, in a square with sides of SIDE."""

    #: How many users the graph has.
    users: int
    #: x and y of each point: a user or, if there are communities, the middle of a disc.
    positions: NDArray[np.uint16]
    #: Which points are linked, and of how many pairs these are a sample.
    links: LinkSample
    #: With more than MOST_USERS users, the communities, and the radius of the disc of each.
    communities: Communities | None = None
    radii: NDArray[np.uint16] | None = None

    def document(self) -> dict[str, Any]:
        """The layout for JSON: pairs stand one after the other in flat lists of whole numbers.

        `drawn` of so many linked pairs are in `links`: pairs of users, or of communities. Users are in the order of the
        graph; no id is here.
        """
        found: dict[str, Any] = {
            "users": self.users,
            "side": SIDE,
            "positions": self.positions.ravel().tolist(),
            "links": self.links.pairs.ravel().tolist(),
            "drawn": self.links.drawn,
            "of": self.links.total,
            "communities": None,
        }
        if self.communities is not None and self.radii is not None:
            found["communities"] = {
                "sizes": self.communities.sizes.tolist(),
                "radii": self.radii.tolist(),
                "inside": self.communities.inside.tolist(),
                "between": self.communities.between.tolist(),
                "gathered": self.communities.gathered,
            }
        return found


def lay_out(graph: SocialGraph, *, seed: int = 0) -> Layout:
    """Lay out the users of a graph, or its communities if it has more than MOST_USERS users."""
    if len(graph) > MOST_USERS:
        return lay_out_communities(graph, seed=seed)
    positions = _whole(coordinates(graph.neighbours, seed))
    return Layout(users=len(graph), positions=positions, links=sampled_links(graph, seed=seed))


def coordinates(links: Links, seed: int) -> NDArray[np.float64]:
    """Where users lie in the unit square; *links* stand in the rows of both their ends."""
    order, bounds = _by_component(links)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    moved = Links.from_pairs(place[links.sources], place[links.targets], len(order))
    found = np.empty((len(order), 2))
    found[order] = packed(embedded(moved.offsets, moved.targets, bounds, seed), bounds)
    return found


def _by_component(links: Links) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The users by component, the largest first, and where each component begins and ends."""
    sizes = np.bincount(label := components(links))
    return np.lexsort((label, -sizes[label])), np.append(0, np.cumsum(np.sort(sizes)[::-1]))


def lay_out_communities(graph: SocialGraph, *, seed: int = 0, most: int = MOST) -> Layout:
    """Lay out at most *most* communities of the users as discs, whose areas go by the numbers of users."""
    found = communities(graph.neighbours, most)
    centres, radii = discs_apart(coordinates(_nearest(found), seed), found.sizes)
    return Layout(
        users=len(graph),
        positions=_whole(centres),
        links=LinkSample(pairs=found.pairs, total=len(found.pairs)),
        communities=found,
        radii=_whole(radii),
    )


def _nearest(found: Communities) -> Links:
    """Links of each community with those it is most strongly linked with, given how many links both have."""
    one, other = found.pairs.T
    sources, targets = np.concatenate([one, other]), np.concatenate([other, one])
    between = np.tile(found.between, 2)
    degrees = 2 * found.inside
    np.add.at(degrees, sources, between)
    strength = between / np.sqrt(degrees[sources].astype(np.float64) * degrees[targets])
    order = np.lexsort((targets, -strength, sources))
    sources, targets = sources[order], targets[order]
    strongest = np.arange(len(order)) - np.searchsorted(sources, sources) < NEAREST
    return links_of(sources[strongest], targets[strongest], len(found), directed=False)[0]


def _whole(values: NDArray[np.float64]) -> NDArray[np.uint16]:
    return np.rint(np.clip(values, 0.0, 1.0) * SIDE).astype(np.uint16)
