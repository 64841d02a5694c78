"""Streams of events."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack

import pytest

from api.app import create_app
from api.http.routes import jobs as routes
from api.service import listeners
from api.service.listeners import Listeners, TooManyListeners
from graphpriv.store import open_store
from tests.api.http.conftest import running
from tests.api.http.fakes import FakeEvent, FakeJobs


@pytest.fixture
def jobs():
    return FakeJobs()


@pytest.fixture
def app(config, jobs):
    open_store(config["STORE"], create=True).close()
    made = create_app(config, queue=jobs)
    yield made
    made.extensions["graphpriv"].close()


@pytest.fixture
def job(custodian, jobs):
    custodian.post("/v1/demo", {})
    return jobs.all["job0"]


def test_a_stream_tells_what_has_happened_and_ends_with_the_job(custodian, job):
    job.state = "done"
    answer = custodian.get("/v1/jobs/job0/events")
    assert answer.mimetype == "text/event-stream"
    assert answer.headers["Cache-Control"] == "no-store"
    parts = answer.text.split("\n\n")
    assert parts[0] == "retry: 500"
    assert parts[1] == 'id: 1\nevent: state\ndata: {"state": "queued"}'
    assert parts[3] == 'id: 3\nevent: state\ndata: {"state": "done"}'


def test_it_goes_on_after_the_last_event_that_was_heard(custodian, job):
    job.state = "done"
    answer = custodian.get("/v1/jobs/job0/events", headers={"Last-Event-ID": "2"})
    assert "id: 2" not in answer.text and "id: 3" in answer.text
    assert custodian.get("/v1/jobs/job0/events", headers={"Last-Event-ID": "3"}).status_code == 204
    assert "id: 1" in custodian.get("/v1/jobs/job0/events", headers={"Last-Event-ID": "x"}).text


def test_what_happens_while_somebody_listens_is_told_at_once(custodian, job):
    threading.Timer(0.5, lambda: setattr(job, "state", "failed")).start()
    begun = time.monotonic()
    assert '"failed"' in custodian.get("/v1/jobs/job0/events").text
    assert time.monotonic() - begun < 5


def test_a_stream_ends_in_time_and_says_that_it_lives(custodian, job, monkeypatch):
    monkeypatch.setattr(routes, "STREAM_SECONDS", 1.0)
    monkeypatch.setattr(routes, "HEARTBEAT", 0.3)
    text = custodian.get("/v1/jobs/job0/events").text
    assert text.count(":\n\n") >= 2
    assert text.startswith("retry: 500\n\n")


def test_only_so_many_listen_at_once_and_who_leaves_makes_room(custodian, job, service):
    held = [custodian.get("/v1/jobs/job0/events", buffered=False) for _ in range(listeners.MOST)]
    refused = custodian.get("/v1/jobs/job0/events")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    # Others are answered meanwhile.
    assert custodian.get("/v1/jobs/job0").status_code == 200
    for each in held:
        each.close()
    job.state = "done"
    assert custodian.get("/v1/jobs/job0/events").status_code == 200
    assert service.listeners._all == []


def test_whoever_closes_a_connection_makes_room_at_once(app, custodian, job, service):
    head = f"Host: a\r\nAuthorization: Bearer {custodian.token}\r\n\r\n"
    with running(app) as address, ExitStack() as opened:
        for _ in range(listeners.MOST):
            connection = opened.enter_context(socket.create_connection(address, timeout=20))
            connection.sendall(f"GET /v1/jobs/job0/events HTTP/1.1\r\n{head}".encode())
            assert b" 200 " in connection.recv(65536)
        # One who still listens is no client that has gone.
        time.sleep(3 * listeners.OFTEN)
        assert service.listeners.count == listeners.MOST
        opened.close()
        until = time.monotonic() + routes.HEARTBEAT / 3
        while service.listeners.count and time.monotonic() < until:
            time.sleep(0.05)
        assert service.listeners.count == 0


def test_places_come_back_after_streams(custodian, job):
    job.state = "done"
    for _ in range(100):
        assert custodian.get("/v1/jobs/job0/events").status_code == 200


def test_one_reader_asks_for_all_and_stops_when_nobody_listens(monkeypatch):
    monkeypatch.setattr(listeners, "OFTEN", 0.01)
    asked = []

    def ask(after):
        asked.append((threading.current_thread().name, dict(after)))
        return [FakeEvent(job, number + 1, "progress", {}) for job, number in after.items() if number < 3]

    everybody = Listeners(ask)
    with everybody.listening("a", 0) as one, everybody.listening("a", 2) as late, everybody.listening("b", 0) as other:
        assert [one.heard(2).number for _ in range(3)] == [1, 2, 3]
        assert late.heard(2).number == 3 and other.heard(2).number == 1
        assert one.heard(0.1) is None
    time.sleep(0.1)
    before = len(asked)
    time.sleep(0.1)
    assert len(asked) == before
    assert {name for name, _ in asked} == {"listeners"}
    with everybody.listening("a", 0) as again:
        assert again.heard(2).number == 1


def test_too_many_are_refused():
    everybody = Listeners(lambda after: [])
    opened = [everybody.listening("a", 0) for _ in range(listeners.MOST)]
    for each in opened:
        each.__enter__()
    with pytest.raises(TooManyListeners), everybody.listening("a", 0):
        pass
    for each in opened:
        each.__exit__(None, None, None)
