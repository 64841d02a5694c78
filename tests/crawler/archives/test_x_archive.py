"""The archive of an X account: what is taken, what is left where it is, and zip files that mean harm."""

from __future__ import annotations

import io
import zipfile

import pytest

from crawler.archives import read_original, zips
from graphpriv.store.records import Post
from tabular.errors import InvalidInput, InvalidRecord
from tests.crawler.archives.making import ytd, zipped

ACCOUNT = [{"account": {"accountId": "1", "username": "ann", "accountDisplayName": "Ann", "email": "ann@example.org"}}]
TWEET = {"id_str": "10", "full_text": "Rain https://t.co/a", "created_at": "Wed Oct 10 20:19:24 +0000 2018",
         "entities": {"urls": [{"url": "https://t.co/a", "expanded_url": "https://a.example/"}]}}  # fmt: skip
PARTS = {
    "Your archive.html": "<html>",
    "data/account.js": ytd("account", ACCOUNT),
    "data/profile.js": ytd("profile", [{"profile": {"description": {"bio": "#nobot", "location": "Graz"}}}]),
    "data/following.js": ytd("following", [{"following": {"accountId": "2"}}, {"following": {"accountId": "3"}}]),
    "data/follower.js": ytd("follower", [{"follower": {"accountId": "3", "userLink": "https://twitter.com/x"}}]),
    "data/tweets.js": ytd(
        "tweets", [{"tweet": TWEET}, {"tweet": {**TWEET, "id_str": "11", "full_text": "RT @bob: x"}}]
    ),
    "data/tweets-part1.js": ytd("tweets", [{"tweet": {**TWEET, "id_str": "12"}}], part=1),
    "data/direct-messages.js": "not even JavaScript",
}


def read(tmp_path, parts, **options):
    return read_original(zipped(tmp_path / "archive.zip", parts), **options)


def test_an_account_comes_with_follows_both_ways_and_its_own_posts(tmp_path):
    found = read(tmp_path, PARTS)
    graph = found.imported.graph
    assert graph.ids == ("1", "2", "3")
    ends = zip(*(each.tolist() for each in graph.edges()), strict=True)
    assert {(graph.ids[a], graph.ids[b]) for a, b in ends} == {("1", "2"), ("1", "3"), ("3", "1")}
    assert {name: column[0] for name, column in graph.private.items()} == {
        "handle": "ann", "name": "Ann", "location_text": "Graz",
    }  # fmt: skip
    assert found.posts[0] == Post(
        id="10", user="1", text="Rain https://t.co/a", links=("https://a.example/",), created="2018-10-10T20:19:24.000Z"
    )
    assert [each.id for each in found.posts] == ["10", "12"]
    assert found.imported.ignored == {"posts of others that were passed on": 1}


def test_an_archive_that_was_packed_again_within_a_folder_is_read(tmp_path):
    inner = {f"twitter-2026/{name}": content for name, content in PARTS.items()}
    assert read(tmp_path, inner).imported.graph == read(tmp_path, PARTS).imported.graph


def test_older_archives_call_their_posts_otherwise(tmp_path):
    parts = {"data/account.js": PARTS["data/account.js"], "data/tweet.js": ytd("tweet", [TWEET])}
    assert [each.id for each in read(tmp_path, parts).posts] == ["10"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("data/account.js", None, "one of these files in it: .*account.js"),
        ("data/account.js", "[]", "account.js: this is no file of an X archive"),
        ("data/account.js", ytd("account", []), "account.js: there is no accountId"),
        (
            "data/account.js",
            ytd("account", [{"account": {"accountId": 7}}]),
            "account.js, record 1: there is no accountId",
        ),
        ("data/following.js", ytd("following", [{}]), "following.js, record 1: there is no accountId"),
        ("data/following.js", "window.YTD.following.part0 = {}", "following.js: the file holds a list"),
        ("data/following.js", "window.YTD.following.part0 = [7]", "following.js, record 1: a record is an object"),
        ("data/following.js", "window.YTD.following.part0 = [\n{", "following.js, line 2, column 2: this is not JSON"),
        ("data/tweets.js", ytd("tweets", [{"tweet": {}}]), "tweets.js, record 1: there is no id_str"),
        ("data/tweets.js", b"\xff\xfe", "tweets.js"),
    ],
)
def test_what_is_not_as_it_should_be_is_named(name, content, told, tmp_path):
    parts = {**PARTS, name: content} if content is not None else {k: v for k, v in PARTS.items() if k != name}
    with pytest.raises(InvalidInput, match=told):
        read(tmp_path, parts)


@pytest.mark.parametrize("name", ["../evil.js", "/etc/passwd", "data/../../x", "C:/x", "..\\x", "a\nb"])
def test_a_name_that_leads_out_of_the_archive_is_refused(name, tmp_path):
    with pytest.raises(InvalidInput, match="the name of file 2 in it leads out of the archive"):
        read(tmp_path, {"data/account.js": PARTS["data/account.js"], name: "x"})


def test_a_link_within_an_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "archive.zip", PARTS)
    link = zipfile.ZipInfo("data/link.js")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInput, match="leads out of the archive"):
        read_original(path)


def test_two_files_of_one_name_are_refused(tmp_path):
    path = zipped(tmp_path / "archive.zip", PARTS)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("data/account.js", ytd("account", [{"account": {"accountId": "9"}}]))
    with pytest.raises(InvalidInput, match="two files in it have the same name"):
        read_original(path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(zips, "ALWAYS_ALLOWED", 1 << 20)
    with pytest.raises(InvalidInput, match=r"tweets.js: unpacked, the file is more than \d+ MiB"):
        read(tmp_path, {**PARTS, "data/tweets.js": b" " * (8 << 20)})


def test_a_part_that_lies_about_its_size_is_damaged(tmp_path):
    path = zipped(tmp_path / "archive.zip", {**PARTS, "data/tweets.js": b" " * 100_000})
    data = path.read_bytes()
    path.write_bytes(data.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(InvalidInput, match=r"tweets.js: the file is damaged"):
        read_original(path)


def test_too_many_files_an_encrypted_one_and_no_zip_at_all_are_refused(tmp_path, monkeypatch):
    path = zipped(tmp_path / "archive.zip", PARTS)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[entry + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(bytes(data))
    with pytest.raises(InvalidInput, match=r"account.js: the file is encrypted"):
        read_original(tmp_path / "locked.zip")
    monkeypatch.setattr(zips, "MOST_FILES", 3)
    with pytest.raises(InvalidInput, match="more than 3 files"):
        read_original(path)
    for content in (b"", b"PK\x05\x06", bytes(data[: len(data) // 2]), b"no zip"):
        (tmp_path / "broken.zip").write_bytes(content)
        with pytest.raises(InvalidInput, match=r"broken.zip: this is not a sound zip file"):
            read_original(tmp_path / "broken.zip")
    with pytest.raises(InvalidInput, match=r"none.zip: No such file"):
        read_original(tmp_path / "none.zip")


def test_an_archive_comes_through_standard_input_too(tmp_path, monkeypatch):
    data = zipped(tmp_path / "archive.zip", PARTS).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_original("-", format="x-archive").imported.graph.ids == ("1", "2", "3")


def test_any_damage_is_an_error_that_is_told(tmp_path):
    data = zipped(tmp_path / "archive.zip", PARTS).read_bytes()
    for position in range(0, len(data), 7):
        spoiled = bytearray(data)
        spoiled[position] ^= 0x15
        (tmp_path / "spoiled.zip").write_bytes(bytes(spoiled))
        try:
            read_original(tmp_path / "spoiled.zip", format="x-archive")
        except (InvalidInput, InvalidRecord) as error:
            assert "\n" not in str(error)
