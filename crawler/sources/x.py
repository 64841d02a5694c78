"""X, by its API v2 and tweepy's single calls.

Questions are `GET /2/users/by/username/:name`, `/2/users/:id`, `/2/users`, `/2/users/:id/following` and
`/2/users/:id/tweets`. X answers with status 200 and a list of `errors` where a user is gone; those are read here, too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from crawler.sources.contract import (
    Answer,
    Page,
    Profile,
    Question,
    Source,
    State,
    base_of,
    missing,
    opts_out,
    shown,
    sources,
)
from crawler.sources.failures import Failure
from crawler.sources.values import count_of, dict_of, dicts_of, id_of, text_of
from graphpriv.store.records import Post
from tabular.errors import InvalidInput

if TYPE_CHECKING:
    import tweepy

#: The public service.
PUBLIC = "https://api.x.com"

TOKEN, URL = "GRAPHPRIV_X_TOKEN", "GRAPHPRIV_X_URL"

USER_FIELDS = ("created_at", "description", "entities", "location", "protected", "public_metrics", "url", "withheld")
POST_FIELDS = ("author_id", "created_at", "entities", "lang", "referenced_tweets", "note_tweet")

_REMAINING, _RESET = "x-rate-limit-remaining", "x-rate-limit-reset"


@sources.add("x", cites="X API v2, docs.x.com", limits="needs a paid plan; users, followed accounts and posts cost")
@dataclass(frozen=True, kw_only=True)
class X(Source):
    """Ask X by its API v2, with an app-only bearer token."""

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"following": (1, 1000), "posts": (5, 100)}
    batch: ClassVar[int] = 100
    charges: ClassVar[bool] = True
    terms: ClassVar[str] = (
        "X asks you to erase what was deleted, protected or suspended there (`graphpriv graph refresh`), and forbids "
        "inferring a user's health, politics, religion, labor, crime and the like."
    )

    token: str = field(repr=False)
    url: str = PUBLIC
    timeout: float = 30.0

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        token = environ.get(TOKEN, "").strip()
        if not token:
            raise missing("x", TOKEN)
        if not (token.isascii() and token.isprintable() and " " not in token):
            raise InvalidInput(f"The variable {TOKEN} holds no token: a token is one word of plain letters and signs.")
        return cls(token=token, url=base_of(environ, URL, PUBLIC))

    @property
    def where(self) -> str:
        return shown(self.url)

    @cached_property
    def _client(self) -> tweepy.Client:
        import requests
        import tweepy

        from crawler.sources.exchange import Exchange

        # At this level it writes down whole answers.
        logging.getLogger("tweepy.client").setLevel(logging.INFO)
        # The token is the exchange's alone: what the library holds, it may show.
        client = tweepy.Client(bearer_token="", return_type=requests.Response)
        exchange = Exchange(self.url, token=self.token, timeout=self.timeout, classify=classify)
        client.session.trust_env = False
        client.session.mount("https://", exchange)
        client.session.mount("http://", exchange)
        return client

    def ask(self, question: Question) -> Answer:
        from crawler.sources.exchange import answer_of

        return answer_of(self._called(question), _REMAINING, _RESET)

    def _called(self, question: Question) -> Any:
        """The response to the one call that asks this."""
        from urllib.parse import quote

        client, users = self._client, {"user_fields": list(USER_FIELDS)}
        paged = {"max_results": question.size, "pagination_token": question.cursor}
        user = quote(question.user, safe="")
        match question.kind:
            case "start":
                return client.get_user(username=user.removeprefix("%40"), **users)
            case "profile":
                return client.get_user(id=user, **users)
            case "profiles":
                return client.get_users(ids=list(question.users), **users)
            case "following":
                # The ids are enough; of people who are not asked, no description need be kept.
                return client.get_users_following(user, **paged)
            case "posts":
                return client.get_users_tweets(user, tweet_fields=list(POST_FIELDS), **paged)

    def read(self, question: Question, body: bytes) -> Page:
        from crawler.sources.exchange import parsed

        answer = parsed(body)
        records = _records(answer)
        cursor = dict_of(answer.get("meta")).get("next_token")
        cursor = cursor if isinstance(cursor, str) and cursor else None
        if question.kind == "posts":
            _refuse_problem(answer, records)
            charged = tuple(("post", each["id"]) for each in records)
            return Page(posts=tuple(map(post_of, records)), cursor=cursor, charged=charged)
        if question.kind == "following":
            _refuse_problem(answer, records)
            followed = tuple(each["id"] for each in records)
            return Page(followed=followed, cursor=cursor, charged=tuple(("followed", each) for each in followed))
        if question.kind != "profiles":
            _refuse_problem(answer, records)
        profiles = (*map(profile_of, records), *_missing(answer, records, question))
        return Page(profiles=profiles, charged=tuple(("user", each["id"]) for each in records))


def classify(status: int, headers: Mapping[str, str], problem: Any) -> Failure:
    """The failure that an answer other than 200 is."""
    from crawler.sources.exchange import wait_until

    told = dict_of(problem)
    kind = str(told.get("type", "")).rpartition("/")[2]
    if status == 429:
        if kind == "usage-capped":
            return Failure("cap-reached", detail=str(told.get("product_name", ""))[:60])
        return Failure("rate-limited", wait=wait_until(headers.get(_RESET), headers))
    if status == 403 and (kind in _OF_USER or told.get("errors")):
        return Failure(_state_of(told, kind))
    if status in (401, 402):
        return Failure("token-refused" if status == 401 else "payment-required")
    if status == 403:
        return Failure("not-in-plan", detail=str(told.get("required_enrollment") or told.get("title") or "")[:60])
    if status == 404:
        return Failure(_state_of(told, kind) if told else "vanished")
    return Failure("server-failed" if status >= 500 else "refused", detail=f"HTTP {status}")


#: The names of problems that are about one user, and not about the account that asks.
_OF_USER = ("resource-not-found", "not-authorized-for-resource", "resource-unavailable")


def _state_of(problem: Mapping[str, Any], kind: str) -> State:
    """How the user stands that a problem is about."""
    inner = problem.get("errors")
    if isinstance(inner, list) and inner:
        first = dict_of(inner[0])
        return _state_of({**first, "errors": None}, str(first.get("type", "")).rpartition("/")[2])
    if "suspended" in (text_of(problem.get("detail")) or "").casefold():
        return "suspended"
    return "locked" if kind == "not-authorized-for-resource" else "vanished"


def _records(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The users or posts of an answer, one or a list of them; what has no id is none."""
    data = answer.get("data")
    found = data if isinstance(data, list) else [data]
    return [each for each in found if isinstance(each, dict) and id_of(each.get("id"))]


def _problems(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    return dicts_of(answer.get("errors"))


def _refuse_problem(answer: Mapping[str, Any], records: list[dict[str, Any]]) -> None:
    """Raise what an answer says instead of an answer."""
    problems = [] if records else _problems(answer)
    if problems:
        raise Failure(_state_of(problems[0], str(problems[0].get("type", "")).rpartition("/")[2]))
    if not records and "data" not in answer and "meta" not in answer:
        raise Failure("garbled")


def _missing(answer: Mapping[str, Any], records: list[dict[str, Any]], question: Question) -> list[Profile]:
    """Those of the users of a `profiles` question of whom the answer says why they are not in it."""
    told = {str(each.get("resource_id") or each.get("value")): each for each in _problems(answer)}
    here = {each["id"] for each in records}
    return [
        Profile(id=user, state=_state_of(told[user], str(told[user].get("type", "")).rpartition("/")[2]))
        for user in question.users
        if user not in here and user in told
    ]


def profile_of(record: Mapping[str, Any]) -> Profile:
    """The profile of a user object of X."""
    metrics = dict_of(record.get("public_metrics"))
    description = text_of(record.get("description"))
    if record.get("protected") is True or opts_out(description):
        return Profile(id=record["id"], state="locked" if record.get("protected") is True else "opted-out")
    return Profile(
        id=record["id"],
        handle=text_of(record.get("username")),
        name=text_of(record.get("name")),
        location_text=text_of(record.get("location")),
        following=count_of(metrics.get("following_count")),
        posts=count_of(metrics.get("tweet_count")),
    )


def post_of(record: Mapping[str, Any]) -> Post:
    """The post of a post object of X, with the full text and the expanded addresses of its links."""
    long = dict_of(record.get("note_tweet"))
    text = text_of(long.get("text")) or text_of(record.get("text")) or ""
    entities = [dict_of(each.get("entities")) for each in (long, record)]
    lists = [one.get("urls") for one in entities]
    urls = [each for one in lists if isinstance(one, list) for each in one if isinstance(each, dict)]
    # Links to media of the post itself lead to X.
    links = (each.get("unwound_url") or each.get("expanded_url") for each in urls if not each.get("media_key"))
    return Post(
        id=record["id"],
        user=text_of(record.get("author_id")) or "",
        text=text,
        links=tuple(dict.fromkeys(each for each in links if isinstance(each, str) and each)),
        created=text_of(record.get("created_at")),
    )
