"""Columns in pieces: any part of them comes back, and no more pieces are read than it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.store import summary
from graphpriv.store.summary import Columns, Summary, columns_of
from tests.strategies import graphs


@given(graph=graphs(max_users=12), chunk=st.integers(1, 5), data=st.data())
def test_every_part_of_a_column_comes_back(graph: SocialGraph, chunk: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "CHUNK", chunk)
        pieces = dict(Summary.of(graph).pieces())
        read: list[int] = []

        def fetch(numbers: Sequence[int]) -> list[bytes]:
            read.extend(numbers)
            return [pieces[number] for number in numbers]

        columns = Columns(fetch)
        for name, values in columns_of(graph).items():
            low = data.draw(st.integers(0, len(values)))
            high = data.draw(st.integers(low, len(values)))
            read.clear()
            assert columns.slice(name, low, high).tolist() == values[low:high].tolist()
            assert len(read) == len({at // chunk for at in range(low, high)})
        chosen = data.draw(st.sets(st.integers(0, len(graph) - 1)).map(sorted))
        found = columns.at(["degree", "location"], np.array(chosen, dtype=np.int64))
        assert found["degree"].tolist() == graph.neighbours.counts[chosen].tolist()
        assert found["location"].tolist() == graph.location[chosen].tolist()


def test_topics_are_coded_in_their_order_whatever_order_they_came_in() -> None:
    graph, _ = SocialGraph.build(
        ["a", "b"],
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.int32),
        directed=True,
        places=SocialGraph.empty(directed=True).places,
        location=np.array([-1, -1]),
        topics=[("Sports", None, None), ("Chess", "Sports", None)],
    )
    swapped = np.where(graph.topics < 0, -1, 1 - graph.topics)
    other = replace(graph, topic_names=graph.topic_names[::-1], topics=swapped)
    for name in ("topic1", "topic2", "topic3"):
        assert columns_of(other)[name].tolist() == columns_of(graph)[name].tolist()
