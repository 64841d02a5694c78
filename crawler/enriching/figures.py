"""What came of an enrichment, counted from the notes on users: so that it is the same however often a run was cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.enriching.topics import counted_by_source

#: What can come of a location: placed, named but below the threshold, nothing that is a place, no text at all, or kept
#: because the user had a place from elsewhere.
PLACED, UNCLEAR, NO_PLACE, NO_TEXT, KEPT = "placed", "unclear", "no place", "no text", "kept"


@dataclass
class Figures:
    """Counts over users, as they are gone through."""

    users: int = 0
    posts: int = 0
    places: Counter[str] = field(default_factory=Counter)
    placed_from: Counter[str] = field(default_factory=Counter)
    topics: Counter[str] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    ranked: Counter[str] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)

    def add(self, note: Mapping[str, Any]) -> None:
        """Count one user."""
        place, topics = note["place"], note["topics"]
        self.users += 1
        self.posts += note["posts"]
        self.places[place["outcome"]] += 1
        if place["outcome"] == PLACED:
            self.placed_from[place["from"]] += 1
        state = KEPT if topics["kept"] else "with" if note["ranks"] else "without"
        self.topics[state] += 1
        self.by_source.update(counted_by_source(topics["sources"]))
        self.ranked.update(note["ranks"] if not topics["kept"] else ())
        self.pages.update(note["pages"])

    def document(self, *, topics: Mapping[str, Any], places: Mapping[str, Any]) -> dict[str, Any]:
        """The counts as a document, with what *topics* and *places* come from."""
        failed = {outcome: count for outcome, count in sorted(self.pages.items()) if outcome not in ("read", "empty")}
        return {
            "users": self.users,
            "posts": self.posts,
            "places": {
                **places,
                "placed": self.places[PLACED],
                "placed_from": dict(sorted(self.placed_from.items())),
                "unclear": self.places[UNCLEAR],
                "no_place": self.places[NO_PLACE],
                "no_text": self.places[NO_TEXT],
                "kept": self.places[KEPT],
            },
            "topics": {
                **topics,
                "users_with": self.topics["with"],
                "users_without": self.topics["without"],
                "kept": self.topics[KEPT],
                "posts_by_text": self.by_source["text"],
                "posts_by_page": self.by_source["pages"],
                "users_by_topic": dict(sorted(self.ranked.items())),
            },
            "pages": {
                "links": self.pages.total(),
                "read": self.pages["read"],
                "empty": self.pages["empty"],
                "failed": sum(failed.values()),
                "failed_by_outcome": failed,
            },
        }
