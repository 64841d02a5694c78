"""What the canvas of a graph draws: places of users or discs of communities, links, colours and ids."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.service.graphs import Graph
from graphpriv.store import Store
from tabular.errors import StoreUnavailable
from tabular.report.kit.charts import shades_of
from tabular.report.kit.drawing import series

#: Larger graphs have no picture: laying one out would take the memory of the whole service.
MOST = 200_000

#: So many values have a colour of their own.
_COLOURS = 7

#: What users are coloured by, and how that is called.
_TITLES = {"continent": "place", "topic1": "first topic"}

Codes = NDArray[np.int32]

#: The pictures that were drawn last, by name and revision.
_kept: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
_HELD = 8

#: A picture, which may be that of an original, is held for so many seconds after it was drawn.
_LIFE = 15 * 60.0

#: So long somebody waits while another picture is drawn, in seconds.
_PATIENCE = 10.0

_lock = threading.Lock()
_drawing = threading.Lock()


def of(store: Store, graph: Graph) -> dict[str, Any]:
    """The picture of a graph, made from that graph alone."""
    key = graph.stored, store.revision(graph.stored)
    known = _known(key)
    if known is not None:
        return known
    # One at a time: each takes a core, and the second one who asks finds it done.
    if not _drawing.acquire(timeout=_PATIENCE):
        raise StoreUnavailable("Another picture is being drawn; try again in a moment.", can_retry=True)
    try:
        return _known(key) or _keep(key, _drawn(store, graph.stored))
    finally:
        _drawing.release()


def _known(key: tuple[str, str]) -> dict[str, Any] | None:
    """The picture of a graph as it is now, if it is there; that of how it was before goes with all who are in it."""
    with _lock:
        for each in [each for each in _kept if each[0] == key[0] and each != key]:
            del _kept[each]
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def _keep(key: tuple[str, str], made: dict[str, Any]) -> dict[str, Any]:
    with _lock:
        _kept[key] = made
        while len(_kept) > _HELD:
            _kept.popitem(last=False)
    end = threading.Timer(_LIFE, _drop, (key, made))
    end.daemon = True
    end.start()
    return made


def _drop(key: tuple[str, str], made: dict[str, Any]) -> None:
    """Let go of a picture, unless it was drawn anew meanwhile."""
    with _lock:
        if _kept.get(key) is made:
            del _kept[key]


def _drawn(store: Store, name: str) -> dict[str, Any]:
    from graphpriv.layout import lay_out
    from graphpriv.report.drawing import categories

    graph = store.load_graph(name)
    layout = lay_out(graph)
    # Of a community, the value that most of its users have.
    members = None if layout.communities is None else layout.communities.members
    colours = {each: _coloured(title, categories(graph, each), members) for each, title in _TITLES.items()}
    colours["class"] = _classes(graph.profiles(), members)
    return {**layout.document(), "colours": colours, "ids": list(graph.ids) if members is None else None}


def _coloured(title: str, values: list[str], members: Codes | None) -> dict[str, Any]:
    """The values that have a colour, the most frequent first, and the place of each point's value among them."""
    names = [value for value, _ in Counter(values).most_common(_COLOURS)]
    places = {name: place for place, name in enumerate(names)}
    codes = np.array([places.get(value, len(names)) for value in values], dtype=np.int32)
    tones = [series(place) for place in range(len(names))]
    return {"title": title, "names": names, "other": "others", "tones": tones, "codes": _of_points(codes, members)}


def _classes(profiles: NDArray[Any], members: Codes | None) -> dict[str, Any]:
    """How many users have the same profile, in up to five steps: the fewer, the darker."""
    _, found, counts = np.unique(profiles, axis=0, return_inverse=True, return_counts=True)
    sizes = counts[found.ravel()]
    shades = shades_of(counts.tolist())
    codes = np.searchsorted([each.high for each in shades], sizes).astype(np.int32)
    return {
        "title": "users with the same profile",
        "names": [" to ".join(f"{end:,}" for end in dict.fromkeys((each.low, each.high))) for each in shades],
        "other": "",
        "tones": [each.fill for each in shades],
        "codes": _of_points(codes, members),
        "sizes": sizes.tolist() if members is None else None,
    }


def _of_points(codes: Codes, members: Codes | None) -> list[int]:
    """The code of each user or, where communities are drawn, the one that most of the members of each have."""
    if members is None:
        found: list[int] = codes.tolist()
        return found
    counts = np.zeros((int(members.max()) + 1, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (members, codes), 1)
    most: list[int] = counts.argmax(axis=1).tolist()
    return most
