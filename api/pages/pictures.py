"""What the canvas of a graph draws: places of users or discs of communities, links, colours and ids."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from typing import Any

from api.service.graphs import Graph
from graphpriv.store import Store

#: Larger graphs have no picture: laying one out would take the memory of the whole service.
MOST = 200_000

#: So many values have a colour of their own.
_COLOURS = 7

#: The pictures that were drawn last, by name and revision.
_kept: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
_HELD = 8
_lock = threading.Lock()
_drawing = threading.Lock()


def of(store: Store, graph: Graph) -> dict[str, Any]:
    """The picture of a graph, made from that graph alone."""
    key = graph.stored, store.revision(graph.stored)
    # One at a time: each takes a core, and the second one who asks finds it done.
    with _drawing:
        with _lock:
            if key in _kept:
                _kept.move_to_end(key)
                return _kept[key]
        made = _drawn(store, graph.stored)
        with _lock:
            _kept[key] = made
            while len(_kept) > _HELD:
                _kept.popitem(last=False)
    return made


def _drawn(store: Store, name: str) -> dict[str, Any]:
    from graphpriv.layout import lay_out
    from graphpriv.report.drawing import categories

    graph = store.load_graph(name)
    layout = lay_out(graph)
    if layout.communities is not None:
        return {**layout.document(), "colours": {}, "ids": None}
    colours = {each: _coloured(categories(graph, each)) for each in ("continent", "topic1")}
    return {**layout.document(), "colours": colours, "ids": list(graph.ids)}


def _coloured(values: list[str]) -> dict[str, Any]:
    """The values that have a colour, the most frequent first, and the place of each user's value among them."""
    names = [value for value, _ in Counter(values).most_common(_COLOURS)]
    places = {name: place for place, name in enumerate(names)}
    return {"names": names, "codes": [places.get(value, _COLOURS) for value in values]}
