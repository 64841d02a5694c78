"""The client of tagging services, over real HTTP: both shapes of answers, and every failure with its one outcome."""

from __future__ import annotations

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.topics import categorisers
from crawler.topics.tagging import LONGEST, TRIES, Tagging, topics_of
from graphpriv.topics import TOPICS
from tabular.errors import InvalidInput, SourceUnavailable
from tests.crawler.topics.tagging_service import TOKEN, Say, new, old, serving

#: Years ago.
THEN = "Tue, 13 Apr 2021 03:53:58 GMT"

FINE = Say(new(("Politics", 0.9)))
REFUSES = "it refuses the request ({}); look at GRAPHPRIV_TAGGING_URL."
QUOTA = b"You exceeded the allowed quota of 5000 requests per day. Please try again later."
CONCURRENT = b"You exceeded the concurrent request limit for your license key. Please try again later."


def asked(*says, texts=("A text",), **given_):
    """The answer of a service that says this, the pauses that were made, and what it was asked."""
    pauses: list[float] = []
    with serving(*says) as service:
        tagging = Tagging(url=service.url, token=TOKEN, sleep=pauses.append, **given_)
        try:
            return tagging.categorise(list(texts)), pauses, service
        except SourceUnavailable as error:
            assert TOKEN not in str(error) and TOKEN not in repr(tagging)
            return str(error), pauses, service


def test_an_answer_of_open_calais():
    found, _, service = asked(Say(old(("Business_Finance", 0.478), ("War_Conflict", 0.9), ("Human_Interest", None))))
    assert found == [[("War_Conflict", 0.9), ("Business_Finance", 0.478), ("Human Interest", 0.0)]]
    headers, body = service.asked[0]
    assert headers["x-ag-access-token"] == headers["x-calais-licenseid"] == TOKEN
    assert headers["outputformat"] == "application/json" and headers["content-type"].startswith("text/raw")
    assert body == b"A text"


def test_an_answer_of_intelligent_tagging():
    found, _, _ = asked(Say(new(("Social Issues", 1), ("Health_Medical_Pharma", "0.62"), ("Other", 1))))
    assert found == [[("Social Issues", 1.0), ("Health_Medical_Pharma", 0.62)]]


def test_topics_one_level_further_down_are_found():
    flat = json.loads(old(("Labor", 0.5)))
    address = next(name for name in flat if "/cat/" in name)
    assert topics_of({"doc": flat["doc"], "topics": {address: flat[address]}}) == [("Labor", 0.5)]


def test_every_way_to_write_the_eighteen_is_known():
    for name in TOPICS:
        for written in (name, name.replace("_", " "), name.replace("_", "").replace(" ", ""), name.upper()):
            assert topics_of(json.loads(new((written, 0.5))))[0][0] == name


def test_names_that_are_none_of_them_and_nothing_at_all_are_other():
    assert topics_of(json.loads(new(("Banking Today", 0.9)))) == [("Other", 1.0)]
    assert topics_of({}) == [("Other", 1.0)]
    assert topics_of(json.loads(old(("Other", 0.3)))) == [("Other", 0.3)]


keys = st.sampled_from(["_typeGroup", "name", "categoryName", "score", "topics", "x"])
plain = st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(TOPICS) | st.just("topics")
json_values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_whatever_an_object_holds_the_answer_is_one(document):
    found = topics_of(document)
    names = [name for name, _ in found]
    assert names and set(names) <= set(TOPICS) and len(set(names)) == len(names)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True) and all(0 <= each <= 1 for each in scores)


def test_equal_texts_are_asked_once_and_empty_ones_never():
    found, _, service = asked(FINE, texts=("a", "b", "a", "  "))
    assert found == [[("Politics", 0.9)]] * 3 + [[("Other", 1.0)]]
    assert [body for _, body in service.asked] == [b"a", b"b"]


def test_a_long_text_is_cut_where_a_character_ends():
    _, _, service = asked(FINE, texts=("é" * LONGEST,))
    body = service.asked[0][1]
    assert LONGEST - 2 < len(body) <= LONGEST and set(body.decode()) == {"é"}


@pytest.mark.parametrize(
    ("first", "pauses"),
    [
        (Say(b"Too many", 429, {"Retry-After": "7"}), [7.0]),
        (Say(b"", 429), [2.0]),
        (Say(CONCURRENT, 429), [2.0]),
        (Say(b"<h1>Developer Over Qps</h1>", 403, {"Retry-After": "1"}), [1.0]),
        (Say(CONCURRENT, 200), [2.0]),
        # By the service's own clock, which is years behind.
        (
            Say(b"", 503, {"Retry-After": "Tue, 13 Apr 2021 03:54:08 GMT", "Date": THEN}),
            [10.0],
        ),
        (Say(b"", 503, {"Retry-After": "soon"}), [2.0]),
        (Say(b"", 500), [2.0]),
        (Say(new(("Politics", 1)), cut=40), [2.0]),
        (Say(new(("Politics", 1))[:40]), [2.0]),
        (Say(b"<html>"), [2.0]),
        (Say(b"[]"), [2.0]),
        (Say(b""), [2.0]),
        (Say(b'{"a":' * 5000), [2.0]),
    ],
    ids=lambda each: f"{each.status} {each.body[:20]!r}" if isinstance(each, Say) else "",
)
def test_what_passes_is_tried_again(first, pauses):
    assert asked(first, FINE)[:2] == ([[("Politics", 0.9)]], pauses)


@pytest.mark.parametrize(
    ("say", "error"),
    [
        (Say(b"", 401), "the token in GRAPHPRIV_TAGGING_TOKEN is refused."),
        (Say(b"Forbidden", 403), "the token in GRAPHPRIV_TAGGING_TOKEN is refused."),
        (Say(QUOTA, 429, {"Retry-After": "1"}), "the quota of the token is used up; try again tomorrow."),
        (Say(b"<h1>Developer Over Rate</h1>", 403), "the quota of the token is used up; try again tomorrow."),
        (Say(QUOTA, 200), "the quota of the token is used up; try again tomorrow."),
        (Say(b"", 429, {"Retry-After": "86400"}), "it was asked too fast. It asks to wait 86,400 seconds."),
        (Say(b"", 302, {"Location": "http://127.0.0.1:1/"}), REFUSES.format(302)),
        (Say(b"", 404), REFUSES.format(404)),
        (Say(b"x" * (9 << 20)), "its answer is too large."),
    ],
    ids=lambda each: f"{each.status} {each.body[:20]!r}" if isinstance(each, Say) else "",
)  # fmt: skip
def test_what_does_not_pass_ends_it_at_once(say, error):
    found, pauses, service = asked(say)
    assert (found, pauses, len(service.asked)) == (f"tagging: 127.0.0.1: {error}", [], 1)


def test_tries_are_bounded_and_pauses_double():
    found, pauses, service = asked(Say(b"", 503))
    assert found == "tagging: 127.0.0.1: it has no capacity now."
    assert (pauses, len(service.asked)) == ([2.0, 4.0, 8.0, 16.0], TRIES)


def test_a_service_that_is_silent_or_drips_is_left_in_time():
    # A busy machine, too, answers within a second.
    for say in (Say(late=2.0), Say(new(("Politics", 1)), drip=0.1)):
        found, pauses, service = asked(say, FINE, timeout=1.0)
        assert (found, pauses, len(service.asked)) == ([[("Politics", 0.9)]], [2.0], 2)


def test_a_service_that_is_not_there_is_named_without_its_path():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:pass@127.0.0.1:{free.getsockname()[1]}/x?key={TOKEN}"
    with pytest.raises(SourceUnavailable) as error:
        Tagging(url=url, token=TOKEN, sleep=lambda _: None).categorise(["a"])
    assert str(error.value) == "tagging: 127.0.0.1: it cannot be reached."


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({}, "tagging: set GRAPHPRIV_TAGGING_URL to its address."),
        ({"GRAPHPRIV_TAGGING_URL": "http://x"}, "tagging: set GRAPHPRIV_TAGGING_TOKEN to your token."),
        ({"GRAPHPRIV_TAGGING_URL": "ftp://x", "GRAPHPRIV_TAGGING_TOKEN": TOKEN}, "must be an address that begins"),
        ({"GRAPHPRIV_TAGGING_URL": "http://x:99999", "GRAPHPRIV_TAGGING_TOKEN": TOKEN}, "must be an address"),
        ({"GRAPHPRIV_TAGGING_URL": "http://x", "GRAPHPRIV_TAGGING_TOKEN": "a\nb"}, "characters that no token has"),
    ],
)
def test_what_is_not_set_is_named(environ, problem, monkeypatch):
    for name in ("GRAPHPRIV_TAGGING_URL", "GRAPHPRIV_TAGGING_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput, match=problem) as error:
        categorisers["tagging"].make({})
    assert TOKEN not in str(error.value)
