from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphpriv.formats import Imported, read_graph, write_graph
from graphpriv.synthetic import synthetic_graph
from graphpriv.topics import EMPTY
from tabular.errors import InvalidInput

#: Shortened from what Gephi writes: labels, weights, colours and positions.
GEPHI = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3" xmlns:viz="http://gexf.net/1.3/viz">
  <meta lastmodifieddate="2026-01-31"><creator>Gephi 0.10.1</creator></meta>
  <graph defaultedgetype="directed" mode="static">
    <attributes class="node" mode="static">
      <attribute id="topic1" title="topic1" type="string"><default>Sports</default></attribute>
      <attribute id="modularity_class" title="Modularity Class" type="integer"/>
    </attributes>
    <nodes>
      <node id="0" label="Ana">
        <attvalues><attvalue for="modularity_class" value="3"/></attvalues>
        <viz:size value="10.0"/><viz:position x="1" y="2"/><viz:color r="1" g="2" b="3"/>
      </node>
      <node id="1" label="1"><attvalues><attvalue for="topic1" value="Labor"/></attvalues></node>
    </nodes>
    <edges>
      <edge id="0" source="0" target="1" weight="2.0"/>
      <edge id="1" source="1" target="0" type="mutual"><attvalues/></edge>
    </edges>
  </graph>
</gexf>
"""


def read(text: str, folder: Path) -> Imported:
    path = folder / "graph.gexf"
    path.write_text(text)
    return read_graph(path)


@pytest.mark.parametrize("directed", (True, False))
def test_networkx_reads_what_is_written(directed: bool, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    graph = graph if directed else graph.undirected()
    write_graph(graph, tmp_path / "graph.gexf")
    theirs = nx.read_gexf(tmp_path / "graph.gexf")
    ours = graph.to_networkx()
    assert theirs.is_directed() == directed
    assert list(theirs) == list(ours)
    assert set(theirs.edges) == set(ours.edges)
    for user, attributes in ours.nodes(data=True):
        expected = dict(zip(("topic1", "topic2", "topic3"), attributes.pop("topics"), strict=True))
        expected.update(attributes, label=user)
        if attributes["location"] is not None:
            path = ours.graph["locations"][attributes["location"]]
            assert json.loads(theirs.nodes[user].pop("location_path")) == path
        assert theirs.nodes[user] == {key: value for key, value in expected.items() if value is not None}


@pytest.mark.parametrize("directed", (True, False))
def test_what_networkx_writes_is_read(directed: bool, tmp_path: Path) -> None:
    graph = synthetic_graph(80, rng=np.random.default_rng(2))
    graph = graph if directed else graph.undirected()
    theirs = graph.to_networkx()
    places = theirs.graph.pop("locations")
    for _, attributes in theirs.nodes(data=True):
        attributes["topics"] = json.dumps(attributes["topics"])
        if attributes["location"] is not None:
            attributes["location_path"] = json.dumps(places[attributes["location"]])
        for key in [key for key, value in attributes.items() if value is None]:
            del attributes[key]
    nx.write_gexf(theirs, tmp_path / "graph.gexf")
    found = read_graph(tmp_path / "graph.gexf")
    assert found.graph == graph
    assert found.ignored == {}


def test_what_gephi_writes_is_read(tmp_path: Path) -> None:
    found = read(GEPHI, tmp_path)
    assert found.graph.ids == ("0", "1")
    assert found.graph.directed
    # The mutual edge is two, and one of them stood there before.
    assert (found.graph.edge_count, found.dropped.parallel) == (2, 1)
    assert found.graph.topics.tolist() == [[1, EMPTY, EMPTY], [0, EMPTY, EMPTY]]
    assert found.ignored == {"Modularity Class": 1, "label": 1, "weight (edges)": 1}


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ('<node id="b" pid="a"/>', "", "line 2: this node lies inside another"),
        ('<node id="b"><nodes><node id="c"/></nodes></node>', "", "line 2: this node stands inside another one"),
        ("<node label='b'/>", "", "line 2: id is missing"),
        (
            '<node id="b"><attvalues><attvalue for="9" value="x"/></attvalues></node>',
            "",
            "line 2: this value's attribute is not declared",
        ),
        (
            '<node id="b"><attvalues><attvalue value="x"/></attvalues></node>',
            "",
            "line 2: this value's attribute is not declared",
        ),
        (
            '<node id="b"><attvalues><attvalue for="0" value="[[]]"/></attvalues></node>',
            "",
            r"line 2: location_path: step 1 must be \[name, type\]",
        ),
        (
            '<node id="b"><attvalues><attvalue for="0" value="x"/></attvalues></node>',
            "",
            "line 2: location_path, line 1",
        ),
        ("", '<edge source="a"/>', "line 4: target is missing"),
        ("", '<edge source="a" target="a" type="undirected"/>', "line 4: either all edges are directed or none"),
        ("", '<edge source="a" target="a" type="sideways"/>', "line 4: the direction of edges must be one of directed"),
    ],
)
def test_an_element_that_cannot_be_taken_is_named_by_its_line(
    nodes: str, edges: str, message: str, tmp_path: Path
) -> None:
    keys = '<attributes class="node"><attribute id="0" title="location_path"/></attributes>'
    before = '<edge source="a" target="a"/>'
    text = (
        f'<gexf><graph defaultedgetype="directed">{keys}<nodes><node id="a"/>\n{nodes}\n</nodes>'
        f"<edges>{before}\n{edges}\n</edges></graph></gexf>"
    )
    with pytest.raises(InvalidInput, match=rf"graph\.gexf, {message}"):
        read(text, tmp_path)


def test_places_of_two_users_that_form_a_cycle_are_named_by_the_line_of_one(tmp_path: Path) -> None:
    paths = [[[one, "political"], [other, "political"], ["world", "world"]] for one, other in ("AB", "BA")]
    nodes = "".join(
        f"""\n<node id="{number}"><attvalues><attvalue for="0" value='{json.dumps(path)}'/></attvalues></node>"""
        for number, path in enumerate([paths[0], paths[0], paths[1]])
    )
    text = (
        '<gexf><graph><attributes class="node"><attribute id="0" title="location_path"/></attributes>'
        f"<nodes>{nodes}</nodes></graph></gexf>"
    )
    with pytest.raises(InvalidInput, match=r"graph\.gexf, line 4: location_path: step 1 lies below step 2 here"):
        read(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<gexf/>", "there is no graph in it"),
        ("<graphml/>", "line 1: this is not GEXF"),
        ("<gexf><graph/><graph/></gexf>", "line 1: this is a second graph"),
        ("<gexf><node id='a'/></gexf>", "line 1: this node stands inside another one, or outside of the graph"),
        ("<gexf><graph defaultedgetype='up'/></gexf>", "line 1: the direction of edges must be one of"),
        (
            "<gexf><graph><attributes class='graph'/></graph></gexf>",
            "line 1: attributes belong to the class node or edge",
        ),
        ("<gexf><graph><attributes class='node'><attribute/></attributes></graph></gexf>", "this attribute has no id"),
    ],
)
def test_a_file_that_is_no_gexf_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(text, tmp_path)
