from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphpriv.graph import ATTRIBUTES
from graphpriv.measures import Pair, information_loss, measures
from graphpriv.protections import protect, protections
from tabular.errors import InvalidInput
from tests.strategies import generators, graphs, random_graph


def read(name, pair):
    return measures[name].method().measure(pair)


def value(graph, attribute, user):
    code = int(graph.attribute(attribute)[user])
    if code < 0:
        return None
    return graph.places.path(code) if attribute == "location" else graph.topic_names[code]


def links(graph):
    """Each follow as a pair of users; an undirected edge as two."""
    return [(one, int(other)) for one in range(len(graph)) for other in graph.follows.of(one)]


def plain_aamil(original, masked, attribute, back=None):
    """Eq 6.4 word for word; with *back*, rows are the original values of the nodes as in Figure 6.6."""
    before = Counter((value(original, attribute, a), value(original, attribute, b)) for a, b in links(original))
    after = Counter(
        (
            value(masked, attribute, a) if back is None else value(original, attribute, back[a]),
            value(masked, attribute, b),
        )
        for a, b in links(masked)
    )
    whole = sum(before.values())
    return sum(abs(before[cell] - after[cell]) for cell in {*before, *after}) / (2 * whole) if whole else 0


def plain_cdil(original, masked, attribute):
    before = Counter(value(original, attribute, user) for user in range(len(original)))
    after = Counter(value(masked, attribute, user) for user in range(len(masked)))
    return sum(abs(before[each] - after[each]) for each in {*before, *after}) / (2 * len(original))


def plain_distance(one, other, attribute):
    if one == other:
        return 0
    if attribute != "location" or one is None or other is None:
        return 1
    if one[-len(other) :] != other and other[-len(one) :] != one:
        return 1
    levels = {"neighborhood": 0, "route": 0, "sublocality": 0, "natural_feature": 0, "point_of_interest": 0}
    levels |= {"locality": 1, "colloquial_area": 1, "administrative_area_level_3": 2, "administrative_area_level_2": 3}
    levels |= {"administrative_area_level_1": 4, "country": 5, "political": 5, "continent": 6, "world": 7}
    return abs(levels[one[0][1]] - levels[other[0][1]]) / 7


@st.composite
def masked_pairs(draw):
    """An original and another graph of the same users with values and edges of its own, in another order."""
    directed = draw(st.booleans())
    original = draw(graphs(directed=directed))
    users = len(original)
    masked = draw(graphs(min_users=users, max_users=users, directed=directed))
    return original, masked, np.array(draw(st.permutations(range(users))), dtype=np.int64)


@given(masked_pairs())
def test_the_measures_are_what_their_equations_say(graphs_and_mapping):
    original, masked, mapping = graphs_and_mapping
    pair = Pair.of(original, masked, mapping)
    back = np.argsort(mapping)
    for attribute in ATTRIBUTES:
        assert read("aamil", pair).by_attribute[attribute] == plain_aamil(original, masked, attribute)
        assert read("aamil-anchored", pair).by_attribute[attribute] == plain_aamil(original, masked, attribute, back)
        assert read("cdil", pair).by_attribute[attribute] == plain_cdil(original, masked, attribute)
        moved = [
            plain_distance(value(original, attribute, user), value(masked, attribute, mapping[user]), attribute)
            for user in range(len(original))
        ]
        assert read("dbil", pair).by_attribute[attribute] == pytest.approx(sum(moved) / len(moved))
    for name in measures:
        reading = read(name, pair)
        assert reading.mean == pytest.approx(sum(reading.by_attribute.values()) / 4)


@pytest.mark.parametrize("name", measures)
@given(graph=graphs())
def test_every_loss_of_a_graph_against_itself_is_0(name, graph):
    reading = read(name, Pair.of(graph, graph, np.arange(len(graph))))
    assert set(reading.by_attribute) == set(ATTRIBUTES)
    assert not any(reading.by_attribute.values())
    assert reading.mean == 0


@pytest.mark.parametrize("name", measures)
@given(graphs_and_mapping=masked_pairs(), rng=generators)
def test_losses_do_not_depend_on_the_order_of_users(name, graphs_and_mapping, rng):
    original, masked, mapping = graphs_and_mapping
    ours, theirs = rng.permutation(len(original)), rng.permutation(len(masked))
    moved = np.argsort(theirs)[mapping[ours]]
    shuffled = Pair.of(original.restricted(ours), masked.restricted(theirs), moved)
    assert read(name, shuffled) == read(name, Pair.of(original, masked, mapping))


@given(graphs_and_mapping=masked_pairs())
def test_aamil_of_an_attribute_is_at_least_its_cdil_weighted_by_degree(graphs_and_mapping):
    original, masked, mapping = graphs_and_mapping
    assume(original.edge_count)
    pair = Pair.of(original, masked, mapping)
    for attribute in ATTRIBUTES:
        weighted: Counter = Counter()
        for graph, sign in ((original, 1), (masked, -1)):
            for user, degree in enumerate(graph.follows.counts.tolist()):
                weighted[value(graph, attribute, user)] += sign * degree
        cdil = sum(map(abs, weighted.values())) / (2 * len(original.follows.targets))
        assert read("aamil", pair).by_attribute[attribute] >= cdil


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), rng=generators, data=st.data())
def test_losses_of_a_release_lie_between_0_and_1(method, graph, rng, data):
    release = protect(graph, data.draw(st.integers(1, len(graph))), method=method, rng=rng)
    pair = Pair.of(graph, release.graph, release.mapping)
    for name in measures:
        assert all(0 <= loss <= 1 for loss in read(name, pair).by_attribute.values())
    assert 0 <= information_loss(pair) <= 1


def test_without_edges_nothing_of_them_is_lost():
    original = random_graph(1, 20, 0)
    masked = protect(original, 5, rng=np.random.default_rng(1))
    pair = Pair.of(original, masked.graph, masked.mapping)
    assert read("aamil", pair).mean == read("aamil-anchored", pair).mean == 0
    assert read("cdil", pair).mean > 0


def test_without_a_mapping_what_follows_persons_is_not_known():
    original = random_graph(1, 30, 60)
    release = protect(original, 3, rng=np.random.default_rng(1))
    blind = Pair.of(original, release.graph)
    seen = Pair.of(original, release.graph, release.mapping)
    assert read("dbil", blind) is None
    assert read("aamil-anchored", blind) is None
    assert information_loss(blind) is None
    assert read("aamil", blind) == read("aamil", seen)
    assert read("cdil", blind) == read("cdil", seen)
    assert information_loss(seen) > 0


def test_links_are_counted_in_both_directions_only_where_the_graph_has_none():
    directed = random_graph(3, 25, 50, directed=True)
    release = protect(directed, 5, rng=np.random.default_rng(1))
    one_way = Pair.of(directed, release.graph, release.mapping)
    both_ways = Pair.of(directed.undirected(), release.graph.undirected(), release.mapping)
    assert read("aamil", one_way) != read("aamil", both_ways)


def test_a_forgotten_user_is_left_out_on_both_sides():
    graph = random_graph(7, 40, 90)
    release = protect(graph, 4, rng=np.random.default_rng(2))
    kept = np.delete(np.arange(40), 11)
    forgotten = Pair.of(graph.restricted(kept), release.graph, release.mapping[kept])
    absent = release.mapping.copy()
    absent[11] = -1
    not_mapped = Pair.of(graph, release.graph, absent)
    without = Pair.of(graph.restricted(kept), release.graph.restricted(release.mapping[kept]), np.arange(39))
    assert (forgotten.left_out, not_mapped.left_out, without.left_out) == (1, 2, 0)
    for name in measures:
        assert read(name, forgotten) == read(name, not_mapped) == read(name, without)
    assert len(forgotten.masked) == 40


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ([0, 1], "2 entries"),
        ([0, 1, 3], "does not have"),
        ([0, 1, -2], "does not have"),
        ([0, 1, 1], "same counterpart"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(mapping, words):
    graph = random_graph(1, 3, 2)
    with pytest.raises(InvalidInput, match=words):
        Pair.of(graph, graph, np.array(mapping))


def test_a_directed_and_an_undirected_graph_are_not_compared():
    graph = random_graph(1, 3, 2)
    with pytest.raises(InvalidInput, match="directed"):
        Pair.of(graph, graph.undirected())
