"""All archives: chosen by the end of a name or by what is in the file, and imported whole or not at all."""

from __future__ import annotations

import pytest

from crawler.archives import archives, read_original, readable
from graphpriv.formats import formats
from graphpriv.store import open_store
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidParameter, InvalidRecord, UnknownName
from tests.crawler.archives.making import lines, zipped
from tests.crawler.archives.test_twarc import ANN, RAW, TWEET


def test_whatever_can_be_read_is_listed_once_and_says_what_it_cannot():
    assert list(archives) == ["bluesky-car", "mastodon-csv", "mastodon-archive", "twarc2", "x-archive"]
    assert list(readable) == [*formats, *archives]
    for entry in archives.entries():
        assert entry.cites and entry.limits and entry.summary.startswith("Read ")


def test_graphs_are_read_as_before(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\na,b\n")
    found = read_original(tmp_path / "g.csv")
    assert (found.imported.graph.ids, found.posts) == (("a", "b"), ())
    assert read_original(tmp_path / "g.csv", directed=False).imported.graph.directed is False


def test_a_file_of_no_sort_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"no graph format is known by the ending '\.docx'"):
        read_original(tmp_path / "g.docx")
    with pytest.raises(UnknownName, match="did you mean 'twarc2'"):
        read_original(tmp_path / "g.docx", format="twarc")
    with pytest.raises(InvalidInput, match=r"one of these files in it: outbox\.json .*, data/account\.js"):
        read_original(zipped(tmp_path / "g.zip", {"a.txt": "a"}))
    with pytest.raises(InvalidParameter, match="go with an edge list; twarc2 is one file"):
        read_original(tmp_path / "a.jsonl", attributes=tmp_path / "b.csv")


def test_follows_can_be_read_without_a_direction(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(*RAW))
    graph = read_original(tmp_path / "a.jsonl", directed=False).imported.graph
    assert (graph.directed, graph.edge_count) == (False, 2)


def test_posts_that_come_with_a_graph_are_by_its_users(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(ANN, {**TWEET, "author": ANN}))
    found = read_original(tmp_path / "a.jsonl")
    with open_store(f"file:{tmp_path / 'g.db'}", create=True) as store:
        with pytest.raises(InvalidRecord, match="Post 0 of the batch: its user is no user of graph 'town'"):
            store.save_graph("town", found.imported.graph, posts=[Post(id="1", user="nobody", text="")])
        assert store.graphs() == []
        store.save_graph("town", found.imported.graph, posts=[*found.posts, *found.posts])
        assert list(store.posts("town")) == list(found.posts)
