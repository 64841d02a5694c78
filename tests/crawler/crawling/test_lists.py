"""Lists: pages that repeat, skip, loop and never end, by hand and over HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.crawling import collected
from crawler.crawling.lists import BARREN, Listing
from crawler.made.x import Reply
from graphpriv.store import open_store
from tests.crawler.crawling.crawls import content, made, world


def turned(pages, cap=None, told=None):
    """A list after pages of entries and the cursor that follows each."""
    listing, seen, got = Listing(), set(), []
    for entries, cursor in pages:
        got += listing.turn(entries, cursor, seen, cap=cap, told=told)
        if listing.ending is not None:
            break
    return "".join(got), listing.ending, listing.pages


@pytest.mark.parametrize(
    ("pages", "options", "expected"),
    [
        ([("ab", "1"), ("cd", None)], {}, ("abcd", "complete", 2)),
        ([("ab", "1"), ("bc", None)], {"told": 3}, ("abc", "complete", 2)),
        ([("ab", "1"), ("c", None)], {"told": 4}, ("abc", "incomplete", 2)),
        ([("ab", "1"), ("cd", "1"), ("ef", None)], {}, ("abcd", "incomplete", 2)),
        ([("ab", "1"), ("cd", "2"), ("ef", "1"), ("g", None)], {}, ("abcdef", "incomplete", 3)),
        ([("ab", "1"), ("ab", "2"), ("ab", "3"), ("c", None)], {}, ("ab", "incomplete", 3)),
        ([("ab", "1"), ("", "2"), ("c", "3"), ("", "4"), ("d", None)], {}, ("abcd", "complete", 5)),
        ([("ab", "1"), ("cd", "2")], {"cap": 3}, ("abc", "capped", 2)),
        ([("ab", "1"), ("c", "2")], {"cap": 3}, ("abc", "capped", 2)),
        ([("ab", "1"), ("c", None)], {"cap": 3, "told": 9}, ("abc", "incomplete", 2)),
        ([("", None)], {"told": 0}, ("", "complete", 1)),
    ],
)
def test_where_a_list_ends(pages, options, expected) -> None:
    assert turned([(list(entries), cursor) for entries, cursor in pages], **options) == expected


@settings(max_examples=40)
@given(
    pages=st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), max_size=4), st.sampled_from("123")), min_size=40),
    cap=st.none() | st.integers(1, 9),
)
def test_no_list_goes_on_for_ever_and_no_entry_counts_twice(pages, cap) -> None:
    got, ending, turns = turned(pages, cap=cap)
    assert ending in ("incomplete", "capped")
    # Three cursors, and then one that was there before.
    assert turns <= 4
    assert len(set(got)) == len(got) and (cap is None or len(got) <= cap)


def test_what_lies_between_two_pages_survives_as_json() -> None:
    listing = Listing()
    listing.turn(["a"], "next", set(), cap=None)
    assert Listing(**json.loads(json.dumps(vars(listing)))) == listing
    assert BARREN == 2


@pytest.mark.parametrize(
    ("mischief", "ending"),
    [
        ("loops", "incomplete"),
        ("repeats", "complete"),
        ("skips", "incomplete"),
    ],
)
def test_edges_that_were_seen_stay_whatever_the_network_does(tmp_path: Path, mischief: str, ending: str) -> None:
    network = made(30)
    start = network.by_handle("made_1000000000000")
    everybody = [id for id in network.users if id != start]
    network.follows = {**network.follows, start: everybody}

    def spoil(reply: Reply):
        told = json.loads(reply.body)
        records = told.get("data")
        if not isinstance(records, list) or "author_id" in records[0] or len(records) < 5:
            return reply, None
        if mischief == "loops":
            told["meta"]["next_token"] = "page0"
        elif mischief == "repeats":
            told["data"] = records + records[:3]
        else:
            told["data"] = records[2:]
        return replace(reply, body=json.dumps(told).encode()), None

    with world(network, spoil=spoil) as there, open_store(f"file:{tmp_path / 'g.db'}", create=True) as store:
        there.crawled(store, users=29, posts=0)
        lists = collected(store, "town")["lists"]
        _, edges, _ = content(store)
    assert lists[ending] >= 1
    seen = {target for source, target in edges if source == start}
    assert len(seen) >= (24 if mischief == "skips" else 28)
    assert (lists["share_seen"] < 1.0) == (mischief == "skips")
