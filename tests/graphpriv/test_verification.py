"""The check of a release, by releases that are wrong in one way each."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import Links
from graphpriv.places import WORLD, PlaceTree
from graphpriv.protections import protect, protections
from graphpriv.release import Release
from graphpriv.verification import UnsoundRelease, strings_in, verify
from tests.graphpriv.figures import BROOKLYN, UNITED_STATES, figure_6_5
from tests.strategies import generators, graphs, random_graph

USERS = 40


@pytest.fixture(scope="module")
def original():
    graph = random_graph(4, USERS, 80, places=12, topics=6)
    handles = tuple(f"@handle{user}" for user in range(USERS))
    return replace(graph, private={"handle": handles, "location_text": (None, *["down by the sea"] * (USERS - 1))})


@pytest.fixture(scope="module")
def release(original):
    return protect(original, 3, rng=np.random.default_rng(1))


def changed(release, **parts):
    return replace(release, graph=replace(release.graph, **parts))


def refused(original, release, words):
    with pytest.raises(UnsoundRelease, match=words):
        verify(original, release)


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), rng=generators, data=st.data())
def test_what_protect_returns_is_sound(method, graph, rng, data):
    verify(graph, protect(graph, data.draw(st.integers(1, len(graph))), method=method, rng=rng))


def test_a_profile_that_stands_there_less_than_k_times_is_refused(original, release):
    refused(original, replace(release, k=4), "less than k=4")


def test_a_user_too_many_or_too_few_is_refused(original, release):
    fewer = replace(release, graph=release.graph.restricted(np.arange(USERS - 1)))
    refused(original, fewer, "39 users, the original 40")


def test_columns_that_are_too_short_are_refused(original, release):
    refused(original, changed(release, location=release.graph.location[:-1]), "location a user")
    refused(original, changed(release, topics=release.graph.topics[:, :2]), "three topics a user")


@pytest.mark.parametrize("position", [-1, 0, USERS])
def test_a_mapping_that_is_no_bijection_is_refused(original, release, position):
    mapping = release.mapping.copy()
    mapping[np.flatnonzero(mapping)[0]] = position
    refused(original, replace(release, mapping=mapping), "bijection")
    refused(original, replace(release, mapping=mapping[:-1]), "one entry an original user")


def test_an_edge_left_out_is_refused(original, release):
    links = release.graph.follows
    fewer = Links.from_pairs(links.sources[1:], links.targets[1:], USERS)
    refused(original, changed(release, follows=fewer), "edges are not those")


def test_an_edge_added_or_turned_round_is_refused(original, release):
    sources, targets = release.graph.edges()
    there = set(zip(sources.tolist(), targets.tolist(), strict=True))
    one = next(position for position, (a, b) in enumerate(sorted(there)) if (b, a) not in there)
    turned = sources.copy(), targets.copy()
    turned[0][one], turned[1][one] = targets[one], sources[one]
    refused(original, changed(release, follows=Links.from_pairs(*turned, USERS)), "edges are not those")
    more = np.append(sources, targets[one]), np.append(targets, sources[one])
    refused(original, changed(release, follows=Links.from_pairs(*more, USERS)), "edges are not those")


def test_rows_of_edges_out_of_order_are_refused(original, release):
    links = release.graph.follows
    user = int(np.flatnonzero(links.counts > 1)[0])
    targets = links.targets.copy()
    row = slice(links.offsets[user], links.offsets[user + 1])
    targets[row] = targets[row][::-1]
    refused(original, changed(release, follows=Links(links.offsets, targets)), "edges are not those")


def test_rows_of_edges_that_do_not_fit_are_refused(original, release):
    links = release.graph.follows
    refused(original, changed(release, follows=Links(links.offsets[:-1], links.targets)), "not one a user")
    refused(original, changed(release, follows=Links(links.offsets, links.targets[:-1])), "do not end")


def test_lost_directions_are_refused(original, release):
    refused(original, replace(release, graph=release.graph.undirected()), "directions")


def test_edges_that_go_with_other_users_are_refused(original, release):
    swapped = release.mapping.copy()
    degrees = original.neighbours.counts
    one, other = int(degrees.argmax()), int(degrees.argmin())
    swapped[[one, other]] = swapped[[other, one]]
    refused(original, replace(release, mapping=swapped), "edges are not those")


def test_private_columns_are_refused(original, release):
    handles = tuple(f"@somebody{user}" for user in range(USERS))
    refused(original, changed(release, private={"handle": handles}), "private columns")


@pytest.mark.parametrize("kind", ["id", "handle", "text", "place", "topic"])
def test_an_id_that_is_a_string_of_the_original_is_refused(original, release, kind):
    names = original.places.names
    text = {
        "id": original.ids[5],
        "handle": original.private["handle"][5],
        "text": "down by the sea",
        "place": next(name for name in names if name not in release.graph.places.names),
        "topic": "Needlework",
    }[kind]
    leaking = replace(original, topic_names=(*original.topic_names, "Needlework")) if kind == "topic" else original
    ids = list(release.graph.ids)
    ids[17] = text
    refused(leaking, changed(release, ids=tuple(ids)), "string of the original")


def test_an_id_that_stands_twice_or_names_a_place_is_refused(original, release):
    ids = list(release.graph.ids)
    ids[17] = ids[18]
    refused(original, changed(release, ids=tuple(ids)), "twice")
    ids[17] = "world"
    refused(original, changed(release, ids=tuple(ids)), "name of a place")


def test_a_text_kept_anywhere_in_the_release_is_refused(original, release):
    smuggled = replace(release, graph=replace(release.graph))
    smuggled.graph.__dict__["notes"] = {"seen": [np.array(["@handle3"])]}
    refused(original, smuggled, "neither a fresh id nor a place")


def test_a_place_or_topic_that_does_not_occur_is_refused(original, release):
    graph = release.graph
    everywhere, moved = graph.places.union(PlaceTree.from_paths([(("Atlantis", "continent"), WORLD)]))[:2]
    location = np.append(moved, -1)[graph.location].astype(np.int32)
    refused(original, changed(release, places=everywhere, location=location), "place that does not occur")
    names = (*graph.topic_names, "Žižka")
    refused(original, changed(release, topic_names=names), "topic that does not occur")


@pytest.mark.parametrize("code", [-2, 1000])
def test_codes_without_a_meaning_are_refused(original, release, code):
    location = release.graph.location.copy()
    location[location == location[0]] = code
    refused(original, changed(release, location=location), "location has no place")
    topics = release.graph.topics.copy()
    topics[(topics == topics[0]).all(axis=1)] = code
    refused(original, changed(release, topics=topics), "topic has no name")


def test_a_place_the_original_has_not_is_refused():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    tree = PlaceTree.from_paths([(("Atlantis", "country"), *UNITED_STATES[1:])])
    refused(original, changed(release, places=tree), "place that the original has not")


def with_place(release, path):
    tree = PlaceTree.from_paths([path])
    return changed(release, places=tree, location=np.full(3, tree.node(path), dtype=np.int32))


def test_a_place_that_is_not_the_closest_above_its_cluster_is_refused():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    verify(original, with_place(release, UNITED_STATES))
    refused(original, with_place(release, UNITED_STATES[1:]), "not the closest")
    refused(original, with_place(release, BROOKLYN), "does not lie above")


def test_an_unknown_place_is_refused_where_places_are_known_and_the_other_way_round():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    world = PlaceTree.from_paths([])
    unknown = changed(release, places=world, location=np.full(3, -1, dtype=np.int32))
    refused(original, unknown, "without unknown places")
    nowhere = replace(original, location=np.full(3, -1, dtype=np.int32))
    verify(nowhere, unknown)
    refused(nowhere, with_place(release, (WORLD,)), "with unknown places")
    mixed = replace(original, location=np.array([-1, original.location[1], -1], dtype=np.int32))
    verify(mixed, with_place(release, (WORLD,)))
    refused(mixed, unknown, "with unknown places")
    refused(mixed, with_place(release, UNITED_STATES), "with unknown places")


def test_topics_that_the_cluster_does_not_elect_are_refused():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    for order in ([1, 0, 2], [0, 2, 1]):
        swapped = release.graph.topics[:, order]
        refused(original, changed(release, topics=swapped), "elects")
    renamed = changed(release, topic_names=("Politics", "Weather", "Technology_Internet"))
    refused(original, renamed, "elects")
    shorter = changed(release, topics=release.graph.topics.copy(), topic_names=("Politics", "Technology_Internet"))
    shorter.graph.topics[:] = [1, 0, -1]
    refused(original, shorter, "elects")


def test_profiles_that_went_to_other_users_are_refused():
    # Without edges nothing but the profiles tells which user became which.
    original = random_graph(4, USERS, 0, places=12, topics=6)
    release = protect(original, 3, rng=np.random.default_rng(1))
    shifted = replace(release, mapping=np.roll(release.mapping, 1))
    with pytest.raises(UnsoundRelease):
        verify(original, shifted)


def reordered(release, order):
    """The same release with its users in another order."""
    order = np.asarray(order)
    position = np.argsort(order)
    return Release(release.graph.restricted(order), position[release.mapping], release.k, release.method)


def test_the_order_of_the_original_is_refused(original, release):
    refused(original, reordered(release, release.mapping), "order of its users")
    refused(original, reordered(release, release.mapping[::-1]), "order of its users")
    refused(original, reordered(release, np.roll(release.mapping, 7)), "order of its users")


def test_an_order_that_mostly_follows_the_original_is_refused():
    original = random_graph(4, 400, 0)
    release = protect(original, 3, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    near = np.argsort(np.arange(400) + rng.normal(scale=60, size=400))
    refused(original, reordered(release, release.mapping[near]), "order of its users follows")


def test_ids_in_the_order_of_the_original_are_refused(original, release):
    ids = np.empty(USERS, dtype=object)
    ids[release.mapping] = sorted(release.graph.ids)
    refused(original, changed(release, ids=tuple(ids)), "order of its ids")


def test_users_in_the_order_of_their_clusters_are_refused():
    original = random_graph(4, 400, 0, places=20, topics=8)
    release = protect(original, 4, rng=np.random.default_rng(1))
    order = np.lexsort((np.random.default_rng(2).permutation(400), *release.graph.profiles().T))
    refused(original, reordered(release, order), "order of their clusters")


def test_a_few_users_may_stand_in_any_order():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    verify(original, reordered(release, release.mapping))


def test_all_strings_are_found_however_deep():
    thing = {"a": [("b", 1, None)], 2: np.array(["c"]), "d": {("e",): {"f"}}, "g": np.arange(3)}
    assert sorted(strings_in(thing)) == ["a", "b", "c", "d", "e", "f", "g"]
