from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given

from graphpriv.formats.node_link import imported_from_networkx
from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN
from tabular.errors import InvalidRecord
from tests.graphpriv.formats.test_formats import without_idle_places
from tests.strategies import graphs


@given(graphs())
def test_a_graph_comes_back_from_networkx(graph: SocialGraph) -> None:
    there = graph.to_networkx()
    assert there.is_directed() == graph.directed
    assert SocialGraph.from_networkx(there) == without_idle_places(graph)


def test_a_graph_of_networkx_needs_no_attributes() -> None:
    graph = SocialGraph.from_networkx(nx.karate_club_graph())
    assert len(graph) == 34
    assert graph.edge_count == 78
    assert not graph.directed
    assert graph.ids[:3] == ("0", "1", "2")
    assert set(graph.location.tolist()) == {UNKNOWN}


def test_parallel_edges_loops_and_other_attributes_are_counted() -> None:
    there = nx.MultiDiGraph(name="mine")
    there.add_node("a", age=3)
    there.add_edges_from([("a", "b"), ("a", "b"), ("b", "b"), ("b", "a", {"weight": 2})])
    found = imported_from_networkx(there)
    assert found.graph.edge_count == 2
    assert (found.dropped.self_loops, found.dropped.parallel) == (1, 1)
    assert found.ignored == {"age": 1, "name (graph)": 1, "weight (edges)": 1}


@pytest.mark.parametrize(
    ("node", "attributes", "message"),
    [
        (("a", 1), {}, "node 0: id must be text or a whole number, not a list"),
        ("secret", {"location": float("nan")}, "node 0: location must be text, not a number"),
        ("secret", {"topics": {"Sports"}}, "node 0: topics must be a list of texts"),
        ("secret", {"location": "x"}, "node 0: the location of this user is none of the 0 places"),
    ],
)
def test_a_node_that_cannot_be_taken_is_named_by_its_position(
    node: object, attributes: dict[str, object], message: str
) -> None:
    there = nx.Graph()
    there.add_node(node, **attributes)
    with pytest.raises(InvalidRecord, match=message) as caught:
        SocialGraph.from_networkx(there)
    assert "secret" not in str(caught.value)
