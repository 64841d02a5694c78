"""Archives of networks through the command line: users with their texts, follows and posts, all or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.archives import archives, readable
from graphpriv.formats import formats
from graphpriv.store import open_store
from tests.crawler.archives.making import lines, repository, zipped
from tests.crawler.archives.test_bluesky_car import DID, RECORDS
from tests.crawler.archives.test_mastodon_files import CSV
from tests.crawler.archives.test_twarc import RAW
from tests.crawler.archives.test_x_archive import PARTS


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ann.jsonl").write_bytes(lines(*RAW))
    (tmp_path / "ann.car").write_bytes(repository(DID, RECORDS))
    (tmp_path / "following.csv").write_text(CSV)
    zipped(tmp_path / "ann.zip", PARTS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options", "users", "posts"),
    [
        ("ann.jsonl", [], 3, 1),
        ("ann.car", [], 3, 2),
        ("ann.zip", [], 3, 2),
        ("following.csv", ["--format", "mastodon-csv"], 3, 0),
    ],
)
def test_the_command_keeps_users_with_texts_and_posts(graphpriv, files, name, options, users, posts):
    result = graphpriv("graph", "import", files / name, "--graph", "town", *options, "--json")
    assert result.code == 0, result.err
    assert (result.document["users"], result.document["posts"]) == (users, posts)
    with open_store("file:graphpriv.db", create=False) as store:
        assert len(list(store.users("town"))) == users
        found = list(store.posts("town"))
        assert len(found) == posts
        assert {each.user for each in found} <= {each.id for each in store.users("town")}
        assert store.check() == []


def test_a_file_that_breaks_off_leaves_nothing(graphpriv, files):
    (files / "broken.jsonl").write_bytes(lines(*RAW) + b'{"data": [')
    result = graphpriv("graph", "import", files / "broken.jsonl", "--graph", "town")
    assert result.code == 2
    assert result.error.endswith("broken.jsonl, line 5: this is not JSON.")
    assert not Path("graphpriv.db").exists()


def test_help_lists_all_that_can_be_read_and_export_what_can_be_written(graphpriv):
    shown = " ".join(graphpriv("graph", "import", "--help").out.split())
    assert all(name in shown for name in readable)
    written = " ".join(graphpriv("graph", "export", "--help").out.split())
    assert all(name in written for name in formats)
    assert not any(name in written for name in archives)


def test_several_files_make_one_graph_or_none(graphpriv, files):
    more = files / "more.jsonl"
    more.write_bytes(lines({"data": [{"id": "11", "author_id": "2", "text": "Fog"}]}))
    result = graphpriv("graph", "import", files / "ann.jsonl", "--also", more, "--graph", "town", "--json")
    assert (result.document["users"], result.document["posts"]) == (3, 2)
    again = ("graph", "import", files / "ann.jsonl", "--graph", "city", "--also")
    assert "none.jsonl" in graphpriv(*again, files / "none.jsonl").error
    more.write_bytes(b"{")
    assert "more.jsonl, line 1" in graphpriv(*again, more).error
    with open_store("file:graphpriv.db", create=False) as store:
        assert [each.name for each in store.graphs()] == ["town"]
