from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.protections import lower_bound as module
from graphpriv.protections.losses import Losses, Terms, losses_of
from graphpriv.protections.lower_bound import Alike, lower_bound, pair_shares, raised
from graphpriv.protections.single_attributes import single_attributes_bound
from graphpriv.synthetic import synthetic_graph
from tests.graphpriv.protections.all_pairs import distance
from tests.graphpriv.protections.optimum import least
from tests.strategies import graphs, random_graph


def drawn(number):
    rng = np.random.default_rng(number)
    users, k = int(rng.integers(4, 15)), int(rng.integers(2, 5))
    graph = random_graph(number, users, users, places=int(rng.integers(1, 9)), topics=int(rng.integers(1, 6)))
    weights = tuple(int(weight) for weight in rng.integers(0, 4, size=4)) if number % 2 else (1, 1, 1, 1)
    return graph, k, weights if any(weights) else (1, 0, 0, 0)


def is_below_the_optimum(number):
    graph, k, weights = drawn(number)
    bound = lower_bound(Losses.of(graph, Terms(weights=weights)), k)
    assert 0 <= bound <= least(graph, k, weights)


@pytest.mark.parametrize("number", [each for each in range(200) if len(drawn(each)[0]) <= 9][:30])
def test_the_bound_is_never_above_the_optimum(number):
    is_below_the_optimum(number)


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(200))
def test_the_bound_is_never_above_the_optimum_of_200_graphs(number):
    is_below_the_optimum(number)


def test_two_different_users_lose_what_they_differ_in():
    graph = random_graph(3, 2, 1, places=4, topics=6, missing=0)
    differs = _together(graph, 0, 1)
    assert lower_bound(Losses.of(graph, Terms()), 2) == differs > 0
    assert differs <= least(graph, 2)


@given(graph=graphs(), data=st.data())
def test_a_pair_share_is_half_the_mean_distance_to_the_nearest_others(graph, data):
    k = data.draw(st.integers(2, max(len(graph), 2)))
    if len(graph) < k:
        return
    losses = Losses.of(graph, Terms())
    shares = pair_shares(Alike.among(losses), losses.terms[:4], k)
    users = range(len(graph))
    for one in users:
        apart = sorted(_together(graph, one, other) for other in users if other != one)
        assert shares[one] == sum(apart[: k - 1]) * module.UNITS // (2 * (k - 1))


def _together(graph, one, other):
    """What two users lose together at least: steps up to the common place, and the topics that differ."""
    place, there = int(graph.location[one]), int(graph.location[other])
    topics = 7 * int((graph.topics[one] != graph.topics[other]).sum())
    if place == there:
        return topics
    if -1 in (place, there):
        known = max(place, there)
        return topics + 7 + 7 - int(graph.places.levels[known])
    above = [set(), set()]
    for found, node in zip(above, (place, there), strict=True):
        while node >= 0:
            found.add(node)
            node = int(graph.places.parents[node])
    # Of the places above both, the one that comes last in the order of paths is the closest.
    common = int(graph.places.levels[max(above[0] & above[1])])
    return topics + 2 * common - int(graph.places.levels[place]) - int(graph.places.levels[there])


@given(graph=graphs(min_users=2, max_users=8), k=st.integers(2, 4), data=st.data())
def test_raising_makes_shares_of_any_numbers(graph, k, data):
    if len(graph) < k:
        return
    losses = Losses.of(graph, Terms(weights=(2, 1, 3, 1)))
    losses = losses.among(np.argsort(losses.place, kind="stable"))
    numbers = st.lists(st.integers(-20, 60), min_size=len(graph), max_size=len(graph))
    shares = raised(losses, k, np.array(data.draw(numbers)) * module.UNITS)
    for size in range(k, len(graph) + 1):
        for members in combinations(range(len(graph)), size):
            lost = losses_of(losses.among(np.array(members)), np.zeros(size, dtype=np.int64)).sum()
            assert shares[list(members)].sum() <= lost * module.UNITS


def test_raising_brings_the_bound_nearer(monkeypatch):
    losses = Losses.of(synthetic_graph(300, rng=np.random.default_rng(1)), Terms())
    bound = lower_bound(losses, 5)
    monkeypatch.setattr(module, "WORK", 0)
    assert lower_bound(losses, 5) < 0.8 * bound


def test_users_who_are_all_alike_need_not_lose_anything():
    alike = random_graph(1, 30, 60, places=1, topics=1, missing=0)
    assert lower_bound(Losses.of(alike, Terms()), 7) == 0
    assert distance(alike, 0, 1) == 0


def test_where_the_place_counts_most_it_counts_by_itself(monkeypatch):
    monkeypatch.setattr(module, "WORK", 0)
    losses = Losses.of(synthetic_graph(500, rng=np.random.default_rng(1)), Terms(weights=(12, 2, 1, 1)))
    bound = lower_bound(losses, 20)
    monkeypatch.setattr(module, "PARTS", 0)
    pairs = pair_shares(Alike.among(losses), losses.terms[:4], 20).sum() / module.UNITS
    assert bound > lower_bound(losses, 20) >= max(pairs, single_attributes_bound(losses, 20))


def test_first_topics_that_a_cluster_must_have_raise_the_bound():
    graph = synthetic_graph(200, rng=np.random.default_rng(1))
    some, more = (lower_bound(Losses.of(graph, Terms(distinct=distinct)), 3) for distinct in (0, 6))
    assert more == lower_bound(Losses.of(graph, Terms()), 6) > some
