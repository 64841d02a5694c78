"""What Mastodon exports: the list of followed accounts, and the archive of one's own posts."""

from __future__ import annotations

import json

import pytest

from crawler.archives import read_original
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidRecord
from tests.crawler.archives.making import zipped

CSV = (
    "Account address,Show boosts,Notify on new posts,Languages\n"
    'Bob@b.example,true,false,\ncyd@c.example,true,false,"en, de"\n'
)
ACTOR = {
    "id": "https://a.example/users/Ann", "type": "Person", "preferredUsername": "Ann", "name": "Ann ✨",
    "summary": "<p>I write. #nobot</p>", "manuallyApprovesFollowers": True,
    "attachment": [{"type": "PropertyValue", "name": "Standort", "value": "<b>Graz</b>"}, {"type": "Other"}],
}  # fmt: skip
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def note(number, **more):
    return {
        "id": f"{ACTOR['id']}/statuses/{number}", "type": "Note", "summary": None, "inReplyTo": None,
        "published": "2026-01-02T03:04:05Z", "to": [PUBLIC], "cc": [], "content": '<p>Rain <a href="https://n.example/">n</a></p>',
        **more,
    }  # fmt: skip


def create(number, **more):
    return {"type": "Create", "actor": ACTOR["id"], "object": note(number, **more)}


ITEMS = [
    create(1),
    create(2, to=[f"{ACTOR['id']}/followers"], cc=PUBLIC, summary="Weather"),
    create(3, to=[f"{ACTOR['id']}/followers"]),
    create(4, to=["https://b.example/users/bob"]),
    create(5, inReplyTo="https://b.example/users/bob/statuses/1"),
    create(6, inReplyTo=f"{ACTOR['id']}/statuses/1"),
    {"type": "Announce", "actor": ACTOR["id"], "object": "https://b.example/users/bob/statuses/1"},
]
PARTS = {"actor.json": json.dumps(ACTOR), "outbox.json": json.dumps({"orderedItems": ITEMS}), "likes.json": "?"}


def test_a_list_of_follows_belongs_to_somebody_without_a_name(tmp_path):
    (tmp_path / "following_accounts.csv").write_text(CSV)
    found = read_original(tmp_path / "following_accounts.csv", format="mastodon-csv")
    graph = found.imported.graph
    assert graph.ids == ("owner", "bob@b.example", "cyd@c.example")
    assert graph.edge_count == 2
    assert "called 'owner'" in found.imported.notes[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Account address\nbob\n", "line 2: an account is given as name@host"),
        (CSV + "https://x/@bob,true,false,\n", "line 4: an account is given as name@host"),
        ("bob@b.example,true\n", "line 1: there is no column 'Account address'"),
        ("", "the file is empty"),
    ],
)
def test_a_list_that_is_none_is_refused(text, why, tmp_path):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(InvalidInput, match=why):
        read_original(tmp_path / "f.csv", format="mastodon-csv")


def test_an_archive_gives_the_profile_and_the_posts_that_everybody_may_see(tmp_path):
    found = read_original(zipped(tmp_path / "archive.zip", PARTS))
    graph = found.imported.graph
    assert graph.ids == ("ann@a.example",)
    assert {name: column[0] for name, column in graph.private.items()} == {
        "handle": "Ann@a.example", "name": "Ann ✨", "location_text": "Graz",
    }  # fmt: skip
    assert [each.id.rpartition("/")[2] for each in found.posts] == ["1", "2", "6"]
    assert found.posts[1] == Post(
        id=f"{ACTOR['id']}/statuses/2", user="ann@a.example", text="Weather\n\nRain n", links=("https://n.example/",),
        created="2026-01-02T03:04:05Z",
    )  # fmt: skip
    assert found.imported.ignored == {
        "answers to others": 1, "posts of others that were passed on": 1, "posts that not everybody may see": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("actor.json", None, "actor.json is missing"),
        ("actor.json", "[]", "actor.json: the file holds an object"),
        ("actor.json", "{}", "actor.json: it does not say whose archive it is"),
        ("actor.json", json.dumps({**ACTOR, "id": "x y"}), "actor.json: it does not say whose archive it is"),
        ("outbox.json", "{", "outbox.json, line 1, column 2: this is not JSON"),
        ("outbox.json", "{}", "outbox.json: there is no list of orderedItems"),
        ("outbox.json", '{"orderedItems": [7]}', "outbox.json, item 1: an item is an object"),
    ],
)
def test_an_archive_that_is_none_is_refused(name, content, why, tmp_path):
    parts = {**PARTS, name: content} if content is not None else {k: v for k, v in PARTS.items() if k != name}
    with pytest.raises((InvalidInput, InvalidRecord), match=why):
        read_original(zipped(tmp_path / "archive.zip", parts))
