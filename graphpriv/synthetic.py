"""Synthetic follow graphs for demonstrations, tests and benchmarks.

Users join one after the other, as a crawl finds them. Each belongs to a community and links to an earlier member of it
or to somebody that member is linked with (copied links make hubs with a power-law tail), and then closes triangles
(small world, clustering). Place and topics are drawn from what is common in the community. Nobody in it exists.

The world is a few hundred well-known places, from the file `gazetteer.txt` beside this one. A line of it is
`code name`; two spaces more than the line above it mean that the place lies inside that one.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph, links_of, only_used
from graphpriv.places import UNKNOWN, WORLD, Path, PlaceTree, Step
from graphpriv.topics import EMPTY, RANKS, TOPICS
from tabular.errors import InvalidParameter
from tabular.kernels import compiled

#: Links of the larger graph of the thesis, counted at both ends: 4622 among 1638 users.
MEAN_DEGREE = 2 * 4622 / 1638

#: How common the topics of `TOPICS` are, and what is in each slot of a community's pools of 256 values.
COMMONNESS = (9, 2, 4, 13, 3, 5, 3, 6, 1, 4, 12, 2, 7, 11, 14, 2, 3, 5)
SLOTS = 256

#: Shares of a community's favourite topics, by rank: first choices are the most alike, third ones the least.
FAVOURITES = ((0.62, 0.14), (0.05, 0.42, 0.13), (0.0, 0.05, 0.24, 0.12))

UNKNOWN_PLACES = 0.05
FEWER_TOPICS = 0.03


#: How users link up, as shares of their links.
INSIDE, COPYING, CLOSING, MUTUAL, OUTGOING = 0.9, 0.2, 0.4, 0.12, 0.7


def synthetic_graph(
    users: int = 1638, follows: int | None = None, *, mean_degree: float = MEAN_DEGREE, rng: Generator
) -> SocialGraph:
    """Make up a follow graph: small world, communities, hubs, places and topics that go together with them.

    It has exactly *follows* directed links, or as many as give the *mean_degree* (each counted at both its ends).
    """
    possible = users * (users - 1)
    if users < 2:
        raise InvalidParameter.wrong("users", must="be at least 2", was=users)
    if follows is None:
        if not 0 <= mean_degree < float("inf"):
            raise InvalidParameter.wrong("mean_degree", must="be at least 0", was=mean_degree)
        # A handful of users could not have that many; half of all pairs then.
        follows = min(round(users * mean_degree / 2), max(possible // 2, 1))
    if not 0 <= follows <= possible:
        raise InvalidParameter.wrong("follows", must=f"be from 0 to {possible} among {users} users", was=follows)
    community = _communities(users, rng)
    sources, targets = _links(community, follows, rng)
    links, _ = links_of(sources, targets, users, directed=True)
    topic_names, topics = only_used(TOPICS, _topics(community, rng))
    tree = PlaceTree.from_paths(paths())
    location = _places(community, tree, rng)
    places, moved = tree.restricted(np.unique(location).tolist())
    location = np.append(moved, np.int32(UNKNOWN))[location]
    ids, private = private_columns(places, location, rng)
    return SocialGraph(
        ids=ids,
        directed=True,
        follows=links,
        places=places,
        location=location,
        topic_names=topic_names,
        topics=topics,
        private=MappingProxyType(private),
    )


def _communities(users: int, rng: Generator) -> NDArray[np.int32]:
    """The community of each user; a few are large, most are small."""
    count = max(1, round(0.6 * users**0.5))
    weight = 1 / np.arange(2, count + 2) ** 0.7
    return rng.choice(count, size=users, p=weight / weight.sum()).astype(np.int32)


def _links(community: NDArray[np.int32], follows: int, rng: Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources and targets of exactly *follows* distinct links, connected if there are enough of them."""
    users = len(community)
    mutual = round(MUTUAL * max(follows - (users - 1), 0))
    quota = _quotas(users, follows - mutual, rng)
    members = np.argsort(community, kind="stable").astype(np.int32)
    starts = np.searchsorted(community[members], np.arange(community.max() + 1)).astype(np.int64)
    seed = int(rng.integers(0, 2**63))
    reached = np.full(int(quota.sum()), -1, dtype=np.int32)
    _grow(quota, community, members, starts, seed, INSIDE, COPYING, CLOSING, reached)
    joining = np.repeat(np.arange(users, dtype=np.int32), quota)[reached >= 0]
    reached = reached[reached >= 0]
    # Newcomers follow those who are known already more often than the other way round.
    forward = rng.random(len(joining)) < OUTGOING
    sources, targets = np.where(forward, joining, reached), np.where(forward, reached, joining)
    back = rng.permutation(len(joining))[: min(mutual, follows - len(joining))]
    keys = np.concatenate([_keys(sources, targets, users), _keys(targets[back], sources[back], users)])
    keys = _filled_up(keys, follows, users, rng)
    return (keys // users).astype(np.int32), (keys % users).astype(np.int32)


def _quotas(users: int, pairs: int, rng: Generator) -> NDArray[np.int64]:
    """How many links each user makes on joining: one at least as far as they go, some users many."""
    quota = np.zeros(users, dtype=np.int64)
    if pairs < users - 1:
        quota[1 + rng.permutation(users - 1)[:pairs]] = 1
        return quota
    eager = rng.exponential(size=users - 1) ** 1.5 + 0.05
    quota[1:] = 1 + rng.multinomial(pairs - (users - 1), eager / eager.sum())
    # Nobody can link to more users than there are before; `_filled_up` makes good what is cut here.
    return np.minimum(quota, np.arange(users))


def _keys(sources: NDArray[np.int32], targets: NDArray[np.int32], users: int) -> NDArray[np.int64]:
    return sources.astype(np.int64) * users + targets


def _filled_up(keys: NDArray[np.int64], follows: int, users: int, rng: Generator) -> NDArray[np.int64]:
    """The distinct *keys* and random other pairs, *follows* in all."""
    while len(keys) < follows and 2 * follows < users * (users - 1):
        drawn = rng.integers(0, users, size=(2, follows - len(keys)))
        drawn = np.unique(drawn[0] * users + drawn[1])
        drawn = drawn[drawn // users != drawn % users]
        keys = np.concatenate([keys, drawn[~np.isin(drawn, keys)]])
    if len(keys) < follows:
        rest = np.arange(users * users, dtype=np.int64)
        rest = np.setdiff1d(rest[rest // users != rest % users], keys)
        keys = np.concatenate([keys, rng.permutation(rest)[: follows - len(keys)]])
    return keys


@compiled
def next_uniform(state: NDArray[np.uint64]) -> float:
    """The next number from 0 to 1 (splitmix64: a few integer steps, the same on every machine)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return float(mixed >> np.uint64(11)) / 9007199254740992.0


@compiled
def _grow(
    quota: NDArray[np.int64],
    community: NDArray[np.int32],
    members: NDArray[np.int32],
    starts: NDArray[np.int64],
    seed: int,
    inside: float,
    copying: float,
    closing: float,
    reached: NDArray[np.int32],
) -> None:
    """Let users join in turn; those whom user u links to stand from the sum of the quotas before in *reached*."""
    state = np.array([np.uint64(seed)], dtype=np.uint64)
    known = np.zeros(len(starts), dtype=np.int64)
    offset = np.zeros(len(quota), dtype=np.int64)
    made = np.zeros(len(quota), dtype=np.int64)
    known[community[0]] = 1
    for user in range(1, len(quota)):
        base = offset[user - 1] + quota[user - 1]
        offset[user] = base
        home = community[user]
        for _ in range(quota[user]):
            for _ in range(8):
                if made[user] > 0 and next_uniform(state) < closing:
                    # Somebody whom one of the neighbours is linked with: that closes a triangle.
                    near = reached[base + int(next_uniform(state) * made[user])]
                    copied = True
                else:
                    if known[home] > 0 and next_uniform(state) < inside:
                        near = members[starts[home] + int(next_uniform(state) * known[home])]
                    else:
                        near = np.int32(next_uniform(state) * user)
                    copied = next_uniform(state) < copying
                if copied and made[near] > 0:
                    near = reached[offset[near] + int(next_uniform(state) * made[near])]
                if near not in reached[base : base + made[user]]:
                    reached[base + made[user]] = near
                    made[user] += 1
                    break
        known[home] += 1


def _topics(community: NDArray[np.int32], rng: Generator) -> NDArray[np.int32]:
    """Three distinct topics a user, by what the community likes; some have fewer."""
    communities, users = int(community.max()) + 1, len(community)
    common = np.repeat(np.arange(len(TOPICS)), _slots(COMMONNESS))
    weight = np.array(COMMONNESS) / sum(COMMONNESS)
    liked = np.array([rng.choice(len(TOPICS), size=4, replace=False, p=weight) for _ in range(communities)])
    topics = np.full((users, RANKS), EMPTY, dtype=np.int32)
    for rank, shares in enumerate(FAVOURITES):
        pool = rng.permuted(np.tile(common, (communities, 1)), axis=1)
        ends = np.round(np.cumsum((0.0, *shares)) * SLOTS).astype(int)
        for favourite, (low, high) in enumerate(pairwise(ends)):
            pool[:, low:high] = liked[:, favourite, None]
        topics[:, rank] = pool[community, rng.integers(0, SLOTS, size=users)]
        taken = np.arange(users)
        while len(taken := taken[(topics[taken, :rank] == topics[taken, rank, None]).any(axis=1)]):
            topics[taken, rank] = common[rng.integers(0, SLOTS, size=len(taken))]
    few = np.flatnonzero(rng.random(users) < FEWER_TOPICS)
    kept = rng.integers(0, RANKS, size=len(few))
    topics[few] = np.where(np.arange(RANKS) < kept[:, None], topics[few], EMPTY)
    return topics


def _slots(weights: tuple[int, ...]) -> NDArray[np.int64]:
    """SLOTS shared out by *weights*."""
    ends = np.round(np.cumsum((0, *weights)) * SLOTS / sum(weights))
    return np.diff(ends).astype(np.int64)


def _places(community: NDArray[np.int32], tree: PlaceTree, rng: Generator) -> NDArray[np.int32]:
    """A place a user, most of them in or near the home town of the community, at every level of detail."""
    communities, users = int(community.max()) + 1, len(community)
    towns = np.flatnonzero(np.array(tree.types) == "locality")
    weight = 1 / np.arange(3, len(towns) + 3)
    weight = rng.permutation(weight / weight.sum())
    pools = np.empty((communities, SLOTS), dtype=np.int32)
    for each in range(communities):
        home = int(rng.choice(towns, p=weight))
        pools[each] = _around(home, tree, rng.choice(towns, size=SLOTS, p=weight).astype(np.int32), rng)
    location = pools[community, rng.integers(0, SLOTS, size=users)]
    location[rng.random(users) < UNKNOWN_PLACES] = UNKNOWN
    return location


def _around(home: int, tree: PlaceTree, elsewhere: NDArray[np.int32], rng: Generator) -> NDArray[np.int32]:
    """SLOTS places: the town *home*, parts of it, its surroundings, its country, and some of *elsewhere*."""
    above = [tree.node(tree.path(home)[step:]) for step in range(1, len(tree.path(home)))]
    country = next(node for node in above if tree.types[node] == "country")
    areas = [node for node in above if tree.levels[node] < tree.levels[country]] or [home]
    parts = np.arange(home, tree.ends[home])
    near = np.arange(areas[-1], tree.ends[areas[-1]])
    nation = np.arange(country, tree.ends[country])
    pool = elsewhere.copy()
    # Of 256: 72 the town itself, 56 part of it, 40 around it, 20 an area above, 28 the country, 12 anywhere in that.
    for choices, low, high in (
        (np.array([home]), 0, 72),
        (parts, 72, 128),
        (near, 128, 168),
        (np.array(areas), 168, 188),
        (np.array([country]), 188, 216),
        (nation, 216, 228),
    ):
        pool[low:high] = rng.choice(choices, size=high - low)
    # A user abroad is known less closely here and there.
    pool[253:] = rng.choice(np.flatnonzero(np.array(tree.types) == "continent"), size=SLOTS - 253)
    return pool


#: What the codes at the head of a line stand for.
TYPES = {
    "K": "continent",
    "C": "country",
    "1": "administrative_area_level_1",
    "2": "administrative_area_level_2",
    "3": "administrative_area_level_3",
    "l": "locality",
    "a": "colloquial_area",
    "n": "neighborhood",
    "s": "sublocality",
    "p": "point_of_interest",
    "f": "natural_feature",
    "r": "route",
}


def paths() -> list[Path]:
    """All places, each as its path to `world`, in the order of the list."""
    found: list[Path] = []
    above: list[Step] = []
    for line in files(__package__).joinpath("gazetteer.txt").read_text(encoding="utf-8").splitlines():
        code, name = line.split(maxsplit=1)
        depth = (len(line) - len(line.lstrip())) // 2
        above[depth:] = [(name, TYPES[code])]
        found.append((*reversed(above), WORLD))
    return found


GIVEN = """
Ada Aiko Alba Amara Anton Beatriz Bram Camille Chidi Clara Dario Dunya Elif Emil Esther Farid Fatou Felix Freya Gael
Greta Hana Hugo Ines Ivo Jada Joan Kai Kofi Laia Lars Leila Lior Luz Mara Mateo Mei Milan Nadia Nils Nora Olga Omar
Paula Pere Quim Rania Rosa Ruben Saga Sana Sergi Tariq Thea Tomas Uma Vera Wanda Xenia Yara Yusuf Zoe
"""
FAMILY = """
Abara Aldana Baumgart Berglind Bonet Carvajal Castellvi Dabrowa Delacroix Eklund Esteve Farrow Ferrer Galindo Grimaldi
Hakimi Halloran Ibarra Iwasaki Jansma Kaplan Kowal Lindqvist Llopis Marchetti Mbeki Nakagawa Norberg Okafor Oliveras
Pascoe Petrov Quiroga Rasmus Ribeiro Sandoval Sorolla Takeda Tellier Ueda Urquijo Valls Verhoef Wachter Winslow Xifra
Yamada Yilmaz Zabala Zeller
"""
FIRST = "quiet brisk copper lunar mossy amber nimble salty velvet rusty sunny woolly"
SECOND = "otter heron badger comet ferret marmot pixel walrus teapot magpie lantern cactus"
REMARKS = (
    "{place}, house no. {number}",
    "{place} / desk {number}",
    "up the hill from {place} (door {number})",
    "{place}!! bus {number}",
    "currently {place}, room {number}",
)
NOWHERE = ("planet {number}", "in between trains, seat {number}", "ask me again in {number} days")


def private_columns(
    places: PlaceTree, location: NDArray[np.int32], rng: Generator
) -> tuple[tuple[str, ...], dict[str, tuple[str | None, ...]]]:
    """Ids, and the private columns of users at *location*; some leave name or place out."""
    users = len(location)
    ids = rng.permutation(100_000_000 + np.cumsum(rng.integers(1, 2000, size=users)))
    first, second = _drawn(FIRST, users, rng), _drawn(SECOND, users, rng)
    handles = tuple(f"@{one}_{other}_{user}" for user, (one, other) in enumerate(zip(first, second, strict=True)))
    given, family = _drawn(GIVEN, users, rng), _drawn(FAMILY, users, rng)
    nameless = (rng.random(users) < 0.02).tolist()
    names = tuple(None if none else f"{one} {other}" for one, other, none in zip(given, family, nameless, strict=True))
    remark, number = rng.integers(0, len(REMARKS), users).tolist(), rng.integers(100, 10_000, users).tolist()
    silent = (rng.random(users) < 0.4).tolist()
    texts = tuple(
        _free_text(places, code, remark[user], number[user], silent[user])
        for user, code in enumerate(location.tolist())
    )
    return tuple(map(str, ids.tolist())), {"handle": handles, "name": names, "location_text": texts}


def _drawn(words: str, count: int, rng: Generator) -> list[str]:
    choices = words.split()
    return [choices[position] for position in rng.integers(0, len(choices), count).tolist()]


def _free_text(places: PlaceTree, code: int, remark: int, number: int, silent: bool) -> str | None:
    """The free text of a user about the place; for an unknown place it says nothing useful, or nothing at all."""
    if code != UNKNOWN:
        return REMARKS[remark].format(place=places.names[code], number=number)
    return None if silent else NOWHERE[remark % len(NOWHERE)].format(number=number)
