"""What twarc2 collects: a line of JSON for each answer of the API v2 of X, or, flattened, for each user or post."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crawler.archives.contract import OF_X, Archive, Collection, archives
from crawler.sources.contract import Question
from crawler.sources.failures import Failure
from crawler.sources.values import dict_of, dicts_of, id_of
from crawler.sources.x import X, post_of, profile_of
from graphpriv.formats.contract import content
from tabular.errors import InvalidRecord
from tabular.loop import Report, silent

#: Whose list an answer is, by the address that was asked.
_LIST = re.compile(r"/2/users/(\d+)/(following|followers)\b")

#: After so many lines it is told how far the reading is.
_SELDOM = 1000

#: Answers are read as those of the network.
_X = X(token="-")  # noqa: S106 (nobody is asked)


@archives.add(
    "twarc2",
    cites="Documenting the Now, twarc 2; X API v2, docs.x.com",
    limits="Follows come from pages of following and followers alone; posts that others refer to are not taken.",
)
@dataclass(frozen=True, kw_only=True)
class Twarc2(Archive):
    """Read what twarc2 has collected from X, raw or flattened."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    terms: ClassVar[str] = OF_X

    def read(self, path: Path, report: Report = silent) -> Collection:
        found = Collection(str(path))
        lines = content(path).removeprefix(b"\xef\xbb\xbf").split(b"\n")
        for number, line in enumerate(lines, start=1):
            if number % _SELDOM == 0:
                report("Reading", number, len(lines))
            if line.strip():
                _take(line, found, f"{path}, line {number}")
        return found


def _take(line: bytes, found: Collection, where: str) -> None:
    """Take one answer, or one user or post."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidRecord(f"{where}: this is not JSON.") from None
    if not isinstance(record, dict):
        raise InvalidRecord(f"{where}: a line holds an object, an answer of X or a user or post of one.")
    if {"data", "errors", "meta"} & record.keys():
        _take_answer(record, line, found, where)
    elif _is_user(record) or _is_post(record):
        _take_flat(record, found)
    else:
        raise InvalidRecord(f"{where}: this is neither an answer of X nor a user or post of one.")


def _is_user(record: Mapping[str, Any]) -> bool:
    return id_of(record.get("id")) is not None and "username" in record


def _is_post(record: Mapping[str, Any]) -> bool:
    return id_of(record.get("id")) is not None and "text" in record


def _take_answer(answer: Mapping[str, Any], line: bytes, found: Collection, where: str) -> None:
    """Take an answer as it came from X, by the reading of the source."""
    data = answer.get("data")
    records = dicts_of(data) if isinstance(data, list) else dicts_of([data])
    if not records:
        found.ignored["answers without users and posts"] += 1
        return
    includes = dict_of(answer.get("includes"))
    found.describe(profile_of(each) for each in dicts_of(includes.get("users")) if _is_user(each))
    found.ignored.update(
        {"posts that others refer to": len(others)} if (others := dicts_of(includes.get("tweets"))) else {}
    )
    try:
        if all(map(_is_user, records)):
            page = _X.read(Question(kind="profiles"), line)
            found.describe(page.profiles)
            _take_list(answer, [each.id for each in page.profiles], found)
        elif all(map(_is_post, records)):
            found.write(_X.read(Question(kind="posts"), line).posts)
        else:
            raise InvalidRecord(f"{where}: an answer holds users or posts, each with an id.")
    except Failure:
        raise InvalidRecord(f"{where}: this is no answer of X.") from None


def _take_flat(record: Mapping[str, Any], found: Collection) -> None:
    """Take one user or post of an answer that was flattened."""
    if _is_user(record):
        found.describe([profile_of(record)])
        _take_list(record, [record["id"]], found)
        return
    author = dict_of(record.get("author"))
    if _is_user(author):
        found.describe([profile_of(author)])
    found.write([post_of(record)])
    others = dicts_of(record.get("referenced_tweets"))
    if any("text" in each for each in others):
        found.ignored["posts that others refer to"] += sum("text" in each for each in others)


def _take_list(record: Mapping[str, Any], users: list[str], found: Collection) -> None:
    """Take the follows that users are part of, where they come from a list of somebody."""
    url = dict_of(record.get("__twarc")).get("url")
    asked = _LIST.search(url) if isinstance(url, str) else None
    if asked is not None:
        whose, forth = asked[1], asked[2] == "following"
        found.follow((whose, each) if forth else (each, whose) for each in users)
