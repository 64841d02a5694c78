"""The independent check of a release: what it must be, looked at in other ways than the protections do.

A release that fails here is a defect of the program, not of the input. `UnsoundRelease` is therefore no
`ReportedError`: it is logged and shown as an internal error, and nothing is written. Its text names users by position.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, UNKNOWN
from graphpriv.release import NOWHERE, Release
from graphpriv.topics import EMPTY, in_order

#: A random order keeps m users at their place, or m pairs side by side, with a probability of about 1 / m!.
IMPLAUSIBLE = 16
#: A random order is correlated with the old one by that many standard deviations with a probability of about 1e-15.
DEVIATIONS = 8.0

Profile = tuple[int, int, int, int]


class UnsoundRelease(Exception):
    """A release is not what it must be; a defect of the protection that made it."""


def verify(original: SocialGraph, release: Release) -> None:
    """Raise `UnsoundRelease` unless *release* is a sound release of *original*.

    The mapping is a bijection, each profile stands there k times or more and aggregates those of its users, the edges
    are the same, ids and order are fresh, and nothing of the original is in it but the places and topics released.
    """
    graph, mapping = release.graph, release.mapping
    _check_shape(original, graph, mapping)
    _check_edges(original, graph, mapping)
    groups = _check_frequencies(graph, release.k)
    _check_values(graph)
    _check_strings(original, graph)
    _check_places(original, graph, groups, mapping)
    _check_topics(original, graph, groups, mapping, release.k)
    _check_promises(original, release, groups)
    _check_order(graph, groups, mapping)


def verify_together(releases: Sequence[tuple[SocialGraph, NDArray[np.int64]]], k: int) -> int:
    """The joint k of *releases*, each with its mapping; `UnsoundRelease` unless it is *k* or more.

    Nor may a row of one be that of nobody: the last one, the new one, could not hold it.
    """
    for graph, mapping in releases:
        _refuse(len(set(mapping.tolist()) - {NOWHERE}) < len(graph), "a row beside it leads to nobody in it")
    least = joint_k(releases)
    _refuse(least < k, f"together with those beside it, {least} users share what is published of them, less than {k}")
    return least


def joint_k(releases: Sequence[tuple[SocialGraph, NDArray[np.int64]]]) -> int:
    """How many users share the rarest combination of their profiles in all *releases*, each given with its mapping.

    Users are followed by the mappings, as by an observer who knows which rows are one user; to be in a release and not
    to be in it count as different, too.
    """
    published = []
    for graph, mapping in releases:
        rows: list[tuple[int, ...] | None] = [
            tuple(row) for row in np.column_stack([graph.location, graph.topics]).tolist()
        ]
        published.append([None if to == NOWHERE else rows[to] for to in mapping.tolist()])
    together = Counter(zip(*published, strict=True))
    return min(count for seen, count in together.items() if any(profile is not None for profile in seen))


def _check_shape(original: SocialGraph, graph: SocialGraph, mapping: NDArray[np.int64]) -> None:
    """The same number of users in every part, and a mapping that reaches each of them once."""
    users = len(original)
    _refuse(len(graph) != users, f"it has {len(graph)} users, the original {users}")
    _refuse(graph.location.shape != (users,), "it has not one location a user")
    _refuse(graph.topics.shape != (users, 3), "it has not three topics a user")
    _refuse(mapping.shape != (users,), "its mapping has not one entry an original user")
    _refuse(sorted(mapping.tolist()) != list(range(users)), "its mapping is no bijection")
    _refuse(len(set(graph.ids)) != users, "an id stands twice")


def _check_edges(original: SocialGraph, graph: SocialGraph, mapping: NDArray[np.int64]) -> None:
    """The rows of the release are those of the original under the mapping, each in order."""
    users = len(original)
    _refuse(graph.directed != original.directed, "directions of edges differ from the original")
    expected = []
    for links, names in ((original.follows, mapping), (graph.follows, np.arange(users))):
        _refuse(len(links.offsets) != users + 1 or links.offsets[0] != 0, "its rows of edges are not one a user")
        _refuse(int(links.offsets[-1]) != len(links.targets), "its rows of edges do not end with the last edge")
        tails = np.repeat(names, np.diff(links.offsets))
        expected.append(tails.astype(np.int64) * users + names[links.targets])
    theirs, ours = np.sort(expected[0]), expected[1]
    _refuse(not np.array_equal(theirs, ours), "its edges are not those of the original")


def _check_frequencies(graph: SocialGraph, k: int) -> NDArray[np.int64]:
    """Each profile stands there at least *k* times; returns for each released user the number of its profile."""
    profiles = [tuple(row) for row in np.column_stack([graph.location, graph.topics]).tolist()]
    rarest = min(Counter(profiles).values())
    _refuse(rarest < k, f"a profile stands there {rarest} times, less than k={k}")
    numbers: dict[tuple[int, ...], int] = {}
    return np.array([numbers.setdefault(profile, len(numbers)) for profile in profiles], dtype=np.int64)


def _check_values(graph: SocialGraph) -> None:
    """Only places that occur, with those above them, and only topics that occur, are listed."""
    _refuse(graph.location.min() < UNKNOWN or graph.location.max() >= len(graph.places), "a location has no place")
    _refuse(graph.topics.min() < EMPTY or graph.topics.max() >= len(graph.topic_names), "a topic has no name")
    needed = {0}
    for node in set(graph.location.tolist()) - {UNKNOWN}:
        while node not in needed:
            needed.add(node)
            node = int(graph.places.parents[node])
    _refuse(needed != set(range(len(graph.places))), "it lists a place that does not occur")
    occur = set(graph.topics.ravel().tolist()) - {EMPTY}
    _refuse(occur != set(range(len(graph.topic_names))), "it lists a topic that does not occur")


def _check_strings(original: SocialGraph, graph: SocialGraph) -> None:
    """Every string in the release is a fresh id or part of a place or topic released, and ids are no original's."""
    _refuse(bool(graph.private), "it has private columns")
    values = {*graph.topic_names, *graph.places.names, *graph.places.types, *graph.places.keys}
    fresh = set(graph.ids)
    _refuse(bool(fresh & values), "an id is the name of a place or topic")
    strange = any(text not in fresh and text not in values for text in strings_in(graph))
    _refuse(strange, "it holds a text that is neither a fresh id nor a place or topic released")
    _refuse(any(text in fresh for text in strings_in(original)), "an id is a string of the original")


def strings_in(thing: Any) -> Iterator[str]:
    """Every string that *thing* holds, however deep, also in what it has computed and kept."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Mapping):
        yield from strings_in(tuple(thing.keys()))
        yield from strings_in(tuple(thing.values()))
    elif isinstance(thing, tuple | list | set | frozenset):
        for item in thing:
            # Most are strings or numbers; only the others are worth a call.
            if isinstance(item, str):
                yield item
            elif not isinstance(item, int | float | None):
                yield from strings_in(item)
    elif isinstance(thing, np.ndarray):
        yield from map(str, thing.ravel() if thing.dtype.kind in "OSU" else ())
    elif hasattr(thing, "__dict__"):
        yield from strings_in(tuple(vars(thing).values()))


def _check_places(
    original: SocialGraph, graph: SocialGraph, groups: NDArray[np.int64], mapping: NDArray[np.int64]
) -> None:
    """Each place released lies above all the places it stands for, and no place below it does.

    Clusters are not known here. Two that were given the same profile can be looked at as one: the closest place above
    both, and the order of votes over both, are then the same (Borda's rule and its ties are consistent).
    """
    released = [original.places.find(graph.places.path(node)) for node in range(len(graph.places))]
    _refuse(None in released, "it has a place that the original has not")
    places = len(original.places)
    keys = np.unique(groups[mapping] * (places + 1) + original.location + 1)
    members: dict[int, list[int]] = defaultdict(list)
    for group, place in zip((keys // (places + 1)).tolist(), (keys % (places + 1) - 1).tolist(), strict=True):
        members[group].append(place)
    shown = dict(zip(groups.tolist(), graph.location.tolist(), strict=True))
    parents = original.places.parents.tolist()
    for group, stood in members.items():
        if UNKNOWN in stood:
            right = UNKNOWN if stood == [UNKNOWN] else 0
            _refuse(shown[group] != right, "a cluster with unknown places has another place than it must have")
            continue
        _refuse(shown[group] == UNKNOWN, "a cluster without unknown places has an unknown place")
        top = released[shown[group]]
        ways = {_way_down(place, top, parents) for place in stood}
        _refuse(None in ways, "a place does not lie above all places of its cluster")
        _refuse(len(ways) == 1 and top not in ways, "a place is not the closest one above its cluster")


def _way_down(place: int, top: int | None, parents: list[int]) -> int | None:
    """The place right below *top* on the way to *place*, *top* where they are the same, None where there is no way."""
    below = place
    while place != top and place >= 0:
        below, place = place, parents[place]
    return None if place < 0 else top if below == place else below


def _check_topics(
    original: SocialGraph, graph: SocialGraph, groups: NDArray[np.int64], mapping: NDArray[np.int64], k: int
) -> None:
    """The topics released are those that the users they stand for elect, by Borda's rule."""
    names = [*original.topic_names, None]
    order = {name: position for position, name in enumerate(in_order(original.topic_names))}
    rows = np.column_stack([groups[mapping], original.topics])
    ballots: dict[int, dict[tuple[str | None, ...], int]] = defaultdict(dict)
    for (group, *codes), count in Counter(map(tuple, rows.tolist())).items():
        ballots[group][tuple(names[code] for code in codes)] = count
    theirs = [*graph.topic_names, None]
    shown = dict(zip(groups.tolist(), graph.topics.tolist(), strict=True))
    for group, cast in ballots.items():
        seen = tuple(theirs[code] for code in shown[group])
        # With k = 1 each user is alone and keeps its topics, be there a gap between them.
        if k == 1 and set(cast) == {seen}:
            continue
        _refuse(seen != _elected(cast, order), "topics are not those that their cluster elects")


def _elected(ballots: Mapping[tuple[str | None, ...], int], order: Mapping[str, int]) -> tuple[str | None, ...]:
    """The three topics with the most points, more first places, more second places, then in *order*."""
    tallies: dict[str, list[int]] = {}
    for ballot, count in ballots.items():
        for rank, topic in enumerate(ballot):
            if topic is not None:
                tally = tallies.setdefault(topic, [0, 0, 0, -order[topic]])
                tally[0] += count * (3 - rank)
                tally[1] += count * (rank == 0)
                tally[2] += count * (rank == 1)
    best = sorted(tallies, key=lambda topic: tallies[topic], reverse=True)[:3]
    return (*best, None, None, None)[:3]


def _check_promises(original: SocialGraph, release: Release, groups: NDArray[np.int64]) -> None:
    """No place is shown above the limit that was asked for, and each profile stands for enough first topics."""
    limit, distinct = release.parameters.get("limit"), release.parameters.get("l")
    if isinstance(limit, str):
        highest = LEVELS[limit.rpartition("=")[2].strip()]
        shown = set(release.graph.location.tolist()) - {UNKNOWN}
        _refuse(any(LEVELS[release.graph.places.types[node]] > highest for node in shown), "a place is above the limit")
    if isinstance(distinct, int) and distinct > 1:
        topics: dict[int, set[int]] = defaultdict(set)
        for group, topic in zip(groups[release.mapping].tolist(), original.topics[:, 0].tolist(), strict=True):
            topics[group] |= {topic} - {EMPTY}
        _refuse(min(map(len, topics.values())) < distinct, f"a profile stands for fewer than {distinct} first topics")


def _check_order(graph: SocialGraph, groups: NDArray[np.int64], mapping: NDArray[np.int64]) -> None:
    """Neither the order of the users nor that of their ids tells where they stood or who was put together.

    No order can be told from a random one for certain. What is refused here comes up by chance less than once in
    10^12 releases; a graph of a few users may stand there in any order.
    """
    _refuse_order(mapping, "the order of its users")
    by_id = np.empty(len(mapping), dtype=np.int64)
    by_id[np.argsort(np.array(graph.ids))] = np.arange(len(mapping))
    _refuse_order(by_id[mapping], "the order of its ids")
    sizes = np.bincount(groups).astype(np.float64)
    expected = float((sizes * (sizes - 1)).sum()) / max(len(groups), 1)
    together = int((groups[1:] == groups[:-1]).sum())
    limit = expected + DEVIATIONS * (expected + 1) ** 0.5 + IMPLAUSIBLE
    _refuse(together > limit, "its users stand in the order of their clusters")


def _refuse_order(position: NDArray[np.int64], what: str) -> None:
    """Refuse a permutation that keeps too much of the old order."""
    users = len(position)
    steps = np.diff(position)
    kept = max(int((position == np.arange(users)).sum()), int((steps == 1).sum()), int((steps == -1).sum()))
    _refuse(kept >= IMPLAUSIBLE, f"{what} is the original's in {kept} places")
    if users > 2:
        correlation = np.corrcoef(position.astype(np.float64), np.arange(users, dtype=np.float64))[0, 1]
        close = abs(correlation) * (users - 1) ** 0.5 > DEVIATIONS
        _refuse(bool(close), f"{what} follows the original's")


def _refuse(wrong: bool, what: str) -> None:
    if wrong:
        raise UnsoundRelease(f"The release is unsound: {what}.")
