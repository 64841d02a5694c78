"""A sample of links: more than so many make a picture slow and no clearer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph

#: More links than this are sampled.
MOST_LINKS = 50_000


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkSample:
    """Links that are drawn, each once as a pair of users with the lower one first, and of how many they are."""

    pairs: NDArray[np.int32]
    total: int

    @property
    def drawn(self) -> int:
        """How many links are drawn."""
        return len(self.pairs)

    @property
    def is_whole(self) -> bool:
        """Whether no link is left out."""
        return self.drawn == self.total


def sampled_links(graph: SocialGraph, *, most: int = MOST_LINKS, seed: int = 0) -> LinkSample:
    """All links of a graph without their directions, or *most* of them; each has the same chance."""
    links = graph.neighbours
    once = links.sources < links.targets
    pairs = np.column_stack([links.sources[once], links.targets[once]])
    total = len(pairs)
    if total > most:
        chosen = np.random.default_rng(seed).choice(total, most, replace=False, shuffle=False)
        pairs = pairs[np.sort(chosen)]
    return LinkSample(pairs=pairs, total=total)
