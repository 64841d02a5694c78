"""Mastodon: several servers over real HTTP, each asked about its own users, and every failure with its one name."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import pytest

from crawler.sources import Profile, Question, sources
from crawler.sources.failures import Outcome
from crawler.sources.mastodon import Mastodon
from crawler.web.addresses import Guard
from crawler.web.client import Client
from graphpriv.store.records import Post
from tabular.errors import InvalidInput
from tests.crawler.sources.loopback import (
    HOSTS,
    Faults,
    Network,
    Person,
    asked,
    failure,
    home,
    mastodon,
    mastodon_id,
    served,
)

STATES = ("kept", "locked", "opted-out", "suspended", "vanished", "moved", "hidden")
NETWORK = Network(tuple(Person(each, tuple(range(each + 1, each + 8)), state) for each, state in enumerate(STATES))
                  + tuple(Person(each, ()) for each in range(len(STATES), 40)))  # fmt: skip


@pytest.fixture(scope="module")
def network():
    with served(mastodon(NETWORK)) as found:
        yield found


@pytest.fixture
def source(network):
    network.instead.clear()
    network.asked.clear()
    return Mastodon(url=network.url, client=network.client(), timeout=5.0)


def profile(source, network, number):
    (found,) = asked(source, kind="profile", user=mastodon_id(network, number)).profiles
    return found


def test_a_start_is_found_with_and_without_its_host(source, network):
    ann = Profile(
        id=mastodon_id(network, 0), handle=f"Person0@{home(network, 0)}", name="Person0 ✨",
        location_text="Graz, Austria", following=7, posts=1, address="1000/7",
    )  # fmt: skip
    assert asked(source, kind="start", user="person0").profiles == (ann,)
    assert asked(source, kind="start", user=f"@PERSON0@{home(network, 0)}").profiles == (ann,)
    assert asked(source, kind="profile", user=ann.id).profiles == (ann,)


def test_each_user_is_asked_at_home(source, network):
    for number in (8, 9, 10, 11):
        profile(source, network, number)
    assert list(network.asked) == [
        f"{home(network, each)}/api/v1/accounts/lookup?acct=person{each}" for each in (8, 9, 10, 11)
    ]
    assert {home(network, each) for each in (8, 9, 10, 11)} == {home(network, 0), *HOSTS[:3]}


def test_follows_come_in_pages_by_the_header_and_are_named_in_full(source, network):
    user = {"user": mastodon_id(network, 0), "address": "1000/7", "size": 3}
    first = asked(source, kind="following", **user)
    assert first.followed == tuple(mastodon_id(network, each) for each in (1, 2, 3))
    second = asked(source, kind="following", cursor=first.cursor, **user)
    third = asked(source, kind="following", cursor=second.cursor, **user)
    assert third.followed == (mastodon_id(network, 7),)
    assert third.cursor is None


def test_a_user_has_one_id_wherever_seen(source, network):
    # Number 2 lives on social.trees.example and is called …@trees.example elsewhere.
    assert mastodon_id(network, 2) == "person2@social.trees.example"
    for number in range(8, 12):
        person = replace(NETWORK.people[number], follows=(10,))
        shown = Network((*NETWORK.people[:number], person, *NETWORK.people[number + 1 :]))
        with served(mastodon(shown)) as other:
            source = Mastodon(url=other.url, client=other.client())
            page = asked(
                source, kind="following", user=mastodon_id(other, number), address=f"{1000 + number}/1", size=80
            )
            assert page.followed == ("person10@social.trees.example",)


def test_posts_are_plain_text_with_links_that_lead_out(source, network):
    page = asked(source, kind="posts", user=mastodon_id(network, 9), address="1009/0", size=40)
    assert page.posts[1] == Post(
        id="https://birds.example/users/person9/statuses/1", user="person9@birds.example",
        text="Post 1 of person9: rain & <sun>\n\n@person1 #rain https://news.example",
        links=("https://news.example/9/1", "https://news.example/9/1/more"), created="2026-01-02T03:04:05.000Z",
    )  # fmt: skip
    assert len(page.posts) == 2
    first = asked(source, kind="posts", user=mastodon_id(network, 9), address="1009/0", size=1)
    assert (len(first.posts), first.cursor) == (1, "1")


@pytest.mark.parametrize(
    ("number", "state"), [(1, "locked"), (2, "opted-out"), (3, "suspended"), (5, "moved")]
)  # fmt: skip
def test_who_is_not_collected_comes_without_a_name(source, network, number, state):
    assert profile(source, network, number) == Profile(id=mastodon_id(network, number), state=state)


def test_a_hidden_list_is_unknown_and_not_empty(source, network):
    assert profile(source, network, 6).address == "1006/7"
    question = {"kind": "following", "user": mastodon_id(network, 6), "size": 80}
    found = failure(source, address="1006/7", **question)
    assert (found.kind, found.outcome) == ("hidden", Outcome.LIST)
    assert failure(source, address="1006/hidden", **question).kind == "hidden"
    assert asked(source, address="1006/0", **question).followed == ()


def test_a_list_that_is_said_to_be_hidden_is_marked_in_the_address():
    account = {"id": "7", "acct": "a@b.example", "following_count": 9, "hide_collections": True}
    assert read_profile(account).address == "7/hidden"
    assert read_profile({**account, "hide_collections": False}).address == "7/9"


def read_profile(account):
    body = json.dumps({"host": "b.example", "next": None, "answer": account}).encode()
    (found,) = Mastodon().read(Question(kind="profile", user="a@b.example"), body).profiles
    return found


ACCOUNT = {"id": "7", "acct": "a@b.example", "note": "<p>Baker</p>"}


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"discoverable": None}, "kept"),
        ({"discoverable": True, "noindex": False, "locked": False}, "kept"),
        ({"discoverable": False}, "opted-out"),
        ({"noindex": True}, "opted-out"),
        ({"note": '<p>x <a class="mention hashtag">#<span>nobot</span></a></p>'}, "opted-out"),
        ({"fields": [{"name": "bots", "value": "#NoBots please"}]}, "opted-out"),
        ({"limited": True}, "kept"),
        ({"suspended": True, "locked": True}, "suspended"),
        ({"moved": {"acct": "c@d.example"}}, "moved"),
    ],
)
def test_what_people_ask_for_decides_whether_they_are_kept(told, state):
    assert read_profile({**ACCOUNT, **told}).state == state


@pytest.mark.parametrize(
    ("fields", "note", "place", "source"),
    [
        ([("Location", "Graz")], "Baker", "Graz", "profile"),
        ([("Pronouns", "she/her"), ("📍", "Graz")], "", "Graz", "profile"),
        ([("Standort:", "<b>Graz</b>")], "", "Graz", "profile"),
        ([("Ubicación", "Graz")], "", "Graz", "profile"),
        ([("🏡 Home", '<a href="https://x.example">https://x.example</a>')], "Baker", "Baker", "description"),
        ([("Web", "https://x.example")], "Baker in <b>Rome</b>", "Baker in Rome", "description"),
        ([], "Baker<br>📍 Lyon, France | she", "Lyon, France", "description"),
        ([], "<p>Baker</p><p>Wohnort: Graz</p>", "Graz", "description"),
        ([], "", None, "description"),
    ],
)
def test_a_place_is_where_people_put_it(fields, note, place, source):
    fields = [{"name": name, "value": value} for name, value in fields]
    found = read_profile({**ACCOUNT, "note": note, "fields": fields})
    assert (found.location_text, found.location_from) == (place, source)


@pytest.mark.parametrize("kind", ["profile", "following", "posts"])
def test_who_is_gone_ends_no_crawl(source, network, kind):
    found = failure(source, kind=kind, user=mastodon_id(network, 4), address="1004/3", size=5)
    assert (found.kind, found.outcome) == ("vanished", Outcome.USER)


LOOKUP, LISTS = "/api/v1/accounts/lookup", "/api/v1/accounts/1001/following"
LATER = {"Date": "Tue, 13 Apr 2021 03:53:58 GMT", "X-RateLimit-Reset": "2021-04-13T03:58:58.000000Z"}
CLOSED = b'{"error": "This API requires an authenticated user"}'


@pytest.mark.parametrize(
    ("path", "status", "headers", "body", "kind", "wait"),
    [
        (LOOKUP, 429, LATER, b'{"error": "Too many requests"}', "rate-limited", 300.0),
        (LOOKUP, 429, {}, b"", "rate-limited", None),
        (LOOKUP, 429, {"X-RateLimit-Reset": "soon"}, b"", "rate-limited", None),
        (LOOKUP, 429, {**LATER, "X-RateLimit-Reset": "2099-01-01T00:00:00Z"}, b"", "rate-limited", 900.0),
        (LOOKUP, 429, {**LATER, "X-RateLimit-Reset": "1999-01-01T00:00:00Z"}, b"", "rate-limited", 0.0),
        (LOOKUP, 503, {}, b"<html>", "server-failed", None),
        (LOOKUP, 401, {}, CLOSED, "closed-host", None),
        (LOOKUP, 403, {}, b"", "closed-host", None),
        (LOOKUP, 404, {}, b"<html>Not here</html>", "closed-host", None),
        (LOOKUP, 404, {}, b'{"error": {"code": "UNKNOWN_API_ENDPOINT"}}', "closed-host", None),
        (LOOKUP, 410, {}, b'{"error": "Gone"}', "vanished", None),
        (LOOKUP, 302, {"Location": "http://169.254.169.254/"}, b"", "closed-host", None),
        (LOOKUP, 200, {}, b'{"acct": "person1', "garbled", None),
        (LOOKUP, 200, {}, b'{"acct": 7}', "garbled", None),
        (LISTS, 401, {}, CLOSED, "hidden", None),
        (LISTS, 422, {}, b'{"error": "x"}', "hidden", None),
        (LISTS, 200, {}, b'{"error": "x"}', "garbled", None),
    ],
)
def test_no_answer_of_one_server_ends_a_crawl(source, network, path, status, headers, body, kind, wait):
    network.instead[home(network, 1) + path] = (status, headers, body)
    question = "profile" if path == LOOKUP else "following"
    found = failure(source, kind=question, user=mastodon_id(network, 1), address="1001/5", size=5)
    assert (found.kind, found.wait) == (kind, wait)
    assert found.outcome is not Outcome.STOP


def test_the_limit_of_each_host_is_told_and_kept_apart(source, network):
    questions = [Question(kind="profile", user=mastodon_id(network, each)) for each in (0, 8, 9)]
    assert [source.lane(each) for each in questions] == [home(network, 0), home(network, 0), "birds.example"]
    assert source.lane(replace(questions[2], kind="posts")) == "birds.example"
    quota = source.ask(questions[2]).quota
    assert quota.remaining == 299
    assert 295 < quota.wait <= 301


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.0.0.7", "[::1]", "2130706433", "intern.example", "a.example:8080", "x/y",
             "a.example#", "", "user:pw@a.example", "metadata.internal"],
)  # fmt: skip
def test_a_home_that_is_not_public_is_never_asked(host):
    def refuse(address, port, timeout):
        raise AssertionError(f"{address} was asked")

    guard = Guard(resolve=lambda host, port, seconds: ["192.168.1.1"])
    source = Mastodon(client=Client(guard, "test", connect=refuse))
    found = failure(source, kind="profile", user=f"ann@{host}" if host else "ann@mastodon.social")
    assert (found.kind, found.outcome) == ("refused-host", Outcome.USER)


def test_only_the_configured_address_may_be_private(network):
    """Without a client of the test, too: the base is asked, and a user who is said to live on loopback is not."""
    source = Mastodon(url=network.url, timeout=5.0)
    assert profile(source, network, 0).name == "Person0 ✨"
    for host in ("127.0.0.1", f"localhost:{network.ports['http']}", f"127.0.0.1:{network.ports['https']}"):
        assert failure(source, kind="profile", user=f"person0@{host}").kind == "refused-host"


def test_a_server_that_cuts_connections_is_a_failure_of_its_own(source, network):
    assert failure(source, kind="profile", user="ann@down.example").kind == "connection-cut"
    with served(mastodon(NETWORK, Faults(truncated=1.0))) as torn:
        source = Mastodon(url=torn.url, client=torn.client())
        assert failure(source, kind="profile", user=mastodon_id(torn, 0)).kind == "garbled"


def test_what_is_kept_of_an_answer_names_everybody_in_full():
    """So that a person who is forgotten is found in the answers about others."""
    shown = Network((*NETWORK.people[:8], replace(NETWORK.people[8], follows=(12, 10)), *NETWORK.people[9:]))
    with served(mastodon(shown)) as other:
        source = Mastodon(url=other.url, client=other.client())
        kept = json.loads(
            source.ask(Question(kind="following", user=mastodon_id(other, 8), address="1008/2", size=80)).body
        )
        assert [each["acct"].lower() for each in kept["answer"]] == [mastodon_id(other, 12), mastodon_id(other, 10)]


def test_odd_records_are_left_out_and_break_nothing():
    def read(kind, answer):
        body = json.dumps({"host": "b.example", "next": 7, "answer": answer}).encode()
        return Mastodon().read(Question(kind=kind, user="a@b.example", address="1/"), body)

    accounts = [
        None,
        {},
        {"acct": 7},
        {"acct": "a"},
        {"acct": "@b.example"},
        {"acct": "x@b c"},
        {"acct": "C@d.example"},
    ]
    assert read("following", accounts).followed == ("c@d.example",)
    account = {"acct": "A@b.example"}
    own = {"uri": "https://b.example/u", "account": account, "visibility": "public"}
    statuses = [None, {"account": account}, {**own, "visibility": "private"}, {**own, "visibility": "direct"},
                {**own, "reblog": {"uri": "v"}}, {**own, "account": {"acct": "z@b.example"}},
                {**own, "uri": "y" * 1001}, {**own, "content": 7, "card": 8, "spoiler_text": "Rain"}]  # fmt: skip
    assert read("posts", statuses).posts == (Post(id="https://b.example/u", user="a@b.example", text="Rain"),)
    assert read("posts", statuses).cursor is None


def test_the_address_comes_from_a_variable_and_is_checked():
    assert sources["mastodon"].method.from_environment({}).where == "https://mastodon.social"
    with pytest.raises(InvalidInput, match="GRAPHPRIV_MASTODON_URL"):
        sources["mastodon"].method.from_environment({"GRAPHPRIV_MASTODON_URL": "mastodon.social"})


def test_the_library_of_the_network_understands_these_answers(network):
    """The made network speaks as the documentation says: Mastodon.py reads its answers and turns its pages."""
    library = import_module("mastodon")
    client = library.Mastodon(api_base_url=network.url, version_check_mode="none", ratelimit_method="throw")
    account = client.account_lookup("person0")
    assert account.fields[0]["name"] == "📍 Location"
    first = client.account_following(account.id, limit=3)
    assert [str(each.id) for each in first] == ["1001", "1002", "1003"]
    assert first._pagination_next["max_id"] == 3
    with pytest.raises(library.MastodonNotFoundError):
        client.account_lookup("nobody")


def test_no_server_can_replace_a_post_of_another_one():
    theirs = "https://a.example/users/ann/statuses/1"
    status = {"uri": theirs, "account": {"acct": "eve@b.example"}, "visibility": "public", "content": "mine"}
    body = json.dumps({"host": "b.example", "next": None, "answer": [status]}).encode()
    found = Mastodon().read(Question(kind="posts", user="eve@b.example", address="1/3"), body).posts
    assert [(each.id, each.user) for each in found] == [(f"eve@b.example {theirs}", "eve@b.example")]
