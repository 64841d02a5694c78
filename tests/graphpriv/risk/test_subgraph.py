"""The attacker who knows a part of the neighbourhood, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from graphpriv.graph import SocialGraph
from graphpriv.risk import attackers
from graphpriv.risk.containment import shapes
from tests.graphpriv.risk.matchers import by_networkx, first_topics, graph_of

TOPIC = {"topic1": ("topic1",)}
STRUCTURE: dict[str, tuple[str, ...]] = {"structure": ()}


def candidates(original: SocialGraph, masked: SocialGraph, scenario: dict[str, tuple[str, ...]]) -> list[int]:
    """How many candidates each user has."""
    [found] = attackers["subgraph"].method().disclose(original, masked, None, scenario).values()
    assert not found.undecided.any()
    return found.candidates.tolist()


def test_an_isolated_user_is_found_everywhere_with_its_label() -> None:
    original = graph_of(2, [], topics=first_topics([0, 1]))
    masked = graph_of(4, [(0, 1), (1, 2), (1, 3)], topics=first_topics([0, 0, 0, 2]))
    assert candidates(original, masked, TOPIC) == [3, 0]


def test_a_path_lies_around_whoever_has_two_neighbours_apart() -> None:
    path, star = graph_of(3, [(0, 1), (1, 2)]), graph_of(4, [(0, 1), (0, 2), (0, 3)])
    # The ends of the path lie around all four, its middle around the centre of the star only.
    assert candidates(path, star, STRUCTURE) == [4, 1, 4]


def test_a_link_that_came_in_between_breaks_the_match() -> None:
    path, triangle = graph_of(3, [(0, 1), (1, 2)]), graph_of(3, [(0, 1), (1, 2), (0, 2)])
    assert candidates(path, triangle, STRUCTURE) == [3, 0, 3]


def test_neighbours_of_one_label_need_as_many_of_it() -> None:
    original = graph_of(4, [(0, 1), (0, 2), (0, 3)], topics=first_topics([0, 1, 1, 2]))
    enough = graph_of(5, [(0, near) for near in range(1, 5)], topics=first_topics([0, 1, 1, 2, 2]))
    short = graph_of(5, [(0, near) for near in range(1, 5)], topics=first_topics([0, 1, 2, 2, 2]))
    assert candidates(original, enough, TOPIC)[0] == 1
    assert candidates(original, short, TOPIC)[0] == 0


def test_the_direction_of_a_follow_among_neighbours_counts() -> None:
    spokes = [(0, 1), (0, 2), (0, 3)]
    original = graph_of(3, [*spokes[:2], (1, 2)], directed=True, topics=first_topics([0, 1, 2]))
    same = graph_of(4, [*spokes, (1, 2)], directed=True, topics=first_topics([0, 1, 2, 3]))
    turned = graph_of(4, [*spokes, (2, 1)], directed=True, topics=first_topics([0, 1, 2, 3]))
    assert candidates(original, same, TOPIC)[0] == 1
    assert candidates(original, turned, TOPIC)[0] == 0


def test_counts_that_agree_are_not_enough() -> None:
    # Both have two links between a and b; in the target they share an end, so no two of them are apart.
    spokes = [(0, near) for near in range(1, 6)]
    original = graph_of(5, [*spokes[:4], (1, 2), (3, 4)], topics=first_topics([9, 0, 1, 0, 1]))
    masked = graph_of(6, [*spokes, (1, 2), (1, 4)], topics=first_topics([9, 0, 1, 0, 1, 1]))
    assert candidates(original, masked, TOPIC)[0] == 0


def test_the_true_one_is_found_although_neighbours_were_added() -> None:
    original = graph_of(4, [(0, 1), (0, 2), (1, 2), (2, 3)], topics=first_topics([0, 1, 2, 3]))
    masked = graph_of(6, [(0, 1), (0, 2), (1, 2), (2, 3), (0, 4), (4, 5)], topics=first_topics([0, 1, 2, 3, 1, 1]))
    [found] = attackers["subgraph"].method().disclose(original, masked, np.arange(4), TOPIC).values()
    assert found.candidates.tolist() == [1, 1, 1, 1]
    assert found.true_found.tolist() == [True] * 4
    [whole] = attackers["ego"].method().disclose(original, masked, np.arange(4), TOPIC).values()
    assert whole.true_found.tolist() == [False, True, True, True]


def test_too_few_steps_leave_users_undecided_and_never_say_no() -> None:
    rng = np.random.default_rng(1)
    edges = [(0, near) for near in range(1, 20)]
    edges += [(one, other) for one in range(1, 20) for other in range(1, one) if rng.random() < 0.4]
    masked = graph_of(20, edges)
    original = masked.restricted(np.array([0, *rng.choice(np.arange(1, 20), 9, replace=False)]))
    _, expected = by_networkx(original, masked, ())
    [short] = attackers["subgraph"].method(steps=1).disclose(original, masked, None, STRUCTURE).values()
    assert short.undecided.any()
    decided = ~short.undecided
    np.testing.assert_array_equal(short.candidates[decided], expected.sum(axis=1)[decided])
    assert (short.candidates <= expected.sum(axis=1)).all()
    assert (short.matched | short.undecided | ~expected.any(axis=1)).all()
    assert candidates(original, masked, STRUCTURE) == expected.sum(axis=1).tolist()


def test_neighbourhoods_of_more_than_a_word_of_bits() -> None:
    # 150 neighbours of two labels in a random graph; a part of them must be found in it, also among twins.
    rng = np.random.default_rng(2)
    size = 150
    edges = [(0, near) for near in range(1, size + 1)]
    edges += [(one, other) for one in range(1, size // 2) for other in range(1, one) if rng.random() < 0.1]
    masked = graph_of(size + 1, edges, topics=first_topics([0, *(int(x) for x in rng.integers(0, 2, size))]))
    for part in (5, 40, 149):
        kept = np.array([0, *rng.choice(np.arange(1, size + 1), part, replace=False)])
        original = masked.restricted(kept)
        mapping = np.append(kept[:1], np.full(part, -1))
        [found] = attackers["subgraph"].method().disclose(original, masked, mapping, TOPIC).values()
        assert found.true_found[0]
        assert not found.undecided[0]


def test_a_hub_too_large_for_rows_of_bits_is_searched_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    edges = [tuple(pair) for pair in rng.integers(0, 20, (60, 2)).tolist()]
    original = graph_of(20, edges, directed=True)
    masked = graph_of(20, edges[:50], directed=True)
    expected = candidates(original, masked, STRUCTURE)
    monkeypatch.setattr(shapes, "_MOST_WORDS", 0)
    assert candidates(original, masked, STRUCTURE) == expected
