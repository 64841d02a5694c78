import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN, WORLD, PlaceTree
from graphpriv.protections.closest_profiles import PATTERNS, closest_profiles, queues, surroundings
from graphpriv.topics import RANKS
from tests.graphpriv.figures import BROOKLYN, MANHATTAN, NEW_YORK_CITY, PLACES, UNITED_STATES, WASHINGTON
from tests.graphpriv.protections.all_pairs import all_pairs, all_pairs_by_rows, distance
from tests.strategies import graphs, place_trees, random_graph, seeds


def users_at(places, paths, topics=None, tree=PLACES):
    nobody = np.zeros(0, dtype=np.int32)
    graph, _ = SocialGraph.build(
        [f"u{user}" for user in range(len(paths))],
        nobody,
        nobody,
        directed=True,
        places=tree,
        location=np.array([UNKNOWN if path is None else places.node(path) for path in paths], dtype=np.int32),
        topics=topics or [(None, None, None)] * len(paths),
    )
    return graph


def groups(clusters):
    return {frozenset(np.flatnonzero(clusters == cluster).tolist()) for cluster in np.unique(clusters)}


def test_a_random_user_takes_the_closest_by_hand():
    # From Brooklyn: New York City is 1 step away, United States 5, Manhattan and Washington DC lie on other branches.
    graph = users_at(PLACES, [MANHATTAN, UNITED_STATES, BROOKLYN, WASHINGTON, NEW_YORK_CITY, None])
    assert [distance(graph, 2, other) for other in range(6)] == [7, 5, 0, 7, 1, 7]
    assert groups(closest_profiles(graph, 2, np.array([2, 0, 1, 3, 4, 5]))) == {
        frozenset({2, 4}),
        frozenset({0, 1}),
        frozenset({3, 5}),
    }


def test_ties_go_to_the_user_imported_first():
    graph = users_at(PLACES, [BROOKLYN] * 6)
    assert groups(closest_profiles(graph, 3, np.array([4, 5, 3, 2, 1, 0]))) == {
        frozenset({4, 0, 1}),
        frozenset({5, 2, 3}),
    }


def test_a_topic_counts_as_much_as_the_whole_way_to_world():
    topics = [("Politics", None, None), ("Sports", None, None), ("Politics", None, None)]
    graph = users_at(PLACES, [BROOKLYN, BROOKLYN, WASHINGTON], topics)
    # Both others are 7 away, by the topic or by the branch; the earlier is taken.
    assert groups(closest_profiles(graph, 2, np.array([0, 1, 2]))) == {frozenset({0, 1, 2})}
    four = users_at(PLACES, [BROOKLYN, BROOKLYN, WASHINGTON, None], [*topics, ("Labor", None, None)])
    assert groups(closest_profiles(four, 2, np.array([0, 3, 1, 2]))) == {frozenset({0, 1}), frozenset({2, 3})}


@pytest.mark.parametrize(
    ("users", "k", "sizes"), [(6, 3, [3, 3]), (7, 3, [3, 4]), (8, 3, [3, 5]), (5, 3, [5]), (4, 1, [1] * 4), (4, 4, [4])]
)
def test_what_k_does_not_divide_is_the_last_cluster(users, k, sizes):
    clusters = closest_profiles(users_at(PLACES, [None] * users), k, np.arange(users))
    assert np.bincount(clusters).tolist() == sizes


def places_of_equal_level():
    country, political = (("Aa", "country"), WORLD), (("Bb", "political"), ("Aa", "country"), WORLD)
    deeper = (("Cc", "political"), *political)
    beside = (("Dd", "political"), ("Aa", "country"), WORLD)
    return [country, political, deeper, beside]


def test_places_of_one_level_on_one_branch_are_no_distance_apart():
    paths = places_of_equal_level()
    tree = PlaceTree.from_paths(paths)
    graph = users_at(tree, paths, tree=tree)
    assert [[distance(graph, a, b) for b in range(4)] for a in range(4)] == [
        [0, 0, 0, 0],
        [0, 0, 0, 7],
        [0, 0, 0, 7],
        [0, 7, 7, 0],
    ]
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(4)
        assert closest_profiles(graph, 2, order).tolist() == all_pairs(graph, 2, order).tolist()


@given(graph=graphs(max_users=16), seed=seeds, data=st.data())
def test_the_clusters_are_those_of_all_pairs(graph, seed, data):
    k = data.draw(st.integers(1, len(graph)))
    order = np.random.default_rng(seed).permutation(len(graph))
    assert closest_profiles(graph, k, order).tolist() == all_pairs(graph, k, order).tolist()


@st.composite
def chains(draw):
    """Trees of long chains with repeated levels, where ancestors and descendants abound."""
    kinds = ["sublocality"] * 3 + ["locality"] * 2 + ["political", "country", "country", "continent"]
    paths = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(0, len(kinds)))
        names = draw(st.lists(st.sampled_from("abc"), min_size=length, max_size=length))
        steps = [(f"{name}{depth}", kinds[depth - length]) for depth, name in enumerate(names)]
        paths.append((*steps, WORLD))
    return PlaceTree.from_paths(paths)


@given(tree=st.one_of(chains(), place_trees()), seed=seeds, k=st.integers(1, 6), topics=st.integers(0, 2))
def test_deep_trees_and_trees_of_one_place_give_the_clusters_of_all_pairs(tree, seed, k, topics):
    rng = np.random.default_rng(seed)
    users = int(rng.integers(k, 30))
    names = [None, "Politics", "Sports"][: topics + 1]
    paths = [None if code < 0 else tree.path(int(code)) for code in rng.integers(-1, len(tree), size=users)]
    rows = [tuple(names[code] for code in rng.integers(0, len(names), size=3)) for _ in range(users)]
    graph = users_at(tree, paths, rows, tree=tree)
    order = rng.permutation(users)
    assert closest_profiles(graph, k, order).tolist() == all_pairs(graph, k, order).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_larger_random_graphs_give_the_clusters_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    users = int(rng.integers(150, 300))
    graph = random_graph(seed, users, users, places=int(rng.integers(1, 64)), topics=int(rng.integers(1, 9)))
    for k in (2, 5, 10):
        order = rng.permutation(users)
        assert closest_profiles(graph, k, order).tolist() == all_pairs(graph, k, order).tolist()


@pytest.mark.heavy
@pytest.mark.parametrize("topics", [2, 8, 200])
def test_thousands_of_users_give_the_clusters_of_all_pairs(topics):
    for seed in range(5):
        graph = random_graph(seed, 5_000, 5_000, places=64, topics=topics)
        for k in (2, 10, 300):
            order = np.random.default_rng(seed).permutation(len(graph))
            assert closest_profiles(graph, k, order).tolist() == all_pairs_by_rows(graph, k, order).tolist()


def test_rows_of_distances_are_those_of_all_pairs():
    graph = random_graph(2, 60, 60, places=40, topics=3)
    order = np.random.default_rng(1).permutation(60)
    assert all_pairs_by_rows(graph, 4, order).tolist() == all_pairs(graph, 4, order).tolist()


def users_of(index, queue):
    return index.users[index.fronts[queue] : index.ends[queue]].tolist()


@given(graphs(min_users=1))
def test_the_first_two_queues_of_a_profile_are_its_group_and_those_at_its_place(graph):
    index = queues(graph, surroundings(graph.places, graph.location))
    for user in range(len(graph)):
        own = index.slots[index.profile[user]]
        for pattern in range(PATTERNS):
            ranks = [rank for rank in range(RANKS) if pattern >> rank & 1]
            group = [
                other for other in range(len(graph)) if all(graph.topics[other, ranks] == graph.topics[user, ranks])
            ]
            near = [other for other in group if graph.location[other] == graph.location[user]]
            assert users_of(index, index.member[pattern, own]) == group
            assert users_of(index, index.member[pattern, own + 1]) == near


@given(graphs(min_users=1))
def test_places_above_are_those_that_users_are_at(graph):
    around = surroundings(graph.places, graph.location)
    occupied = set(graph.location.tolist()) - {-1}
    for place in occupied:
        above, parent = set(), int(graph.places.parents[place])
        while parent >= 0:
            above |= {parent} & occupied
            parent = int(graph.places.parents[parent])
        assert set(around.above[around.offsets[place] : around.offsets[place + 1]].tolist()) == above
