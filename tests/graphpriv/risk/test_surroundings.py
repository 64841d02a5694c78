"""What is counted around neighbours never rules out a neighbourhood that lies in another."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.risk import Comparison
from graphpriv.risk.containment import surroundings
from graphpriv.risk.containment.shapes import Shapes, bit_rows, shapes_of
from graphpriv.risk.containment.surroundings import KINDS, LEVELS, Surroundings, offers, surroundings_of
from graphpriv.risk.subgraph import Subgraph
from tests.graphpriv.risk.matchers import graph_of

Links = NDArray[np.bool_]


def random_links(rng: Generator, users: int) -> Links:
    above = np.triu(rng.random((users, users)) < rng.choice([0.05, 0.2, 0.5, 0.9]), 1)
    return np.asarray(above | above.T)


def links_of(graph: nx.Graph) -> Links:
    return np.asarray(nx.to_numpy_array(graph) > 0)


def drawn_links(rng: Generator) -> Links:
    """Links among the neighbours of a centre: at random, or a star, a clique, a path, a cycle or two sides."""
    users = int(rng.integers(3, 14))
    kind = int(rng.integers(0, 8))
    known = {
        0: nx.star_graph(users - 1),
        1: nx.complete_graph(users),
        2: nx.path_graph(users),
        3: nx.cycle_graph(users),
        4: nx.complete_bipartite_graph(users // 2, users - users // 2),
    }
    return links_of(known[kind]) if kind in known else random_links(rng, users)


def around_a_centre(links: Links, directed: Links | None = None) -> SocialGraph:
    """A centre that is linked with all; where *directed* is given only those of the links are kept."""
    kept = np.triu(links, 1) if directed is None else links & directed
    spokes = [(0, near + 1) for near in range(len(links))]
    inside = [(one + 1, other + 1) for one, other in np.argwhere(kept).tolist()]
    return graph_of(len(links) + 1, [*spokes, *inside], directed=directed is not None)


def laid_out(pattern: SocialGraph, target: SocialGraph) -> tuple[Shapes, Surroundings, bool]:
    """The shapes around both centres, and what is around their neighbours."""
    found = Comparison.of(pattern, target, workers=1).labelled(())
    shapes = shapes_of(found, np.array([0, len(pattern)]), 1)
    wanted = np.ones(2, dtype=np.bool_)
    return shapes, surroundings_of(shapes, bit_rows(shapes, wanted, pattern.directed, 1), wanted, 1), pattern.directed


def embeddings(shapes: Shapes) -> list[dict[int, int]]:
    """Some ways in which the first shape lies in the second, by NetworkX; of no centre."""
    graphs = []
    for at in range(2):
        base, count = int(shapes.offsets[at]), int(shapes.offsets[at + 1] - shapes.offsets[at])
        graph = nx.DiGraph()
        graph.add_nodes_from(range(count))
        for place in range(count):
            row = int(shapes.rows[base + place])
            for link in range(row, row + int(shapes.degrees[base + place])):
                graph.add_edge(place, int(shapes.inner[link]), code=int(shapes.codes[link]))
        for place in range(count):
            graph.nodes[place]["type"] = int(shapes.types[base + place])
        graphs.append(graph)
    match = nx.isomorphism.DiGraphMatcher(
        graphs[1],
        graphs[0],
        node_match=lambda one, two: one["type"] == two["type"],
        edge_match=lambda one, two: one["code"] == two["code"],
    )
    found = []
    for embedding in match.subgraph_isomorphisms_iter():
        found.append({pattern: target for target, pattern in embedding.items()})
        if len(found) == 5:
            break
    return found


def has_row(around: Surroundings, words: int, place: int, kind: int, level: int, other: int) -> bool:
    at = int(around.rows_at[1]) + ((place * KINDS + kind) * LEVELS + level - 1) * words + (other >> 6)
    return bool((int(around.rows[at]) >> (other & 63)) & 1)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("part", range(4))
def test_whatever_lies_in_a_neighbourhood_is_offered_by_it(
    part: int, directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,200 pairs, each with a pattern cut out of its target, none is ruled out by counts."""
    monkeypatch.setattr(surroundings, "PLACES", 0)
    rng = np.random.default_rng([part, directed])
    refused, compared = 0, 0
    for _ in range(150):
        links = drawn_links(rng)
        follows = rng.random(links.shape) < 0.7 if directed else None
        kept = rng.choice(len(links), int(rng.integers(2, len(links) + 1)), replace=False)
        inside = np.ix_(kept, kept)
        pattern = around_a_centre(links[inside], None if follows is None else follows[inside])
        shapes, around, _ = laid_out(pattern, around_a_centre(links, follows))
        base, target_base = int(shapes.offsets[0]), int(shapes.offsets[1])
        count = target_base - base
        words = (int(shapes.offsets[2]) - target_base + 63) >> 6
        found = embeddings(shapes)
        assert found
        for embedding in found:
            for place, value in embedding.items():
                assert offers(around, base + place, target_base + value)
                for other, its in embedding.items():
                    for kind in range(KINDS):
                        at = KINDS * (int(around.starts[0]) + place * count + other) + kind
                        level = int(around.levels[at])
                        assert level == 0 or has_row(around, words, value, kind, level, its)
        for place in range(count):
            for value in range(int(shapes.offsets[2]) - target_base):
                compared += 1
                refused += not offers(around, base + place, target_base + value)
    # The counts do rule out what cannot be.
    assert refused > compared / 10


def counted(links: Links, one: int, other: int) -> list[int]:
    """How many are linked with both, with neither, with the one only and with the other only."""
    rest = [each for each in range(len(links)) if each not in (one, other)]
    kinds = [(True, True), (False, False), (True, False), (False, True)]
    return [sum((links[one, each], links[other, each]) == kind for each in rest) for kind in kinds]


def test_the_levels_of_two_neighbours_are_those_of_the_counts_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "PLACES", 0)
    rng = np.random.default_rng(3)
    for _ in range(60):
        links = random_links(rng, int(rng.integers(3, 70)))
        graph = around_a_centre(links)
        shapes, around, _ = laid_out(graph, graph)
        count = len(links)
        there = np.zeros_like(links)
        for place in range(count):
            row = int(shapes.rows[place])
            there[place, shapes.inner[row : row + int(shapes.degrees[place])]] = True
        for one, other in rng.choice(count, (40, 2)).tolist():
            if one != other:
                at = KINDS * (one * count + other)
                expected = [np.sum(each >= surroundings._THRESHOLDS) for each in counted(there, one, other)]
                assert around.levels[at : at + KINDS].tolist() == expected


def test_where_there_is_no_room_for_signs_nothing_is_ruled_out_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    pairs = [(drawn_links(rng), drawn_links(rng)) for _ in range(60)]

    def answers() -> list[list[int]]:
        method = Subgraph()
        graphs = [(around_a_centre(one), around_a_centre(other)) for one, other in pairs]
        return [method.disclose(*each, None, {"": ()})[""].candidates.tolist() for each in graphs]

    expected = answers()
    monkeypatch.setattr(surroundings, "_ROOM", 40)
    assert answers() == expected
