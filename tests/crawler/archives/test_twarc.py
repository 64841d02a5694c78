"""Files of twarc2: raw answers and flattened ones give the same graph; recorded answers of X are read whole."""

from __future__ import annotations

import gzip
import json

import pytest

from crawler.archives import read_original
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidRecord
from tests.crawler.archives.making import lines

ANN = {"id": "1", "username": "ann", "name": "Ann", "location": "Graz", "description": "x", "protected": False,
       "public_metrics": {"following_count": 2, "tweet_count": 1}}  # fmt: skip
BOB = {"id": "2", "username": "bob", "name": "Bob"}
CYD = {"id": "3", "username": "cyd", "name": "Cyd", "location": "Lyon"}
TWEET = {"id": "10", "author_id": "1", "text": "Rain t.co/a", "created_at": "2026-01-02T03:04:05.000Z",
         "entities": {"urls": [{"url": "https://t.co/a", "expanded_url": "https://a.example/"}]}}  # fmt: skip
FOLLOWING = {"url": "https://api.twitter.com/2/users/1/following?max_results=1000", "version": "2.14.0",
             "retrieved_at": "2026-01-02T03:04:05+00:00"}  # fmt: skip
FOLLOWERS = {**FOLLOWING, "url": "https://api.twitter.com/2/users/1/followers"}
TIMELINE = {**FOLLOWING, "url": "https://api.twitter.com/2/users/1/tweets"}

RAW = (
    {"data": [ANN], "__twarc": {**FOLLOWING, "url": "https://api.twitter.com/2/users/by?usernames=ann"}},
    {"data": [BOB, CYD], "meta": {"result_count": 2}, "__twarc": FOLLOWING},
    {"data": [CYD], "meta": {"result_count": 1}, "__twarc": FOLLOWERS},
    {"data": [TWEET], "includes": {"users": [ANN]}, "meta": {"result_count": 1}, "__twarc": TIMELINE},
)
FLAT = (
    ANN,
    {**BOB, "__twarc": FOLLOWING},
    {**CYD, "__twarc": FOLLOWING},
    {**CYD, "__twarc": FOLLOWERS},
    {**TWEET, "author": ANN, "__twarc": TIMELINE},
)


def read(path, data, **options):
    path.write_bytes(data)
    return read_original(path, **options)


def edges(graph):
    return {(graph.ids[a], graph.ids[b]) for a, b in zip(*(each.tolist() for each in graph.edges()), strict=True)}


@pytest.mark.parametrize("records", [RAW, FLAT])
def test_raw_and_flattened_files_give_the_same(records, tmp_path):
    found = read(tmp_path / "ann.jsonl", lines(*records))
    graph = found.imported.graph
    assert graph.ids == ("1", "2", "3")
    assert edges(graph) == {("1", "2"), ("1", "3"), ("3", "1")}
    assert graph.private == {
        "handle": ("ann", "bob", "cyd"), "name": ("Ann", "Bob", "Cyd"), "location_text": ("Graz", None, "Lyon"),
    }  # fmt: skip
    assert found.posts == (
        Post(id="10", user="1", text="Rain t.co/a", links=("https://a.example/",), created="2026-01-02T03:04:05.000Z"),
    )


def test_a_compressed_file_is_read_and_one_that_is_named_otherwise_by_its_format(tmp_path):
    plain = read(tmp_path / "ann.jsonl", lines(*RAW))
    assert read(tmp_path / "ann.jsonl.gz", gzip.compress(lines(*RAW))).imported.graph == plain.imported.graph
    assert read(tmp_path / "ann.json", lines(*RAW), format="twarc2").imported.graph == plain.imported.graph


@pytest.mark.shared_data
def test_recorded_answers_are_read_as_the_source_reads_them(tmp_path, shared_folder):
    counts = {"users": 0, "posts": 0}
    answers = []
    for file in sorted((shared_folder / "tweepy_cassettes").glob("*.json")):
        for exchange in json.loads(file.read_text())["interactions"]:
            data = exchange["body"].get("data")
            records = data if isinstance(data, list) else [data]
            kind = "users" if "username" in records[0] else "posts" if "text" in records[0] else None
            if kind and all(each.get("author_id") for each in records if kind == "posts"):
                answers.append({**exchange["body"], "__twarc": {"url": exchange.get("uri", "")}})
                counts[kind] += len(records)
    assert counts["users"] > 100
    found = read(tmp_path / "all.jsonl", lines(*answers))
    records = [each for one in answers for each in (one["data"] if isinstance(one["data"], list) else [one["data"]])]
    ids = {each["id"] for each in records if "username" in each and not each.get("protected")}
    assert ids <= set(found.imported.graph.ids)


def test_who_asks_not_to_be_collected_is_left_out_and_counted(tmp_path):
    locked = {**CYD, "protected": True}
    tweets = {"data": [TWEET, {**TWEET, "id": "11", "author_id": "3"}], "includes": {"users": [locked]}}
    found = read(tmp_path / "ann.jsonl", lines(*RAW, {"data": [{**BOB, "description": "#nobot"}]}, tweets))
    assert found.imported.graph.ids == ("1",)
    assert found.imported.graph.edge_count == 0
    assert [each.id for each in found.posts] == ["10"]
    terms, note = found.imported.notes
    assert "does not allow anybody to infer health" in terms
    assert note.endswith("left out, with their posts and follows: 1 locked, 1 opted-out.")


def test_what_is_not_taken_is_counted(tmp_path):
    others = {"data": [TWEET], "includes": {"users": [ANN], "tweets": [{"id": "9", "text": "t"}]}}
    flat = {**TWEET, "referenced_tweets": [{"type": "quoted", "id": "9", "text": "t"}]}
    orphan = {**TWEET, "id": "12", "author_id": None}
    found = read(tmp_path / "a.jsonl", lines(others, flat, orphan, {"meta": {"result_count": 0}}, {"errors": [{}]}))
    assert found.imported.ignored == {
        "answers without users and posts": 2, "posts that others refer to": 2, "posts without an author": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"data": [{"id"', "line 2: this is not JSON"),
        (b"[" * 100_000, "line 2: this is not JSON"),
        (b"[1]", "line 2: a line holds an object"),
        (b'{"id": "7"}', "line 2: this is neither an answer of X nor a user or post of one"),
        (b'{"data": [{"start": "x", "tweet_count": 1}]}', "line 2: an answer holds users or posts"),
        (b'{"data": [{"id": 7, "text": "t"}]}', "line 2: an answer holds users or posts"),
    ],
    ids=["cut", "deep", "list", "nothing", "counts", "number"],
)
def test_a_line_that_is_none_is_named(line, told, tmp_path):
    with pytest.raises(InvalidRecord, match=f"a.jsonl, {told}"):
        read(tmp_path / "a.jsonl", lines(RAW[0]) + line + b"\n")


def test_a_file_without_anybody_is_an_error(tmp_path):
    with pytest.raises(InvalidInput, match="there are no users in it"):
        read(tmp_path / "a.jsonl", lines({"meta": {"result_count": 0}}))
    with pytest.raises(InvalidInput, match="the file is empty"):
        read(tmp_path / "a.jsonl", b"\n")
    with pytest.raises(InvalidInput, match=r"no users in it who can be kept \(locked\)"):
        read(tmp_path / "a.jsonl", lines({**ANN, "protected": True}))
