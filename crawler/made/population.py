"""A made network whose people are those of a graph: same users and follows, places and posts in their own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from crawler.made.network import MadeNetwork, MadePost, MadeUser
from crawler.made.writing import Written, page, written_place, written_posts
from crawler.made.x import Reply
from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN
from graphpriv.topics import EMPTY, TOPICS

#: How many pages there are about each topic.
PAGES = 8


def peopled(graph: SocialGraph, *, posts: int, pages: str, rng: Generator) -> MadeNetwork:
    """The users of a *graph*, each with so many *posts*; the pages they link to are below the address *pages*."""
    ids = graph.ids
    handles, names = (graph.private.get(name, ids) for name in ("handle", "name"))
    users, written = {}, {}
    for place, (id, handle, name) in enumerate(zip(ids, handles, names, strict=True)):
        code = int(graph.location[place])
        location = written_place(None if code == UNKNOWN else graph.places.path(code), rng)
        called = (handle or id).removeprefix("@")
        users[id] = MadeUser(id=id, handle=called, name=name or called, location=location)
        topics = [graph.topic_names[topic] for topic in graph.topics[place].tolist() if topic != EMPTY]
        said = written_posts(topics, posts, rng)
        written[id] = [_post(f"{id}{number:03d}", each, pages, rng) for number, each in enumerate(said)]
    follows = {id: [ids[each] for each in graph.follows.of(place)] for place, id in enumerate(ids)}
    return MadeNetwork(users, follows, written)


def _post(id: str, said: Written, pages: str, rng: Generator) -> MadePost:
    links = () if said.page is None else (f"{pages}/{TOPICS.index(said.page)}/{int(rng.integers(PAGES))}",)
    return MadePost(id=id, text=said.text, created=f"2026-01-{int(id[-3:]) % 28 + 1:02d}T00:00:00.000Z", links=links)


@dataclass(frozen=True)
class Pages:
    """Answers requests for the pages that the people of a made network link to."""

    seed: int

    def reply(self, path: str, query: Mapping[str, str], token: str) -> Reply:
        """The page at a path, or that there is none."""
        parts = path.strip("/").split("/")
        if len(parts) != 2 or not all(part.isdecimal() for part in parts) or int(parts[0]) >= len(TOPICS):
            return Reply(404, b"", {"Content-Type": "text/plain"})
        topic, number = map(int, parts)
        text = page(TOPICS[topic], np.random.default_rng([self.seed, topic, number]))
        return Reply(200, text.encode(), {"Content-Type": "text/html; charset=utf-8"})
