"""The client against a service, through a wire that is cut."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from api.app import create_app
from api.http.gate import LARGEST_BODY
from api.verbs import verbs
from api.verbs.contract import Work, perform
from graphpriv.remote import Refused, client, connect, transport
from graphpriv.store import open_store
from tabular.errors import InvalidInput, SourceUnavailable
from tests.api.conftest import SMALL
from tests.api.http.conftest import running
from tests.api.http.fakes import FakeJobs
from tests.moments import killed_at


class Wire:
    """Hands on what goes to a service and back, one request a connection, and cuts some of them."""

    def __init__(self, to):
        self._to = to
        #: The beginnings of the requests that came by.
        self.asked = []
        #: What is cut: how a request begins, which way, and after how many bytes.
        self.cuts = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._carry, args=(connection,), daemon=True).start()

    def _carry(self, near):
        with near, socket.create_connection(self._to) as far:
            head = near.recv(65536)
            self.asked.append(head.split(b" HTTP/")[0].decode())
            cut = next((each for each in self.cuts if self.asked[-1].startswith(each[0])), None)
            if cut is not None:
                self.cuts.remove(cut)
            limits = {cut[1]: cut[2]} if cut else {}
            back = threading.Thread(target=self._copy, args=(far, near, limits.get("back")), daemon=True)
            back.start()
            self._copy(near, far, limits.get("to"), head)
            back.join()

    @staticmethod
    def _copy(source, to, limit, data=b""):
        passed = 0
        with suppress(OSError):
            while data or (data := source.recv(65536)):
                part = data if limit is None else data[: limit - passed]
                to.sendall(part)
                passed, data = passed + len(part), b""
                if passed == limit:
                    break
        for each in (source, to):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listening.close()


@contextmanager
def wired(tmp_path):
    config = {"STORE": f"file:{tmp_path / 's.db'}", "HOME": str(tmp_path / "home"), "RATE_LIMIT": 1e6}
    open_store(config["STORE"], create=True).close()
    (tmp_path / "small.json").write_text(json.dumps(SMALL))
    imported = verbs["graph import"].method(file=str(tmp_path / "small.json"), graph="people")
    perform(imported, Work(store=config["STORE"], seed=1))
    app = create_app(config, queue=FakeJobs())
    service = app.extensions["graphpriv"]
    token = service.accounts.add_first().secret
    with running(app) as address:
        wire = Wire(address)
        yield wire, connect(wire.url, token), service
        wire.close()
    service.close()


@pytest.fixture
def ends(tmp_path, monkeypatch):
    monkeypatch.setattr(transport, "PAUSES", (0.01, 0.01, 0.01))
    with wired(tmp_path) as found:
        yield found


def test_an_upload_goes_on_where_it_was_cut(ends, tmp_path, monkeypatch):
    wire, ask, service = ends
    assert client._PIECE == LARGEST_BODY
    monkeypatch.setattr(client, "_PIECE", 200_000)
    data = bytes(range(256)) * 4000
    (tmp_path / "large.csv").write_bytes(data)
    # One piece gets lost on its way, the answer to another one on its way back, and so does the first answer of all.
    wire.cuts = [("PUT", "to", 100_000), ("PUT", "back", 0), ("POST", "back", 0)]
    id = ask.upload(tmp_path / "large.csv")["upload"]
    account = service.accounts.named("custodian")
    assert service.uploads.file(id, account).read_bytes() == data
    assert service.uploads.file(id, account).suffix == ".csv"
    assert wire.cuts == []
    offsets = [int(each.partition("offset=")[2]) for each in wire.asked if each.startswith("PUT")]
    assert offsets == [0, 0, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    assert len(list(service.uploads.folder.iterdir())) == 1


def test_no_address_holds_what_somebody_asks_about(ends, tmp_path):
    wire, ask, _ = ends
    near = ask.get("graphs/people/neighbours", user="bob")["rows"]
    assert {each["id"] for each in near} == {"ann", "cid", "dee"}
    users = list(ask.rows("graphs/people/users", limit=2))
    assert [each["id"] for each in users] == ["ann", "bob", "cid", "dee"]
    csv = ask.download("graphs/people/users", tmp_path / "found.csv", format="csv", degree="3").read_text()
    assert csv.splitlines()[1].startswith("bob,")
    assert ask.delete("graphs/people/users", user="bob")["follows"] == 3
    assert len(wire.asked) == 5
    assert not [each for each in wire.asked if "?" in each or "bob" in each]


def test_no_slip_of_a_user_deletes_a_graph(ends):
    _, ask, _ = ends
    with pytest.raises(Refused, match="takes no options"):
        ask.delete("graphs/people", user="bob")
    assert ask.get("graphs/people")["users"] == 4


def test_a_service_that_does_not_know_the_header_is_told(tmp_path):
    """It would answer another question: that without options."""

    class Older(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"rows": [], "next": null}')

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Older) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ask = connect(f"http://127.0.0.1:{server.server_port}", "gp_x")
        assert ask.get("graphs/people/users") == {"rows": [], "next": None}
        with pytest.raises(InvalidInput, match="older than this client"):
            ask.get("graphs/people/users", topic="x")
        server.shutdown()


def test_a_job_that_was_asked_for_when_the_connection_broke_off_is_one_job(ends):
    wire, ask, service = ends
    wire.cuts = [("POST", "back", 0)]
    assert ask.start("protect", name="people", k=2, into="v1") == "job0"
    assert len(service.jobs.all) == 1
    assert len(wire.asked) == 2


def test_the_end_of_a_job_is_heard_and_not_asked_for(ends):
    wire, ask, service = ends
    id = ask.start("protect", name="people", k=2, into="v1")
    heard = ask.events(id)
    assert next(heard) == ("state", {"state": "queued"})
    # The stream breaks off, and is taken up after what was heard.
    assert next(heard) == ("progress", {"done": 1})
    service.jobs.all[id].state = "done"
    assert list(heard) == [("state", {"state": "done"})]
    assert ask.result(id) == {"done": "protect"}
    assert len([each for each in wire.asked if each.startswith("GET")]) <= 5


def test_a_stream_that_breaks_off_is_taken_up_after_what_was_heard(ends):
    wire, ask, service = ends
    id = ask.start("protect", name="people", k=2, into="v1")
    service.jobs.all[id].state = "done"
    # Whole events come before the cut, and part of one.
    wire.cuts = [(f"GET /v1/jobs/{id}/events", "back", 800)]
    assert [kind for kind, _ in ask.events(id)] == ["state", "progress", "state"]


def test_where_too_many_listen_the_job_is_looked_at(ends):
    _, ask, service = ends
    id = ask.start("protect", name="people", k=2, into="v1")
    service.listeners.end()
    threading.Timer(0.1, lambda: setattr(service.jobs.all[id], "state", "done")).start()
    for _ in ask.events(id):
        raise AssertionError
    assert ask.result(id) == {"done": "protect"}


def test_a_download_is_whole_or_not_there(ends, tmp_path):
    wire, ask, _ = ends
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50_000)
    ask.put("tables/numbers", tmp_path / "t.csv")
    wire.cuts = [("GET", "back", 100_000)]
    with pytest.raises(SourceUnavailable):
        ask.download("tables/numbers/file", tmp_path / "copy.csv")
    assert not (tmp_path / "copy.csv").exists()
    ask.download("tables/numbers/file", tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    with pytest.raises(InvalidInput, match=r"copy\.csv"):
        ask.download("tables/numbers/file", tmp_path / "copy.csv")
    (tmp_path / "into").mkdir()
    assert ask.download("tables/numbers/file", tmp_path / "into").name == "numbers.csv"


def test_a_download_that_a_kill_cuts_is_not_there(ends, tmp_path):
    _, ask, _ = ends
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20_000)
    ask.put("tables/numbers", tmp_path / "t.csv")
    (tmp_path / "into").mkdir()
    for moment in (2, 3, 4):
        assert (
            killed_at(moment, lambda: ask.download("tables/numbers/file", tmp_path / "into" / "c") and 0).code is None
        )
        assert not (tmp_path / "into" / "c").exists()
    ask.download("tables/numbers/file", tmp_path / "into" / "c")
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["c"]


def test_who_asks_too_often_waits(ends, monkeypatch):
    _, ask, service = ends
    waits = iter([2.0, 0.0, 0.0])
    monkeypatch.setattr(service.limit, "wait", lambda _: next(waits))
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    assert len(ask.get("graphs")["graphs"]) == 1
    assert 2.0 in slept


def test_a_service_that_is_gone_is_told(ends):
    wire, ask, _ = ends
    wire.cuts = [("GET", "back", 0)] * 9
    with pytest.raises(SourceUnavailable):
        ask.get("graphs")
    wire.cuts = []
    with pytest.raises(Refused):
        ask.get("graphs/nobody")
