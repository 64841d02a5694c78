"""Bluesky: answers as its documentation shows them over real HTTP, and every failure with its one name."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from crawler.sources import Profile, Question, sources
from crawler.sources.bluesky import Bluesky
from crawler.sources.failures import Outcome
from graphpriv.store.records import Post
from tabular.errors import InvalidInput
from tests.crawler.sources.loopback import Faults, Network, Person, asked, bluesky, did, failure, served

STATES = ("kept", "locked", "opted-out", "suspended", "vanished", "moved")
NETWORK = Network(tuple(Person(each, tuple(range(each + 1, each + 8)), state) for each, state in enumerate(STATES))
                  + tuple(Person(each, ()) for each in range(len(STATES), 40)))  # fmt: skip


@pytest.fixture(scope="module")
def network():
    with served(bluesky(NETWORK)) as found:
        yield found


@pytest.fixture
def source(network):
    network.instead.clear()
    return Bluesky(url=network.url, client=network.client(), timeout=5.0)


def test_a_start_is_found_by_handle_and_by_did(source):
    ann = Profile(
        id=did(0), handle="person0.made.example", name="Person0", location_text="Graz, Austria",
        location_from="description", following=7, posts=1,
    )  # fmt: skip
    assert asked(source, kind="start", user="@person0.made.example ").profiles == (ann,)
    assert asked(source, kind="start", user=did(0)).profiles == (ann,)
    assert asked(source, kind="profile", user=did(0)).profiles == (ann,)


def test_follows_come_in_pages_and_a_cursor_leads_on(source):
    first = asked(source, kind="following", user=did(0), size=2)
    assert (first.followed, first.cursor) == ((did(1), did(2)), "2")
    # Three are suspended, deactivated and gone: the AppView shows none of them.
    second = asked(source, kind="following", user=did(0), size=2, cursor=first.cursor)
    assert (second.followed, second.cursor) == ((did(6), did(7)), None)


def test_posts_are_those_of_the_user_with_links_and_without_what_others_wrote(source):
    page = asked(source, kind="posts", user=did(6), size=100)
    assert [each.id for each in page.posts] == [f"at://{did(6)}/app.bsky.feed.post/{post}" for post in range(3)]
    assert page.posts[1] == Post(
        id=f"at://{did(6)}/app.bsky.feed.post/1", user=did(6), text="Post 1 of person6: rain & <sun>",
        links=("https://news.example/6/1", "https://news.example/6/1/more"), created="2026-01-02T03:04:05.000Z",
    )  # fmt: skip


def test_people_who_ask_not_to_be_collected_come_without_a_name(source):
    assert asked(source, kind="profile", user=did(2)).profiles == (Profile(id=did(2), state="opted-out"),)
    assert asked(source, kind="profile", user=did(1)).profiles == (Profile(id=did(1), state="opted-out"),)


def test_several_are_asked_for_at_once_and_nothing_is_said_of_who_is_missing(source):
    page = asked(source, kind="profiles", users=tuple(map(did, range(6))))
    assert {each.id: each.state for each in page.profiles} == {did(0): "kept", did(1): "opted-out", did(2): "opted-out"}


@pytest.mark.parametrize("kind", ["profile", "following", "posts"])
@pytest.mark.parametrize(("number", "name"), [(3, "suspended"), (4, "vanished"), (5, "vanished")])
def test_who_is_gone_ends_no_crawl(source, kind, number, name):
    found = failure(source, kind=kind, user=did(number), size=5)
    assert (found.kind, found.outcome) == (name, Outcome.USER)


def test_a_start_that_does_not_exist_is_nobody(source):
    assert failure(source, kind="start", user="nobody.example").kind == "vanished"
    assert failure(source, kind="start", user="not a handle").kind == "vanished"


CALL = "/xrpc/app.bsky.actor.getProfile"
LATER = {"Date": "Tue, 13 Apr 2021 03:53:58 GMT", "RateLimit-Reset": "1618286338"}


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "wait"),
    [
        (429, LATER, b'{"error": "RateLimitExceeded"}', "rate-limited", 300.0),
        (429, {}, b"", "rate-limited", None),
        (429, {"RateLimit-Reset": "soon"}, b"", "rate-limited", None),
        (429, {"RateLimit-Reset": "nan"}, b"", "rate-limited", None),
        (429, {"RateLimit-Reset": "9e99"}, b"", "rate-limited", 900.0),
        (500, {}, b'{"error": "InternalServerError"}', "server-failed", None),
        (502, {}, b"<html>", "server-failed", None),
        (400, {}, b'{"error": "InvalidRequest", "message": "Error: limit"}', "refused", None),
        (401, {}, b'{"error": "AuthenticationRequired"}', "refused", None),
        (403, {}, b"", "refused", None),
        (302, {"Location": "http://169.254.169.254/"}, b"", "refused", None),
        (200, {}, b'{"did": "did:plc:a", "handle', "garbled", None),
        (200, {}, b"[]", "garbled", None),
        (200, {}, b'{"handle": "x"}', "garbled", None),
    ],
)
def test_every_other_answer_is_one_failure(source, network, status, headers, body, kind, wait):
    network.instead[f"127.0.0.1:{network.ports['http']}{CALL}"] = (status, headers, body)
    found = failure(source, kind="profile", user=did(0))
    assert (found.kind, found.wait) == (kind, wait)


def test_the_limit_that_an_answer_tells_is_passed_on(source):
    quota = source.ask(Question(kind="profile", user=did(0))).quota
    assert quota.remaining == 2999
    assert 295 < quota.wait <= 301


def test_a_cut_connection_and_a_silent_server_are_told_apart():
    with served(bluesky(NETWORK, Faults(cut=1.0))) as network:
        source = Bluesky(url=network.url, client=network.client())
        assert failure(source, kind="profile", user=did(0)).kind == "connection-cut"
    source = Bluesky(url=network.url, timeout=2.0)
    assert failure(source, kind="profile", user=did(0)).kind == "unreachable"


def test_labels_that_were_taken_back_do_not_count_and_those_of_moderators_do():
    def state(*labels, description=""):
        user = {"did": "did:plc:a", "handle": "handle.invalid", "labels": list(labels), "description": description}
        (profile,) = Bluesky().read(Question(kind="profile", user="did:plc:a"), json.dumps(user).encode()).profiles
        assert profile.handle is None
        return profile.state

    assert state({"val": "!no-unauthenticated", "neg": True}) == "kept"
    assert state({"val": "!takedown", "src": "did:plc:mod"}) == "suspended"
    assert state(description="no robots: #NoBot.") == "opted-out"


def test_odd_records_are_left_out_and_break_nothing():
    feed = [None, {}, {"post": None}, {"post": {"uri": "at://a/b/c", "author": {"did": "did:plc:a"}}},
            {"post": {"uri": "at://x/" + "y" * 1000, "author": {"did": "did:plc:a"}, "record": {}}},
            {"post": {"uri": "at://a/b/d", "author": {"did": "did:plc:a"}, "record": {
                "text": "a\x00b\ud800", "facets": [{"features": [None, {"$type": "app.bsky.richtext.facet#link"}]}, 3],
                "embed": {"media": {"external": {"uri": "javascript:alert(1)"}}}}}}]  # fmt: skip
    page = Bluesky().read(Question(kind="posts", user="did:plc:a"), json.dumps({"feed": feed}).encode())
    assert page.posts == (Post(id="at://a/b/d", user="did:plc:a", text="ab?"),)
    follows = {"follows": [None, {"did": 7}, {"did": "x"}, {"did": "did:plc:b"}], "cursor": 3}
    page = Bluesky().read(Question(kind="following", user="did:plc:a"), json.dumps(follows).encode())
    assert (page.followed, page.cursor) == (("did:plc:b",), None)


def test_the_address_comes_from_a_variable_and_is_checked():
    made = sources["bluesky"].method.from_environment({"GRAPHPRIV_BLUESKY_URL": "http://127.0.0.1:1/"})
    assert made.where == "http://127.0.0.1:1"
    assert sources["bluesky"].method.from_environment({}).where == "https://public.api.bsky.app"
    for wrong in ("bsky.app", "ftp://bsky.app", "https://", "https://a:b@bsky.app", "https://[", "https://a:99999"):
        with pytest.raises(InvalidInput, match="GRAPHPRIV_BLUESKY_URL"):
            sources["bluesky"].method.from_environment({"GRAPHPRIV_BLUESKY_URL": wrong})


def test_the_library_of_the_network_understands_these_answers(network):
    """The made network speaks as the lexicons say: atproto checks each answer against its models."""
    client = import_module("atproto").Client(network.url)
    profile = client.app.bsky.actor.get_profile({"actor": did(2)})
    assert profile.labels[0].val == "!no-unauthenticated"
    follows = client.app.bsky.graph.get_follows({"actor": did(0), "limit": 2})
    assert [each.did for each in follows.follows] == [did(1), did(2)]
    feed = client.app.bsky.feed.get_author_feed({"actor": did(6), "limit": 10})
    assert feed.feed[0].post.record.embed.external.uri == "https://news.example/6/0/more"
    with pytest.raises(import_module("atproto_client.exceptions").BadRequestError) as raised:
        client.app.bsky.actor.get_profile({"actor": did(3)})
    assert raised.value.response.content.error == "AccountTakedown"
