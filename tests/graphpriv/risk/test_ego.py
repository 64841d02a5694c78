"""The attacker who knows the whole neighbourhood, worked by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphpriv.graph import SocialGraph
from graphpriv.risk import attackers
from tests.graphpriv.figures import figure_6_5
from tests.graphpriv.risk.matchers import first_topics, graph_of

TOPIC = {"topic1": ("topic1",)}
STRUCTURE: dict[str, tuple[str, ...]] = {"structure": ()}


def candidates(original: SocialGraph, masked: SocialGraph, scenario: dict[str, tuple[str, ...]]) -> list[int]:
    """How many candidates each user has."""
    [found] = attackers["ego"].method().disclose(original, masked, None, scenario).values()
    assert found.true_found is None
    return found.candidates.tolist()


def test_a_path_of_three_has_two_ends_alike_and_one_middle() -> None:
    path = graph_of(3, [(0, 1), (1, 2)])
    assert candidates(path, path, STRUCTURE) == [2, 1, 2]


def test_directions_tell_the_ends_of_a_path_apart() -> None:
    path = graph_of(3, [(0, 1), (1, 2)], directed=True)
    assert candidates(path, path, STRUCTURE) == [1, 1, 1]


def test_following_each_other_is_not_following() -> None:
    mutual = graph_of(2, [(0, 1), (1, 0)], directed=True)
    assert candidates(graph_of(2, [(0, 1)], directed=True), mutual, STRUCTURE) == [0, 0]
    assert candidates(mutual, mutual, STRUCTURE) == [2, 2]


def test_the_label_of_the_centre_counts() -> None:
    original = graph_of(2, [], topics=first_topics([0, 1]))
    masked = graph_of(3, [], topics=first_topics([0, 0, 2]))
    assert candidates(original, masked, TOPIC) == [2, 0]


def test_a_link_between_neighbours_counts() -> None:
    # User 0 of both has two neighbours with the same topics; only in one of them these are linked.
    triangle, path = graph_of(3, [(0, 1), (0, 2), (1, 2)]), graph_of(3, [(0, 1), (0, 2)])
    assert candidates(triangle, path, STRUCTURE) == [0, 0, 0]
    assert candidates(path, triangle, STRUCTURE) == [0, 0, 0]


def test_which_neighbours_are_linked_counts() -> None:
    # A wheel's centre with the labels a b a b around it, linked a-b or a-a and b-b.
    spokes = [(0, 1), (0, 2), (0, 3), (0, 4)]
    mixed = graph_of(5, [*spokes, (1, 2), (3, 4)], topics=first_topics([9, 0, 1, 0, 1]))
    apart = graph_of(5, [*spokes, (1, 3), (2, 4)], topics=first_topics([9, 0, 1, 0, 1]))
    assert candidates(mixed, mixed, TOPIC)[0] == 1
    assert candidates(mixed, apart, TOPIC)[0] == 0


def test_what_colours_alone_cannot_tell_apart_is_told_apart() -> None:
    # Around one centre a ring of six, around the other two rings of three: all neighbours have two links.
    spokes = [(0, near) for near in range(1, 7)]
    ring = graph_of(7, [*spokes, (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1)])
    rings = graph_of(7, [*spokes, (1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4)])
    assert candidates(ring, rings, STRUCTURE)[0] == 0
    assert candidates(ring, ring, STRUCTURE)[0] == 1


@pytest.mark.parametrize("shuffle", range(3))
def test_a_very_regular_neighbourhood_is_found_again(shuffle: int) -> None:
    # Two graphs whose parameters agree in all that refinement sees: the rook's graph and Shrikhande's.
    rook = nx.line_graph(nx.complete_bipartite_graph(4, 4))
    rook = nx.convert_node_labels_to_integers(rook)
    shrikhande = nx.Graph(
        (4 * x + y, 4 * ((x + a) % 4) + (y + b) % 4)
        for x in range(4)
        for y in range(4)
        for a, b in ((0, 1), (1, 0), (1, 1))
    )
    order = np.random.default_rng(shuffle).permutation(16) + 1
    spokes = [(0, near) for near in range(1, 17)]
    one = graph_of(17, [*spokes, *((a + 1, b + 1) for a, b in rook.edges)])
    again = graph_of(17, [*spokes, *((int(order[a]), int(order[b])) for a, b in rook.edges)])
    other = graph_of(17, [*spokes, *((int(order[a]), int(order[b])) for a, b in shrikhande.edges)])
    assert candidates(one, again, STRUCTURE)[0] == 1
    assert candidates(one, other, STRUCTURE)[0] == 0


def test_the_release_of_figure_6_5_discloses_who_has_kept_its_values() -> None:
    # All three get the location United States; only u2 had it, and none has a neighbour left as it was.
    found = (
        attackers["ego"]
        .method()
        .disclose(figure_6_5(), figure_6_5(masked=True), np.arange(3), {"location": ("location",), "structure": ()})
    )
    assert found["location"].candidates.tolist() == [0, 0, 0]
    assert found["structure"].candidates.tolist() == [2, 1, 2]
    assert found["structure"].true_found.tolist() == [True, True, True]
    assert found["structure"].expected_success(np.arange(3)) == pytest.approx(2 / 3)


def test_too_few_steps_leave_users_undecided_and_never_say_no() -> None:
    # Rings of three and of six around a centre need a choice; one step does not pay for it.
    spokes = [(0, near) for near in range(1, 13)]
    links = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1), (7, 8), (8, 9), (9, 7), (10, 11), (11, 12), (12, 10)]
    graph = graph_of(13, [*spokes, *links])
    order = np.array([0, 7, 5, 12, 3, 1, 11, 8, 2, 4, 6, 9, 10])
    shuffled = graph.restricted(order)
    mapping = np.argsort(order)
    [full] = attackers["ego"].method().disclose(graph, shuffled, mapping, STRUCTURE).values()
    [short] = attackers["ego"].method(steps=1).disclose(graph, shuffled, mapping, STRUCTURE).values()
    assert full.risk == 1.0
    assert not full.undecided.any()
    assert short.undecided.any()
    assert (short.matched | short.undecided).all()
