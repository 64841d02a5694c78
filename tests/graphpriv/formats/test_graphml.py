from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphpriv.formats import Imported, read_graph, write_graph
from graphpriv.synthetic import synthetic_graph
from graphpriv.topics import EMPTY
from tabular.errors import InvalidInput, InvalidRecord

#: Shortened from what drawing programs write: shapes in data, ports declared but not used, values by default.
DRAWN = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key attr.name="Description" attr.type="string" for="graph" id="d0"/>
  <key for="port" id="d1" yfiles.type="portgraphics"/>
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <key attr.name="topic1" attr.type="string" for="node" id="d7"><default>Sports</default></key>
  <key attr.name="weight" attr.type="double" for="edge" id="d9"/>
  <graph edgedefault="undirected" id="G">
    <desc>made by <b>hand</b></desc>
    <data key="d0">two friends</data>
    <node id="n0"><data key="d6"><y:ShapeNode><y:NodeLabel>Ana</y:NodeLabel></y:ShapeNode></data></node>
    <node id="n1"><data key="d7">Labor</data></node>
    <edge id="e0" source="n0" target="n1"><data key="d9">2.0</data></edge>
    <edge id="e1" source="n1" target="n0"/>
  </graph>
</graphml>
"""


def read(text: str, folder: Path) -> Imported:
    path = folder / "graph.graphml"
    path.write_text(text)
    return read_graph(path)


@pytest.mark.parametrize("directed", (True, False))
def test_networkx_reads_what_is_written(directed: bool, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    graph = graph if directed else graph.undirected()
    write_graph(graph, tmp_path / "graph.graphml")
    theirs = nx.read_graphml(tmp_path / "graph.graphml")
    ours = graph.to_networkx()
    assert theirs.is_directed() == directed
    assert list(theirs) == list(ours)
    assert set(theirs.edges) == set(ours.edges)
    assert {key: [list(step) for step in path] for key, path in json.loads(theirs.graph["locations"]).items()} == (
        ours.graph["locations"]
    )
    for user, attributes in ours.nodes(data=True):
        topics = dict(zip(("topic1", "topic2", "topic3"), attributes.pop("topics"), strict=True))
        assert theirs.nodes[user] == {
            key: value for key, value in {**attributes, **topics}.items() if value is not None
        }


@pytest.mark.parametrize("directed", (True, False))
def test_what_networkx_writes_is_read(directed: bool, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    graph = graph if directed else graph.undirected()
    theirs = graph.to_networkx()
    theirs.graph["locations"] = json.dumps(theirs.graph["locations"])
    for _, attributes in theirs.nodes(data=True):
        attributes["topics"] = json.dumps(attributes["topics"])
        for key in [key for key, value in attributes.items() if value is None]:
            del attributes[key]
    nx.write_graphml(theirs, tmp_path / "graph.graphml")
    found = read_graph(tmp_path / "graph.graphml")
    assert found.graph == graph
    assert found.ignored == {}


def test_what_drawing_programs_write_is_read(tmp_path: Path) -> None:
    found = read(DRAWN, tmp_path)
    assert found.graph.ids == ("n0", "n1")
    assert not found.graph.directed
    assert (found.graph.edge_count, found.dropped.parallel) == (1, 1)
    assert found.graph.topics.tolist() == [[1, EMPTY, EMPTY], [0, EMPTY, EMPTY]]
    assert found.ignored == {"Description (graph)": 1, "d6": 1, "weight (edges)": 1}


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<hyperedge><endpoint node="a"/></hyperedge>', "line 2: a social graph has no hyperedge"),
        ('<node id="b"><port name="p"/></node>', "line 2: a social graph has no port"),
        ('<node id="b"><graph edgedefault="directed"/></node>', "line 2: this is a second graph"),
        ('<node id="b"><node id="c"/></node>', "line 2: this node is not directly in a graph"),
        ("<node/>", "line 2: id is missing"),
        ('<edge source="a"/>', "line 2: target is missing"),
        ('<edge source="a" target="a" directed="false"/>', "line 2: either all edges are directed or none"),
        ('<edge source="a" target="a" directed="maybe"/>', "line 2: the direction of edges must be one of true, false"),
        ('<node id="b"><data key="nothing">x</data></node>', "line 2: this value's attribute is not declared"),
        ('<node id="b"><data>x</data></node>', "line 2: this value's attribute is not declared"),
        (
            '<node id="b"><data key="l">nowhere</data></node>',
            "line 2: the location of this user is none of the 0 places",
        ),
        (
            '<data key="p">{"x": [["x", "village"], ["world", "world"]]}</data>',
            r"locations\[0\]: step 1 has an unknown type",
        ),
        ('<data key="p">["x"]</data>', "locations must be an object"),
    ],
)
def test_an_element_that_cannot_be_taken_is_named_by_its_line(inside: str, message: str, tmp_path: Path) -> None:
    keys = '<key id="l" for="node" attr.name="location"/><key id="p" for="graph" attr.name="locations"/>'
    text = f'<graphml>{keys}<graph edgedefault="directed"><node id="a"/>\n{inside}\n</graph></graphml>'
    with pytest.raises(InvalidRecord, match=rf"graph\.graphml, {message}"):
        read(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml/>", "there is no graph in it"),
        ("<html><body/></html>", "line 1: this is not GraphML"),
        ("<graphml><graph/></graphml>", "line 1: the direction of edges must be one of directed, undirected"),
        ("<graphml><key for='node'/></graphml>", "line 1: this key has no id"),
    ],
)
def test_a_file_that_is_no_graphml_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(text, tmp_path)
