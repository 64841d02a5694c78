"""Releases that are live together, looked at by an observer who joins them all."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphpriv.protections import protect, protections
from graphpriv.synthetic import synthetic_graph
from graphpriv.trails import FREE, Published, kept_clusters
from graphpriv.verification import UnsoundRelease, joint_k, verify_together
from tabular.errors import NoSolution
from tests.strategies import graphs, random_graph


def drawn(graph, k, seed, kept=None):
    """A release by one protection or another, as the seed says."""
    method = list(protections)[seed % len(protections)]
    return protect(graph, k, method=method, rng=np.random.default_rng(seed), kept=kept)


def profiles_of(original, release):
    """What a release published of each person: place and topics as texts, by the person's id."""
    graph = release.graph
    told = {}
    for person, row in zip(original.ids, release.mapping.tolist(), strict=True):
        place = int(graph.location[row])
        topics = tuple(None if code < 0 else graph.topic_names[code] for code in graph.topics[row].tolist())
        told[person] = (None if place < 0 else graph.places.path(place), topics)
    return told


def joined(releases):
    """How many persons share the rarest combination of what all releases say of them, or that they do not know them.

    Each release is given with the original that it was made from; nothing of the product does the joining.
    """
    tables = [profiles_of(original, release) for original, release in releases]
    persons = {person for table in tables for person in table}
    return min(Counter(tuple(table.get(person, "not there") for table in tables) for person in persons).values())


def beside(now, releases):
    """Earlier releases as they look from the original as it is *now*."""
    found = []
    for number, (original, release) in enumerate(releases):
        row_of = dict(zip(original.ids, release.mapping.tolist(), strict=True))
        rows = np.array([row_of.get(person, -1) for person in now.ids], dtype=np.int64)
        found.append(Published(f"r{number}", release.graph, rows))
    return found


def place_in_the_links(graph):
    """For each user a number that follows from how it is linked, and how those are linked whom it is linked with."""
    rows = [(list(graph.follows.of(user)), list(graph.followers.of(user))) for user in range(len(graph))]
    colour = [0] * len(graph)
    for _ in range(12):
        colour = [
            hash((colour[u], *(tuple(sorted(colour[v] for v in row)) for row in rows[u]))) for u in range(len(graph))
        ]
    return colour


def pairs_by_links(one, other):
    """Rows of two graphs that are one user, as their links alone say: those that nobody else is linked like."""
    first, second = place_in_the_links(one), place_in_the_links(other)
    counts = Counter(first), Counter(second)
    row_of = {colour: row for row, colour in enumerate(second)}
    return [(row, row_of[each]) for row, each in enumerate(first) if counts[0][each] == counts[1][each] == 1]


def test_two_releases_of_one_original_are_joined_by_their_links_unless_clusters_are_kept():
    graph = synthetic_graph(1638, 4622, rng=np.random.default_rng(1))
    one, other = drawn(graph, 10, 1), drawn(graph, 10, 2)
    kept = drawn(graph, 10, 2, kept_clusters(*beside(graph, [(graph, one)]), [], 10))
    assert joined([(graph, one)]) >= 10
    assert joined([(graph, other)]) >= 10
    # No mapping is needed: links tell of nearly all rows who is who.
    pairs = pairs_by_links(one.graph, other.graph)
    assert len(pairs) > 0.8 * len(graph)
    user_of = np.argsort(one.mapping)
    assert all(other.mapping[user_of[row]] == same for row, same in pairs)
    for second, least in ((other, 1), (kept, 10)):
        assert joined([(graph, one), (graph, second)]) == least
        told = (one.graph.profiles().tolist(), second.graph.profiles().tolist())
        seen = Counter((*told[0][row], *told[1][same]) for row, same in pairs_by_links(one.graph, second.graph))
        alone = sum(count == 1 for count in seen.values())
        assert alone > 0.4 * len(graph) if least == 1 else alone < 0.01 * len(graph)


@given(base=graphs(min_users=2, max_users=14), data=st.data())
def test_all_releases_together_keep_k_whatever_changed_in_between(base, data):
    everybody = range(len(base))
    stays = data.draw(st.booleans(), label="everybody is there from the beginning")
    here = sorted(everybody if stays else data.draw(st.sets(st.sampled_from(everybody), min_size=1)))
    releases = []
    for turn in range(data.draw(st.integers(2, 4), label="releases")):
        values = np.array(data.draw(st.permutations(everybody), label="whose values each has now"))
        now = replace(base, location=base.location[values], topics=base.topics[values]).restricted(np.array(here))
        live = beside(now, releases)
        k = data.draw(st.integers(1, 3), label="k")
        try:
            if live:
                previous = live.pop(data.draw(st.integers(0, turn - 1), label="previous"))
                kept = kept_clusters(previous, live, k)
                for each in np.unique(previous.profiles[previous.profiles >= 0]):
                    assert len(set(kept[previous.profiles == each])) == 1
            release = drawn(now, k, turn, kept if releases else None)
        except NoSolution:
            # Only where somebody came or went, or k is too high from the beginning.
            assert not stays or k > (joined(releases) if releases else len(base))
            break
        releases.append((now, release))
        assert joined(releases) >= k
        assert joint_k([(each.graph, each.mapping) for each in beside(now, releases)]) == joined(releases)
        came = data.draw(st.sets(st.sampled_from(everybody)), label="who comes")
        gone = data.draw(st.sets(st.sampled_from(everybody), max_size=1), label="who goes") if not stays else set()
        here = sorted({*here, *came} - gone)
        assume(here)


def published(name, graph, *rows):
    return Published(name, graph, np.array(rows))


@pytest.fixture
def six():
    """Six released users with profiles 0, 0, 1, 1, 1, 1, say."""
    graph = random_graph(1, 6, 8, missing=0)
    two = np.array([0, 0, 1, 1, 1, 1])
    return replace(graph, location=graph.location[two], topics=graph.topics[two])


def test_who_shared_a_profile_stays_together_and_who_is_new_is_free(six):
    previous = published("r", six, 2, 0, 3, 1, 4, 5, -1, -1)
    one, other, *rest = kept_clusters(previous, [], 2).tolist()
    assert {one, other} == {0, 1}
    assert rest == [one, other, one, one, FREE, FREE]


def test_whom_the_previous_release_lacks_stays_with_those_of_one_trail(six):
    previous = published("r", six, *range(6), *[-1] * 4)
    newer = random_graph(2, 10, 0, places=1, topics=1, missing=0)
    kept = kept_clusters(previous, [published("s", newer, *range(10))], 2)
    assert len(set(kept[:6].tolist())) == 2
    assert len(set(kept[6:].tolist())) == 1
    assert FREE not in kept
    # A release that tells the last four apart in its turn has trails of two.
    with pytest.raises(NoSolution, match=r"no more than 2 users share the .* Lower k to 2, or delete releases whose"):
        kept_clusters(previous, [published("s", newer, *range(10))], 3)


@pytest.mark.parametrize(
    ("rows", "k", "words"),
    [
        ((0, 1, 2, 3, 4), 2, "with 'r': it has a row of a person forgotten since.* Delete 'r'"),
        ((0, 1), 2, "rows of persons forgotten"),
        (
            (0, 1, 2, 3, 4, 5),
            3,
            "no more than 2 users share the profiles published for them there. Lower k to 2, or delete it",
        ),
        ((0, 1, 2, 3, 4, 5, -1), 2, "1 user was added since.* Add more users, or delete 'r'"),
        ((0, 1, 2, 3, 4, 5, -1, -1, -1), 4, "Lower k to 2"),
    ],
)
def test_what_no_release_can_keep_is_said(six, rows, k, words):
    with pytest.raises(NoSolution, match=words):
        kept_clusters(published("r", six, *rows), [], k)


def test_a_few_added_users_do_for_a_lower_k():
    alike = random_graph(1, 6, 8, places=1, topics=1, missing=0)
    previous = published("r", alike, *range(6), -1, -1)
    with pytest.raises(NoSolution, match=r"2 users were added since.* Lower k to 2, add more users, or delete 'r'"):
        kept_clusters(previous, [], 3)
    assert kept_clusters(previous, [], 2).tolist() == [0] * 6 + [FREE] * 2


def test_trails_that_releases_part_are_named(six):
    back = published("s", six, *reversed(range(6)))
    with pytest.raises(NoSolution, match=r"with 'r', 's' and 't': .*Lower k to 2, or delete releases whose clusters"):
        kept_clusters(published("r", six, *range(6)), [back, replace(back, name="t")], 3)
    crossed = published("s", six, 0, 2, 1, 3, 4, 5)
    with pytest.raises(NoSolution, match=r"with 'r' and 's': 1 user alone has .*Delete releases whose clusters differ"):
        kept_clusters(published("r", six, *range(6)), [crossed], 2)


def test_joint_k_by_hand_and_what_is_below_it_is_refused(six):
    crossed = (six, np.array([0, 2, 1, 3, 4, 5]))
    rows = (six, np.arange(6))
    assert joint_k([rows]) == 2
    assert joint_k([rows, rows]) == 2
    assert joint_k([rows, crossed]) == 1
    assert verify_together([rows, rows], 2) == 2
    with pytest.raises(UnsoundRelease, match="1 users share what is published of them, less than 2"):
        verify_together([rows, crossed], 2)
    with pytest.raises(UnsoundRelease, match="leads to nobody"):
        verify_together([(six, np.array([0, 1, 2, 3, 4])), (six.restricted(np.arange(5)), np.arange(5))], 1)


def test_users_in_no_release_are_not_counted_and_those_in_some_are(six):
    assert joint_k([(six, np.array([0, 1, 2, 3, 4, 5, -1]))]) == 2
    later = six.restricted(np.array([2, 3, 4, 5, 5]))
    assert joint_k([(six, np.array([2, 3, 4, 5, -1])), (later, np.arange(5))]) == 1
