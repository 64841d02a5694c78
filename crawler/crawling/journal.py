"""The journal: every raw answer with its question, kept for a time so that it can be read again without asking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields

from crawler.crawling.clock import DAY
from crawler.sources import Question
from graphpriv.store import Store
from graphpriv.store.crawls import FOR_EVER, LINK, PAGE, packed, unpacked
from graphpriv.store.records import Record

_FIELDS = {each.name for each in fields(Question)}


def entry(number: int, question: Question, body: bytes, *, until: int) -> Record:
    """The record of one answer."""
    asked = {name: value for name, value in asdict(question).items() if value not in (None, "", ())}
    return Record(PAGE, f"{number:012d}", packed(asked, body), until)


def until(now: float, days: int | None) -> int:
    """The moment at which an answer of *now* is erased."""
    return FOR_EVER if days is None else int(now) + days * DAY


def journal(store: Store, graph: str) -> Iterator[tuple[Question, bytes]]:
    """The raw answers that are kept of the crawl of a graph, in the order of asking.

    A person who was forgotten is in none of them; an answer that told of nobody else is not there.
    """
    for record in store.records(graph, PAGE):
        asked, body = unpacked(record.data)
        # Pages that posts link to lie there as well.
        if asked.get("kind") != LINK:
            yield question_of(asked), body


def question_of(asked: dict[str, object]) -> Question:
    """The question that the journal wrote down."""
    known = {name: value for name, value in asked.items() if name in _FIELDS}
    return Question(**{**known, "users": tuple(known.get("users", ()))})  # type: ignore[arg-type]
