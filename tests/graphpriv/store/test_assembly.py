"""Graphs put together from whatever numbers a store has given."""

from __future__ import annotations

import numpy as np
import pytest

from graphpriv.places import WORLD
from graphpriv.store.assembly import Parts, numbered_tree, place_paths
from tabular.errors import StoreUnavailable
from tests.contracts.store import BARCELONA, SPAIN

WORLD_ROW = (40, None, "world", "world")
EUROPE, SPAIN_ROW = (7, 40, "Europe", "continent"), (3, 7, "Spain", "country")
BARCELONA_ROW = (90, 3, "Barcelona", "locality")


def test_paths_are_found_in_any_order_of_the_rows() -> None:
    rows = [BARCELONA_ROW, WORLD_ROW, SPAIN_ROW, EUROPE]
    expected = {40: (WORLD,), 7: (("Europe", "continent"), WORLD), 3: SPAIN, 90: BARCELONA}
    assert place_paths(rows) == place_paths(rows[::-1]) == expected


def test_places_in_a_cycle_or_below_nothing_have_no_path() -> None:
    cycle = [(1, 2, "a", "locality"), (2, 1, "b", "locality"), (3, 1, "c", "locality"), (5, 99, "d", "locality")]
    assert place_paths([*cycle, WORLD_ROW]) == {40: (WORLD,)}
    with pytest.raises(StoreUnavailable, match="do not form a tree"):
        numbered_tree([*cycle, WORLD_ROW])


def test_users_places_and_topics_come_into_order_from_numbers_with_gaps() -> None:
    graph = Parts(
        directed=True,
        numbers=np.array([2, 5, 11]),
        ids=["a", "b", "c"],
        location=np.array([90, -1, 3]),
        topics=np.array([[8, -1, -1], [4, 8, -1], [-1, -1, -1]]),
        sources=np.array([11, 2, 11]),
        targets=np.array([5, 11, 2]),
        places=[BARCELONA_ROW, WORLD_ROW, SPAIN_ROW, EUROPE],
        topic_names={8: "Chess", 4: "Weather"},
        private={"name": [None, "B", None]},
    ).assemble()
    assert graph.ids == ("a", "b", "c")
    assert graph.topic_names == ("Weather", "Chess")
    assert graph.topics.tolist() == [[1, -1, -1], [0, 1, -1], [-1, -1, -1]]
    assert [graph.follows.of(user).tolist() for user in range(3)] == [[2], [], [0, 1]]
    assert graph.places.path(int(graph.location[0])) == BARCELONA
    assert graph.location[1] == -1
    assert graph.places.path(int(graph.location[2])) == SPAIN
    assert graph.private["name"] == (None, "B", None)
