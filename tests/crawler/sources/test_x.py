"""X: recorded answers, answers as its documentation shows them, and every failure with its one name."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.sources import Page, Profile, Question, sources
from crawler.sources.contract import opts_out
from crawler.sources.failures import FAILURES, Failure, Outcome
from crawler.sources.x import X, classify
from graphpriv.store.records import Post
from tabular.errors import InvalidInput

SOURCE = X(token="secret")

#: What the keys of answers are called.
KEYS = [
    *("data", "errors", "meta", "id", "username", "name", "public_metrics", "following_count", "next_token", "type"),
    *("entities", "urls", "expanded_url", "note_tweet", "text", "author_id", "resource_id", "description", "protected"),
]

#: The question whose answers have the shape of each recording; the other recordings are of no users and no posts.
RECORDED = {
    "get_me": "start",
    "get_user": "start",
    "get_users": "profiles",
    **dict.fromkeys(("get_users_following", "get_users_followers", "get_list_followers"), "following"),
    **dict.fromkeys(("get_list_members", "get_liking_users", "get_retweeters"), "following"),
    **dict.fromkeys(("get_users_tweets", "get_home_timeline", "get_liked_tweets", "get_list_tweets"), "posts"),
    **dict.fromkeys(("get_quote_tweets", "get_users_mentions", "search_all_tweets", "search_recent_tweets"), "posts"),
    **dict.fromkeys(("get_tweet", "get_tweets"), "posts"),
}  # fmt: skip

NEITHER_USERS_NOR_POSTS = {"get_list", "get_all_tweets_count", "get_recent_tweets_count"}


def read(kind, answer, **question):
    return SOURCE.read(Question(kind=kind, **question), json.dumps(answer).encode())


def failure(kind, answer, **question):
    with pytest.raises(Failure) as raised:
        read(kind, answer, **question)
    return raised.value.kind


@pytest.mark.shared_data
def test_every_recorded_answer_is_read_without_loss(shared_folder):
    files = sorted((shared_folder / "tweepy_cassettes").glob("*.json"))
    assert {file.stem for file in files} == set(RECORDED) | NEITHER_USERS_NOR_POSTS
    for file in files:
        for exchange in json.loads(file.read_text())["interactions"]:
            if file.stem not in NEITHER_USERS_NOR_POSTS:
                agrees(RECORDED[file.stem], exchange["body"])


def agrees(kind, body):
    """Every record of an answer is in its page, in the same order, with all that we take of one."""
    page, data = read(kind, body), body["data"]
    records = data if isinstance(data, list) else [data]
    assert records
    assert page.cursor == body.get("meta", {}).get("next_token")
    assert [id for _, id in page.charged] == [each["id"] for each in records]
    if kind == "posts":
        assert [(each.id, each.text) for each in page.posts] == [(each["id"], each["text"]) for each in records]
        for post, record in zip(page.posts, records, strict=True):
            told = [
                each["expanded_url"] for each in record.get("entities", {}).get("urls", []) if "media_key" not in each
            ]
            assert set(told) <= set(post.links)
            assert (post.user, post.created) == (record.get("author_id", ""), record.get("created_at"))
    elif kind == "following":
        assert list(page.followed) == [each["id"] for each in records]
    else:
        assert [(each.id, each.handle, each.name) for each in page.profiles] == [
            (each["id"], each["username"], each["name"]) for each in records
        ]


def test_a_profile_has_what_the_documentation_shows():
    user = {
        "id": "2244994945", "username": "XDevelopers", "name": "Developers", "location": "127.0.0.1",
        "description": "Voice of X's developers", "protected": False,
        "public_metrics": {"followers_count": 583423, "following_count": 2048, "tweet_count": 14052},
    }  # fmt: skip
    page = read("profile", {"data": user}, user="2244994945")
    told = {"handle": "XDevelopers", "name": "Developers", "location_text": "127.0.0.1"}
    assert page.profiles == (Profile(id="2244994945", **told, following=2048, posts=14052),)
    assert page.charged == (("user", "2244994945"),)


@pytest.mark.parametrize(
    ("told", "state"), [({"protected": True}, "locked"), ({"description": "no robots #NoBot!"}, "opted-out")]
)
def test_who_asks_not_to_be_collected_comes_without_a_name(told, state):
    page = read(
        "profile", {"data": {"id": "7", "username": "ann", "name": "Ann", "location": "Rome", **told}}, user="7"
    )
    assert page.profiles == (Profile(id="7", state=state),)
    assert page.charged == (("user", "7"),)


def test_opting_out_is_a_tag_of_its_own():
    assert opts_out("x #nobot") and opts_out("(#NOBOT)")
    assert not opts_out("#nobotany") and not opts_out("nobot") and not opts_out("")


def test_links_of_a_post_are_expanded_and_media_are_none():
    urls = [
        {"url": "https://t.co/a", "expanded_url": "https://example.org/a"},
        {"url": "https://t.co/b", "expanded_url": "https://ex.org/b", "unwound_url": "https://example.org/b"},
        {"url": "https://t.co/c", "expanded_url": "https://x.com/ann/status/1/photo/1", "media_key": "3_1"},
    ]
    record = {"id": "1", "author_id": "7", "text": "short…", "created_at": "2026-01-02T03:04:05.000Z",
              "entities": {"urls": urls}, "note_tweet": {"text": "the whole of it"}}  # fmt: skip
    assert read("posts", {"data": [record], "meta": {"next_token": "n"}}, user="7") == Page(
        posts=(
            Post(
                id="1", user="7", text="the whole of it", created="2026-01-02T03:04:05.000Z",
                links=("https://example.org/a", "https://example.org/b"),
            ),
        ),
        cursor="n",
        charged=(("post", "1"),),
    )  # fmt: skip


NOT_FOUND = {"title": "Not Found Error", "resource_id": "9", "resource_type": "user", "parameter": "id",
             "type": "https://api.twitter.com/2/problems/resource-not-found", "detail": "Not here."}  # fmt: skip
SUSPENDED = {**NOT_FOUND, "title": "Forbidden", "detail": "User has been suspended: [9]."}
PROTECTED = {**NOT_FOUND, "title": "Authorization Error",
             "type": "https://api.twitter.com/2/problems/not-authorized-for-resource"}  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "kind"), [(NOT_FOUND, "vanished"), (SUSPENDED, "suspended"), (PROTECTED, "locked")]
)
def test_users_who_are_gone_are_told_within_an_answer_of_status_200(problem, kind):
    for question in ("start", "profile", "following", "posts"):
        assert failure(question, {"errors": [problem]}, user="9") == kind
    page = read("profiles", {"data": [{"id": "8", "username": "b"}], "errors": [problem]}, users=("8", "9"))
    assert [(each.id, each.state) for each in page.profiles] == [("8", "kept"), ("9", kind)]
    assert page.charged == (("user", "8"),)


def test_an_empty_list_is_no_failure_and_half_an_answer_is_one():
    assert read("following", {"meta": {"result_count": 0}}, user="7") == Page()
    for body in (b"", b'{"data": [{"id"', b"[]", b"{}", b"<html>"):
        with pytest.raises(Failure) as raised:
            SOURCE.read(Question(kind="following", user="7"), body)
        assert raised.value.kind == "garbled"


CLOCK = {"Date": "Tue, 13 Apr 2021 03:53:58 GMT", "x-rate-limit-reset": "1618286938"}
CAPPED = {"title": "UsageCapExceeded", "product_name": "standard-basic", "period": "Monthly",
          "type": "https://api.twitter.com/2/problems/usage-capped"}  # fmt: skip
NOT_ENROLLED = {"title": "Client Forbidden", "reason": "client-not-enrolled", "required_enrollment": "Standard Basic",
                "type": "https://api.twitter.com/2/problems/client-forbidden"}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "headers", "problem", "kind", "wait", "detail"),
    [
        (429, CLOCK, {"title": "Too Many Requests"}, "rate-limited", 900.0, ""),
        (429, {}, None, "rate-limited", None, ""),
        (429, {"x-rate-limit-reset": "soon"}, None, "rate-limited", None, ""),
        (429, CLOCK, CAPPED, "cap-reached", None, "standard-basic"),
        (401, {}, {"title": "Unauthorized"}, "token-refused", None, ""),
        (402, {}, {"title": "CreditsDepleted"}, "payment-required", None, ""),
        (403, {}, NOT_ENROLLED, "not-in-plan", None, "Standard Basic"),
        (403, {}, {"errors": [SUSPENDED]}, "suspended", None, ""),
        (403, {}, PROTECTED, "locked", None, ""),
        (404, {}, {"errors": [NOT_FOUND]}, "vanished", None, ""),
        (404, {}, None, "vanished", None, ""),
        (503, {}, None, "server-failed", None, "HTTP 503"),
        (500, {}, [1], "server-failed", None, "HTTP 500"),
        (400, {}, {"title": "Invalid Request"}, "refused", None, "HTTP 400"),
        (302, {}, None, "refused", None, "HTTP 302"),
    ],
)
def test_every_other_status_is_one_failure(status, headers, problem, kind, wait, detail):
    found = classify(status, headers, problem)
    assert (found.kind, found.wait, found.detail) == (kind, wait, detail)


def test_what_is_about_one_user_ends_no_crawl_and_what_is_about_the_account_does():
    assert {kind for kind, each in FAILURES.items() if each.outcome is Outcome.STOP} == {
        "cap-reached", "payment-required", "token-refused", "not-in-plan", "refused",
    }  # fmt: skip
    assert {"vanished", "suspended", "locked", "opted-out"} <= {
        kind for kind, each in FAILURES.items() if each.outcome is Outcome.USER
    }


def test_credentials_come_from_variables_and_are_shown_by_nobody():
    made = sources["x"].method.from_environment(
        {"GRAPHPRIV_X_TOKEN": "sesame", "GRAPHPRIV_X_URL": "http://127.0.0.1:1"}
    )
    assert made.where == "http://127.0.0.1:1"
    assert "sesame" not in repr(made)
    with pytest.raises(InvalidInput, match="GRAPHPRIV_X_TOKEN"):
        sources["x"].method.from_environment({})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("7"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.sampled_from(["start", "profile", "profiles", "following", "posts"]), ANYTHING)
def test_whatever_comes_back_is_a_page_or_a_failure(kind, answer) -> None:
    with suppress(Failure):
        assert isinstance(read(kind, answer, user="7", users=("7", "8")), Page)
    assert isinstance(classify(403, {}, answer), Failure)
