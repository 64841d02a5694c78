"""Users as answers show them: id, place, topics and degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.queries.contract import Row
from graphpriv.store.view import View
from graphpriv.topics import RANKS

TOPICS = tuple(f"topic{rank}" for rank in range(1, RANKS + 1))


def degrees_of(view: View) -> tuple[str, ...]:
    """The sorts of degree that a graph has."""
    return ("degree", "following", "followers") if view.directed else ("degree",)


def header(view: View) -> tuple[str, ...]:
    """The names of the cells of `profiles`."""
    return ("id", "location", *TOPICS, *degrees_of(view))


def profiles(view: View, positions: NDArray[np.int64]) -> list[Row]:
    """The users at sorted *positions*."""
    degrees, domain = degrees_of(view), view.domain
    read = view.columns.at(["location", *TOPICS, *degrees], positions)
    names = (*domain.topic_names, None)
    places = {node: _place(view, node) for node in set(read["location"].tolist())}
    topics = zip(*(read[topic].tolist() for topic in TOPICS), strict=True)
    counts = zip(*(read[degree].tolist() for degree in degrees), strict=True)
    return [
        Row(
            id=user,
            **places[place],
            topics=[names[topic] for topic in ranked],
            **dict(zip(degrees, counted, strict=True)),
        )
        for user, place, ranked, counted in zip(
            view.ids(positions), read["location"].tolist(), topics, counts, strict=True
        )
    ]


def _place(view: View, node: int) -> dict[str, Any]:
    """The key of a place and its path from there to `world`; None where it is unknown."""
    if node < 0:
        return {"location": None, "path": None}
    places = view.domain.places
    return {"location": places.keys[node], "path": [list(step) for step in places.path(node)]}
