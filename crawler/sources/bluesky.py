"""Bluesky, by the public endpoints of its AppView, which need no account.

Questions are `app.bsky.actor.getProfile`, `app.bsky.actor.getProfiles`, `app.bsky.graph.getFollows` and
`app.bsky.feed.getAuthorFeed`. The AppView answers for everybody, so no host that a DID document names is ever asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from crawler.sources.contract import Answer, Page, Profile, Question, opts_out, sources
from crawler.sources.descriptions import location_in, web_links
from crawler.sources.failures import Failure
from crawler.sources.plain import OpenSource, Reply, seconds_until
from crawler.sources.values import count_of, dict_of, dicts_of, id_of, json_of, text_of
from graphpriv.store.records import Post

#: By this label people ask not to be shown to anybody without an account.
NOT_FOR_STRANGERS = "!no-unauthenticated"

#: Labels by which moderators take a whole account from view.
_REMOVED = frozenset(("!takedown", "!suspend", "!hide"))

_LIMIT = "ratelimit-"


@sources.add(
    "bluesky",
    cites="AT Protocol, lexicons app.bsky.actor, app.bsky.graph and app.bsky.feed; docs.bsky.app",
    limits="Profiles have no location: it is looked for in the description, and marked so.",
)
@dataclass(frozen=True, kw_only=True)
class Bluesky(OpenSource):
    """Ask Bluesky's public AppView, which needs no account and costs nothing."""

    public: ClassVar[str] = "https://public.api.bsky.app"
    variable: ClassVar[str] = "GRAPHPRIV_BLUESKY_URL"
    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"following": (1, 100), "posts": (1, 100)}
    batch: ClassVar[int] = 25
    user: ClassVar[str] = "handle.example, or a DID"
    terms: ClassVar[str] = (
        "Bluesky asks you to erase what people delete there (`graphpriv graph refresh`). People who ask not to be "
        "shown to strangers are left out."
    )

    def ask(self, question: Question) -> Answer:
        call, parameters = _call(question)
        reply = self._plain.get(f"{self.where}/xrpc/{call}", parameters)
        if reply.status != 200:
            raise classify(question, reply)
        return reply.answer(reply.body, seconds_until, _LIMIT)

    def read(self, question: Question, body: bytes) -> Page:
        from crawler.sources.exchange import parsed

        answer = parsed(body)
        cursor = answer.get("cursor")
        cursor = cursor if isinstance(cursor, str) and cursor else None
        match question.kind:
            case "following":
                return Page(followed=tuple(each["did"] for each in _users(answer, "follows")), cursor=cursor)
            case "posts":
                return Page(posts=_posts(answer, question.user), cursor=cursor)
            case "profiles":
                # The answer leaves out who is gone, without a word on why.
                return Page(profiles=tuple(map(profile_of, _users(answer, "profiles"))))
            case _:
                if not _is_user(answer):
                    raise Failure("garbled")
                return Page(profiles=(profile_of(answer),))


def _call(question: Question) -> tuple[str, dict[str, Any]]:
    """The endpoint that answers a question, and its parameters."""
    paged = {"limit": question.size, "cursor": question.cursor}
    match question.kind:
        case "profiles":
            return "app.bsky.actor.getProfiles", {"actors": list(question.users)}
        case "following":
            return "app.bsky.graph.getFollows", {"actor": question.user, **paged}
        case "posts":
            # Threads of one's own are posts; answers to others are not understood without these.
            chosen = {"filter": "posts_and_author_threads"}
            return "app.bsky.feed.getAuthorFeed", {"actor": question.user, **chosen, **paged}
        case _:
            return "app.bsky.actor.getProfile", {"actor": question.user.strip().removeprefix("@")}


def classify(question: Question, reply: Reply) -> Failure:
    """The failure that an answer other than 200 is."""
    told = dict_of(json_of(reply.body))
    kind = told.get("error")
    if reply.status == 429 or kind == "RateLimitExceeded":
        return Failure("rate-limited", wait=seconds_until(reply.headers.get(f"{_LIMIT}reset"), reply.headers))
    if kind in ("AccountTakedown", "AccountSuspended"):
        return Failure("suspended")
    if kind == "AccountDeactivated" or _is_of_nobody(question, reply.status, told):
        return Failure("vanished")
    return Failure("server-failed" if reply.status >= 500 else "refused", detail=f"HTTP {reply.status}")


def _is_of_nobody(question: Question, status: int, problem: Mapping[str, Any]) -> bool:
    """Whether an answer says that there is no such user; a name that cannot be one is nobody's either."""
    if status != 400 or problem.get("error") != "InvalidRequest" or question.kind == "profiles":
        return False
    return question.kind == "start" or "not found" in (text_of(problem.get("message")) or "").casefold()


def _is_user(value: Any) -> bool:
    return (id_of(dict_of(value).get("did")) or "").startswith("did:")


def _users(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The users of an answer in their order; what has no DID is none."""
    found = answer.get(name)
    if not isinstance(found, list):
        raise Failure("garbled")
    return [each for each in found if _is_user(each)]


def profile_of(record: Mapping[str, Any]) -> Profile:
    """The profile of a user as the AppView shows one."""
    user, description = record["did"], text_of(record.get("description"))
    labels = labels_of(record.get("labels"))
    if not labels.isdisjoint(_REMOVED):
        return Profile(id=user, state="suspended")
    if NOT_FOR_STRANGERS in labels or opts_out(description):
        return Profile(id=user, state="opted-out")
    handle = text_of(record.get("handle"))
    return Profile(
        id=user,
        handle=None if handle == "handle.invalid" else handle,
        name=text_of(record.get("displayName")),
        location_text=location_in(description),
        location_from="description",
        following=count_of(record.get("followsCount")),
        posts=count_of(record.get("postsCount")),
    )


def labels_of(labels: Any) -> frozenset[str]:
    """The values of the labels of an account that were not taken back.

    >>> sorted(labels_of([{"val": "a"}, {"val": "b", "neg": True}]))
    ['a']
    """
    return frozenset(str(each.get("val")) for each in dicts_of(labels) if each.get("neg") is not True)


def _posts(answer: Mapping[str, Any], user: str) -> tuple[Post, ...]:
    """The posts of a feed that the user wrote; what others wrote and the user passed on is not."""
    feed = answer.get("feed")
    if not isinstance(feed, list):
        raise Failure("garbled")
    views = [dict_of(each.get("post")) for each in dicts_of(feed)]
    own = [view for view in views if dict_of(view.get("author")).get("did") == user]
    found = {view["uri"]: view.get("record") for view in own if id_of(view.get("uri"))}
    return tuple(post_of(uri, user, record) for uri, record in found.items() if isinstance(record, dict))


def post_of(uri: str, user: str, record: Mapping[str, Any]) -> Post:
    """The post of a record `app.bsky.feed.post`."""
    text, created = text_of(record.get("text")) or "", text_of(record.get("createdAt"))
    return Post(id=uri, user=user, text=text, links=links_of(record), created=created)


def links_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a post links to: links within its text, and the page that it shows below."""
    features = [each for facet in dicts_of(record.get("facets")) for each in dicts_of(facet.get("features"))]
    within = (each.get("uri") for each in features if each.get("$type") == "app.bsky.richtext.facet#link")
    embed = dict_of(record.get("embed"))
    shown = dict_of(dict_of(embed.get("media") or embed).get("external"))
    return web_links([*within, shown.get("uri")])
