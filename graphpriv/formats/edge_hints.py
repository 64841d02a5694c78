"""What an edge list does not say of itself, and looks like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph

#: In fewer edges than this it is no wonder that none of them goes back.
_ENOUGH = 100
#: So many edges are looked at before all of them are.
_SAMPLE = 1000


def direction_hint(graph: SocialGraph, *, said: bool) -> str | None:
    """A word on edges that were read as directed and look as if they had no direction.

    *said* is whether the file says that they have one. Some collections call a graph directed and list each edge of
    an undirected one in both directions; where nothing is said, they may list it once.
    """
    if not graph.directed or not graph.edge_count:
        return None
    sample = _going_back(graph, _SAMPLE)
    if sample == 1 and _going_back(graph) == 1:
        return "every edge stands in both directions and was read as two; --undirected reads them as one without."
    if not said and sample == 0 and graph.edge_count >= _ENOUGH and _going_back(graph) == 0:
        return (
            "the file does not say whether its edges have a direction, and none of them goes back; they were read as "
            "directed. --undirected reads them without."
        )
    return None


def lonely_first_line(sources: NDArray[np.int32], targets: NDArray[np.int32]) -> bool:
    """Whether the two ends of the first of several edges are two users who occur in no other."""
    first = sources[0], targets[0]
    others = (np.isin(ends[1:], first).any() for ends in (sources, targets))
    return len(sources) > 1 and first[0] != first[1] and not any(others)


def _going_back(graph: SocialGraph, most: int | None = None) -> float:
    """The share of edges, or of the first *most*, whose way back is an edge too."""
    users = len(graph)
    # The rows of follows are sorted, and so are these.
    keys = graph.follows.sources.astype(np.int64) * users + graph.follows.targets
    back = (graph.follows.targets.astype(np.int64) * users + graph.follows.sources)[:most]
    found = np.minimum(np.searchsorted(keys, back), len(keys) - 1)
    return float((keys[found] == back).mean())
