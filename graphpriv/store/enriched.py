"""What a store keeps of enrichment: the pages that posts link to, in the journal, and a note on each user.

A page is kept once however many users link to it, with the ids of those users: it goes with the last of them who is
forgotten, or when its time is over. A note says where topics and place of a user come from; it goes with the user.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from graphpriv.places import Path
from graphpriv.store import crawls
from graphpriv.store.crawls import NOTE, PAGE, VISITED
from graphpriv.store.records import Post, Record, User
from graphpriv.store.transaction import Transaction

#: A place, and topics in order.
Profile: TypeAlias = tuple[Path | None, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Person:
    """A user with all posts in their order, and the note of an earlier enrichment."""

    user: User
    posts: tuple[Post, ...] = field(default=(), repr=False)
    note: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Where the free text of the location stood, where a crawl says so.
    location_from: str = "profile"


@dataclass(frozen=True)
class Linked:
    """What came of a link: a word, the status of the answer, and the main text of the page."""

    outcome: str
    status: int | None = None
    text: str = field(default="", repr=False)
    #: How often it was asked for, and how many runs had ended before the last time.
    tries: int = 1
    run: int = 0


def people(at: Transaction, name: str, low: int, size: int) -> tuple[list[Person], int]:
    """The users whose numbers lie from *low* on, *size* numbers of them, and one past the highest number of all."""
    head = at.original(name)
    profiles, posts = at.profiles(head.key), defaultdict(list)
    for post in at.posts_of(head.key, low, low + size):
        posts[post.user].append(post)
    users = [profiles.user(row[1], row[2], row[3:6], row[6:9]) for row in at.users(head.key, low, low + size)]
    ids = [user.id for user in users]
    notes = {each.id: each.document for each in at.records_of(head.key, NOTE, ids)}
    stood = {each.id: each.document.get("location_from", "profile") for each in at.records_of(head.key, VISITED, ids)}
    found = [
        Person(
            user=user,
            posts=tuple(posts[user.id]),
            note=notes.get(user.id, {}),
            location_from=stood.get(user.id, "profile"),
        )
        for user in users
    ]
    return found, head.numbers


def put_profiles(
    at: Transaction, name: str, profiles: Mapping[str, Profile], notes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Give users new profiles and notes; whoever is gone meanwhile stays gone, and the rest of a user stays."""
    head = at.changing(name)
    numbers = at.known(head.key, "users", notes)
    low, high = min(numbers.values(), default=0), max(numbers.values(), default=-1)
    known, present = at.profiles(head.key), at.users(head.key, low, high + 1)
    users = (known.user(row[1], row[2], row[3:6], row[6:9]) for row in present if row[1] in profiles)
    changed = [replace(each, location=profiles[each.id][0], topics=profiles[each.id][1]) for each in users]
    if changed:
        at.add_users(name, changed)
    at.put_records(head.key, [crawls.document(NOTE, id, note) for id, note in notes.items() if id in numbers])


def linked(at: Transaction, name: str, urls: Iterable[str]) -> dict[str, Linked]:
    """Those of the pages that are kept, by their links."""
    url_of = {page_id(url): url for url in urls}
    found = at.records_of(at.head(name).key, PAGE, url_of)
    return {url_of[each.id]: Linked(**json.loads(crawls.unpacked(each.data)[1])) for each in found}


def put_linked(
    at: Transaction, name: str, pages: Mapping[str, Linked], users_of: Mapping[str, Iterable[str]], until: int
) -> None:
    """Keep pages until a moment; each belongs to the users who link to it, as far as they are still there.

    One that is there stays as it is, unless it was asked for again.
    """
    key = at.original(name).key
    at.lock(key)
    join(at, name, {url: users_of[url] for url in pages})
    there = set(at.known(key, "users", {user for url in pages for user in users_of[url]}))
    kept = {each.id: each for each in at.records_of(key, PAGE, map(page_id, pages))}
    records = []
    for url, page in pages.items():
        owners = there.intersection(users_of[url])
        if page_id(url) in kept:
            question, body = crawls.unpacked(kept[page_id(url)].data)
            if Linked(**json.loads(body)).tries >= page.tries:
                continue
            owners.update(question["users"])
        records.append(_page(url, page, owners, until))
    at.put_records(key, [each for each in records if each is not None])


def join(at: Transaction, name: str, users_of: Mapping[str, Iterable[str]]) -> None:
    """Write down that users link to pages that are kept already."""
    key = at.original(name).key
    at.lock(key)
    ids = {page_id(url): set(users) for url, users in users_of.items()}
    there = set(at.known(key, "users", {user for users in ids.values() for user in users}))
    changed = []
    for record in at.records_of(key, PAGE, ids):
        question, body = crawls.unpacked(record.data)
        users = {*question["users"], *(ids[record.id] & there)}
        if len(users) > len(question["users"]):
            changed.append(record._replace(data=crawls.packed({**question, "users": sorted(users)}, body)))
    at.put_records(key, changed)


def page_id(url: str) -> str:
    """The id of a page in the journal."""
    return f"link/{hashlib.sha256(url.encode('utf-8', errors='replace')).hexdigest()}"


def _page(url: str, page: Linked, users: Iterable[str], until: int) -> Record | None:
    owners = sorted(users)
    question = {"kind": crawls.LINK, "url": url, "users": owners}
    data = crawls.packed(question, json.dumps(vars(page), ensure_ascii=False).encode())
    return Record(PAGE, page_id(url), data, until) if owners else None
