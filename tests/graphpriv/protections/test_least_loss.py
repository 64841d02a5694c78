from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.measures import Pair, information_loss, measures
from graphpriv.places import LEVELS
from graphpriv.protections import annealing, protect
from graphpriv.protections.annealing import annealed
from graphpriv.protections.bottom_up import ancestors, bottom_up
from graphpriv.protections.least_loss import LeastLoss, weights_of
from graphpriv.protections.losses import Losses, Terms, losses_of
from graphpriv.synthetic import synthetic_graph
from graphpriv.verification import UnsoundRelease, verify
from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tests.graphpriv.figures import figure_6_5
from tests.graphpriv.protections.optimum import least, loss
from tests.strategies import graphs, random_graph, seeds


def rng(seed=1):
    return np.random.default_rng(seed)


def released(graph, k, seed=1, **parameters):
    return protect(graph, k, method="least-loss", rng=rng(seed), **parameters)


def dbil(graph, release):
    pair = Pair.of(graph, release.graph, release.mapping)
    return measures["dbil"].method().measure(pair).mean


def known(graph, users=400):
    """The users of a graph who are in a known country, and no more than so many."""
    levels = np.append(graph.places.levels, 7)
    return graph.restricted(np.flatnonzero(levels[graph.location] < LEVELS["country"])[:users])


@given(graph=graphs(), data=st.data())
def test_the_loss_of_clusters_is_that_of_the_thesis(graph, data):
    numbers = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(graph), max_size=len(graph))))
    numbers = np.unique(numbers, return_inverse=True)[1]
    weights = data.draw(st.tuples(*[st.integers(0, 5)] * 4))
    found = losses_of(Losses.of(graph, Terms(weights=weights)), numbers)
    expected = [loss(graph, np.flatnonzero(numbers == each).tolist(), weights) for each in range(len(found))]
    assert found.tolist() == expected


@given(graph=graphs(), seed=seeds, data=st.data())
def test_clusters_have_k_to_2k_minus_1_users(graph, seed, data):
    k = data.draw(st.integers(1, len(graph)))
    sizes = np.bincount(LeastLoss().clusters(graph, k, rng(seed)))
    assert k <= sizes.min() and sizes.max() <= 2 * k - 1


@given(graph=graphs(), seed=seeds, data=st.data())
def test_exact_clusters_have_k_users_but_for_one(graph, seed, data):
    k = data.draw(st.integers(1, len(graph)))
    sizes = np.bincount(LeastLoss(exact=True).clusters(graph, k, rng(seed)))
    assert sorted(sizes)[:-1] == [k] * (len(graph) // k - 1)


def test_small_graphs_lose_hardly_more_than_the_least_there_is():
    lost, optimum = [], []
    for seed in range(12):
        graph = random_graph(seed, 9, 9, places=6, topics=4)
        numbers = LeastLoss(effort=1_000).clusters(graph, 3, rng(seed))
        lost.append(int(losses_of(Losses.of(graph, Terms()), numbers).sum()))
        optimum.append(least(graph, 3))
    assert all(one >= other for one, other in zip(lost, optimum, strict=True))
    assert sum(lost) <= 1.06 * sum(optimum)


def test_it_loses_less_than_the_closest_profiles_do():
    graph = synthetic_graph(600, rng=rng())
    better, other = released(graph, 5), protect(graph, 5, method="closest-profiles", rng=rng())
    assert dbil(graph, better) < 0.7 * dbil(graph, other)
    losses = [information_loss(Pair.of(graph, each.graph, each.mapping)) for each in (better, other)]
    assert losses[0] < losses[1]


def test_with_equal_weights_what_is_proven_is_of_dbil():
    graph = synthetic_graph(300, rng=rng())
    release = released(graph, 4)
    assert release.proven.loss == pytest.approx(dbil(graph, release), abs=1e-12)
    assert 0 < release.proven.lower_bound < release.proven.loss
    assert release.proven.gap == release.proven.loss - release.proven.lower_bound


def test_the_heavier_the_place_the_less_is_lost_of_it():
    graph = synthetic_graph(500, rng=rng())
    lost = []
    for weight in (0, 1, 8):
        release = released(graph, 5, weights=f"location={weight}")
        reading = measures["dbil"].method().measure(Pair.of(graph, release.graph, release.mapping))
        lost.append((reading.by_attribute["location"], reading.by_attribute["topic1"]))
    assert lost[0][0] > lost[1][0] > lost[2][0]
    assert lost[0][1] < lost[1][1] < lost[2][1]


def test_any_number_of_threads_finds_the_same(monkeypatch):
    monkeypatch.setattr(annealing, "BLOCK", 50)
    losses = Losses.of(synthetic_graph(400, rng=rng()), Terms())
    above = ancestors(losses)
    start = bottom_up(losses, 4, above)
    found = [
        annealed(
            losses, start, above, least=4, most=7, steps=40_000, seed=1, workers=workers,
            report=lambda *told: None, stop=lambda: False,
        )
        for workers in (1, 2, 5)
    ]  # fmt: skip
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    assert losses_of(losses, found[0]).sum() < losses_of(losses, start).sum()


def test_when_it_is_stopped_it_has_a_release():
    graph = synthetic_graph(300, rng=rng())
    asked = iter([False, True])
    release = released(graph, 4, stop=lambda: next(asked, True))
    assert np.unique(release.graph.profiles(), axis=0, return_counts=True)[1].min() >= 4
    at_once, built = released(graph, 4, stop=lambda: True), released(graph, 4, effort=0)
    assert at_once.graph == built.graph


def test_it_says_how_far_it_is():
    told = []
    released(synthetic_graph(100, rng=rng()), 3, report=lambda *each: told.append(each))
    assert ("Clustering", 1, 1) in told


@given(graph=graphs(), seed=seeds, l=st.integers(2, 4))
def test_each_cluster_has_as_many_first_topics_as_asked_for(graph, seed, l):  # noqa: E741
    there = set(graph.topics[:, 0].tolist()) - {-1}
    if len(there) < l:
        with pytest.raises(NoSolution, match="first topic"):
            LeastLoss(l=l).clusters(graph, 1, rng(seed))
        return
    numbers = LeastLoss(l=l).clusters(graph, min(2, len(graph)), rng(seed))
    for cluster in range(numbers.max() + 1):
        assert len(set(graph.topics[numbers == cluster, 0].tolist()) - {-1}) >= l


def test_more_first_topics_cost_something():
    graph = synthetic_graph(300, rng=rng())
    assert released(graph, 4, l=3).proven.loss > released(graph, 4).proven.loss


def test_no_place_is_shown_above_the_limit():
    graph = known(synthetic_graph(1638, rng=rng()))
    enough = np.bincount(ancestors(Losses.of(graph, Terms()))[5][graph.location])
    graph = graph.restricted(np.flatnonzero(enough[ancestors(Losses.of(graph, Terms()))[5][graph.location]] >= 3))
    release = released(graph, 3, limit="location=country", effort=20)
    assert release.graph.places.levels[release.graph.location].max() <= LEVELS["country"]
    free = released(graph, 3, effort=20)
    assert free.graph.places.levels[free.graph.location].max() > LEVELS["country"]


def test_a_limit_that_cannot_be_kept_says_what_it_would_take():
    graph = synthetic_graph(400, rng=rng())
    with pytest.raises(NoSolution) as refused:
        released(graph, 5, limit="location=country")
    assert str(refused.value) == (
        "No release with k=5 keeps limit location=country: 7 users are at a place above it and 3 users are in places "
        "with fewer than 5 each. Leave it out."
    )
    with pytest.raises(
        NoSolution, match=r"1 user is at a place above it and 2 users are .* Set it to location=country"
    ):
        released(figure_6_5(), 3, limit="location=locality")
    with pytest.raises(NoSolution, match=r"country: 6 users are in .* fewer than 6 each. Leave it out"):
        released(known(graph, 120), 6, limit="location=country")


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ("location=-1", "weights must give location a whole number from 0 to 1000, not 'location=-1'."),
        ("location=1.5", "weights must give location a whole number from 0 to 1000, not 'location=1.5'."),
        ("topic1=1001", "weights must give topic1 a whole number from 0 to 1000, not 'topic1=1001'."),
        ("location", "weights must be such as location=1,topic1=1,topic2=1,topic3=1, not 'location'."),
        ("topic1=1,topic1=2", "weights must give topic1 once, not 'topic1=1,topic1=2'."),
        (
            "location=0,topic1=0,topic2=0,topic3=0",
            "weights must give at least one attribute more than 0, not 'location=0,topic1=0,topic2=0,topic3=0'.",
        ),
    ],
)
def test_weights_that_are_none_are_refused(weights, text):
    with pytest.raises(InvalidParameter) as refused:
        LeastLoss(weights=weights)
    assert str(refused.value) == text


def test_a_weight_of_something_else_is_refused():
    with pytest.raises(UnknownName, match="No attribute is called 'topic4'; did you mean"):
        LeastLoss(weights="topic4=1")


def test_weights_are_shares():
    assert weights_of("location=4,topic1=2,topic2=2,topic3=0") == (2, 1, 1, 0)
    graph = synthetic_graph(100, rng=rng())
    assert (
        released(graph, 3, weights="location=2").graph
        == released(graph, 3, weights="location=4,topic1=2,topic2=2,topic3=2").graph
    )


def test_a_limit_that_is_no_level_is_refused():
    with pytest.raises(InvalidParameter, match=r"limit must be location= and one of route, .*, not 'country'"):
        LeastLoss(limit="country")


def test_more_first_topics_than_there_are_is_no_solution():
    with pytest.raises(NoSolution) as refused:
        released(synthetic_graph(100, rng=rng()), 3, l=40)
    assert str(refused.value) == "No release with l=40 exists: the graph has 13 first topics. Lower l to 13."


def test_k_of_all_users_makes_one_cluster():
    graph = synthetic_graph(40, rng=rng())
    release = released(graph, 40)
    assert len(np.unique(release.graph.profiles(), axis=0)) == 1
    assert release.proven.lower_bound <= release.proven.loss


def test_profiles_that_are_all_equal_lose_nothing():
    alike = random_graph(1, 30, 60, places=1, topics=1, missing=0)
    release = released(alike, 7)
    assert (release.proven.loss, release.proven.lower_bound) == (0, 0)


def test_a_graph_of_which_nothing_is_known_loses_nothing():
    graph = random_graph(1, 30, 60)
    nothing = replace(graph, location=np.full(30, -1, dtype=np.int32), topics=np.full((30, 3), -1, dtype=np.int32))
    release = released(nothing, 7, limit="location=country")
    assert release.proven.loss == 0
    assert (release.graph.location == -1).all()
    with pytest.raises(NoSolution, match="the graph has 0 first topics"):
        released(nothing, 7, l=2)


def test_exact_clusters_beside_a_limit_leave_one_over_at_most():
    graph = known(synthetic_graph(800, rng=rng()), 800)
    country = ancestors(Losses.of(graph, Terms()))[5][graph.location]
    large = np.flatnonzero(np.bincount(country) >= 7)[:2]
    some = graph.restricted(np.concatenate([np.flatnonzero(country == each)[:7] for each in large]))
    with pytest.raises(NoSolution, match="exact: 2 places at location=country have users over after clusters of 3"):
        released(some, 3, exact=True, limit="location=country")
    sizes = np.bincount(LeastLoss(exact=True, limit="location=country").clusters(some, 7, rng()))
    assert sizes.tolist() == [7, 7]
    with pytest.raises(NoSolution, match=r"14 users are in places with fewer than 8 each\. Lower k to 7 or "):
        released(some, 8, limit="location=country")


def test_kept_clusters_must_keep_what_is_asked_for():
    graph = known(synthetic_graph(800, rng=rng()), 40)
    kept = np.array([*[0] * 20, *[1] * 20])
    with pytest.raises(NoSolution, match=r"limit location=locality: the clusters that are kept .* above it"):
        protect(graph, 3, method="least-loss", rng=rng(), kept=kept, limit="location=locality")
    with pytest.raises(NoSolution, match=r"l 17: clusters that are kept .* have fewer first topics"):
        protect(graph, 3, method="least-loss", rng=rng(), kept=kept, l=17)


def test_the_check_of_a_release_counts_places_and_first_topics_itself():
    graph = synthetic_graph(200, rng=rng())
    release = released(graph, 3)
    with pytest.raises(UnsoundRelease, match="above the limit"):
        verify(graph, replace(release, parameters={"limit": "location=locality"}))
    with pytest.raises(UnsoundRelease, match="fewer than 9 first topics"):
        verify(graph, replace(release, parameters={"l": 9}))


def test_a_weight_of_more_digits_than_a_number_may_have_is_refused():
    with pytest.raises(InvalidParameter, match="a whole number from 0 to 1000"):
        weights_of(f"location={'0' * 5000}1")
