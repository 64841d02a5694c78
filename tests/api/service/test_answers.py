"""Answers that are kept for repeated requests."""

from __future__ import annotations

import subprocess
import sys

import pytest

from api.service.accounts import Accounts
from api.service.answers import Answer, Answers, KeyInUse, OtherRequest
from api.service.home import Home
from tabular.files.journal import MARK

#: Begins work under a key, says so, and waits to be killed.
BEGINS = """
import sys
from api.service.answers import Answers
from api.service.home import Home

answers = Answers(Home(sys.argv[1]))
assert answers.begin(sys.argv[2], "once", "request") is None
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path, create=True)


@pytest.fixture
def account(home):
    return Accounts(home).add("ann", "analyst")[0].id


def test_work_of_a_process_that_was_killed_is_for_whoever_asks_next(home, account, tmp_path):
    answers = Answers(home)
    command = [sys.executable, "-c", BEGINS, str(tmp_path), account]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        with pytest.raises(KeyInUse):
            answers.begin(account, "once", "request")
        process.kill()
        process.wait()
        with pytest.raises(OtherRequest):
            answers.begin(account, "once", "another request")
        assert answers.begin(account, "once", "request") is None
        with pytest.raises(KeyInUse):
            answers.begin(account, "once", "request")
    answers.end(account, "once", Answer(201, {}, b"made"))
    assert Answers(home).begin(account, "once", "request") == Answer(201, {}, b"made")


def test_who_stops_lets_go_and_what_the_killed_leave_goes(home, account, tmp_path):
    stopped, other = Answers(home), Answers(home)
    assert stopped.begin(account, "once", "request") is None
    stopped.close()
    (tmp_path / "alive-left").touch()
    (tmp_path / f"{MARK}0.new").touch()
    assert other.begin(account, "once", "request") is None
    (alive,) = tmp_path.glob("*alive-*")
    assert alive.name != "alive-left"
    other.close()
    assert [*tmp_path.glob("*alive-*"), *tmp_path.glob(f"{MARK}*")] == []


def test_what_was_asked_stands_there_under_the_secret_of_the_service_alone(home, account, tmp_path):
    answers, digest = Answers(home), "7c1f" * 16
    assert answers.begin(account, "key", digest) is None
    answers.end(account, "key", Answer(201, {}, b"made"))
    assert answers.begin(account, "key", digest) == Answer(201, {}, b"made")
    with pytest.raises(OtherRequest):
        answers.begin(account, "key", "0" * 64)
    assert digest.encode() not in b"".join(each.read_bytes() for each in home.folder.glob("service.db*"))
