"""Results of graphs as data frames, and as a notebook shows them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from lxml import etree

from graphpriv import SocialGraph, audit, protect
from graphpriv.auditing import STRUCTURE, figure_paths

EVIL = "</td><script>alert(1)</script>"


def network():
    """Twenty people whose ids stand in nothing else."""
    graph = nx.gnp_random_graph(20, 0.2, seed=7, directed=True)
    graph = nx.relabel_nodes(graph, {node: f"person-{node}" for node in graph})
    places = {"here": [[EVIL, "locality"], ["world", "world"]], "there": [["There", "locality"], ["world", "world"]]}
    graph.graph["locations"] = places
    for place, attributes in enumerate(graph.nodes.values()):
        attributes |= {"location": "here" if place % 3 else "there", "topics": [EVIL] if place % 2 else ["Sports"]}
    return graph


@pytest.fixture(scope="module")
def original():
    return SocialGraph.from_networkx(network())


@pytest.fixture(scope="module")
def release(original):
    return protect(original, 5, rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def found(original, release):
    return audit(original, release.graph, release.mapping, workers=1)


def test_a_network_is_protected_and_comes_back(original, release):
    protected = release.graph.to_networkx()
    assert protected.number_of_edges() == network().number_of_edges()
    assert not set(protected) & set(network())
    assert SocialGraph.from_networkx(protected) == release.graph


def test_an_audit_has_a_row_for_each_figure(found):
    frame = found.to_frame()
    assert list(frame.columns) == ["measure", "attacker", "scenario", "value"]
    figures = frame.dropna(subset=["attacker"])
    scenarios = [*found.document["disclosure_risk"]["ego"], STRUCTURE]
    assert len(figures) == 3 * 2 * len(scenarios)
    ego = figures.query("measure == 'disclosure_risk' and attacker == 'ego'").set_index("scenario")["value"]
    assert ego.drop(STRUCTURE).to_dict() == found.document["disclosure_risk"]["ego"]
    assert ego[STRUCTURE] == found.document["structure"]["risk"]["ego"]


def test_the_losses_of_an_audit_are_named_as_in_the_document(found):
    losses = found.to_frame().query("attacker.isna()").set_index("measure")["value"]
    assert set(losses.index) == {name for name in figure_paths() if name.startswith("information_loss")} | {"k"}
    assert (
        losses["information_loss.aamil.anchored.mean"]
        == found.document["information_loss"]["aamil"]["anchored"]["mean"]
    )


def test_what_cannot_be_known_without_the_mapping_is_missing(original, release):
    frame = audit(original, release.graph, attackers=["ego"], workers=1).to_frame()
    assert frame.query("measure == 'expected_success'")["value"].isna().all()
    assert not frame["measure"].str.contains("dbil").any()


@pytest.mark.parametrize("name", ["original", "release", "found"])
def test_a_result_shows_itself_and_no_person(name, request):
    result = request.getfixturevalue(name)
    page = etree.fromstring(result._repr_html_().encode())
    assert not list(page.iter("script"))
    for text in ("".join(page.itertext()), repr(result)):
        assert "person-" not in text
        assert not any(each in text for each in request.getfixturevalue("release").graph.ids)


def rows_of(result):
    page = etree.fromstring(result._repr_html_().encode())
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


def test_a_graph_shows_its_counts(original):
    assert rows_of(original)[1:] == [
        ["users", "20"],
        ["edges", str(network().number_of_edges())],
        ["directed", "yes"],
        ["places", "2"],
        ["topics", "2"],
    ]


def test_a_release_shows_how_it_was_made(release):
    assert ["k", "5"] in rows_of(release)
    assert "least-loss" in release._repr_html_()


def test_an_audit_shows_the_risks_by_scenario_and_attacker(found):
    heads, *rows = rows_of(found)
    assert heads == ["scenario", "ego", "subgraph"]
    assert [row[0] for row in rows] == [*found.document["disclosure_risk"]["ego"], STRUCTURE]
    assert all(cell.endswith("%") for row in rows for cell in row[1:])
    assert "undecided" not in found._repr_html_()


def test_an_audit_says_that_steps_left_something_open(original, release):
    assert "undecided" in audit(original, release.graph, release.mapping, steps=1, workers=1)._repr_html_()
