"""How often a question is asked: of one network, of hosts of many, and of a host that failed before."""

from __future__ import annotations

import pytest

from crawler.crawling.asking import FIRST_TRIES, HOST_TRIES, MUTE_TRIES, TRIES, Asker, Left
from crawler.sources import Answer, Page, Question
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
    return Asker(source, Hurried().clock, **given), log


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
