"""Repositories of Bluesky: every record is found, and nothing is believed that the root does not stand for."""

from __future__ import annotations

import hashlib
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.archives import read_original
from crawler.archives.blocks import Blocks
from graphpriv.store.records import Post
from tabular.errors import InvalidInput
from tests.crawler.archives.making import Link, block, car, cbor, repository, tree, varint

DID = "did:plc:madepersonmadepersonaaaa"
FOLLOWED = [f"did:plc:otherpersonotherperson{each:02d}".replace("0", "a").replace("1", "b") for each in (0, 1)]


def follow(subject):
    return {"$type": "app.bsky.graph.follow", "subject": subject, "createdAt": "2026-01-02T03:04:05.000Z"}


def post(text, **more):
    return {"$type": "app.bsky.feed.post", "text": text, "createdAt": "2026-01-02T03:04:05.000Z", **more}


def reply(did):
    ref = {"uri": f"at://{did}/app.bsky.feed.post/a", "cid": "b"}
    return {"reply": {"parent": ref, "root": ref}}


PROFILE = {"$type": "app.bsky.actor.profile", "displayName": "Ann", "description": "I write.\n📍 Graz"}
RECORDS = {
    "app.bsky.actor.profile/self": PROFILE,
    "app.bsky.feed.like/a": {"subject": {"uri": "x"}},
    "app.bsky.feed.like/b": {"subject": {"uri": "y"}},
    "app.bsky.feed.post/a": post("Rain", embed={"$type": "app.bsky.embed.external", "external": {"uri": "https://a.example/"}}),
    "app.bsky.feed.post/b": post("more", **reply(DID)),
    "app.bsky.feed.post/c": post("No!", **reply(FOLLOWED[0])),
    "app.bsky.graph.follow/a": follow(FOLLOWED[0]),
    "app.bsky.graph.follow/b": follow(FOLLOWED[1]),
    "app.bsky.graph.follow/c": follow(7),
}  # fmt: skip


def read(path, data):
    path.write_bytes(data)
    return read_original(path)


def test_a_repository_gives_profile_follows_and_own_posts(tmp_path):
    found = read(tmp_path / "ann.car", repository(DID, RECORDS))
    graph = found.imported.graph
    assert graph.ids == (DID, *FOLLOWED)
    assert graph.edge_count == 2
    assert {name: column[0] for name, column in graph.private.items()} == {"name": "Ann", "location_text": "Graz"}
    created = "2026-01-02T03:04:05.000Z"
    assert found.posts == (
        Post(
            id=f"at://{DID}/app.bsky.feed.post/a", user=DID, text="Rain", links=("https://a.example/",), created=created
        ),
        Post(id=f"at://{DID}/app.bsky.feed.post/b", user=DID, text="more", created=created),
    )
    assert found.imported.ignored == {"answers to others": 1, "app.bsky.feed.like": 2, "follows of nobody": 1}


def test_an_account_that_asks_not_to_be_shown_is_not_read(tmp_path):
    labels = {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "!no-unauthenticated"}]}
    records = {**RECORDS, "app.bsky.actor.profile/self": {**PROFILE, "labels": labels}}
    found = read(tmp_path / "ann.car", repository(DID, records))
    assert DID not in found.imported.graph.ids
    assert found.posts == ()
    assert found.imported.graph.edge_count == 0
    with pytest.raises(InvalidInput, match=r"no users in it who can be kept \(opted-out\)"):
        read(
            tmp_path / "ann.car", repository(DID, {"app.bsky.actor.profile/self": {**PROFILE, "description": "#nobot"}})
        )


@pytest.mark.parametrize("count", [0, 1, 3, 4, 40, 500])
def test_every_record_of_a_tree_is_found_in_its_order(count):
    keys = [f"app.bsky.graph.follow/3k{each:05d}" for each in range(count)]
    data = repository(DID, {key: follow(FOLLOWED[0]) for key in keys})
    blocks = Blocks.of("x.car", data)
    commit = blocks.block(blocks.root, "the commit")
    assert [key for key, _ in blocks.records(commit["data"])] == keys


def test_the_library_of_the_network_reads_the_same_blocks():
    """atproto's reader finds the same root and the same blocks in the files that are made for these tests."""
    data = repository(DID, RECORDS)
    other = import_module("atproto").CAR.from_bytes(data)
    blocks = Blocks.of("x.car", data)
    assert len(other.blocks) == len(blocks.places)
    assert other.blocks[other.root]["did"] == DID
    assert {str(each.get("text")) for each in other.blocks.values() if "text" in each} == {"Rain", "more", "No!"}


def test_a_file_that_is_cut_off_anywhere_is_an_error_that_is_told(tmp_path):
    data = repository(DID, RECORDS)
    whole = read(tmp_path / "ann.car", data).imported.graph
    for end in (*range(0, len(data), 11), len(data) - 1):
        with pytest.raises(InvalidInput, match=r"^.*ann\.car.*(cut off|missing|empty|no CAR file)"):
            read(tmp_path / "ann.car", data[:end])
    assert len(whole) == 3


def test_a_byte_that_changed_anywhere_is_noticed(tmp_path):
    data = repository(DID, RECORDS)
    for position in range(0, len(data), 11):
        spoiled = bytearray(data)
        spoiled[position] ^= 0x21
        with pytest.raises(InvalidInput, match=r"ann\.car"):
            read(tmp_path / "ann.car", bytes(spoiled))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 120))
def test_bytes_of_any_sort_are_an_error_that_is_told(data, kept):
    for each in (data, repository(DID, {"a/b": {}})[:kept] + data):
        with pytest.raises(InvalidInput):
            blocks = Blocks.of("x.car", each)
            list(blocks.records(blocks.block(blocks.root, "the commit").get("data")))


def commit_of(root_of_tree, *nodes, did=DID):
    link, data = block({"did": did, "version": 3, "data": root_of_tree, "rev": "a", "prev": None, "sig": b""})
    return car(link, [(link, data), *nodes])


def told(data):
    blocks = Blocks.of("x.car", data)
    with pytest.raises(InvalidInput) as raised:
        list(blocks.records(blocks.block(blocks.root, "the commit")["data"]))
    return str(raised.value)


def test_a_tree_that_means_harm_is_refused():
    leaf, body = block({"l": None, "e": [{"p": 0, "k": b"a/b", "v": Link(b"\x01\x71\x12\x20" + bytes(32)), "t": None}]})
    twice, again = block({"l": leaf, "e": [{"p": 0, "k": b"b/b", "v": leaf, "t": leaf}]})
    assert "leads in a circle" in told(commit_of(twice, (twice, again), (leaf, body)))
    wrong, disorder = block({"l": leaf, "e": [{"p": 0, "k": b"a/a", "v": leaf, "t": None}]})
    assert "not in order" in told(commit_of(wrong, (wrong, disorder), (leaf, body)))
    for entries in ([7], [{"p": 0}], [{"p": 0, "k": b"", "v": leaf}], [{"p": 0, "k": b"\xff", "v": leaf}],
                    [{"p": 0, "k": b"x" * 1025, "v": leaf}], [{"p": "0", "k": b"a", "v": leaf}], 7, None):  # fmt: skip
        node, data = block({"l": None, "e": entries})
        assert "is not sound" in told(commit_of(node, (node, data)))
    for child in ("text", b"bytes", [], 7):
        node, data = block({"l": child, "e": []})
        assert "is missing" in told(commit_of(node, (node, data)))


def test_a_tree_as_deep_as_it_can_be_is_walked():
    below, nodes = None, []
    for each in range(3000):
        below, data = block({"l": below, "e": [{"p": 0, "k": f"a/{each:06d}".encode(), "v": block({})[0], "t": None}]})
        nodes.append((below, data))
    blocks = Blocks.of("x.car", commit_of(below, *nodes))
    assert len(list(blocks.records(blocks.block(blocks.root, "the commit")["data"]))) == 3000


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04 a zip file", "header"),
        (varint(5) + cbor({"version": 1})[:5], "header: this is no DAG-CBOR"),
        (varint(len(cbor({"version": 1}))) + cbor({"version": 1}), "no CAR file of version 1 with a root"),
        (car(Link(b"\x12\x20" + bytes(32)), []), "the root is called in a way that is not known"),
        (b"\xff" * 20, "header: the file is cut off, or no CAR file"),
        (b"\x00", "header: the file is cut off, or no CAR file"),
        (car(block({})[0], []), "the commit is missing; the file is not whole"),
        (car(block({})[0], [block({})]), "the commit: there is no DID"),
        (car(block({})[0], [(block({})[0], cbor({"a": 1}))]), "block 1: the block is not what its name says"),
        (car(block({})[0], [(b"\x01\x71\x13\x20" + bytes(32), b"x")]), "block 1: the block is called in a way"),
        (car(block([1])[0], [block([1])]), "the commit: the block is no object"),
        (car(block({"did": 7})[0], [block({"did": 7})]), "the commit: there is no DID"),
    ],
    ids=range(12),
)
def test_what_is_wrong_is_said(data, why, tmp_path):
    with pytest.raises(InvalidInput, match=why):
        read(tmp_path / "ann.car", data)


def test_raw_blocks_and_deep_nesting_break_nothing(tmp_path):
    deep = b"\x81" * 100_000 + b"\x00"
    cid = b"\x01\x71\x12\x20" + hashlib.sha256(deep).digest()
    root, nodes = tree([("app.bsky.feed.post/a", Link(cid))])
    with pytest.raises(InvalidInput, match="record 1: this is no DAG-CBOR"):
        read(tmp_path / "ann.car", commit_of(root, *nodes, (cid, deep)))
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(b"picture").digest()
    root, nodes = tree([])
    assert read(tmp_path / "ann.car", commit_of(root, *nodes, (raw, b"picture"))).imported.graph.ids == (DID,)
