"""What Mastodon hands out of one's own account: the list of followed accounts, and the archive of posts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from crawler.archives.contract import Archive, Collection, archives
from crawler.archives.zips import Zip, opened
from crawler.sources.contract import Profile
from crawler.sources.mastodon import post_of, profile_of
from crawler.sources.values import dict_of, dicts_of, id_of, text_of
from graphpriv.formats.contract import content
from graphpriv.formats.draft import parsed_json
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidRecord
from tabular.files.csv_tables import read_table
from tabular.loop import Report, silent

#: Who an export without a name belongs to.
OWNER = "owner"

_COLUMN = "Account address"
_ADDRESS = re.compile(r"[^\s@/]+@[\w.-]+(:\d+)?")

_ACTOR, _OUTBOX = "actor.json", "outbox.json"

#: By this address a post is open to everybody.
_EVERYBODY = frozenset(("https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"))


@archives.add(
    "mastodon-csv",
    cites="Mastodon, Export: Follows (following_accounts.csv)",
    limits="The list of one account, which the file does not name; followers and posts are not in it.",
)
@dataclass(frozen=True, kw_only=True)
class MastodonCsv(Archive):
    """Read the list of followed accounts that Mastodon exports."""

    # Each owner would be the same one.
    joins: ClassVar[bool] = False

    def read(self, path: Path, report: Report = silent) -> Collection:
        header, rows, line = read_table(content(path), str(path))
        if _COLUMN not in header:
            raise InvalidInput(f"{path}, line 1: there is no column {_COLUMN!r}; is this a list of followed accounts?")
        column, found = header.index(_COLUMN), Collection(str(path))
        found.meet(OWNER)
        for number, row in enumerate(rows):
            address = row[column].strip().removeprefix("@").lower()
            if not _ADDRESS.fullmatch(address) or id_of(address) is None:
                raise InvalidRecord(f"{path}, line {line(number)}: an account is given as name@host.")
            found.follow([(OWNER, address)])
        found.notes.append(f"{path}: the file does not say whose list it is; that user is called {OWNER!r}.")
        return found


@archives.add(
    "mastodon-archive",
    cites="Mastodon, Export: Request your archive; W3C ActivityPub",
    limits="One account and its open posts; whom it follows is in following_accounts.csv. Zip files alone are read.",
)
@dataclass(frozen=True, kw_only=True)
class MastodonArchive(Archive):
    """Read the archive of a Mastodon account: its profile and its open posts."""

    suffixes: ClassVar[tuple[str, ...]] = (".zip",)

    def read(self, path: Path, report: Report = silent) -> Collection:
        found = Collection(str(path))
        with opened(path) as archive:
            owner = _owner(archive)
            found.describe([owner])
            _take_posts(archive, owner.id, found)
        return found


def _document(archive: Zip, name: str) -> dict[str, Any]:
    if name not in archive:
        raise InvalidInput(f"{archive.path}: this is no archive of a Mastodon account: {name} is missing.")
    found = parsed_json(archive.text(name), f"{archive.path}, {name}")
    if not isinstance(found, dict):
        raise InvalidRecord(f"{archive.path}, {name}: the file holds an object.")
    return found


def _owner(archive: Zip) -> Profile:
    """Whose archive it is; nobody else can get it, so no wish not to be collected is read."""
    actor = _document(archive, _ACTOR)
    name, address = text_of(actor.get("preferredUsername")), text_of(actor.get("id")) or ""
    try:
        host = urlsplit(address).netloc
    except ValueError:
        host = ""
    if name is None or not _ADDRESS.fullmatch(acct := f"{name}@{host}"):
        raise InvalidRecord(f"{archive.path}, {_ACTOR}: it does not say whose archive it is.")
    fields = [each for each in dicts_of(actor.get("attachment")) if each.get("type") == "PropertyValue"]
    account = {"acct": acct, "display_name": actor.get("name"), "note": actor.get("summary"), "fields": fields}
    return profile_of(account, acct.lower(), own=True)


def _take_posts(archive: Zip, owner: str, found: Collection) -> None:
    """Take the posts that everybody may see, and that answer nobody else."""
    outbox = _document(archive, _OUTBOX)
    items = outbox.get("orderedItems")
    if not isinstance(items, list):
        raise InvalidRecord(f"{archive.path}, {_OUTBOX}: there is no list of orderedItems.")
    author = next((actor for each in dicts_of(items) if (actor := text_of(each.get("actor")))), "")
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            raise InvalidRecord(f"{archive.path}, {_OUTBOX}, item {number}: an item is an object.")
        note = dict_of(item.get("object"))
        why = _left_out(item, note, author)
        if why:
            found.ignored[why] += 1
        else:
            found.write([_post(note, owner)])


def _left_out(item: Mapping[str, Any], note: Mapping[str, Any], author: str) -> str:
    """Why an item is not taken; nothing where it is."""
    if item.get("type") != "Create" or id_of(note.get("id")) is None:
        return "posts of others that were passed on" if item.get("type") == "Announce" else "other items"
    if _EVERYBODY.isdisjoint(_addressed(note)):
        return "posts that not everybody may see"
    parent = note.get("inReplyTo")
    return "answers to others" if parent and not str(parent).startswith(f"{author}/") else ""


def _addressed(note: Mapping[str, Any]) -> list[str]:
    """Whom a post is for."""
    to, copied = ([found] if isinstance(found, str) else found for found in (note.get("to"), note.get("cc")))
    return [each for found in (to, copied) if isinstance(found, list) for each in found if isinstance(each, str)]


def _post(note: Mapping[str, Any], owner: str) -> Post:
    status = {"uri": note["id"], "content": note.get("content"), "spoiler_text": note.get("summary")}
    return post_of({**status, "created_at": note.get("published")}, owner)
