"""The X API v2 of a made network: the documented answers to the questions that a crawl asks, and their bill."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from time import time
from typing import Any

from crawler.made.bill import Bill
from crawler.made.network import MadeNetwork, MadePost, MadeUser

_PROBLEMS = "https://api.twitter.com/2/problems/"

_ROUTES = (
    ("start", re.compile(r"/2/users/by/username/([^/]+)")),
    ("following", re.compile(r"/2/users/([^/]+)/following")),
    ("posts", re.compile(r"/2/users/([^/]+)/tweets")),
    ("profile", re.compile(r"/2/users/([^/]+)")),
    ("profiles", re.compile(r"/2/users")),
)


@dataclass(frozen=True)
class Reply:
    """An answer as it goes over the wire."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class XInterface:
    """Answers requests; *limit* of them for each kind of question in a *window* of seconds."""

    network: MadeNetwork
    token: str = "made"  # noqa: S105 (nobody keeps anything behind it)
    limit: int = 10**9
    window: float = 900.0
    clock: Callable[[], float] = time
    bill: Bill = field(default_factory=Bill)
    #: The requests that were answered or refused, in their order: kind, user, place in the list.
    log: list[tuple[str, str, str]] = field(default_factory=list)
    _asked: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def reply(self, path: str, query: Mapping[str, str], token: str) -> Reply:
        """The answer to one request."""
        kind, user = next(((kind, found[1] if found.groups() else "") for kind, route in _ROUTES
                           if (found := route.fullmatch(path))), ("", ""))  # fmt: skip
        if token != f"Bearer {self.token}":
            return self._told(401, {"title": "Unauthorized", "type": "about:blank", "status": 401})
        if not kind:
            return self._told(404, {"title": "Not Found Error", "type": "about:blank", "status": 404})
        user = self.network.by_handle(user) if kind == "start" else user
        self.log.append((kind, user, query.get("pagination_token", "")))
        remaining, reset = self._quota(kind)
        headers = {"x-rate-limit-limit": str(self.limit), "x-rate-limit-remaining": str(max(remaining, 0)),
                   "x-rate-limit-reset": str(int(reset) + 1)}  # fmt: skip
        if remaining < 0:
            return self._told(429, {"title": "Too Many Requests", "type": "about:blank", "status": 429}, headers)
        return self._told(200, self._answer(kind, user, query), headers)

    def _told(self, status: int, answer: Any, headers: Mapping[str, str] | None = None) -> Reply:
        moment = formatdate(self.clock(), usegmt=True)
        return Reply(status, json.dumps(answer).encode(), {"Date": moment, **(headers or {})})

    def _quota(self, kind: str) -> tuple[int, float]:
        """How many requests are left in the window after this one, and when it ends."""
        now, asked = self.clock(), self._asked[kind]
        if asked and now >= asked[0] + self.window:
            asked.clear()
        if len(asked) < self.limit:
            asked.append(now)
            return self.limit - len(asked), asked[0] + self.window
        return -1, asked[0] + self.window

    def _answer(self, kind: str, user: str, query: Mapping[str, str]) -> dict[str, Any]:
        if kind == "profiles":
            return self._profiles(query.get("ids", "").split(","), query)
        if not self.network.here(user):
            return {"errors": [self._problem(user)]}
        if kind in ("start", "profile"):
            self.bill.add("user", [user], self.clock())
            return {"data": shown(self.network, user, query)}
        if self.network.users[user].protected:
            return {"errors": [{**self._problem(user), "type": f"{_PROBLEMS}not-authorized-for-resource"}]}
        if kind == "following":
            whole: Sequence[Any] = [each for each in self.network.follows.get(user, ()) if self.network.here(each)]
            page, meta = paged(whole, query, most=1000)
            self.bill.add("followed", page, self.clock())
            return {**({"data": [shown(self.network, each, query) for each in page]} if page else {}), "meta": meta}
        page, meta = paged(self.network.posts.get(user, ()), query, most=100)
        self.bill.add("post", [each.id for each in page], self.clock())
        return {**({"data": [written(each, user) for each in page]} if page else {}), "meta": meta}

    def _profiles(self, ids: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        here = [id for id in ids if self.network.here(id)]
        self.bill.add("user", here, self.clock())
        problems = [self._problem(id) for id in ids if id not in here]
        data = {"data": [shown(self.network, id, query) for id in here]} if here else {}
        return {**data, **({"errors": problems} if problems else {})}

    def _problem(self, user: str) -> dict[str, Any]:
        suspended = user in self.network.users and self.network.users[user].state == "suspended"
        detail = "User has been suspended" if suspended else "Could not find user with id"
        return {"value": user, "resource_id": user, "parameter": "id", "resource_type": "user",
                "title": "Forbidden" if suspended else "Not Found Error", "detail": f"{detail}: [{user}].",
                "type": f"{_PROBLEMS}resource-not-found"}  # fmt: skip


def shown(network: MadeNetwork, id: str, query: Mapping[str, str]) -> dict[str, Any]:
    """A user object with the fields that were asked for."""
    user = network.users[id]
    told = set(query.get("user.fields", "").split(","))
    found = {"id": id, "name": user.name, "username": user.handle}
    return found | {name: value for name, value in _fields(network, user).items() if name in told and value is not None}


def _fields(network: MadeNetwork, user: MadeUser) -> dict[str, Any]:
    following = sum(map(network.here, network.follows.get(user.id, ())))
    counts = {"followers_count": 0, "following_count": following, "tweet_count": len(network.posts.get(user.id, ()))}
    return {
        "created_at": "2020-01-01T00:00:00.000Z",
        "description": user.description,
        "location": user.location,
        "protected": user.protected,
        "public_metrics": {**counts, "listed_count": 0},
    }


def written(post: MadePost, author: str) -> dict[str, Any]:
    """A post object."""
    urls = [{"url": "https://t.co/made", "expanded_url": each, "display_url": each} for each in post.links]
    made = {"id": post.id, "author_id": author, "text": post.text, "created_at": post.created, "lang": "en"}
    return {**made, "edit_history_tweet_ids": [post.id], **({"entities": {"urls": urls}} if urls else {})}


def paged(whole: Sequence[Any], query: Mapping[str, str], *, most: int) -> tuple[Sequence[Any], dict[str, Any]]:
    """A page of a list, and what is told of it."""
    begin = int(query.get("pagination_token", "page0")[4:])
    end = begin + min(int(query.get("max_results", "100")), most)
    meta: dict[str, Any] = {"result_count": len(whole[begin:end])}
    if end < len(whole):
        meta["next_token"] = f"page{end}"
    return whole[begin:end], meta
