"""Inference, searches and rounds, beside the plain way, and what more steps and more threads may not change."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.risk import Comparison, Disclosure, attackers, isomorphism
from graphpriv.risk.containment import inference, nodes, rounds, surroundings
from graphpriv.risk.containment.rounds import Containment
from graphpriv.risk.containment.schedule import Round, Schedule, Turn
from graphpriv.risk.containment.spaces import space_for
from graphpriv.risk.workers import even_bounds
from tabular.loop import ALONE, Parts
from tests.contracts.parts import Remembered
from tests.graphpriv.risk.matchers import around, first_topics, graph_of
from tests.strategies import seeds

STRUCTURE: dict[str, tuple[str, ...]] = {"structure": ()}


def dense_pair(rng: np.random.Generator, users: int, directed: bool = False) -> tuple[SocialGraph, SocialGraph]:
    """Two graphs whose neighbourhoods are dense, or hold equal parts and users without links."""
    sides = []
    for _ in range(2):
        share = rng.choice([0.1, 0.3, 0.6, 0.9])
        edges = np.argwhere(np.triu(rng.random((users, users)) < share, 1)) + 1
        spokes = [(0, near) for near in range(1, users + 1)]
        sides.append(graph_of(users + 1, [*spokes, *map(tuple, edges.tolist())], directed=directed))
    return sides[0], sides[1]


def lies_in(original: SocialGraph, masked: SocialGraph, user: int, other: int) -> bool:
    """Whether NetworkX finds the one neighbourhood inside the other."""
    pattern, target = (
        around(graph, each, np.zeros(len(graph), dtype=np.int32)) for graph, each in ((original, user), (masked, other))
    )
    kind = nx.isomorphism.DiGraphMatcher if original.directed else nx.isomorphism.GraphMatcher
    match = kind(target, pattern, node_match=lambda one, two: one["data"] == two["data"])
    return bool(match.subgraph_is_isomorphic())


@pytest.fixture(params=["one word", "any number of words"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of small targets, or that of large ones for all of them."""
    if request.param != "one word":
        monkeypatch.setattr(surroundings, "PLACES", 0)


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("part", range(5))
def test_a_thousand_small_pairs_are_decided_as_networkx_decides_them(part: int, directed: bool) -> None:
    rng = np.random.default_rng(part)
    for _ in range(100):
        one, other = int(rng.integers(2, 7)), int(rng.integers(2, 10))
        original, masked = dense_pair(rng, one, directed)[0], dense_pair(rng, other, directed)[1]
        [found] = attackers["subgraph"].method().disclose(original, masked, None, STRUCTURE).values()
        expected = sum(lies_in(original, masked, 0, each) for each in range(len(masked)))
        assert (found.candidates[0], found.possible[0]) == (expected, expected)


def mixed_graph(rng: np.random.Generator, directed: bool) -> SocialGraph:
    """Centres apart from one another, with few neighbours or with up to 64, of two kinds, some linked and some not."""
    links, users, share = [], 0, rng.choice([0.08, 0.15, 0.3])
    for size in [*rng.integers(8, 22, 40).tolist(), *rng.integers(40, 62, 4).tolist(), 63, 64]:
        # Where links have directions, some go both ways.
        drawn = rng.random((size, size)) < share
        near = users + 1 + np.argwhere(drawn & ~np.eye(size, dtype=np.bool_) if directed else np.triu(drawn, 1))
        links += [(users, users + 1 + each) for each in range(size)] + list(map(tuple, near.tolist()))
        users += size + 1
    topics = first_topics(np.where(rng.random(users) < 0.7, 1, 2).tolist())
    return graph_of(users, links, topics=topics, directed=directed)


@pytest.mark.parametrize("attributes", [(), ("topic1",)])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_small_targets_are_searched_as_the_search_of_large_ones_does(
    seed: int, directed: bool, attributes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = mixed_graph(np.random.default_rng(seed), directed)
    answers = []
    for places in (64, 0):
        monkeypatch.setattr(surroundings, "PLACES", places)
        comparison = Comparison.of(graph, graph, np.arange(len(graph)), workers=1)
        answers.append(attackers["subgraph"].method(steps=10**10).disclosed(comparison, attributes))
        assert not answers[-1].undecided.any()
    # Some lie in others than themselves, and some do not.
    assert 0.05 < np.mean(answers[0].candidates[answers[0].candidates < 40] > 1) < 0.99
    np.testing.assert_array_equal(answers[0].candidates, answers[1].candidates)


def test_nobody_is_looked_for_again_with_as_few_steps() -> None:
    tried, both, first = rounds.Tried(3), np.array([True, True, False]), np.array([True, False, False])
    # The second turn of the round passed over one of the patterns of the first.
    tried.note(Round(50), both, rest=4)
    assert tried.steps.tolist() == [0, 0, 0]
    tried.note(Round(50), first, rest=None)
    assert tried.steps.tolist() == [50, 0, 0]
    tried.note(Round(20), both, rest=None)
    assert tried.steps.tolist() == [50, 20, 0]
    # The largest targets are not all.
    tried.note(Round(90, reach=8), both, rest=None)
    assert tried.steps.tolist() == [50, 20, 0]


#: Parts of neighbourhoods, as links.
PARTS = (
    ((0, 1),),
    ((0, 1), (1, 2)),
    ((0, 1), (1, 2), (0, 2)),
    ((0, 1), (0, 2), (0, 3)),
    ((0, 1), (1, 2), (2, 3), (3, 0)),
    ((0, 1), (1, 2), (2, 3)),
)


def of_parts(parts: list[int], alone: int) -> SocialGraph:
    """A centre whose neighbours form the given parts, some of them the same, and *alone* more without links."""
    links, users = [], 1
    for part in parts:
        links += [(users + one, users + other) for one, other in PARTS[part]]
        users += 1 + max(max(link) for link in PARTS[part])
    users += alone
    return graph_of(users, [*((0, near) for near in range(1, users)), *links])


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("part", range(4))
def test_parts_that_are_the_same_and_neighbours_alike_are_placed_as_networkx_places_them(part: int) -> None:
    rng = np.random.default_rng(part)
    answers = []
    for _ in range(30):
        original = of_parts(sorted(rng.integers(0, len(PARTS), rng.integers(2, 4)).tolist()), int(rng.integers(0, 3)))
        users = int(rng.integers(len(original) + 2, len(original) + 7))
        edges = np.argwhere(np.triu(rng.random((users, users)) < rng.choice([0.1, 0.15]), 1)) + 1
        masked = graph_of(users + 1, [*((0, near) for near in range(1, users + 1)), *map(tuple, edges.tolist())])
        [found] = attackers["subgraph"].method().disclose(original, masked, None, STRUCTURE).values()
        expected = sum(lies_in(original, masked, 0, each) for each in range(len(masked)))
        assert (found.candidates[0], found.possible[0]) == (expected, expected)
        answers.append(expected > 0)
    assert 0.1 < np.mean(answers) < 0.95


@pytest.mark.parametrize(
    ("parts", "inside"), [([2, 2, 2], True), ([0, 2, 2], True), ([1], False), ([2, 5], False), ([4], False)]
)
def test_a_part_is_looked_for_among_hundreds_of_neighbours(parts: list[int], inside: bool) -> None:
    # Triangles only, so many that a set of them takes more words than are counted at each step.
    found = attackers["subgraph"].method().disclose(of_parts(parts, 2), of_parts([2] * 200, 0), None, STRUCTURE)
    candidates, possible = found["structure"].candidates[0], found["structure"].possible[0]
    assert (candidates, possible) == (int(inside), int(inside))


def hard_pair(seed: int, users: int = 60) -> tuple[SocialGraph, SocialGraph, np.ndarray]:
    """A graph whose neighbourhoods take long to compare, and the same in another order with some links changed."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((users, users)) < 0.35, 1))
    mapping = rng.permutation(users)
    moved = mapping[edges]
    changed = rng.random(len(edges)) < 0.02
    moved[changed, 1] = rng.integers(0, users, int(changed.sum()))
    topics = first_topics(rng.integers(0, 2, users).tolist())
    original = graph_of(users, edges.tolist(), topics=topics)
    return original, graph_of(users, moved.tolist(), topics=topics), mapping


def with_steps(
    case: tuple[SocialGraph, SocialGraph, np.ndarray], steps: int, workers: int = 1, parts: Parts = ALONE
) -> Disclosure:
    comparison = Comparison.of(*case, workers=workers, parts=parts)
    return attackers["subgraph"].method(steps=steps).disclosed(comparison, ())


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several layers and blocks even where there is little to do."""
    monkeypatch.setattr(rounds, "_LAYER", 7)
    monkeypatch.setattr(rounds, "_BLOCK", 20)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(3))
def test_more_steps_only_narrow_the_answer(seed: int) -> None:
    case = hard_pair(seed)
    before = with_steps(case, 1)
    assert before.undecided.any()
    widths = []
    for steps in (3_000, 20_000, 60_000, 200_000, 700_000, 3_000_000, 10**9):
        found = with_steps(case, steps)
        assert (found.candidates >= before.candidates).all()
        assert (found.possible <= before.possible).all()
        low, high = found.success_bounds(case[2]) or (0.0, 1.0)
        widths.append(high - low)
        before = found
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0 < widths[0]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("steps", [20_000, 200_000, 2_000_000])
def test_the_number_of_threads_changes_nothing_however_few_the_steps(steps: int) -> None:
    case = hard_pair(9, users=90)
    one, many = with_steps(case, steps), with_steps(case, steps, workers=4)
    for column in ("candidates", "possible", "true_found", "true_least"):
        np.testing.assert_array_equal(getattr(one, column), getattr(many, column))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("steps", [3_000_000, 20_000_000])
def test_a_search_that_was_cut_off_goes_on_from_its_parts(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = hard_pair(9, users=90)
    whole = with_steps(case, steps)
    assert whole.undecided.any() == (steps < 10**7)
    monkeypatch.setattr(rounds, "_LONG", 0)
    monkeypatch.setattr(rounds, "_WIDE", 0)
    monkeypatch.setattr(rounds, "even_bounds", partial(even_bounds, least=1))
    done: list[int] = []
    decide = rounds.decide
    monkeypatch.setattr(rounds, "decide", lambda *given: done.append(given[6]) or decide(*given))
    parts, counts = Remembered(), []
    for more in (5, 10, 10**6, 0):
        parts.more = more
        before = len(done)
        with contextlib.suppress(InterruptedError):
            found = with_steps(case, steps, parts=parts)
        counts.append(len(done) - before)
    # The last one found everything done, and the others nothing twice.
    assert counts[3] == 0 < min(counts[:3])
    alone = len(done)
    with_steps(case, steps)
    assert len(done) - alone == alone
    for column in ("candidates", "possible", "true_found", "true_least", "steps"):
        np.testing.assert_array_equal(getattr(found, column), getattr(whole, column))


def groups(rng: np.random.Generator) -> SocialGraph:
    """Centres apart from one another, a few with many neighbours and many with few, some of whom are linked."""
    links, users = [], 0
    for size in [*rng.integers(12, 16, 150).tolist(), *rng.integers(66, 90, 8).tolist()]:
        near = users + 1 + np.argwhere(np.triu(rng.random((size, size)) < 0.15, 1))
        links += [(users, users + 1 + each) for each in range(size)] + [(one, other) for one, other in near.tolist()]
        users += size + 1
    return graph_of(users, links)


def test_a_few_large_targets_narrow_more_than_as_many_steps_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = groups(np.random.default_rng(5))
    case, widths = (graph, graph, np.arange(len(graph))), []
    for each in (Round(16_000, chance=0.1, reach=8), Round(16_000)):
        monkeypatch.setattr(rounds, "Schedule", partial(Schedule, [each], []))
        low, high = with_steps(case, 40_000_000).success_bounds(case[2]) or (0.0, 1.0)
        widths.append(high - low)
    assert widths[0] < 0.8 * widths[1]


def test_steps_that_are_enough_are_all_spent_whatever_the_searches_might_have_taken() -> None:
    # 2 x 10^7 steps decide all; single searches might take up to 10^11.
    assert not with_steps(hard_pair(9, users=90), 4 * 10**7).undecided.any()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("schedule", [Schedule, partial(Schedule, [Round(1), Round(700, low=18)], [])])
def test_progress_never_passes_the_steps_that_there_are(monkeypatch: pytest.MonkeyPatch, schedule: type) -> None:
    monkeypatch.setattr(rounds, "Schedule", schedule)
    case = hard_pair(9, users=200)
    known = groups(np.random.default_rng(5))
    # In the one hardly anything lies in anything else; in the other much does, and much follows.
    for comparison in (Comparison.of(*case, workers=1), Comparison.of(known, known, workers=1)):
        told: list[tuple[int, int]] = []
        for steps in (40, 2_000, 99_000, 305_000, 1_000_000, 20_000_000):
            search = attackers["subgraph"].method(steps=steps)
            search.disclosed(comparison, (), lambda done, of, told=told: told.append((done, of)))
        assert len(told) > 10
        assert all(done <= of for done, of in told)


def test_a_search_in_a_hub_ends_with_its_steps_before_it_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, users, few = np.random.default_rng(3), 3_000, 40
    spokes = [(0, near) for near in range(1, users)]
    around_few = np.argwhere(np.triu(rng.random((few, few)) < 0.2, 1)) + users + 1
    links = [*spokes, *map(tuple, rng.integers(1, users, (40_000, 2)).tolist()), *map(tuple, around_few.tolist())]
    links += [(users, users + 1 + near) for near in range(few)]
    graph = graph_of(users + 1 + few, [(one, other) for one, other in links if one != other])
    seen: list[Containment] = []
    monkeypatch.setattr(Containment, "look", lambda found, *given: seen.append(found) or 0)
    with_steps((graph, graph, np.arange(len(graph))), 10**9)
    [found] = seen
    hub, pattern = int(np.argmax(found.nodes.sizes)), int(np.flatnonzero(found.nodes.sizes == few)[0])
    space = space_for(users, 1 << 22)
    given = found.shapes, found.plans, found.around, pattern, hub, found.rows, space
    for steps in (100, 20_000):
        # One neighbour's places are looked through, at most, before the steps are counted again.
        assert inference.look_inside(*given, steps) == isomorphism.OPEN
        assert space.spent[0] < steps + 4 * users


def test_the_largest_targets_of_a_pattern_are_those_that_are_not_too_large() -> None:
    sizes = np.array([1, 2, 3, 9, 10, 11, 12, 40])
    of = nodes.nodes_of(np.zeros(8, dtype=np.int32), sizes, np.ones(8, dtype=np.int64), np.ones(8, dtype=np.int64))
    columns = np.zeros(int(of.words.sum()), dtype=np.uint64)
    for target, patterns in ((3, 0b001), (4, 0b101), (5, 0b110), (6, 0b111), (7, 0b111)):
        columns[of.starts[target]] = patterns
    windows = np.zeros((8, 2), dtype=np.int64)
    worth = np.array([True, True, True, *[False] * 5])
    inference.choose_largest(of, columns, 2, 10, worth, windows)
    # Of the first only those of up to ten; the others have two below the largest.
    assert windows[:3].tolist() == [[3, 5], [5, 7], [5, 7]]
    assert not windows[3:].any()
    inference.choose_largest(of, columns, 1, 40, worth, windows)
    assert windows[:3].tolist() == [[7, 8], [7, 8], [7, 8]]


@given(seed=seeds, steps=st.sampled_from([1, 500, 5_000, 50_000]))
@settings(deadline=None, max_examples=40)
def test_what_few_steps_leave_open_lies_between_their_bounds(seed: int, steps: int) -> None:
    case = hard_pair(seed, users=25)
    full, short = with_steps(case, 10**12), with_steps(case, steps)
    assert not full.undecided.any()
    assert (short.candidates <= full.candidates).all()
    assert (full.candidates <= short.possible).all()
    for of in (
        lambda each: each.success_bounds(case[2]),
        lambda each: each.one_candidate,
        lambda each: each.risk_bounds,
    ):
        low, high = of(short)
        assert low <= of(full)[0] <= high


def test_what_has_no_room_in_the_columns_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    case = hard_pair(4, users=80)
    full = with_steps(case, 10**10)
    monkeypatch.setattr(nodes, "_ROOM", 20)
    short = with_steps(case, 10**10)
    assert short.undecided.any()
    assert (short.candidates <= full.candidates).all()
    assert (full.candidates <= short.possible).all()
    assert full.true_least is not None
    assert short.true_least is not None
    assert ((short.true_least > 0) >= (full.true_least > 0)).all()


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("types", [3, 6])
def test_neighbours_of_many_types_without_links_leave_nothing_open(types: int) -> None:
    rng = np.random.default_rng(types)
    for _ in range(40):
        sides = []
        for users, share in ((2 * types, 0.0), (8 * types, 0.25)):
            links = np.argwhere(np.triu(rng.random((users, users)) < share, 1)) + 1
            topics = first_topics([0, *rng.integers(1, types + 1, users).tolist()])
            spokes = [(0, near) for near in range(1, users + 1)]
            sides.append(graph_of(users + 1, [*spokes, *map(tuple, links.tolist())], topics=topics))
        [found] = attackers["subgraph"].method().disclose(*sides, None, {"topic1": ("topic1",)}).values()
        assert not found.undecided.any()


@pytest.mark.usefixtures("small_blocks")
def test_a_turn_that_is_taken_up_again_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where inferring before its start takes more than there is patience for, it still searches something.
    monkeypatch.setattr(rounds, "_PATIENCE", 1)
    starts: dict[Round, list[int]] = {}
    turned = Containment._round

    def noted(
        found: Containment, course: Any, number: int, each: Turn, windows: Any, changed: Any, steps: int, *_: object
    ) -> tuple[int, int | None, bool]:
        used, rest, complete = turned(found, course, number, each, windows, changed, steps, 1, lambda used: None)
        assert rest is None or rest > each.start
        starts.setdefault(each.round, []).append(each.start)
        return used, rest, complete

    monkeypatch.setattr(Containment, "_round", noted)
    graph = groups(np.random.default_rng(5))
    with_steps((graph, graph, np.arange(len(graph))), 30_000_000)
    assert max(map(len, starts.values())) > 2
    assert all(each == sorted(set(each)) for each in starts.values())
