"""The drawing of a graph before and after its protection, and the places of its users."""

from __future__ import annotations

import re
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from lxml import etree

from graphpriv.graph import Links, SocialGraph
from graphpriv.places import UNKNOWN, PlaceTree
from graphpriv.report import audit_report
from graphpriv.report.drawing import MOST_USERS, categories, draw, layout, shares
from tests.graphpriv.report.documents import audit_document
from tests.strategies import graphs

SVG = "{http://www.w3.org/2000/svg}"
WORLD = ("world", "world")
PARIS = (("Paris", "locality"), ("France", "country"), ("Europe", "continent"), WORLD)
LIMA = (("Lima", "locality"), ("South America", "continent"), WORLD)
NOWHERE = (("Atlantis", "country"), WORLD)


def graph_of(paths, topics, edges=()) -> SocialGraph:
    tree = PlaceTree.from_paths([path for path in paths if path is not None])
    nodes = {tree.path(node): node for node in range(len(tree))}
    ends = np.array(edges, dtype=np.int32).reshape(-1, 2)
    graph, _ = SocialGraph.build(
        [f"u{place}" for place in range(len(paths))],
        ends[:, 0],
        ends[:, 1],
        directed=True,
        places=tree,
        location=np.array([UNKNOWN if path is None else nodes[path] for path in paths], dtype=np.int32),
        topics=[(topic, None, None) for topic in topics],
    )
    return graph


def dots(drawing) -> Counter[tuple[str, str]]:
    """Colour and place of every dot."""
    found: Counter[tuple[str, str]] = Counter()
    for path in etree.fromstring(drawing.encode()).iter(f"{SVG}path"):
        if path.get("class").startswith("users"):
            colour = path.get("class").split()[1]
            found.update((colour, place) for place in re.findall(r"M(\d+ \d+)h0", path.get("d")))
    return found


def test_each_user_has_the_continent_of_its_place():
    graph = graph_of([PARIS, LIMA, NOWHERE, (WORLD,), None], ["Sports"] * 5)
    assert categories(graph, "continent") == ["Europe", "South America", "world", "world", "unknown"]


def test_each_user_has_its_topic_or_none():
    graph = graph_of([PARIS] * 3, ["Sports", None, "Chess"])
    assert categories(graph, "topic1") == ["Sports", "no topic", "Chess"]


def test_shares_are_counted_before_and_after():
    before = graph_of([PARIS] * 4, ["Sports", "Sports", "Sports", "Chess"])
    after = graph_of([PARIS] * 4, ["Sports"] * 2 + ["Politics"] * 2)
    assert shares(before, after, "topic1") == [("Sports", 0.75, 0.5), ("Chess", 0.25, 0.0), ("Politics", 0.0, 0.5)]


@settings(max_examples=25)
@given(graphs())
def test_every_user_and_every_link_is_drawn_once(graph):
    for drawing in draw(graph):
        assert dots(drawing.before).total() == len(graph)
        links = next(etree.fromstring(drawing.before.encode()).iter(f"{SVG}path")).get("d")
        assert links.count("M") == graph.undirected().edge_count


def test_a_user_keeps_its_place_and_changes_its_colour():
    edges = [(0, 1), (1, 2), (2, 3)]
    original = graph_of([PARIS] * 4, ["Sports", "Sports", "Sports", "Chess"], edges)
    released = graph_of([PARIS] * 4, ["Sports"] * 4, [(3, 2), (2, 1), (1, 0)])
    (drawing,) = draw(original, released, np.array([3, 2, 1, 0]), attributes=["topic1"])
    before, after = dots(drawing.before), dots(drawing.after)
    assert sorted(place for _, place in before) == sorted(place for _, place in after)
    assert Counter(colour for colour, _ in before) == {"line-series-1": 3, "line-series-2": 1}
    assert Counter(colour for colour, _ in after) == {"line-series-1": 4}


def test_only_drawings_with_a_mapping_are_said_to_keep_places():
    graph = graph_of([PARIS] * 4, ["Sports"] * 4, [(0, 1), (1, 2)])
    said = "A user has the same place before and after."
    assert said in audit_report(audit_document(), drawing=draw(graph, graph, np.arange(4))[0])
    assert said not in audit_report(audit_document(), drawing=draw(graph, graph)[0])
    assert said not in audit_report(audit_document(), drawing=draw(graph)[0])


def test_a_person_who_was_forgotten_is_missing_after_and_all_others_stay():
    original = graph_of([PARIS] * 4, ["Chess", "Chess", "Politics", "Sports"], [(0, 1), (1, 2), (2, 3)])
    released = graph_of([PARIS] * 3, ["Politics", "Chess", "Sports"], [(0, 1), (0, 2)])
    (drawing,) = draw(original, released, np.array([-1, 1, 0, 2]), attributes=["topic1"])
    before, after = dots(drawing.before), dots(drawing.after)
    assert after.total() == 3
    assert after < before


def test_a_large_graph_is_drawn_in_part_and_says_so():
    users = MOST_USERS + 500
    chain = [(place, place + 1) for place in range(users - 1)] + [(0, place) for place in range(2, 60)]
    graph = graph_of([PARIS] * users, ["Sports"] * users, chain)
    (drawing,) = draw(graph, graph, None, attributes=["topic1"])
    assert dots(drawing.before).total() == dots(drawing.after).total() == MOST_USERS
    assert "2,000 of 2,500 users" in drawing.note
    assert drawing.note in audit_report(audit_document(), drawing=drawing)


def test_the_same_graph_and_seed_draw_the_same():
    graph = graph_of([PARIS, LIMA, None], ["Sports", "Chess", None], [(0, 1), (1, 2)])
    assert draw(graph, seed=5) == draw(graph, seed=5)


def links_of(graph: nx.Graph) -> Links:
    ends = np.array([*graph.edges, *((target, source) for source, target in graph.edges)], dtype=np.int32).reshape(
        -1, 2
    )
    return Links.from_pairs(ends[:, 0], ends[:, 1], len(graph))


@settings(max_examples=25)
@given(graphs())
def test_every_user_gets_a_place_inside(graph):
    points = layout(graph.neighbours)
    assert points.shape == (len(graph), 2)
    assert np.isfinite(points).all()
    assert points.min() >= -1e-9 and points.max() <= 1 + 1e-9


def test_the_same_links_and_seed_give_the_same_places():
    links = links_of(nx.barabasi_albert_graph(200, 2, seed=1))
    assert np.array_equal(layout(links, seed=3), layout(links, seed=3))
    assert not np.array_equal(layout(links, seed=3), layout(links, seed=4))


@pytest.mark.parametrize("users", [0, 1, 2])
def test_the_smallest_graphs_are_drawn(users):
    assert layout(links_of(nx.empty_graph(users))).shape == (users, 2)


def test_users_without_links_do_not_stand_on_one_another():
    points = layout(links_of(nx.empty_graph(30)))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + np.eye(30)
    assert apart.min() > 0.02


def test_communities_stand_apart():
    graph = nx.planted_partition_graph(4, 40, 0.25, 0.005, seed=2)
    points = layout(links_of(graph))
    middles = points.reshape(4, 40, 2).mean(axis=1)
    own = np.hypot(*(points.reshape(4, 40, 2) - middles[:, None]).transpose(2, 0, 1)).mean()
    between = min(np.hypot(*(middles[one] - middles[two])) for one in range(4) for two in range(one))
    assert between > 1.5 * own


def test_a_chain_is_drawn_in_order():
    points = layout(links_of(nx.path_graph(40)))
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert steps.max() < 0.2
    assert np.hypot(*(points[0] - points[-1])) > 5 * steps.mean()
