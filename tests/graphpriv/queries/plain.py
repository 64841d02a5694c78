"""The questions about a graph answered the slow and obvious way, from the graph in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import networkx as nx

from graphpriv.graph import SocialGraph
from graphpriv.places import LEVELS, Path

TOPICS = ("topic1", "topic2", "topic3")


def path(graph: SocialGraph, user: int) -> Path | None:
    code = int(graph.location[user])
    return None if code < 0 else graph.places.path(code)


def key(graph: SocialGraph, steps: Path | None) -> str | None:
    return None if steps is None else graph.places.keys[graph.places.node(steps)]


def topics(graph: SocialGraph, user: int) -> list[str | None]:
    return [None if code < 0 else graph.topic_names[code] for code in graph.topics[user].tolist()]


def follows(graph: SocialGraph) -> set[tuple[int, int]]:
    """All pairs of a user and one whom they follow; without directions in both orders."""
    sources, targets = graph.edges()
    pairs = set(zip(sources.tolist(), targets.tolist(), strict=True))
    return pairs if graph.directed else pairs | {(b, a) for a, b in pairs}


def degrees(graph: SocialGraph, user: int) -> dict[str, int]:
    following = {b for a, b in follows(graph) if a == user}
    followers = {a for a, b in follows(graph) if b == user}
    both = {"degree": len(following | followers)}
    return both | {"following": len(following), "followers": len(followers)} if graph.directed else both


def row(graph: SocialGraph, user: int) -> dict[str, Any]:
    steps = path(graph, user)
    return {
        "id": graph.ids[user],
        "location": key(graph, steps),
        "path": None if steps is None else [list(step) for step in steps],
        "topics": topics(graph, user),
        **degrees(graph, user),
    }


def chosen(graph: SocialGraph, **asked: Any) -> list[int]:
    return [user for user in range(len(graph)) if all(_holds(graph, user, asked, name) for name in asked)]


def _holds(graph: SocialGraph, user: int, asked: dict[str, Any], name: str) -> bool:
    wanted = asked[name]
    if name == "location":
        steps = path(graph, user)
        return (
            steps is None if wanted == "" else wanted in [key(graph, steps[at:]) for at in range(len(steps or ()))]
        )  # fmt: skip
    if name == "topic":
        has = topics(graph, user)
        at = has if asked.get("rank") is None else [has[asked["rank"] - 1]]
        return not any(at) if wanted == "" else wanted in at
    if name == "rank":
        return True
    low, _, high = wanted.partition("..")
    return int(low or 0) <= degrees(graph, user)[name] <= int((high or 10**9) if ".." in wanted else low)


def values(graph: SocialGraph, user: int, by: str) -> list[Any]:
    """The values of a user by a key: several for the topics at any rank."""
    if by.startswith("location"):
        steps, kind = path(graph, user), by.partition(":")[2]
        if not kind or steps is None:
            return [key(graph, steps)]
        at = [at for at, (_, each) in enumerate(steps) if LEVELS[each] == LEVELS[kind]]
        return [key(graph, steps[at[-1] :]) if at else None]
    if by == "topics":
        return sorted({each for each in topics(graph, user) if each}) or [None]
    return [topics(graph, user)[TOPICS.index(by)]] if by in TOPICS else [degrees(graph, user)[by]]


def counts(graph: SocialGraph, by: str, **asked: Any) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for user in chosen(graph, **asked):
        found.update(product(*(values(graph, user, each) for each in by.split(","))))
    return found


def mixing(graph: SocialGraph, by: str) -> Counter[tuple[Any, ...]]:
    return Counter((values(graph, a, by)[0], values(graph, b, by)[0]) for a, b in follows(graph))


def neighbours(graph: SocialGraph, user: int, direction: str) -> Iterator[dict[str, Any]]:
    pairs = follows(graph)
    for other in range(len(graph)):
        out, back = (user, other) in pairs, (other, user) in pairs
        if {"following": out, "followers": back, "any": out or back}[direction]:
            yield row(graph, other) | ({"follows": back, "followed": out} if graph.directed else {})


def undirected(graph: SocialGraph) -> nx.Graph:
    there = nx.Graph(follows(graph))
    there.add_nodes_from(range(len(graph)))
    return there
