"""Hypothesis strategies for the project's own objects, with missing values and one-category domains in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, UNKNOWN, WORLD, Path, PlaceTree

#: What a generator of random numbers is made from; every failing example can be run again with it.
seeds = st.integers(0, 2**32 - 1)

#: The generators themselves.
generators = seeds.map(np.random.default_rng)

#: Names that repeat, and that files could trip over.
PLACE_NAMES = ("Aa", "Bb", "Paris", "São Paulo", "Aa, Bb", 'the "Hill"', "=1+1", "'s-Gravenhage", " spaced ", "東京")
TOPIC_NAMES = ("Politics", "Sports", "Technology_Internet", "Human Interest", "Other", "Chess", "-1, no", "Žena")
BELOW_WORLD = tuple(kind for kind in LEVELS if kind != "world")


@st.composite
def place_paths(draw: st.DrawFn, names: Sequence[str] = PLACE_NAMES, max_steps: int = 5) -> Path:
    """A sound path; types rise in the order of Table 6.1, so that no two paths contradict each other."""
    kinds = draw(st.lists(st.sampled_from(BELOW_WORLD), max_size=max_steps, unique=True))
    chosen = [draw(st.sampled_from(tuple(names))) for _ in kinds]
    return (*zip(chosen, sorted(kinds, key=BELOW_WORLD.index), strict=True), WORLD)


@st.composite
def place_trees(draw: st.DrawFn, max_paths: int = 6, names: Sequence[str] = PLACE_NAMES) -> PlaceTree:
    """A tree of a few places; it may be `world` alone."""
    return PlaceTree.from_paths(draw(st.lists(place_paths(names), max_size=max_paths)))


def topic_rows(names: Sequence[str] = TOPIC_NAMES) -> st.SearchStrategy[tuple[str | None, ...]]:
    """Three distinct topics in order, fewer filled up with empty ones at the end."""
    chosen = st.lists(st.sampled_from(tuple(names)), max_size=3, unique=True)
    return chosen.map(lambda row: (*row, None, None, None)[:3])


def edge_lists(users: int, max_edges: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Pairs of users, none with itself; a pair may stand twice."""
    if users < 2:
        return st.just([])
    pair = st.tuples(st.integers(0, users - 1), st.integers(0, users - 2))
    return st.lists(pair.map(lambda ends: (ends[0], ends[1] + (ends[1] >= ends[0]))), max_size=max_edges)


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    min_users: int = 1,
    max_users: int = 12,
    max_edges: int = 30,
    directed: bool | None = None,
    private: bool | None = None,
    topics: Sequence[str] = TOPIC_NAMES,
) -> SocialGraph:
    """A sound graph: isolated users, hubs and ties, unknown places, empty topics; private columns now and then."""
    users = draw(st.integers(min_users, max_users))
    edges = draw(edge_lists(users, max_edges))
    tree = draw(place_trees())
    # A short list of values makes profiles that are alike; one value alone is a domain of one category.
    places = draw(st.lists(st.integers(UNKNOWN, len(tree) - 1), min_size=1, max_size=4))
    rows = draw(st.lists(topic_rows(topics), min_size=1, max_size=4))
    return _built(
        ids=draw(_ids(users)),
        edges=edges,
        directed=draw(st.booleans()) if directed is None else directed,
        places=tree,
        location=[draw(st.sampled_from(places)) for _ in range(users)],
        topics=[draw(st.sampled_from(rows)) for _ in range(users)],
        private=draw(_private_columns(users)) if private is not False and (private or draw(st.booleans())) else {},
    )


def random_graph(
    seed: int,
    users: int,
    follows: int,
    *,
    directed: bool = True,
    places: int = 4,
    topics: int = 4,
    missing: float = 0.1,
    hubs: bool = True,
) -> SocialGraph:
    """A seeded graph for comparisons with an oracle, where Hypothesis would be too slow: *places* and *topics* are
    the sizes of the domains, *missing* the share of unknown places and of empty last topics."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, users + 1) if hubs else np.ones(users)
    edges = rng.choice(users, size=(follows, 2), p=weight / weight.sum())
    pool = _place_pool()[: max(places, 1)]
    tree = PlaceTree.from_paths(pool)
    codes = np.array([tree.node(path) for path in pool])
    location = np.where(rng.random(users) < missing, UNKNOWN, rng.choice(codes, size=users))
    names = [*TOPIC_NAMES, *(f"topic {extra}" for extra in range(topics))][: max(topics, 1)]
    rows: list[tuple[str | None, ...]] = []
    for _ in range(users):
        row = [str(name) for name in rng.permutation(names)[:3]]
        rows.append((*(row[:-1] if rng.random() < missing else row), None, None, None)[:3])
    return _built(
        ids=[f"u{position}" for position in range(users)],
        edges=[(int(a), int(b)) for a, b in edges if a != b],
        directed=directed,
        places=tree,
        location=[int(code) for code in location],
        topics=rows,
        private={},
    )


def _built(
    *,
    ids: Sequence[str],
    edges: Sequence[tuple[int, int]],
    directed: bool,
    places: PlaceTree,
    location: Sequence[int],
    topics: Sequence[Sequence[str | None]],
    private: dict[str, tuple[str | None, ...]],
) -> SocialGraph:
    ends = np.array(edges, dtype=np.int32).reshape(-1, 2)
    graph, _ = SocialGraph.build(
        ids,
        ends[:, 0],
        ends[:, 1],
        directed=directed,
        places=places,
        location=np.array(location, dtype=np.int32),
        topics=topics,
        private=private,
    )
    return graph


def _ids(users: int) -> st.SearchStrategy[list[str]]:
    characters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co"))
    strange = st.lists(st.text(characters, min_size=1, max_size=6), min_size=users, max_size=users, unique=True)
    plain = st.permutations([f"u{position}" for position in range(users)])
    return st.one_of(plain, plain, strange)


def _private_columns(users: int) -> st.SearchStrategy[dict[str, tuple[str | None, ...]]]:
    cell = st.one_of(st.none(), st.sampled_from(["@someone", "Ana Pérez", "somewhere, over", "=HYPERLINK(1)", "'"]))
    column = st.lists(cell, min_size=users, max_size=users).map(tuple)
    return st.fixed_dictionaries({}, optional={"handle": column, "name": column, "location_text": column})


def _place_pool() -> list[Path]:
    pool: list[Path] = []
    for number in range(64):
        country = (f"Country {number % 4}", "country")
        region = (f"Region {number % 16}", "administrative_area_level_1")
        continent = (f"Continent {number % 2}", "continent")
        town = (f"Town {number}", "locality")
        pool.append(((town, region, country), (region, country), (country,), ())[number % 4] + (continent, WORLD))
    return list(dict.fromkeys(pool))
