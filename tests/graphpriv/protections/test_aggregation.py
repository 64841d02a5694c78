from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.places import UNKNOWN
from graphpriv.protections.contract import aggregated, borda, common_places
from graphpriv.topics import EMPTY, RANKS
from tests.graphpriv.figures import (
    BROOKLYN,
    CENTRAL_PARK,
    MANHATTAN,
    NEW_YORK_CITY,
    PLACES,
    UNITED_STATES,
    WASHINGTON,
    figure_6_5,
)
from tests.graphpriv.plain_places import common as common_place
from tests.graphpriv.plain_places import distance
from tests.strategies import graphs, place_trees

TOGETHER = np.zeros(3, dtype=np.int64)


def common(*paths):
    location = np.array([UNKNOWN if path is None else PLACES.node(path) for path in paths], dtype=np.int32)
    (node,) = common_places(PLACES, location, np.zeros(len(paths), dtype=np.int64))
    return None if node == UNKNOWN else PLACES.path(int(node))


def elect(*ballots, names=8):
    rows = np.array(ballots, dtype=np.int32)
    return borda(rows, np.zeros(len(rows), dtype=np.int64), names)[0].tolist()


def test_section_6_2_1_the_place_above_brooklyn_and_washington_is_the_united_states():
    assert common(BROOKLYN, WASHINGTON) == UNITED_STATES


def test_section_6_2_1_the_place_above_manhattan_and_central_park_is_new_york_city():
    assert common(MANHATTAN, CENTRAL_PARK) == NEW_YORK_CITY


def test_section_6_2_1_the_distances_of_two_places():
    assert distance(PLACES, PLACES.node(NEW_YORK_CITY), PLACES.node(WASHINGTON)) == 1
    assert round(distance(PLACES, PLACES.node(BROOKLYN), PLACES.node(UNITED_STATES)), 3) == 0.714


def test_a_place_above_another_is_the_place_above_both():
    assert common(BROOKLYN, NEW_YORK_CITY) == NEW_YORK_CITY


def test_only_unknown_places_stay_unknown_and_mixed_ones_become_world():
    assert common(None, None) is None
    assert common(None, BROOKLYN, BROOKLYN) == (("world", "world"),)


@given(place_trees(), st.data())
def test_the_common_place_is_the_one_that_pairs_agree_on(tree, data):
    users = data.draw(st.integers(1, 12))
    codes = st.integers(UNKNOWN, len(tree) - 1)
    location = np.array(data.draw(st.lists(codes, min_size=users, max_size=users)), dtype=np.int32)
    clusters = np.array(data.draw(st.lists(st.integers(0, 2), min_size=users, max_size=users)), dtype=np.int64)
    _, clusters = np.unique(clusters, return_inverse=True)
    found = common_places(tree, location, clusters)
    for cluster in range(clusters.max() + 1):
        first, *others = location[clusters == cluster].tolist()
        for other in others:
            first = common_place(tree, first, other)
        assert found[cluster] == first


def test_figure_6_3_votes_technology_politics_sports():
    # Politics, Technology, Culture; Technology, Sports, Religion; Technology, Politics, Weather: 8, 5 and 2 points.
    politics, sports, technology, culture, religion, weather = 0, 1, 2, 3, 4, 5
    ballots = [(politics, technology, culture), (technology, sports, religion), (technology, politics, weather)]
    assert elect(*ballots) == [technology, politics, sports]


def test_of_equal_sums_more_first_places_win():
    # 5 has 3 + 1, 6 has 2 + 2.
    assert elect((5, 6, 0), (0, 6, 5)) == [0, 5, 6]


def test_of_equal_sums_and_first_places_more_second_places_win():
    # Both have 3 points and no first place: topic 6 has a second and a third, topic 5 three thirds.
    assert elect((0, 6, 5), (0, 7, 6), (0, 7, 5), (0, 7, 5)) == [0, 7, 6]


def test_of_topics_equal_in_all_that_the_earlier_wins():
    assert elect((5, EMPTY, EMPTY), (2, EMPTY, EMPTY)) == [2, 5, EMPTY]


def test_empty_topics_get_no_votes_and_fill_up_the_end():
    assert elect((EMPTY, EMPTY, EMPTY), (EMPTY, EMPTY, EMPTY)) == [EMPTY] * 3
    assert elect((EMPTY, EMPTY, 4), (EMPTY, EMPTY, EMPTY)) == [4, EMPTY, EMPTY]
    assert elect((EMPTY, EMPTY, EMPTY), names=0) == [EMPTY] * 3


def plain_borda(ballots):
    sums, firsts, seconds = {}, {}, {}
    for ballot in ballots:
        for points, topic in zip((3, 2, 1), ballot, strict=True):
            if topic != EMPTY:
                sums[topic] = sums.get(topic, 0) + points
                firsts[topic] = firsts.get(topic, 0) + (points == 3)
                seconds[topic] = seconds.get(topic, 0) + (points == 2)
    best = sorted(sums, key=lambda topic: (-sums[topic], -firsts[topic], -seconds[topic], topic))
    return [*best, EMPTY, EMPTY, EMPTY][:RANKS]


@given(st.lists(st.tuples(st.integers(0, 3), *[st.integers(EMPTY, 4)] * 3), min_size=1, max_size=20))
def test_borda_is_what_counting_by_hand_gives(rows):
    ballots = np.array([row[1:] for row in rows], dtype=np.int32)
    _, clusters = np.unique([row[0] for row in rows], return_inverse=True)
    elected = borda(ballots, clusters, 5)
    for cluster in range(clusters.max() + 1):
        assert elected[cluster].tolist() == plain_borda(ballots[clusters == cluster].tolist())


@given(graphs())
def test_a_user_alone_keeps_the_profile(graph):
    alone = aggregated(graph, np.arange(len(graph)))
    assert alone == graph


def test_a_user_alone_keeps_a_gap_between_topics():
    gapped = replace(figure_6_5(), topics=np.array([[1, EMPTY, 2], [0, 1, 2], [3, EMPTY, EMPTY]], dtype=np.int32))
    assert aggregated(gapped, np.arange(3)).topics.tolist() == gapped.topics.tolist()
    assert elect((1, EMPTY, 2)) == [1, 2, EMPTY]


@given(graphs(), st.data())
def test_only_profiles_change(graph, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(graph), max_size=len(graph)))
    _, clusters = np.unique(labels, return_inverse=True)
    masked = aggregated(graph, clusters)
    assert masked.ids == graph.ids
    assert masked.follows is graph.follows
    for cluster in range(clusters.max() + 1):
        assert len(np.unique(masked.profiles()[clusters == cluster], axis=0)) == 1


@pytest.mark.parametrize("topic", [EMPTY, 0])
def test_a_domain_of_one_topic_stays(topic):
    assert elect((topic, EMPTY, EMPTY), (topic, EMPTY, EMPTY), names=1) == [topic, EMPTY, EMPTY]
