"""A repository of Bluesky as a CAR file: all that one account has published, as anybody can get it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crawler.archives.blocks import Blocks
from crawler.archives.contract import Archive, Collection, archives
from crawler.sources.bluesky import post_of, profile_of
from crawler.sources.contract import Profile
from crawler.sources.values import dict_of, id_of, text_of
from graphpriv.formats.contract import content
from tabular.errors import InvalidInput
from tabular.loop import Report, silent

_PROFILE, _FOLLOW, _POST = "app.bsky.actor.profile", "app.bsky.graph.follow", "app.bsky.feed.post"

#: How collections are called; others are counted together.
_COLLECTION = re.compile(r"[a-zA-Z][a-zA-Z0-9.-]{1,80}")

_SELDOM = 1000


@archives.add(
    "bluesky-car",
    cites="AT Protocol, Repository; CARv1",
    limits="One account: others are known by DID alone, and no handle is in it. Signatures are not checked.",
)
@dataclass(frozen=True, kw_only=True)
class BlueskyCar(Archive):
    """Read a repository of Bluesky: whom an account follows, its profile and its posts."""

    suffixes: ClassVar[tuple[str, ...]] = (".car",)

    def read(self, path: Path, report: Report = silent) -> Collection:
        blocks = Blocks.of(str(path), content(path))
        commit = blocks.block(blocks.root, "the commit")
        owner = id_of(commit.get("did"))
        if owner is None or not owner.startswith("did:"):
            raise InvalidInput(f"{path}, the commit: there is no DID.")
        found, others = Collection(str(path)), Counter[str]()
        found.describe([Profile(id=owner)])
        for number, (key, cid) in enumerate(blocks.records(commit.get("data"))):
            if number % _SELDOM == 0:
                report("Reading", number, len(blocks.places))
            collection, _, name = key.partition("/")
            if collection in (_PROFILE, _FOLLOW, _POST):
                _take(collection, name, blocks.block(cid, f"record {number + 1}"), owner, found)
            else:
                blocks.refuse_missing(cid, f"record {number + 1}")
                others[collection if _COLLECTION.fullmatch(collection) else "other records"] += 1
        found.ignored.update(others)
        return found


def _take(collection: str, name: str, record: dict[str, Any], owner: str, found: Collection) -> None:
    """Take one record of the account."""
    if collection == _PROFILE:
        # What a person says of the whole account stands among the labels here.
        labels = dict_of(record.get("labels")).get("values")
        found.describe([profile_of({**record, "did": owner, "labels": labels})])
    elif collection == _FOLLOW:
        subject = id_of(record.get("subject"))
        if subject is None or not subject.startswith("did:"):
            found.ignored["follows of nobody"] += 1
        else:
            found.follow([(owner, subject)])
    elif _is_own(record, owner):
        found.write([post_of(f"at://{owner}/{_POST}/{name}", owner, record)])
    else:
        found.ignored["answers to others"] += 1


def _is_own(record: dict[str, Any], owner: str) -> bool:
    """Whether a post is no answer, or one to oneself."""
    reply = dict_of(record.get("reply"))
    parent = text_of(dict_of(reply.get("parent")).get("uri")) or ""
    return not reply or parent.startswith(f"at://{owner}/")
