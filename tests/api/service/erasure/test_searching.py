"""Finding the id of a person in files of every format that is read or written."""

from __future__ import annotations

import csv
import gzip
import io
import json
from xml.sax.saxutils import escape

import pytest

from api.service.erasure import searching
from api.service.erasure.searching import may_tell_of
from tests.crawler.archives.making import repository

IDS = ("bob", "17", 'Zoë & "friends" <x>', "a/b c", "东京", "it's")


def as_csv(text):
    file = io.StringIO()
    csv.writer(file).writerow([text, "1"])
    return file.getvalue()


@pytest.mark.parametrize("person", IDS)
@pytest.mark.parametrize(
    "write",
    [
        str,
        json.dumps,
        lambda text: json.dumps(text, ensure_ascii=False),
        as_csv,
        lambda text: f"<node id='x'>{escape(text)}</node>",
    ],
)
def test_an_id_is_found_however_it_is_written(tmp_path, person, write):
    path = tmp_path / "file"
    for encoding in ("utf-8", "utf-16-le", "utf-16"):
        path.write_bytes(b" x,\n" + write(person).encode(encoding))
        assert may_tell_of(path, person)
    path.write_text("somebody else")
    assert not may_tell_of(path, person)


def test_a_part_of_another_word_is_not_the_id(tmp_path):
    path = tmp_path / "file"
    path.write_text("bobby,117,a17,1_7,bob_2")
    assert not may_tell_of(path, "bob")
    assert not may_tell_of(path, "17")
    path.write_text("bobby,-17")
    assert may_tell_of(path, "17")


def test_an_id_is_found_where_two_blocks_meet(tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "_BLOCK", 64)
    path = tmp_path / "file"
    for before in range(40, 140):
        path.write_bytes(b"," * before + b"somebody-long" + b"," * 100)
        assert may_tell_of(path, "somebody-long")


def test_what_cannot_be_searched_may_tell_of_anybody(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"nobody"))
    assert may_tell_of(path, "bob")
    assert may_tell_of(tmp_path, "bob")
    path.write_bytes(b"")
    assert not may_tell_of(tmp_path, "bob")


def test_a_repository_of_bluesky_cannot_be_searched_and_capitals_hide_nobody(tmp_path):
    (tmp_path / "ann.car").write_bytes(repository("did:web:ann.example", {}))
    assert may_tell_of(tmp_path / "ann.car", "did:web:somebody.else")
    (tmp_path / "follows.csv").write_text("Account address\nBob@B.example\n")
    assert may_tell_of(tmp_path / "follows.csv", "bob@b.example")
    assert not may_tell_of(tmp_path / "follows.csv", "ob@b.example")
