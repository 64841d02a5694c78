"""How often a question is asked: of one network, of hosts of many, and of a host that failed before."""

from __future__ import annotations

import pytest

from crawler.crawling.asking import (
    FIRST_TRIES,
    HOST_TRIES,
    MUTE_TRIES,
    PATIENCE,
    PER_ANSWER,
    TRIES,
    WAITS,
    Asker,
    Left,
)
from crawler.sources import Answer, Page, Question, Quota
from crawler.sources.bluesky import Bluesky
from crawler.sources.failures import Failure
from crawler.sources.mastodon import Mastodon
from tests.crawler.crawling.crawls import Hurried

ANN, BO, CY = (Question(kind="profile", user=user) for user in ("ann@a.org", "bo@a.org", "cy@c.org"))


def asker(method: type, failures: dict[str, str], **given) -> tuple[Asker, list[str]]:
    """Somebody who asks a network some hosts of which fail, and what was asked."""
    source, log = method(), []

    def ask(question: Question) -> Answer:
        host = question.user.rpartition("@")[2]
        log.append(host)
        if host in failures:
            raise Failure(failures[host])
        return Answer(b"")

    object.__setattr__(source, "ask", ask)
    object.__setattr__(source, "read", lambda question, body: Page())
    return Asker(source, given.pop("clock", None) or Hurried().clock, **given), log


@pytest.mark.parametrize(
    ("kind", "times"),
    [("unreachable", MUTE_TRIES), ("too-slow", MUTE_TRIES), ("server-failed", HOST_TRIES), ("garbled", HOST_TRIES)],
)
def test_a_host_that_fails_is_left_alone_and_the_others_are_not(kind: str, times: int) -> None:
    asking, log = asker(Mastodon, {"a.org": kind})
    with pytest.raises(Failure, match=kind):
        asking.ask(ANN)
    for _ in range(3):
        with pytest.raises(Left):
            asking.ask(BO)
    asking.ask(CY)
    assert log == ["a.org"] * times + ["c.org"]
    assert asking.failing == {"a.org"}


def test_a_host_that_failed_before_is_asked_once_and_then_as_often_as_any_if_it_answers() -> None:
    failures = {"a.org": "server-failed"}
    asking, log = asker(Mastodon, failures, failed_before={"a.org", "c.org"})
    with pytest.raises(Failure):
        asking.ask(ANN)
    asking.ask(CY)
    assert (log, asking.failing) == (["a.org", "c.org"], {"a.org"})
    failures["c.org"] = "server-failed"
    with pytest.raises(Failure):
        asking.ask(CY)
    assert log.count("c.org") == 1 + HOST_TRIES


def test_a_network_of_one_host_is_never_left_alone() -> None:
    failures = {"a.org": "server-failed"}
    asking, log = asker(Bluesky, failures)
    for tries in (FIRST_TRIES, 2 * FIRST_TRIES):
        with pytest.raises(Failure):
            asking.ask(ANN)
        assert len(log) == tries
    del failures["a.org"]
    asking.ask(ANN)
    failures["a.org"] = "server-failed"
    with pytest.raises(Failure):
        asking.ask(ANN)
    assert len(log) == 2 * FIRST_TRIES + 1 + TRIES
    assert asking.failing == set()


def limited(source, answers: int, then: list[str], wait: float | None = None) -> None:
    """Let a host answer so often, and then say for ever that it is to be waited for."""

    def ask(question: Question) -> Answer:
        then.append(question.user)
        if len(then) <= answers or not question.user.endswith("@a.org"):
            return Answer(b"")
        raise Failure("rate-limited", wait=wait)

    object.__setattr__(source, "ask", ask)


@pytest.mark.parametrize("wait", [None, 300.0, 900.0])
def test_a_host_that_only_ever_says_wait_is_left_alone_in_bounded_time(wait: float | None) -> None:
    hurried, log = Hurried(), []
    asking, _ = asker(Mastodon, {}, clock=hurried.clock)
    limited(asking.source, 0, log, wait)
    with pytest.raises(Failure, match="rate-limited"):
        asking.ask(ANN)
    assert 840 <= sum(hurried.waits) <= PATIENCE
    waited, asked = sum(hurried.waits), len(log)
    for _ in range(3):
        with pytest.raises(Left):
            asking.ask(BO)
    asking.ask(CY)
    assert (sum(hurried.waits), len(log), asking.failing) == (waited, asked + 1, {"a.org"})


def test_a_host_that_answers_between_its_limits_is_waited_for_as_long_as_it_is_worth() -> None:
    hurried, log = Hurried(), []
    asking, _ = asker(Mastodon, {}, clock=hurried.clock)

    def ask(question: Question) -> Answer:
        log.append(question.user)
        # Three hundred in five minutes, as Mastodon has it; later one in ten.
        left = 0 if len(log) > 3000 or len(log) % 300 == 0 else 1
        return Answer(b"", quota=Quota(left, 600.0 if len(log) > 3000 else 300.0))

    object.__setattr__(asking.source, "ask", ask)
    for _ in range(3000):
        asking.ask(ANN)
    assert 2700 <= sum(hurried.waits) <= 3020
    with pytest.raises(Left):
        for _ in range(1000):
            asking.ask(ANN)
    assert sum(hurried.waits) <= PATIENCE + PER_ANSWER * len(log)
    # Who is asked again in vain counts as nobody asked.
    asked = len(log)
    with pytest.raises(Left):
        asking.ask(BO)
    assert len(log) == asked


def test_a_host_that_was_left_alone_before_is_waited_for_once() -> None:
    hurried, log = Hurried(), []
    asking, _ = asker(Mastodon, {}, clock=hurried.clock, failed_before={"a.org"})
    limited(asking.source, 0, log, 300.0)
    with pytest.raises(Failure, match="rate-limited"):
        asking.ask(ANN)
    assert (len(log), sum(hurried.waits)) == (2, 301.0)


def test_a_network_of_one_host_is_waited_for_as_often_as_it_says() -> None:
    hurried, log = Hurried(), []
    asking, _ = asker(Bluesky, {}, clock=hurried.clock)
    limited(asking.source, 0, log, 900.0)
    with pytest.raises(Failure, match="rate-limited"):
        asking.ask(ANN)
    assert len(log) == WAITS
