"""What every attacker promises, against the matchers of two other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.risk import SCENARIOS, Comparison, Disclosure, attackers, user_labels
from tabular.errors import InvalidInput, UnknownName
from tests.graphpriv.risk.matchers import assert_found, by_networkx, by_rustworkx, first_topics, graph_of
from tests.strategies import graphs, seeds

#: The scenarios of the thesis, and the structure alone.
ALL_SCENARIOS = {**SCENARIOS, "structure": ()}


def each_scenario(
    attacker: str, comparison: Comparison, scenarios: dict[str, tuple[str, ...]]
) -> dict[str, Disclosure]:
    method = attackers[attacker].method()
    return {name: method.disclosed(comparison, attributes) for name, attributes in scenarios.items()}


def drawn_pair(
    rng: np.random.Generator, *, users: int, values: int, directed: bool, relinked: float, renamed: float
) -> tuple[SocialGraph, SocialGraph, np.ndarray]:
    """A graph with a hub, isolated users, twins and a clique; and its masked one, some links and values changed."""
    edges = rng.integers(0, users, (int(rng.integers(0, 4 * users)), 2))
    edges[: users // 3, 0] = 0
    clique = rng.choice(users, min(users, 5), replace=False)
    closed = np.array([(one, other) for one in clique for other in clique if one != other]).reshape(-1, 2)
    edges = np.concatenate([edges[(edges % max(users // 6, 2) != 1).all(axis=1)], closed]).astype(int)
    topics, places = rng.integers(0, values, (users, 3)), rng.integers(0, min(values, 20), users)
    original = graph_of(users, edges.tolist(), directed=directed, topics=topics.tolist(), places=places.tolist())
    mapping = rng.permutation(users)
    moved = mapping[edges]
    changed = rng.random(len(edges)) < relinked
    moved[changed, 1] = rng.integers(0, users, int(changed.sum()))
    masked_topics, masked_places = np.empty_like(topics), np.empty_like(places)
    masked_topics[mapping], masked_places[mapping] = topics, places
    changed = rng.random((users, 3)) < renamed
    masked_topics[changed] = rng.integers(0, values, int(changed.sum()))
    masked = graph_of(
        users, moved.tolist(), directed=directed, topics=masked_topics.tolist(), places=masked_places.tolist()
    )
    mapping = np.where(rng.random(users) < 0.1, -1, mapping)
    return original, masked, mapping


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("values", [1, 2, 5, 18])
@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_those_of_networkx(seed: int, values: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    relinked, renamed = [(0.0, 0.0), (0.0, 0.15), (0.1, 0.0), (0.3, 0.1)][seed]
    original, masked, mapping = drawn_pair(
        rng, users=24, values=values, directed=directed, relinked=relinked, renamed=renamed
    )
    scenarios = {"topic1": ("topic1",), "all": ATTRIBUTES, "some": ("location", "topic2"), "structure": ()}
    comparison = Comparison.of(original, masked, mapping)
    ego = each_scenario("ego", comparison, scenarios)
    inside = each_scenario("subgraph", comparison, scenarios)
    for name, attributes in scenarios.items():
        equal_expected, inside_expected = by_networkx(original, masked, attributes)
        assert_found(ego[name], equal_expected, mapping)
        assert_found(inside[name], inside_expected, mapping)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("values", [1, 2, 5, 18])
def test_candidates_are_those_of_rustworkx(values: int, directed: bool) -> None:
    original, masked, mapping = drawn_pair(
        np.random.default_rng(values), users=20, values=values, directed=directed, relinked=0.1, renamed=0.05
    )
    for attributes in (("topic1",), ()):
        expected = by_rustworkx(original, masked, attributes)
        for name, candidates in zip(("ego", "subgraph"), expected, strict=True):
            found = attackers[name].method().disclose(original, masked, mapping, {"": attributes})
            assert_found(found[""], candidates, mapping)


@given(original=graphs(max_users=8, directed=True), masked=graphs(max_users=9, directed=True))
@settings(deadline=None, max_examples=60)
def test_graphs_that_have_nothing_to_do_with_each_other(original: SocialGraph, masked: SocialGraph) -> None:
    mapping = np.full(len(original), -1)
    expected = by_networkx(original, masked, ("topic1",))
    for name, candidates in zip(("ego", "subgraph"), expected, strict=True):
        found = attackers[name].method().disclose(original, masked, mapping, {"": ("topic1",)})
        assert_found(found[""], candidates, mapping)


@given(graph=graphs(), seed=seeds)
@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("name", list(attackers))
def test_a_graph_against_itself_in_another_order_has_risk_1(name: str, graph: SocialGraph, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(graph))
    shuffled = graph.restricted(order)
    found = attackers[name].method().disclose(graph, shuffled, np.argsort(order), ALL_SCENARIOS)
    for disclosure in found.values():
        assert disclosure.risk == 1.0
        assert disclosure.true_found is not None
        assert disclosure.true_found.all()
        assert not disclosure.undecided.any()


@given(seed=seeds, values=st.sampled_from([1, 2, 5]), directed=st.booleans())
@settings(deadline=None, max_examples=40)
def test_whoever_is_found_by_the_whole_is_found_by_a_part(seed: int, values: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    original, masked, mapping = drawn_pair(rng, users=18, values=values, directed=directed, relinked=0.05, renamed=0.05)
    comparison = Comparison.of(original, masked, mapping)
    ego = each_scenario("ego", comparison, ALL_SCENARIOS)
    inside = each_scenario("subgraph", comparison, ALL_SCENARIOS)
    for name in ALL_SCENARIOS:
        assert (ego[name].candidates <= inside[name].candidates).all()
        assert ego[name].risk <= inside[name].risk


@pytest.mark.parametrize("name", list(attackers))
def test_the_number_of_workers_changes_nothing(name: str) -> None:
    original, masked, mapping = drawn_pair(
        np.random.default_rng(3), users=120, values=2, directed=True, relinked=0.1, renamed=0.1
    )
    one, many = (
        attackers[name].method(steps=20).disclose(original, masked, mapping, ALL_SCENARIOS, workers=workers)
        for workers in (1, 4)
    )
    for scenario in ALL_SCENARIOS:
        for column in ("matched", "undecided", "candidates", "true_found"):
            np.testing.assert_array_equal(getattr(one[scenario], column), getattr(many[scenario], column))


@pytest.mark.parametrize("name", list(attackers))
def test_a_released_graph_without_users_holds_nobody(name: str) -> None:
    original, nobody = graph_of(3, [(0, 1)]), graph_of(0, [])
    found = attackers[name].method().disclose(original, nobody, np.full(3, -1), {"all": ATTRIBUTES})["all"]
    assert found.candidates.tolist() == [0, 0, 0]
    assert found.chances.tolist() == [0.0, 0.0, 0.0]
    assert found.expected_success(np.full(3, -1)) is None
    found = attackers[name].method().disclose(nobody, original, None, {"all": ATTRIBUTES})["all"]
    assert found.risk == 0.0


@pytest.mark.parametrize("name", list(attackers))
def test_directed_and_undirected_are_not_compared(name: str) -> None:
    with pytest.raises(InvalidInput, match="undirected"):
        attackers[name].method().disclose(graph_of(2, [(0, 1)], directed=True), graph_of(2, [(0, 1)]), None, {"": ()})


def test_a_mapping_that_does_not_fit_is_refused() -> None:
    graph = graph_of(2, [(0, 1)])
    with pytest.raises(InvalidInput, match="3 entries"):
        Comparison.of(graph, graph, np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidInput, match="does not have"):
        Comparison.of(graph, graph, np.array([0, 2]))


def test_labels_are_equal_exactly_where_all_values_are() -> None:
    original = graph_of(3, [], topics=first_topics([0, 1, 0]), places=[1, 1, 2])
    masked = graph_of(2, [], topics=first_topics([1, 0]), places=[1, 2])
    one, other = np.split(user_labels(original, masked, ("location", "topic1")), [len(original)])
    assert (one[:, None] == other[None, :]).tolist() == [[False, False], [True, False], [False, True]]
    assert user_labels(original, masked, ()).tolist() == [0, 0, 0, 0, 0]
    with pytest.raises(UnknownName, match="topic1"):
        user_labels(original, masked, ("topc1",))
