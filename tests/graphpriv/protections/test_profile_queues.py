"""The queues hold who agrees with a profile, first the users that ties go to."""

from hypothesis import given

from graphpriv.protections.profile_queues import PATTERNS, queues, surroundings
from graphpriv.topics import RANKS
from tests.strategies import graphs


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
