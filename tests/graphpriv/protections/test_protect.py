from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import common_codes
from graphpriv.protections import contract, protect, protections
from graphpriv.verification import UnsoundRelease
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tests.graphpriv.figures import figure_6_5
from tests.strategies import graphs, random_graph, seeds


def rng(seed=1):
    return np.random.default_rng(seed)


def brought_back(original, release):
    """The released graph with the original's ids, in its order and coding."""
    restored = replace(release.graph.restricted(release.mapping), ids=original.ids)
    return common_codes(original, restored)


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), seed=seeds)
def test_protecting_with_k_1_changes_nothing_but_ids_and_order(method, graph, seed):
    release = protect(graph, 1, method=method, rng=rng(seed))
    original, restored = brought_back(graph, release)
    assert restored == replace(original, private={})


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), seed=seeds, data=st.data())
def test_the_same_seed_gives_the_same_release(method, graph, seed, data):
    k = data.draw(st.integers(1, len(graph)))
    one, other = (protect(graph, k, method=method, rng=rng(seed)) for _ in range(2))
    assert one.graph == other.graph
    assert one.mapping.tolist() == other.mapping.tolist()


@pytest.mark.parametrize("method", protections)
def test_another_seed_gives_other_ids_and_another_order(method):
    graph = random_graph(1, 60, 100)
    one, other = (protect(graph, 3, method=method, rng=rng(seed)) for seed in (1, 2))
    assert not set(one.graph.ids) & set(other.graph.ids)
    assert one.mapping.tolist() != other.mapping.tolist()


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(private=True), seed=seeds)
def test_the_input_is_left_as_it_was(method, graph, seed):
    before = graph.profiles(), graph.follows.targets.copy(), dict(graph.private)
    protect(graph, 1, method=method, rng=rng(seed))
    assert graph.profiles().tolist() == before[0].tolist()
    assert graph.follows.targets.tolist() == before[1].tolist()
    assert dict(graph.private) == before[2]


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), seed=seeds, data=st.data())
def test_k_users_or_more_share_each_profile(method, graph, seed, data):
    k = data.draw(st.integers(1, len(graph)))
    release = protect(graph, k, method=method, rng=rng(seed))
    _, counts = np.unique(release.graph.profiles(), axis=0, return_counts=True)
    assert counts.min() >= k


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(private=True), seed=seeds)
def test_every_edge_is_there_and_no_string_of_a_person(method, graph, seed):
    release = protect(graph, len(graph), method=method, rng=rng(seed))
    before = {(int(release.mapping[a]), int(release.mapping[b])) for a, b in zip(*graph.edges(), strict=True)}
    after = set(zip(*(ends.tolist() for ends in release.graph.edges()), strict=True))
    if not graph.directed:
        before = {(min(pair), max(pair)) for pair in before}
    assert before == after
    assert dict(release.graph.private) == {}
    persons = {*graph.ids, *(text for column in graph.private.values() for text in column)}
    assert not persons & set(release.graph.ids)


def test_a_release_says_how_it_was_made():
    release = protect(figure_6_5(), 3, method="closest-profiles", rng=rng())
    assert (release.k, release.method, dict(release.parameters)) == (3, "closest-profiles", {})
    release = protect(figure_6_5(), 3, rng=rng(), weights="location=2")
    assert (release.k, release.method, release.parameters["weights"]) == (3, "least-loss", "location=2")


def test_only_places_and_topics_that_occur_are_released():
    release = protect(figure_6_5(), 3, rng=rng())
    assert release.graph.places.names == ("world", "North America", "United States")
    assert release.graph.topic_names == ("Politics", "Sports", "Technology_Internet")


def test_an_id_that_an_original_has_is_drawn_again():
    graph = random_graph(1, 30, 40)
    first = protect(graph, 2, rng=rng(5))
    taken = first.graph.ids[7]
    for original in (
        replace(graph, ids=(taken, *graph.ids[1:])),
        replace(graph, private={"handle": (None, taken, *[None] * 28)}),
    ):
        second = protect(original, 2, rng=rng(5))
        assert taken not in second.graph.ids
        assert len(set(second.graph.ids)) == 30


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, None])
def test_a_k_that_is_no_number_of_users_is_refused(k):
    with pytest.raises(InvalidParameter, match="k must be a whole number"):
        protect(figure_6_5(), k, rng=rng())


def test_a_numpy_number_is_a_k():
    assert protect(figure_6_5(), np.int64(2), rng=rng()).k == 2


def test_more_than_all_users_is_no_solution():
    with pytest.raises(NoSolution) as refused:
        protect(figure_6_5(), 5, rng=rng())
    assert str(refused.value) == "No release with k=5 exists: the graph has 3 users. Lower k or add users."


def test_a_graph_without_users_is_refused():
    empty = random_graph(1, 3, 0).restricted(np.zeros(0, dtype=np.int64))
    with pytest.raises(InvalidInput, match="no users"):
        protect(empty, 2, rng=rng())


def test_an_unknown_method_or_parameter_is_refused():
    with pytest.raises(UnknownName, match="closest-profiles"):
        protect(figure_6_5(), 2, method="closest-profile", rng=rng())
    with pytest.raises(UnknownName, match="colour"):
        protect(figure_6_5(), 2, rng=rng(), colour="red")


def test_a_release_that_fails_the_check_is_never_returned(monkeypatch):
    monkeypatch.setattr(contract, "aggregated", lambda graph, clusters: graph)
    with pytest.raises(UnsoundRelease):
        protect(figure_6_5(), 3, rng=rng())


def test_a_release_of_one_user_and_of_users_all_alike():
    one = random_graph(1, 1, 0)
    assert len(protect(one, 1, rng=rng()).graph) == 1
    alike = random_graph(1, 30, 60, places=1, topics=1, missing=0)
    release = protect(alike, 7, rng=rng())
    original, restored = brought_back(alike, release)
    assert restored == original


def test_kept_clusters_stay_and_the_others_get_clusters_among_themselves():
    graph = random_graph(3, 40, 60, places=12, topics=8)
    kept = np.array([*[0] * 4, *[1] * 11, *[-1] * 25])
    release = protect(graph, 3, rng=rng(), kept=kept)
    alone = protect(graph.restricted(np.arange(15, 40)), 3, rng=rng())
    _, restored = brought_back(graph, release)
    profiles = [tuple(row) for row in restored.profiles().tolist()]
    assert len(set(profiles[:4])) == len(set(profiles[4:15])) == 1
    _, expected = brought_back(graph.restricted(np.arange(15, 40)), alone)
    same = [[a == b for b in profiles[15:]] for a in profiles[15:]]
    rows = [tuple(row) for row in expected.profiles().tolist()]
    assert same == [[a == b for b in rows] for a in rows]
