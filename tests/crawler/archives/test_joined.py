"""Several files that make one graph: the graph that they would make as one file."""

from __future__ import annotations

from itertools import product

import pytest

from crawler.archives import read_original
from tabular.errors import InvalidInput, InvalidParameter, InvalidRecord
from tests.crawler.archives.making import lines, ytd, zipped
from tests.crawler.archives.test_mastodon_files import CSV
from tests.crawler.archives.test_twarc import ANN, FLAT, RAW, TIMELINE, TWEET, edges
from tests.crawler.archives.test_x_archive import PARTS

LOCKED = {"id": "3", "username": "cyd", "protected": True}
RECORDS = (*RAW, *FLAT, {"data": [{**ANN, "location": "Linz"}]}, LOCKED, {**TWEET, "id": "11", "__twarc": TIMELINE})


@pytest.mark.parametrize("cut", range(1, len(RECORDS) - 1))
def test_a_file_that_is_cut_in_two_or_three_is_read_as_if_it_were_whole(tmp_path, cut):
    whole, *parts = (tmp_path / f"{name}.jsonl" for name in "wabc")
    later = (cut + len(RECORDS)) // 2
    spans = ((0, len(RECORDS)), (0, cut), (cut, later), (later, len(RECORDS)))
    for path, (begin, end) in zip((whole, *parts), spans, strict=True):
        path.write_bytes(lines(*RECORDS[begin:end]))
    found, expected = read_original(parts[0], also=parts[1:]), read_original(whole)
    graph, other = found.imported.graph, expected.imported.graph
    assert (graph.ids, edges(graph), graph.private) == (other.ids, edges(other), other.private)
    assert "3" not in graph.ids and "Linz" in graph.private["location_text"]
    assert found.posts == expected.posts
    assert (found.imported.dropped, found.imported.ignored) == (expected.imported.dropped, expected.imported.ignored)


def test_two_accounts_know_each_other(tmp_path):
    ann = zipped(tmp_path / "ann.zip", PARTS)
    account = [{"account": {"accountId": "3", "username": "cyd", "accountDisplayName": "Cyd"}}]
    posts = ytd("tweets", [{"tweet": {"id_str": "30", "full_text": "Sun"}}])
    follows = ytd("following", [{"following": {"accountId": "1"}}, {"following": {"accountId": "4"}}])
    cyd = zipped(
        tmp_path / "cyd.zip",
        {"data/account.js": ytd("account", account), "data/tweets.js": posts, "data/following.js": follows},
    )
    for first, second in ((ann, cyd), (cyd, ann)):
        found = read_original(first, also=[second])
        graph = found.imported.graph
        assert sorted(graph.ids) == ["1", "2", "3", "4"]
        assert edges(graph) == {("1", "2"), ("1", "3"), ("3", "1"), ("3", "4")}
        handles = dict(zip(graph.ids, graph.private["handle"], strict=True))
        assert handles == {"1": "ann", "2": None, "3": "cyd", "4": None}
        assert {(each.id, each.user) for each in found.posts} == {("10", "1"), ("12", "1"), ("30", "3")}
        # That Cyd follows Ann stands in both.
        assert found.imported.dropped.parallel == 1
        # What the network asks is said once.
        assert sum("does not allow" in note for note in found.imported.notes) == 1


def test_what_cannot_make_one_graph_is_refused(tmp_path):
    ann, other, csv, edge = (tmp_path / name for name in ("a.jsonl", "a.zip", "follows.csv", "a.graphml"))
    ann.write_bytes(lines(*RAW))
    zipped(other, PARTS)
    csv.write_text(CSV)
    with pytest.raises(InvalidInput, match=r"a.zip: this is x-archive, and .*a.jsonl is twarc2"):
        read_original(ann, also=[other])
    with pytest.raises(InvalidParameter, match="a file of mastodon-csv does not say whose it is"):
        read_original(csv, also=[csv], format="mastodon-csv")
    with pytest.raises(
        InvalidParameter, match=r"a file of graphml is a whole graph; several files of bluesky-car, .* make"
    ):
        read_original(edge, also=[edge])


@pytest.mark.parametrize(("first", "second"), [*product((True, False), repeat=2)])
def test_all_files_are_read_or_none(tmp_path, first, second):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, is_whole in zip(paths, (first, second), strict=True):
        path.write_bytes(lines(*RAW) + (b"" if is_whole else b'{"data": ['))
    if first and second:
        assert len(read_original(paths[0], also=paths[1:]).imported.graph) == 3
        return
    with pytest.raises(InvalidRecord, match=f"{'b' if first else 'a'}.jsonl, line 5: this is not JSON"):
        read_original(paths[0], also=paths[1:])
