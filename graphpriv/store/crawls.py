"""What a store keeps of a crawl beside its graph: records by kind and id, among them the raw answers.

The kinds: CRAWL (one document: what was asked for and how far it is), OWNER (who is at it), SEEN (users who were found
and not asked yet, each with those who follow them), VISITED (users who were asked, with what came of it), LISTED (what
was seen so far of a list that goes on), PAGE (the journal: raw answers, each with its question), CHARGES (marks of what
was paid for on one day), FORGOTTEN (marks of persons who must not be collected again) and NOTE (what enrichment says of
a user). A mark tells of a person only to who knows the person and the store's secret.
"""

from __future__ import annotations

import hmac
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from graphpriv.store.records import KEYED, Follow, Post, Record, User, keyed
from tabular.errors import InvalidInput, StoreUnavailable

CRAWL, OWNER, SEEN, VISITED, LISTED = "crawl", "owner", "seen", "visited", "listed"
PAGE, CHARGES, FORGOTTEN = "page", "charges", "forgotten"

#: A note on a user: where topics and place come from (`graphpriv.store.enriched`).
NOTE = "note"

#: The seal of all other records (`graphpriv.store.seals`); it is made anew wherever they are copied to.
SEAL = "seal"

#: The kind of the question whose answer is a page that posts link to; all others are questions to the network.
LINK = "link"

#: The ids of the records of which a crawl has one: the document of CRAWL, and of OWNER who it is and how often a
#: person was forgotten meanwhile.
ONLY, ERASURES = "only", "erasures"

KINDS = (CRAWL, OWNER, SEEN, VISITED, LISTED, PAGE, CHARGES, FORGOTTEN, NOTE)

#: Those that may tell of a person.
TELLING = (CRAWL, SEEN, VISITED, LISTED, PAGE, CHARGES, NOTE)

#: The number of a page that is kept until somebody deletes it.
FOR_EVER = 2**62


def document(kind: str, id: str, value: Any, number: int = 0) -> Record:
    """A record that holds JSON."""
    return Record(kind, id, json.dumps(value, ensure_ascii=False, sort_keys=True).encode(), number)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one transaction of a crawl changes: the graph, the records, and persons who are erased from both."""

    users: tuple[User, ...] = field(default=(), repr=False)
    follows: tuple[Follow, ...] = field(default=(), repr=False)
    posts: tuple[Post, ...] = field(default=(), repr=False)
    put: tuple[Record, ...] = field(default=(), repr=False)
    #: Records to take out, as pairs of kind and id.
    drop: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: Users to take out as `forget` does, but for the mark that keeps them out.
    erase: tuple[str, ...] = field(default=(), repr=False)


class Disturbed(StoreUnavailable):
    """Somebody was forgotten since the crawl read where it stands; it has to read that again."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address}: a person was forgotten while the crawl was at work; try again.", can_retry=True)


def in_use(name: str) -> InvalidInput:
    """The error for a graph that another crawl is at work on."""
    return InvalidInput(f"Graph {name!r} is in use by another crawl; wait until that has ended, or take another name.")


# The journal


def packed(question: Mapping[str, Any], body: bytes) -> bytes:
    """A raw answer with its question, as the journal keeps them."""
    return zlib.compress(json.dumps(dict(question), ensure_ascii=False).encode() + b"\n" + body)


def unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The question and the raw answer of a page.

    >>> unpacked(packed({"kind": "posts"}, b'{"data": []}'))
    ({'kind': 'posts'}, b'{"data": []}')
    """
    question, _, body = zlib.decompress(data).partition(b"\n")
    return json.loads(question), body


# Forgetting


def mark(secret: bytes, *what: str, size: int = 8) -> bytes:
    """What stands for a thing where its name must not stand."""
    return hmac.digest(secret, "\0".join(what).encode(), "sha256")[:size]


def person_mark(secret: bytes, user: str) -> str:
    """The id of the FORGOTTEN record of a person."""
    return mark(secret, "person", user, size=16).hex()


def charge_mark(secret: bytes, kind: str, id: str) -> bytes:
    """What stands for a thing that was paid for."""
    return mark(secret, "charge", kind, id)


def keyed_note(secret: bytes, data: bytes) -> bytes:
    """A note of a version that wrote down the plain digest of what a profile was made from, with a keyed one."""
    note = json.loads(data)
    if "input" in note and not note["input"].startswith(KEYED):
        note["input"] = keyed(secret, note["input"])
    return document(NOTE, ONLY, note).data


def erased(record: Record, users: frozenset[str], names: frozenset[str], secret: bytes) -> Record | None:
    """A record without some *users*: the same, another one, or None where nothing is left.

    Raw answers may tell of the users under all of these *names* (folded).
    """
    if record.kind in (OWNER, FORGOTTEN):
        return record
    if record.kind in (SEEN, VISITED, NOTE) and record.id in users:
        return None
    if record.kind == CHARGES:
        return _replaced(record, _uncharged(record.data, users, secret))
    if record.kind == PAGE:
        return _page_without(record, users, names)
    value = json.loads(record.data)
    left = without(value, frozenset(each.casefold() for each in users))
    return record if left == value else document(record.kind, record.id, left, record.number)


def _replaced(record: Record, data: bytes) -> Record:
    """The record with other data; the same where they are the same."""
    return record if data == record.data else record._replace(data=data)


def _uncharged(data: bytes, users: frozenset[str], secret: bytes) -> bytes:
    gone = {charge_mark(secret, kind, user) for user in users for kind in ("user", "followed")}
    return b"".join(each for low in range(0, len(data), 8) if (each := data[low : low + 8]) not in gone)


def _page_without(record: Record, users: frozenset[str], names: frozenset[str]) -> Record | None:
    question, body = unpacked(record.data)
    if not _may_tell(record.data, names):
        return record
    if question.get("user") in users or str(question.get("user")).casefold().removeprefix("@") in names:
        return None
    if question.get("users") and users.issuperset(question["users"]):
        return None
    asked = without(question, names)
    try:
        value = json.loads(body)
        left = without(value, names)
    except (ValueError, RecursionError):
        # What cannot be read cannot be searched either.
        return None
    if left == value and asked == question:
        return record
    return record._replace(data=packed(asked, json.dumps(left).encode()))


def noted(crawl: Mapping[str, Any], user: str, records: Iterable[Record]) -> dict[str, Any] | None:
    """What a crawl has counted of a user who was asked, by the user's VISITED and SEEN *records*; None for others.

    Of the user at hand a part of it still stands in the document of the *crawl*.
    """
    told = next((value for each in records if "state" in (value := each.document)), None)
    current = crawl.get("current") or {}
    if told is None or current.get("user") != user:
        return told
    told = {**told, "location_from": current.get("location_from"), "list": current.get("ending")}
    if told["list"] not in (None, "hidden") and current.get("following") is not None:
        told |= {"seen": current["seen"], "following": current["following"]}
    return told


def uncounted(crawl: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the counts of a crawl that change when a user is erased of whom it has *told* so.

    >>> crawl = {"users": {"kept": 3}, "lists": {"complete": 1}, "told": 9, "seen": 7, "requests": 5}
    >>> uncounted(crawl, {"state": "kept", "list": "complete", "following": 4, "seen": 5})
    {'users': {'kept': 2}, 'lists': {}, 'told': 5, 'seen': 3}
    """
    counted = {"users": told["state"], "lists": told.get("list"), "locations": told.get("location_from")}
    changed = {name: _less(crawl[name], key) for name, key in counted.items() if key and name in crawl}
    following = told.get("following")
    if following is not None and "told" in crawl:
        changed |= {"told": crawl["told"] - following, "seen": crawl["seen"] - min(told["seen"], following)}
    return changed


def _less(counts: Mapping[str, int], key: str) -> dict[str, int]:
    """Counts with one less of something; what is none is not there, but for users who are kept."""
    left = {**counts, key: counts.get(key, 0) - 1}
    return {name: count for name, count in left.items() if count > 0 or name == "kept"}


def without_forgotten(record: Record, secret: bytes, marks: AbstractSet[str]) -> Record:
    """A page without those who have one of the *marks* of FORGOTTEN: a later answer may name them again."""
    question, body = unpacked(record.data)
    try:
        value = json.loads(body) if marks else None
    except ValueError:
        return record
    gone = [id for id in dict.fromkeys(_ids(value)) if person_mark(secret, id) in marks]
    for user in gone:
        value = without(value, names_of(user, None))
    return record._replace(data=packed(question, json.dumps(value).encode())) if gone else record


def _ids(value: Any) -> Iterator[str]:
    """The ids that JSON holds."""
    if isinstance(value, list):
        for each in value:
            yield from _ids(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, str) and key in _CALLED:
                yield each
            yield from _ids(each)


#: What the keys are called under which networks name users.
_CALLED = frozenset(
    {"id", "author_id", "in_reply_to_user_id", "resource_id", "value", "did", "acct", "handle", "username"}
)


def _may_tell(data: bytes, names: frozenset[str]) -> bool:
    """Whether one of the names stands in a page at all; most pages need not be read as JSON."""
    folded = zlib.decompress(data).lower()
    return any(not name.isascii() or name.encode() in folded for name in names)


_SEPARATORS = re.compile(r"[/?#&=]")


def without(value: Any, names: frozenset[str]) -> Any:
    """JSON without the objects and texts that name somebody, as a whole or as a part of an address.

    >>> without({"data": [{"id": "7"}, {"id": "8"}], "by": {"id": "7"}, "at": "7"}, frozenset({"7"}))
    {'data': [{'id': '8'}]}
    """
    if isinstance(value, list):
        return [without(each, names) for each in value if not _tells(each, names)]
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if not _tells(each, names) and not _tells(key, names)}
        return {key: without(each, names) for key, each in kept.items()}
    return value


def _tells(value: Any, names: frozenset[str]) -> bool:
    """Whether a text is or has a name, or one of the texts or ids of an object itself."""
    if isinstance(value, dict):
        return any(_tells(key, names) or _tells_of_id(key, each, names) for key, each in value.items())
    if not isinstance(value, str):
        return False
    folded = value.casefold().removeprefix("@")
    return folded in names or not names.isdisjoint(_SEPARATORS.split(folded))


def _tells_of_id(key: str, value: Any, names: frozenset[str]) -> bool:
    """Whether a value within an object is a name; a number is one only where it is called an id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return key.endswith("id") and str(value) in names
    return isinstance(value, str) and _tells(value, names)


def names_of(user: str, handle: str | None) -> frozenset[str]:
    """The names by which raw answers may tell of a user."""
    return frozenset(each.casefold().removeprefix("@") for each in (user, handle) if each)
