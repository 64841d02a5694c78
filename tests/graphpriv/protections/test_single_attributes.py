import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.places import LEVELS
from graphpriv.protections import single_attributes as module
from graphpriv.protections.losses import FORBIDDEN, Losses, Terms, losses_of
from graphpriv.protections.single_attributes import fewest_steps, fewest_without, single_attributes_bound
from graphpriv.synthetic import synthetic_graph
from tests.graphpriv.protections.optimum import least
from tests.strategies import graphs, random_graph


def clusterings(users, k):
    """All ways to put so many users into clusters of k or more, as numbers from 0 without a gap."""

    def grown(numbers):
        if len(numbers) == users:
            if np.bincount(numbers).min() >= k:
                yield np.array(numbers)
            return
        for number in range(max(numbers, default=-1) + 2):
            yield from grown([*numbers, number])

    yield from grown([])


def least_of_all(graph, k, terms):
    """The least loss of all clusters that are allowed; None where none are."""
    losses = Losses.of(graph, terms)
    lost = [losses_of(losses, numbers) for numbers in clusterings(len(graph), k)]
    return min((int(each.sum()) for each in lost if (each < FORBIDDEN).all()), default=None)


@given(graph=graphs(min_users=2, max_users=7), k=st.integers(2, 4))
def test_the_fewest_steps_are_those_of_the_best_clusters(graph, k):
    if len(graph) >= k:
        assert fewest_steps(Losses.of(graph, Terms()), k) == least(graph, k, (1, 0, 0, 0))


@pytest.mark.parametrize("number", range(12))
def test_in_deep_trees_the_fewest_steps_are_those_of_the_best_clusters(number):
    graph = random_graph(number, 10 + number % 3, 9, places=9, topics=2, missing=0.2)
    for k in (2, 3, 4, 5):
        assert fewest_steps(Losses.of(graph, Terms()), k) == least(graph, k, (1, 0, 0, 0))


@given(graph=graphs(min_users=2, max_users=5), k=st.integers(2, 3), kind=st.sampled_from(["locality", "country"]))
def test_the_fewest_steps_below_a_limit_are_those_of_the_best_clusters_that_keep_it(graph, k, kind):
    terms = Terms(weights=(1, 0, 0, 0), highest=LEVELS[kind])
    best = least_of_all(graph, k, terms)
    if best is not None:
        assert fewest_steps(Losses.of(graph, terms), k) == best


@given(topics=st.lists(st.integers(0, 4), min_size=1, max_size=8), k=st.integers(1, 4))
def test_no_clusters_show_more_users_their_topic(topics, k):
    topics = np.array(topics, dtype=np.int32)
    if len(topics) < k:
        return
    lost = []
    for numbers in clusterings(len(topics), k):
        members = [topics[numbers == cluster] for cluster in range(numbers.max() + 1)]
        lost.append(sum(len(each) - int(np.bincount(each).max()) for each in members))
    assert fewest_without(topics, k) == min(lost)


@given(graph=graphs(min_users=2, max_users=7), k=st.integers(2, 3), weights=st.tuples(*[st.integers(0, 3)] * 4))
def test_no_clusters_lose_less_than_their_attributes_alone(graph, k, weights):
    if len(graph) >= k:
        bound = single_attributes_bound(Losses.of(graph, Terms(weights=weights)), k)
        assert 0 <= bound <= least(graph, k, weights)


def test_a_large_k_in_a_large_tree_is_not_tried(monkeypatch):
    losses = Losses.of(synthetic_graph(200, rng=np.random.default_rng(1)), Terms())
    assert fewest_steps(losses, 5) > 0
    monkeypatch.setattr(module, "SUMS", 1_000)
    assert fewest_steps(losses, 5) == 0
