"""Mastodon, by the public interface of the server that each user lives on.

Questions are `GET /api/v1/accounts/lookup`, `/api/v1/accounts/:id/following` and `/api/v1/accounts/:id/statuses`.
Users are called `name@host`, and the host is who is asked about them: other servers know only a part of their follows
and posts. A server leaves its own host out of names, and says in a header where the next page begins. So an answer is
kept as `{"host": …, "next": …, "answer": …}` with each `acct` in full: it can be read without knowing where it came
from, and a person can be found in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, urlsplit

from crawler.sources.contract import Answer, Page, Profile, Question, State, opts_out, sources
from crawler.sources.descriptions import anchors, is_location_label, location_in, plain_text, web_links
from crawler.sources.failures import Failure
from crawler.sources.plain import OpenSource, Reply, seconds_until_date
from crawler.sources.values import count_of, dict_of, dicts_of, id_of, json_of, text_of
from graphpriv.store.records import Post

_LIMIT = "x-ratelimit-"
_HOST = re.compile(r"[\w.-]+(:\d+)?")
_NEXT = re.compile(r"<([^<>]*)>\s*;[^,<>]*\brel=\"?next\b")

#: What a profile's address says instead of a number of follows where the user hides the list.
_HIDDEN = "hidden"

#: Posts that everybody may see.
_OPEN = ("public", "unlisted")


@sources.add(
    "mastodon",
    cites="Mastodon API v1, docs.joinmastodon.org",
    limits="Servers that answer no strangers leave their users out; many people hide whom they follow.",
)
@dataclass(frozen=True, kw_only=True)
class Mastodon(OpenSource):
    """Ask the Mastodon server that each user lives on, which needs no account and costs nothing."""

    public: ClassVar[str] = "https://mastodon.social"
    variable: ClassVar[str] = "GRAPHPRIV_MASTODON_URL"
    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"following": (1, 80), "posts": (1, 40)}
    federated: ClassVar[bool] = True
    user: ClassVar[str] = "name@host"
    terms: ClassVar[str] = (
        "Each Mastodon server has its own rules. People who ask not to be found, or who approve each follower, are "
        "left out; what is deleted there must be erased here too (`graphpriv graph refresh`)."
    )

    @cached_property
    def _base_host(self) -> str:
        return urlsplit(self.where).netloc.lower()

    def lane(self, question: Question) -> str:
        return self._name_and_host(question.user)[1]

    def ask(self, question: Question) -> Answer:
        name, host = self._name_and_host(question.user)
        if not name or not _HOST.fullmatch(host):
            raise Failure("vanished" if question.kind == "start" else "refused-host")
        call, parameters = _call(question, name)
        if _told(question) == _HIDDEN:
            raise Failure("hidden")
        base = self.where if host == self._base_host else f"https://{host}"
        reply = self._plain.get(f"{base}/api/v1/accounts/{call}", parameters)
        if reply.status != 200:
            raise classify(question, reply)
        kept = in_full(reply, host)
        _refuse_hidden(question, kept)
        body = reply.body if kept is None else json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
        return reply.answer(body, seconds_until_date, _LIMIT)

    def _name_and_host(self, user: str) -> tuple[str, str]:
        """The name at home, and the home; a name without a host lives on the server that is configured."""
        name, _, host = user.strip().removeprefix("@").partition("@")
        return name, host.lower() or self._base_host

    def read(self, question: Question, body: bytes) -> Page:
        from crawler.sources.exchange import parsed

        kept = parsed(body)
        answer, cursor = kept.get("answer"), kept.get("next")
        cursor = cursor if isinstance(cursor, str) and cursor else None
        if question.kind == "following":
            return Page(followed=tuple(map(_id, _accounts(answer))), cursor=cursor)
        if question.kind == "posts":
            return Page(posts=_posts(answer, question.user.lower()), cursor=cursor)
        if not isinstance(answer, dict) or not _is_account(answer):
            raise Failure("garbled")
        return Page(profiles=(profile_of(answer, question.user if question.kind == "profile" else _id(answer)),))


def _call(question: Question, name: str) -> tuple[str, dict[str, Any]]:
    """The endpoint that answers a question, and its parameters."""
    if question.kind in ("start", "profile"):
        return "lookup", {"acct": name}
    known, _, _ = (question.address or "").partition("/")
    if not known:
        raise ValueError(f"A question for {question.kind} needs the address of the user's profile.")
    paged = {"limit": question.size, "max_id": question.cursor}
    if question.kind == "following":
        return f"{quote(known, safe='')}/following", paged
    return f"{quote(known, safe='')}/statuses", {"exclude_replies": "true", "exclude_reblogs": "true", **paged}


def classify(question: Question, reply: Reply) -> Failure:
    """The failure that an answer other than 200 is; whatever it is, it is about one server and its users."""
    if reply.status == 429:
        return Failure("rate-limited", wait=seconds_until_date(reply.headers.get(f"{_LIMIT}reset"), reply.headers))
    if reply.status >= 500:
        return Failure("server-failed", detail=f"HTTP {reply.status}")
    problem = json_of(reply.body)
    # Servers of another sort have no such address at all, and say so in another way.
    if reply.status in (404, 410) and isinstance(problem, dict) and isinstance(problem.get("error"), str):
        return Failure("vanished")
    return Failure("hidden" if question.kind in ("following", "posts") else "closed-host")


# What is kept of an answer


def in_full(reply: Reply, host: str) -> dict[str, Any] | None:
    """An answer with all accounts named in full, and where the next page begins; None where it is no JSON."""
    answer = json_of(reply.body)
    if answer is None:
        return None
    for account in _named(answer):
        account["acct"] = full_name(account["acct"], account.get("url"), host)
    return {"host": host, "next": next_page(reply.headers.get("link", "")), "answer": answer}


def _told(question: Question) -> str:
    """How many accounts the profile says that the user follows, or that the list is hidden."""
    return (question.address or "").partition("/")[2] if question.kind == "following" else ""


def _refuse_hidden(question: Question, kept: Mapping[str, Any] | None) -> None:
    """Refuse an empty list of somebody who follows others: it is hidden, and not empty.

    That is told before the answer is kept: one that lost a person who was forgotten is empty, too, and not hidden.
    """
    nothing = kept is not None and kept["answer"] == [] and kept["next"] is None and not question.cursor
    if nothing and _told(question) not in ("", "0"):
        raise Failure("hidden")


def _named(answer: Any) -> Iterator[dict[str, Any]]:
    """Everything in an answer that names an account."""
    waiting = [answer]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
            if isinstance(each.get("acct"), str):
                yield each


def full_name(acct: str, url: Any, host: str) -> str:
    """The name of an account with its home, as a *host* tells of it.

    Some servers are called otherwise than the part after the @: their host stands in the address of the profile. That
    is believed only where it lies below that part, since anybody can write any address there.

    >>> full_name("ann", "https://a.org/@ann", "a.org"), full_name("Bo@b.org", "https://social.b.org/@Bo", "a.org")
    ('ann@a.org', 'Bo@social.b.org')
    >>> full_name("eve@c.org", "https://a.org/@ann", "a.org")
    'eve@c.org'
    """
    name, _, domain = acct.partition("@")
    domain = domain.lower() or host
    try:
        found = urlsplit(url if isinstance(url, str) else "")
    except ValueError:
        return f"{name}@{domain}"
    if found.scheme == "https" and found.netloc.lower().endswith(f".{domain}") and _HOST.fullmatch(found.netloc):
        domain = found.netloc.lower()
    return f"{name}@{domain}"


def next_page(link: str) -> str | None:
    """Where the next page begins, by the header `Link`; the address in it is not asked.

    >>> next_page('<https://a.org/api/v1/x?limit=2&max_id=7>; rel="next", <https://a.org/a>; rel="prev"')
    '7'
    """
    found = _NEXT.search(link)
    try:
        values = parse_qs(urlsplit(found[1]).query).get("max_id") if found else None
    except ValueError:
        return None
    return values[0] if values else None


# Reading


def _is_account(value: Any) -> bool:
    name, _, host = (id_of(dict_of(value).get("acct")) or "").partition("@")
    return bool(name) and bool(_HOST.fullmatch(host))


def _accounts(answer: Any) -> list[dict[str, Any]]:
    if not isinstance(answer, list):
        raise Failure("garbled")
    return [each for each in answer if _is_account(each)]


def _id(account: Mapping[str, Any]) -> str:
    """The id of an account: names are the same in capitals and small letters."""
    return str(account["acct"]).lower()


def profile_of(account: Mapping[str, Any], user: str, *, own: bool = False) -> Profile:
    """The profile of an account, as its home server shows it; whose *own* data it is need not be asked."""
    description = plain_text(text_of(account.get("note")) or "")
    fields = _fields(account)
    state = _state(account, [description, *(text for pair in fields for text in pair)])
    if state != "kept" and not own:
        return Profile(id=user, state=state)
    places = (value for name, value in fields if is_location_label(name) and not web_links([value]))
    place = next(filter(None, places), None)
    following = count_of(account.get("following_count"))
    hidden = account.get("hide_collections") is True
    return Profile(
        id=user,
        handle=text_of(account.get("acct")),
        name=text_of(account.get("display_name")),
        location_text=place or location_in(description),
        location_from="profile" if place else "description",
        following=following,
        posts=count_of(account.get("statuses_count")),
        address=f"{account.get('id')}/{_HIDDEN if hidden else '' if following is None else following}",
    )


def _fields(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields that people fill in beside their description, as pairs of name and text."""
    found = dicts_of(account.get("fields"))
    return [(text_of(each.get("name")) or "", plain_text(text_of(each.get("value")) or "")) for each in found]


def _state(account: Mapping[str, Any], texts: list[str]) -> State:
    if account.get("suspended") is True:
        return "suspended"
    if account.get("moved"):
        return "moved"
    if account.get("locked") is True:
        return "locked"
    asks = account.get("noindex") is True or account.get("discoverable") is False
    return "opted-out" if asks or any(map(opts_out, texts)) else "kept"


def _posts(answer: Any, user: str) -> tuple[Post, ...]:
    """The posts of a user that everybody may see; what others wrote and the user passed on is not."""
    if not isinstance(answer, list):
        raise Failure("garbled")
    statuses = [each for each in dicts_of(answer) if not each.get("reblog") and each.get("visibility") in _OPEN]
    own = (each for each in statuses if _is_account(each.get("account")) and _id(each["account"]) == user)
    return tuple(post_of({**each, "uri": _own_uri(each["uri"], user)}, user) for each in own if id_of(each.get("uri")))


def _own_uri(uri: str, user: str) -> str:
    """The id of a post: its address, with the user before it where that is on another server than the user.

    Any server can write any address there; that of somebody else's post would replace that post.

    >>> _own_uri("https://social.a.org/users/ann/1", "ann@a.org"), _own_uri("https://b.org/2", "ann@a.org")
    ('https://social.a.org/users/ann/1', 'ann@a.org https://b.org/2')
    """
    host = user.rpartition("@")[2]
    try:
        found = urlsplit(uri).netloc.lower()
    except ValueError:
        found = ""
    return uri if found == host or found.endswith(f".{host}") else f"{user} {uri}"


def post_of(status: Mapping[str, Any], user: str) -> Post:
    """The post of a status."""
    content = text_of(status.get("content")) or ""
    warning, shown = text_of(status.get("spoiler_text")), dict_of(status.get("card")).get("url")
    return Post(
        id=status["uri"],
        user=user,
        text="\n\n".join(filter(None, (warning, plain_text(content)))),
        links=web_links([*anchors(content), shown]),
        created=text_of(status.get("created_at")),
    )
