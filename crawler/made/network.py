"""A made network: users who follow each other and post, as plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphpriv.graph import SocialGraph


@dataclass(frozen=True, kw_only=True)
class MadeUser:
    """Somebody who does not exist."""

    id: str
    handle: str
    name: str
    location: str | None = None
    description: str = ""
    protected: bool = False
    state: Literal["here", "suspended", "deleted"] = "here"


@dataclass(frozen=True, kw_only=True)
class MadePost:
    """What one of them wrote, with the pages it links to."""

    id: str
    text: str
    created: str
    links: tuple[str, ...] = ()


@dataclass
class MadeNetwork:
    """Users by id, whom each follows and what each posted, the newest post first. It may change while it is asked."""

    users: dict[str, MadeUser] = field(default_factory=dict)
    follows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    posts: Mapping[str, Sequence[MadePost]] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: SocialGraph, *, posts: int = 3, first: int = 10**12) -> MadeNetwork:
        """The users of a *graph*, by the ids *first* and on, each with some plain posts."""
        ids = [str(first + position) for position in range(len(graph))]
        users = {id: MadeUser(id=id, handle=f"made_{id}", name=f"Made {id}", location="Earth") for id in ids}
        follows = {id: [ids[each] for each in graph.follows.of(position)] for position, id in enumerate(ids)}
        written = {id: [post_of(id, number) for number in range(posts)] for id in ids}
        return cls(users, follows, written)

    def here(self, id: str) -> bool:
        """Whether there is such a user, and not a suspended one."""
        return id in self.users and self.users[id].state == "here"

    def by_handle(self, handle: str) -> str:
        """The id of the user of a handle; the handle itself where there is none."""
        folded = handle.casefold()
        return next((user.id for user in self.users.values() if user.handle.casefold() == folded), handle)


def post_of(author: str, number: int) -> MadePost:
    """A plain post."""
    return MadePost(
        id=f"{author}{number:03d}",
        text=f"Post {number} of {author}",
        created=f"2026-01-{number % 28 + 1:02d}T00:00:00.000Z",
        links=(f"https://example.org/{author}/{number}",),
    )
