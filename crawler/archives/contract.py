"""What an archive is: a file that a network or a collector hands out, with users, follows and posts in it.

It is read whole or not at all. What it holds beside these is counted and left out. People who ask not to be collected
are left out of files about many people; a file that only the person can get from the network is taken as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from crawler.sources.contract import Profile
from graphpriv.formats import Imported
from graphpriv.graph import PRIVATE, SocialGraph
from graphpriv.places import UNKNOWN, PlaceTree
from graphpriv.store.records import Post
from graphpriv.topics import RANKS
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.loop import Report, silent
from tabular.registry import Method, Registry


@dataclass(frozen=True)
class Gathered:
    """A graph that was read, and the posts of its users."""

    imported: Imported
    posts: tuple[Post, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class Archive(Method):
    """A way in which a network or a collector writes down what it has."""

    #: How the names of such files end.
    suffixes: ClassVar[tuple[str, ...]] = ()
    #: What the network asks of whoever uses its data, in one line that is said at the import.
    terms: ClassVar[str] = ""
    #: Whether several files make one graph: whoever is in two of them is known by the same id.
    joins: ClassVar[bool] = True

    @abstractmethod
    def read(self, path: Path, report: Report = silent) -> Collection:
        """What a file holds."""


archives: Registry[Archive] = Registry("graph format")


#: What X asks, of its files too.
OF_X = (
    "the data are from X, which does not allow anybody to infer health, politics, religion, origin, sexual life, union "
    "membership or crimes of its users; enrich the graph with sensitive topics folded."
)


@dataclass
class Collection:
    """Users, follows and posts, in the order in which a file tells of them."""

    file: str
    #: What is known of each user; None of those who are only named.
    users: dict[str, Profile | None] = field(default_factory=dict)
    follows: list[tuple[str, str]] = field(default_factory=list)
    posts: dict[str, Post] = field(default_factory=dict)
    #: People who are not kept, by why.
    left_out: dict[str, str] = field(default_factory=dict)
    #: What else is in the file, with how often.
    ignored: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def meet(self, *users: str) -> None:
        """Note users by their ids."""
        for user in users:
            self.users.setdefault(user, None)

    def describe(self, profiles: Iterable[Profile]) -> None:
        """Take profiles; of several of one user the last."""
        for profile in profiles:
            self.meet(profile.id)
            if profile.state == "kept":
                self.users[profile.id] = profile
            else:
                self.left_out[profile.id] = profile.state

    def follow(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Take follows, with both their ends."""
        for source, target in pairs:
            self.meet(source, target)
            self.follows.append((source, target))

    def write(self, posts: Iterable[Post]) -> None:
        """Take posts with their authors; of several with one id the last."""
        for post in posts:
            if post.user:
                self.meet(post.user)
                self.posts[post.id] = post
            else:
                self.ignored["posts without an author"] += 1

    def join(self, other: Collection) -> None:
        """Take all that another file of the same sort has; of two profiles of one user the later one."""
        self.file = f"{self.file}, {other.file}"
        for user, profile in other.users.items():
            if profile is not None or user not in self.users:
                self.users[user] = profile
        self.follows += other.follows
        self.posts |= other.posts
        self.left_out |= other.left_out
        self.ignored += other.ignored
        self.notes += other.notes

    def gathered(self, directed: bool | None = None) -> Gathered:
        """The graph of all who are kept, and their posts."""
        ids = [user for user in self.users if user not in self.left_out]
        if not ids:
            why = ", ".join(sorted(set(self.left_out.values())))
            raise InvalidInput(
                f"{self.file}: there are no users in it" + (f" who can be kept ({why})." if why else ".")
            )
        index = {user: position for position, user in enumerate(ids)}
        pairs = [(index[a], index[b]) for a, b in self.follows if a in index and b in index]
        ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        graph, dropped = SocialGraph.build(
            ids,
            ends[:, 0],
            ends[:, 1],
            directed=directed is not False,
            places=PlaceTree.from_paths(()),
            location=np.full(len(ids), UNKNOWN, dtype=np.int32),
            topics=[(None,) * RANKS] * len(ids),
            private=self._private(ids),
        )
        posts = tuple(each for each in self.posts.values() if each.user in index)
        imported = Imported(graph, dropped, dict(sorted(self.ignored.items())), (*self.notes, *self._counted()))
        return Gathered(imported, posts)

    def _private(self, ids: Sequence[str]) -> dict[str, list[str | None]]:
        columns = {name: [getattr(self.users[user], name, None) for user in ids] for name in PRIVATE}
        return {name: column for name, column in columns.items() if any(column)}

    def _counted(self) -> list[str]:
        counts = sorted(Counter(self.left_out.values()).items())
        told = ", ".join(f"{count:,} {state}" for state, count in counts)
        return [f"{self.file}: left out, with their posts and follows: {told}."] if told else []


def refuse_tables(attributes: object, places: object, name: str) -> None:
    """Refuse the files that belong to an edge list."""
    if attributes or places:
        raise InvalidParameter(
            f"{named('attributes')} and {named('places')} go with an edge list; {name} is one file with all in it."
        )
