"""What a report says of how a graph was collected: whom a crawl asked, and where places and topics come from."""

from __future__ import annotations

from typing import Any

from tabular.report.kit.figures import Figures

#: The tables: a caption, and for each row what it is called and where its figure stands.
TABLES: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (
        "What was asked of the network.",
        (
            ("Users kept", ("crawl", "users", "kept")),
            ("Requests", ("crawl", "requests")),
            ("Share of all follows that was seen", ("crawl", "lists", "share_seen")),
            ("Posts", ("enrichment", "posts")),
            ("Pages read that posts link to", ("enrichment", "pages", "read")),
            ("Pages that could not be read", ("enrichment", "pages", "failed")),
            ("What X would have charged, in dollars", ("crawl", "cost")),
        ),
    ),
    (
        "Users by what became of the place they wrote.",
        (
            ("Placed", ("enrichment", "places", "placed")),
            ("Named a place, but not which", ("enrichment", "places", "unclear")),
            ("Named no place", ("enrichment", "places", "no_place")),
            ("Wrote nothing", ("enrichment", "places", "no_text")),
        ),
    ),
    (
        "Where topics come from.",
        (
            ("Users with topics", ("enrichment", "topics", "users_with")),
            ("Users without", ("enrichment", "topics", "users_without")),
            ("Posts that gave a topic by their text", ("enrichment", "topics", "posts_by_text")),
            ("Posts that gave one by a page they link to", ("enrichment", "topics", "posts_by_page")),
        ),
    ),
    (
        "How far that is what was meant: shares of users.",
        (
            ("Placed, of those who have a place", ("agreement", "placed")),
            ("Placed, of those who have none", ("agreement", "placed_though_unknown")),
            ("In the right country, of those placed", ("agreement", "country")),
            ("In the right city, of those who live in one", ("agreement", "city")),
            ("Right first topic", ("agreement", "first_topic")),
            ("Topics that were found again, of all", ("agreement", "topics")),
        ),
    ),
)


def collection_tables(figures: Figures) -> list[dict[str, Any]]:
    """The tables that have anything to show."""
    return [
        {"caption": caption, "rows": rows}
        for caption, lines in TABLES
        if (rows := [[shown, found] for shown, path in lines if (found := _at(figures, path)).is_known])
    ]


def _at(figures: Figures, path: tuple[str, ...]) -> Figures:
    for name in path:
        figures = figures[name]
    return figures
