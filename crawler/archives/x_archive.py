"""The archive that X hands out of one's own account: a zip file with the data as JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, ClassVar

from crawler.archives.contract import OF_X, Archive, Collection, archives
from crawler.archives.zips import Zip, opened
from crawler.sources.contract import Profile
from crawler.sources.descriptions import web_links
from crawler.sources.values import dict_of, dicts_of, id_of, text_of
from graphpriv.formats.draft import parsed_json
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidRecord
from tabular.loop import Report, silent

_BEGIN = re.compile(r"\s*window\.YTD\.\w+\.part\d+\s*=")

#: The files of posts; long accounts have several, and older archives call them otherwise.
_POSTS = re.compile(r"data/tweets?(-part\d+)?\.js")

_ACCOUNT, _PROFILE = "data/account.js", "data/profile.js"


@archives.add(
    "x-archive",
    cites="X, Download an archive of your data",
    limits="One account: others are known by id alone. Messages, likes and contacts are not read.",
)
@dataclass(frozen=True, kw_only=True)
class XArchive(Archive):
    """Read the archive of an account of X: whom it follows, who follows it, and its posts."""

    suffixes: ClassVar[tuple[str, ...]] = (".zip",)
    terms: ClassVar[str] = OF_X

    def read(self, path: Path, report: Report = silent) -> Collection:
        found = Collection(str(path))
        with opened(path) as archive:
            owner = _owner(archive)
            found.describe([owner])
            for name in ("following", "follower"):
                others = _ids(archive, name)
                found.follow((owner.id, each) if name == "following" else (each, owner.id) for each in others)
            for name in sorted(filter(_POSTS.fullmatch, archive.parts), key=lambda name: (len(name), name)):
                report("Reading posts", len(found.posts), 0)
                _take_posts(archive, name, owner.id, found)
        return found


def _records(archive: Zip, name: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a file, each with where it stands; none where there is no such file."""
    if name not in archive:
        return
    where, text = f"{archive.path}, {name}", archive.text(name)
    begin = _BEGIN.match(text)
    if begin is None:
        raise InvalidInput(f"{where}: this is no file of an X archive; it begins with window.YTD.")
    # The beginning stays as blanks, so that an error names the right line.
    records = parsed_json(" " * begin.end() + text[begin.end() :].rstrip().removesuffix(";"), where)
    if not isinstance(records, list):
        raise InvalidRecord(f"{where}: the file holds a list.")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise InvalidRecord(f"{where}, record {number}: a record is an object.")
        yield f"{where}, record {number}", dict_of(record.get(kind)) or record


def _owner(archive: Zip) -> Profile:
    """Whose archive it is."""
    if _ACCOUNT not in archive:
        raise InvalidInput(f"{archive.path}: this is no archive of an X account: {_ACCOUNT} is missing.")
    where, account = next(_records(archive, _ACCOUNT, "account"), (f"{archive.path}, {_ACCOUNT}", {}))
    user = id_of(account.get("accountId"))
    if user is None:
        raise InvalidRecord(f"{where}: there is no accountId.")
    _, profile = next(_records(archive, _PROFILE, "profile"), ("", {}))
    return Profile(
        id=user,
        handle=text_of(account.get("username")),
        name=text_of(account.get("accountDisplayName")),
        location_text=text_of(dict_of(profile.get("description")).get("location")),
    )


def _ids(archive: Zip, name: str) -> list[str]:
    """The ids of the accounts in a list."""
    found = []
    for where, record in _records(archive, f"data/{name}.js", name):
        user = id_of(record.get("accountId"))
        if user is None:
            raise InvalidRecord(f"{where}: there is no accountId.")
        found.append(user)
    return found


def _take_posts(archive: Zip, name: str, owner: str, found: Collection) -> None:
    for where, record in _records(archive, name, "tweet"):
        id, text = id_of(record.get("id_str") or record.get("id")), text_of(record.get("full_text"))
        if id is None:
            raise InvalidRecord(f"{where}: there is no id_str.")
        if (text or "").startswith("RT @"):
            found.ignored["posts of others that were passed on"] += 1
        else:
            found.write([post_of(id, owner, text or "", record)])


def post_of(id: str, owner: str, text: str, record: Mapping[str, Any]) -> Post:
    """The post of a record, with the addresses that its links lead to."""
    urls = dicts_of(dict_of(record.get("entities")).get("urls"))
    links = web_links(each.get("expanded_url") for each in urls)
    return Post(id=id, user=owner, text=text, links=links, created=moment_of(record.get("created_at")))


def moment_of(value: Any) -> str | None:
    """The moment of a post, as X writes it in archives, in the way that it writes it in answers.

    >>> moment_of("Wed Oct 10 20:19:24 +0000 2018"), moment_of("yesterday")
    ('2018-10-10T20:19:24.000Z', None)
    """
    words = value.split() if isinstance(value, str) else []
    if len(words) != 6:
        return None
    try:
        found = parsedate_to_datetime(f"{words[0]}, {words[2]} {words[1]} {words[5]} {words[3]} {words[4]}")
        return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    except (TypeError, ValueError, OverflowError):
        return None
