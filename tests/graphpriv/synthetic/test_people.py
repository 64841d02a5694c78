from __future__ import annotations

import numpy as np

from graphpriv.synthetic.graphs import synthetic_graph


def test_private_columns_belong_to_one_person_each() -> None:
    graph = synthetic_graph(2000, rng=np.random.default_rng(5))
    assert sorted(graph.private) == ["handle", "location_text", "name"]
    handles = graph.private["handle"]
    assert len(set(handles)) == 2000
    released = {*graph.topic_names, *graph.places.names, *graph.places.keys}
    for column in graph.private.values():
        assert not released & set(column)
