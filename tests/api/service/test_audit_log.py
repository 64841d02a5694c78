"""The audit log and its chain."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from api.service import audit_log
from api.service.audit_log import AuditLog
from api.service.home import Home
from tabular.errors import FileFailure


@pytest.fixture
def log(tmp_path):
    return AuditLog(Home(tmp_path, create=True))


def filled(log):
    for number in range(5):
        log.add("read", "original", f"g{number}", account="ann", role="custodian", details={"format": "json"})
    return log


def changed(tmp_path, *statements):
    with sqlite3.connect(tmp_path / "service.db") as db:
        for trigger in ("audit_log_is_not_changed", "audit_log_is_not_cut"):
            db.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            db.execute(statement)


def test_it_keeps_what_is_added_the_newest_first(log):
    filled(log)
    assert [each.object for each in log.entries()] == ["g4", "g3", "g2", "g1", "g0"]
    assert [each.number for each in log.entries(before=4, limit=2)] == [3, 2]
    entry = log.entries()[0]
    assert (entry.account, entry.action, dict(entry.details)) == ("ann", "read", {"format": "json"})
    assert log.end() == (5, entry.hash)
    assert log.problems() == []
    moment = datetime.fromisoformat(entry.time)
    assert (moment.tzinfo, datetime.now(UTC) - moment < timedelta(hours=1)) == (UTC, True)


def test_what_chains_the_entries_can_be_exchanged_and_each_says_what_it_is(log, tmp_path, monkeypatch):
    filled(log)
    # As entries were before they said what chains them.
    old = []
    for entry in log.entries()[::-1]:
        plain = replace(entry, hash="")
        old.append(replace(plain, hash=plain.expected_hash(old[-1].hash if old else "0" * 64)))
    told = {name: value for name, value in old[0].document.items() if name != "hash"}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    assert old[0].hash == hashlib.sha256(f"{'0' * 64}\n{text}".encode()).hexdigest()
    changed(
        tmp_path, *(f"UPDATE audit_log SET hash = '{each.hash}' WHERE number = {each.number}" for each in old),
        f"UPDATE audit_log_end SET hash = '{old[-1].hash}'",
    )  # fmt: skip
    assert log.problems() == []
    filled(log)
    monkeypatch.setattr(audit_log, "_CHAINED_BY", "sha3-256")
    filled(log)
    assert [each.chained_by for each in log.entries()] == ["sha3-256"] * 5 + ["sha256"] * 10
    assert [len(each.hash) for each in log.entries()[::5]] == [64 + 9, 64 + 7, 64]
    assert log.problems() == []
    # An entry is not what it is by another name, or by one that nobody knows.
    for name, said in (("sha256:", "does not fit"), ("", "does not fit"), ("md5:", "nothing here knows")):
        with sqlite3.connect(tmp_path / "service.db") as db:
            (before,) = db.execute("SELECT hash FROM audit_log WHERE number = 12").fetchone()
            db.execute("UPDATE audit_log SET hash = ? WHERE number = 12", (name + before.rpartition(":")[2],))
        (problem,) = log.problems()
        assert said in problem and "entry 12" in problem


def test_an_empty_log_is_sound(log):
    assert log.problems() == []
    assert log.end()[0] == 0


def test_the_database_itself_refuses_to_change_an_entry(log, tmp_path):
    filled(log)
    with sqlite3.connect(tmp_path / "service.db") as db:
        for statement in ("UPDATE audit_log SET object = 'x'", "DELETE FROM audit_log"):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET account = 'bob' WHERE number = 3",
        "UPDATE audit_log SET details = '{}' WHERE number = 1",
        "UPDATE audit_log SET details = 'x' WHERE number = 2",
        "UPDATE audit_log SET hash = replace(hash, '1', '2') WHERE number = 5",
        "DELETE FROM audit_log WHERE number = 3",
        "DELETE FROM audit_log WHERE number = 1",
        "DELETE FROM audit_log WHERE number = 5",
        "DELETE FROM audit_log",
        "UPDATE audit_log SET number = 6 WHERE number = 5",
        "INSERT INTO audit_log SELECT 6, time, account, role, action, kind, object, details, hash "
        "FROM audit_log WHERE number = 5",
    ],
)
def test_every_change_behind_its_back_is_found(log, tmp_path, statement):
    filled(log)
    changed(tmp_path, statement)
    assert len(log.problems()) == 1


def test_two_entries_that_change_places_are_found(log, tmp_path):
    filled(log)
    changed(
        tmp_path,
        "UPDATE audit_log SET number = 9 WHERE number = 2",
        "UPDATE audit_log SET number = 2 WHERE number = 3",
        "UPDATE audit_log SET number = 3 WHERE number = 9",
    )
    assert len(log.problems()) == 1


def test_entries_of_many_threads_make_one_chain(log):
    threads = [threading.Thread(target=filled, args=(log,)) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert log.end()[0] == 30
    assert log.problems() == []


def test_those_who_wait_for_the_disk_are_written_together(log, monkeypatch):
    plain, times = log._home.writing, []

    @contextmanager
    def slow():
        times.append(1)
        with plain() as db:
            yield db
            time.sleep(0.1)

    monkeypatch.setattr(log._home, "writing", slow)
    with ThreadPoolExecutor(20) as threads:
        entries = [*threads.map(lambda name: log.add("read", "original", f"g{name}"), range(20))]
    assert len(times) < 10
    assert {each.object: each.number for each in entries} == {each.object: each.number for each in log.entries()}
    assert len(log.entries()) == 20 and log.problems() == []


def test_an_entry_that_cannot_be_written_is_an_error_of_whoever_wanted_it(log, monkeypatch):
    @contextmanager
    def full():
        raise FileFailure("The disk is full.")
        yield

    with monkeypatch.context() as patched, ThreadPoolExecutor(5) as threads:
        patched.setattr(log._home, "writing", full)
        tried = [threads.submit(log.add, "read", "original", "g") for _ in range(5)]
        assert all(isinstance(each.exception(), FileFailure) for each in tried)
    assert log.add("read", "original", "g").number == 1
