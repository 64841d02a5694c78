from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from graphpriv.formats import Imported, read_graph, write_graph
from graphpriv.places import UNKNOWN
from graphpriv.synthetic import synthetic_graph
from graphpriv.topics import EMPTY
from tabular.errors import InvalidInput, InvalidRecord

#: The example of the interfaces, with a second user who says nothing.
BARCELONA = [
    ["Barcelona", "locality"],
    ["Catalonia", "administrative_area_level_1"],
    ["Spain", "country"],
    ["Europe", "continent"],
    ["world", "world"],
]


def document(**changes: Any) -> dict[str, Any]:
    return {
        "directed": True,
        "nodes": [
            {"id": "ana", "location": "Barcelona", "topics": ["Politics", "Sports", "Weather"]},
            {"id": "bo", "location": None, "topics": ["Chess"]},
        ],
        "edges": [{"source": "bo", "target": "ana"}],
        "locations": {"Barcelona": BARCELONA},
        **changes,
    }


def read(written: Any, folder: Path) -> Imported:
    path = folder / "graph.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written))
    return read_graph(path)


def test_the_example_of_the_interfaces(tmp_path: Path) -> None:
    graph = read(document(), tmp_path).graph
    assert graph.ids == ("ana", "bo")
    assert graph.directed
    assert [ends.tolist() for ends in graph.edges()] == [[1], [0]]
    assert graph.places.path(graph.location[0]) == tuple(map(tuple, BARCELONA))
    assert graph.location[1] == UNKNOWN
    assert graph.topic_names == ("Politics", "Sports", "Weather", "Chess")
    assert graph.topics.tolist() == [[0, 1, 2], [3, EMPTY, EMPTY]]
    assert dict(graph.private) == {}


def test_what_is_written_has_the_keys_of_the_interfaces(tmp_path: Path) -> None:
    graph = read(document(), tmp_path).graph
    write_graph(graph, tmp_path / "out.json")
    out = json.loads((tmp_path / "out.json").read_text())
    assert out["directed"] is True
    assert out["nodes"] == [
        {"id": "ana", "location": "Barcelona", "topics": ["Politics", "Sports", "Weather"]},
        {"id": "bo", "location": None, "topics": ["Chess", None, None]},
    ]
    assert out["edges"] == [{"source": "bo", "target": "ana"}]
    assert out["locations"]["Barcelona"] == BARCELONA
    assert list(out["locations"]) == ["world", "Europe", "Spain", "Catalonia", "Barcelona"]


@pytest.mark.parametrize("directed", (True, False))
def test_networkx_reads_what_is_written(directed: bool, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    graph = graph if directed else graph.undirected()
    write_graph(graph, tmp_path / "graph.json")
    theirs = nx.node_link_graph(json.loads((tmp_path / "graph.json").read_text()), edges="edges")
    ours = graph.to_networkx()
    assert type(theirs) is type(ours)
    assert dict(theirs.nodes(data=True)) == dict(ours.nodes(data=True))
    assert set(theirs.edges) == set(ours.edges)


@pytest.mark.parametrize("edges", ("edges", "links"))
def test_what_networkx_writes_is_read(edges: str, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    # NetworkX keeps the attributes of the graph, the places among them, in an object of their own.
    written = nx.node_link_data(graph.to_networkx(), edges=edges)
    assert read(written, tmp_path).graph == graph


def test_whole_numbers_are_ids_as_text(tmp_path: Path) -> None:
    nodes = [{"id": 7}, {"id": "8"}]
    assert read(document(nodes=nodes, edges=[{"source": "7", "target": 8}]), tmp_path).graph.ids == ("7", "8")


def test_a_number_and_its_text_are_one_id(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"nodes\[1\]: this id occurs before"):
        read(document(nodes=[{"id": 7}, {"id": "7"}], edges=[]), tmp_path)


def test_self_loops_and_parallel_edges_are_counted_and_dropped(tmp_path: Path) -> None:
    ends = [("ana", "ana"), ("bo", "ana"), ("bo", "ana"), ("ana", "bo"), ("bo", "bo")]
    found = read(document(edges=[{"source": a, "target": b} for a, b in ends]), tmp_path)
    assert (found.dropped.self_loops, found.dropped.parallel, found.graph.edge_count) == (2, 1, 2)


def test_attributes_that_a_social_graph_has_not_are_counted(tmp_path: Path) -> None:
    found = read(
        document(
            nodes=[{"id": "ana", "age": 30, "handle": "@ana"}, {"id": "bo", "age": None, "born": {"year": 1}}],
            edges=[{"source": "bo", "target": "ana", "weight": 3, "key": 0}],
            graph={"title": "mine"},
            comment="made by hand",
        ),
        tmp_path,
    )
    assert found.ignored == {"age": 1, "born": 1, "comment (graph)": 1, "title (graph)": 1, "weight (edges)": 1}
    assert dict(found.graph.private) == {"handle": ("@ana", None)}


def test_topics_may_stand_apart(tmp_path: Path) -> None:
    nodes = [{"id": "ana", "topic1": "Sports", "topic2": "Labor"}, {"id": "bo", "topics": []}]
    graph = read(document(nodes=nodes), tmp_path).graph
    assert graph.topic_names == ("Labor", "Sports")
    assert graph.topics.tolist() == [[1, 0, EMPTY], [EMPTY, EMPTY, EMPTY]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": None}, "nodes: must be a list, not null"),
        ({"nodes": [3]}, r"nodes\[0\]: must be an object, not a number"),
        ({"nodes": [{"location": None}]}, r"nodes\[0\]: id is missing"),
        ({"nodes": [{"id": ""}]}, r"nodes\[0\]: id is missing"),
        ({"nodes": [{"id": True}]}, r"nodes\[0\]: id must be text or a whole number, not true or false"),
        ({"nodes": [{"id": 1.5}]}, r"nodes\[0\]: id must be text or a whole number, not a number"),
        ({"nodes": [{"id": ["a"]}]}, r"nodes\[0\]: id must be text or a whole number, not a list"),
        ({"nodes": [{"id": "a", "location": 5}]}, r"nodes\[0\]: location must be text, not a number"),
        ({"nodes": [{"id": "a", "location": ["x"]}]}, r"nodes\[0\]: location must be text, not a list"),
        (
            {"nodes": [{"id": "a", "location": "here"}], "edges": []},
            r"nodes\[0\]: the location .* none of the 1 places",
        ),
        ({"nodes": [{"id": "a", "topics": "Sports"}]}, r"nodes\[0\]: topics, line 1, column 1: this is not JSON"),
        ({"nodes": [{"id": "a", "topics": {"1": "a"}}]}, r"nodes\[0\]: topics must be a list of texts, not an object"),
        ({"nodes": [{"id": "a", "topics": [1]}]}, r"nodes\[0\]: topic must be text, not a number"),
        ({"nodes": [{"id": "a", "topics": list("abcd")}]}, r"nodes\[0\]: topics: a user has at most 3 topics, not 4"),
        ({"nodes": [{"id": "a", "topics": [], "topic1": "b"}]}, r"nodes\[0\]: topics: this user has topics twice"),
        ({"nodes": [{"id": "a", "handle": {}}]}, r"nodes\[0\]: handle must be text or a whole number, not an object"),
        ({"nodes": [{"id": "a\x00"}]}, r"nodes\[0\]: id has a character that text cannot hold"),
        ({"nodes": [{"id": "a\ud800"}]}, r"nodes\[0\]: id has a character that text cannot hold"),
        ({"edges": {}}, "edges: must be a list, not an object"),
        ({"edges": [{"source": "ana"}]}, r"edges\[0\]: target is missing"),
        ({"edges": [{"source": "ana", "target": []}]}, r"edges\[0\]: target must be text"),
        ({"directed": "yes"}, "directed: must be true or false, not text"),
        ({"locations": ["Barcelona"]}, "locations must be an object with a path for each key, not a list"),
        (
            {"locations": {"Barcelona": [["Barcelona", "town"], ["world", "world"]]}},
            r"locations\[0\]: step 1 has an unknown type",
        ),
        ({"locations": {"Barcelona": "Spain"}}, r"locations\[0\]: a path is a list"),
        ({"locations": {"Barcelona": [["Barcelona", "locality"]]}}, r"locations\[0\]: a path ends at world"),
        (
            {"locations": {"x": [[f"{step}", "route"] for step in range(200)] + [["world", "world"]]}},
            r"locations\[0\]: a path has at most 100 steps, not 201",
        ),
        (
            {
                "locations": {
                    "A": [["A", "political"], ["B", "political"], ["world", "world"]],
                    "B": [["B", "political"], ["A", "political"], ["world", "world"]],
                }
            },
            r"must not form a cycle",
        ),
    ],
)
def test_a_record_that_cannot_be_taken_is_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"graph\.json.*{message}"):
        read(document(**changes), tmp_path)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[]", "is an object with nodes and edges, not a list"),
        ("{", "line 1, column 2: this is not JSON"),
        ('{"nodes":\n [NaN]}', "line 2: NaN is not a JSON number"),
        ('{"a": "NaN", "nodes":\n\n [-Infinity]}', "line 3: -Infinity is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"nodes": ' + "[" * 990 + "]" * 990 + "}", "nested too deeply|nodes"),
        ("[" + "9" * 10_000 + "]", "too many digits"),
    ],
)
def test_a_file_that_is_no_graph_is_an_error(written: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(written, tmp_path)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"nodes": [{"id": "a"}], "edges": [], "nodes": [{"id": "b"}]}', r"graph\.json: nodes occurs twice"),
        ('{"nodes": [{"id": "a"}, {"id": "b", "id": "c"}], "edges": []}', r"nodes\[1\]: id occurs twice"),
        ('{"nodes": [{"id": "b", "secret": 1, "secret": 1}], "edges": []}', r"nodes\[0\]: key 3 occurs twice"),
        (
            '{"nodes": [{"id": "b"}], "edges": [{"source": "b", "target": "b"}, {"source": "b", "source": "b"}]}',
            r"edges\[1\]: source occurs twice",
        ),
        (
            '{"nodes": [{"id": "b", "topics": {"a": 1, "a": 2}}], "edges": []}',
            r"nodes\[0\], topics: key 2 occurs twice",
        ),
        (
            '{"nodes": [{"id": "b"}], "edges": [], "locations": {"secret": [], "x": [], "secret": []}}',
            r"graph\.json, locations: key 3 occurs twice",
        ),
        (
            '{"nodes": [{"id": "b"}], "edges": [], "secret": [{}, {"id": 1, "id": 1}]}',
            r"graph\.json, value 3\[1\]: id occurs twice",
        ),
    ],
)
def test_a_key_that_stands_twice_is_an_error(written: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=message) as caught:
        read(written, tmp_path)
    assert "secret" not in str(caught.value)


def test_what_is_missing_is_missed_under_its_name_of_today(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match=r"graph\.json, edges: is missing"):
        read({"nodes": [{"id": "a"}]}, tmp_path)


def test_the_error_on_a_place_shows_no_name(tmp_path: Path) -> None:
    for path in ([["secret", "x"]], [["secret"]], [["secret", "route"], ["secret", "route"]], [["secret", "country"]]):
        with pytest.raises(InvalidRecord, match=r"locations\[1\]: ") as caught:
            read(document(locations={"Barcelona": BARCELONA, "secret": path}), tmp_path)
        assert "secret" not in str(caught.value)


def test_places_that_are_nested_too_deeply_to_be_shown_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read('{"nodes": [{"id": "a"}], "edges": [], "locations": {"a": ' + "[" * 900 + "]" * 900 + "}}", tmp_path)
