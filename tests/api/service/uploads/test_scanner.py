"""The scanner: what is sent to it, what it may answer, and what comes of it, over real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import tracemalloc

import pytest

from api.app import create_app
from api.service.uploads import scanner as module
from api.service.uploads.scanner import Infected, Scanner, ScannerUnavailable, TooLarge
from graphpriv.store import open_store
from tabular.errors import InvalidParameter
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller, config  # noqa: F401 (fixture)

#: What our scanner finds.
HARMFUL = b"harm-to-be-found"

#: How much it takes.
LIMIT = 9 * 1024 * 1024


class Daemon(threading.Thread):
    """A scanner that speaks INSTREAM as clamd does."""

    def __init__(self, listener, mood="well"):
        super().__init__(daemon=True)
        self.listener, self.mood, self.scanned = listener, mood, []

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self.serve(connection)

    def serve(self, connection):
        file = connection.makefile("rb")
        assert file.read(10) == b"zINSTREAM\0"
        if self.mood == "hangs up":
            return
        size, tail, is_found = 0, b"", False
        while length := int.from_bytes(file.read(4)):
            piece = file.read(length)
            is_found |= HARMFUL in tail + piece
            size, tail = size + length, piece[-len(HARMFUL) :]
            if size > LIMIT:
                connection.sendall(b"INSTREAM size limit exceeded. ERROR\0")
                return
        self.scanned.append(size)
        if self.mood == "slow":
            threading.Event().wait(5)
        cut = b"" if self.mood == "stops" else b"\0"
        said = b"stream: Our.Test-1 FOUND" if is_found else b"stream: OK"
        connection.sendall({"odd": b"UNKNOWN COMMAND"}.get(self.mood, said) + cut)


@pytest.fixture(params=["unix", "tcp"])
def daemon(request, tmp_path):
    if request.param == "unix":
        listener, address = socket.socket(socket.AF_UNIX), f"unix:{tmp_path / 'clamd.ctl'}"
        listener.bind(str(tmp_path / "clamd.ctl"))
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"tcp:127.0.0.1:{listener.getsockname()[1]}"
    listener.listen()
    found = Daemon(listener)
    found.address = address
    found.start()
    yield found
    listener.close()


@pytest.fixture
def file(tmp_path):
    def written(data):
        (tmp_path / "file").write_bytes(data)
        return (tmp_path / "file").open("rb")

    return written


def test_it_is_sent_every_byte_and_finds_what_lies_across_two_pieces(daemon, file):
    scanner = Scanner.at(daemon.address)
    for data in (b"", b"x", b"x" * (module._PIECE * 2 + 1)):
        scanner.check(file(data))
    with pytest.raises(Infected, match=r"found Our\.Test-1 in"):
        scanner.check(file(b"x" * (module._PIECE - 3) + HARMFUL))
    assert daemon.scanned == [0, 1, module._PIECE * 2 + 1, module._PIECE - 3 + len(HARMFUL)]


def test_a_file_that_is_too_large_for_it_is_told_as_such(daemon, file):
    for size in (LIMIT + 1, 4 * LIMIT):
        with pytest.raises(TooLarge):
            Scanner.at(daemon.address).check(file(b"x" * size))


@pytest.mark.parametrize("mood", ["hangs up", "stops", "odd", "slow"])
def test_whatever_is_no_answer_lets_nothing_pass(daemon, file, monkeypatch, mood):
    monkeypatch.setattr(module, "_ANSWERS", 0.3)
    daemon.mood = mood
    with pytest.raises(ScannerUnavailable):
        Scanner.at(daemon.address).check(file(b"x" * 10))


@pytest.mark.parametrize("address", ["unix:/nowhere/clamd.ctl", "tcp:127.0.0.1:1"])
def test_a_scanner_that_is_not_there_lets_nothing_pass(file, address):
    with pytest.raises(ScannerUnavailable):
        Scanner.at(address).check(file(b"x"))


@pytest.mark.parametrize("address", ["clamd", "unix:relative", "tcp:host", "tcp:host:0", "tcp:host:99999", "http://x"])
def test_an_address_is_checked_at_the_start(address, config):  # noqa: F811
    assert Scanner.at("") is None
    with pytest.raises(InvalidParameter, match="unix:PATH"):
        create_app({**config, "SCANNER": address})


def test_a_large_file_goes_in_pieces(daemon, file):
    opened = file(b"x" * 8 * 1024 * 1024)
    tracemalloc.start()
    Scanner.at(daemon.address).check(opened)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Two copies of a piece here, and one in our own daemon.
    assert most < 5 * module._PIECE


@pytest.fixture
def custodian(daemon, config):  # noqa: F811
    open_store(config["STORE"], create=True).close()
    app = create_app({**config, "SCANNER": daemon.address})
    service = app.extensions["graphpriv"]
    caller = Caller(app.test_client(), service.accounts.add("ann", "custodian")[1].secret)
    yield caller
    service.close()


def sent(custodian, data):
    id = custodian.post("/v1/uploads", {"size": len(data)}).json["id"]
    assert custodian.put(f"/v1/uploads/{id}?offset=0", data=data).json["finished"]
    return id


def test_an_upload_is_scanned_once_before_it_is_read(custodian, daemon):
    id = sent(custodian, b"age\n1\n2\n")
    assert daemon.scanned == []
    for name in ("t", "u"):
        assert custodian.put(f"/v1/tables/{name}", json={"upload": id}).status_code == 201
    assert daemon.scanned == [8]


def test_an_upload_in_which_something_is_found_is_erased_and_told(custodian, tmp_path):
    id = sent(custodian, b"age\n" + HARMFUL)
    answer = custodian.put("/v1/tables/t", json={"upload": id})
    assert (answer.status_code, answer.mimetype) == (422, "application/problem+json")
    assert answer.json["title"] == "Malware found" and "Our.Test-1" in answer.json["detail"]
    assert list((tmp_path / "home" / "uploads").iterdir()) == []
    assert custodian.get(f"/v1/uploads/{id}").status_code == 404
    assert custodian.put("/v1/tables/t", json={"upload": id}).status_code == 404
    assert custodian.get("/v1/tables/t").status_code == 404


def test_where_the_scanner_is_away_an_upload_waits(custodian, daemon):
    id, daemon.mood = sent(custodian, b"age\n1\n2\n"), "hangs up"
    answer = custodian.put("/v1/tables/t", json={"upload": id})
    assert answer.status_code == 503 and answer.headers["Retry-After"] and "scanner" in answer.json["detail"]
    assert custodian.get(f"/v1/uploads/{id}").json["finished"]
    daemon.mood = "well"
    assert custodian.put("/v1/tables/t", json={"upload": id}).status_code == 201


def test_files_that_come_in_one_request_are_scanned_too(custodian):
    custodian.put("/v1/tables/t", data=b"age\n1\n2\n")
    harmful = [
        ("/v1/tables/u", HARMFUL),
        ("/v1/tables/t/hierarchies/age", HARMFUL),
        ("/v1/graphs/g", json.dumps({**SMALL, "note": HARMFUL.decode()}).encode()),
    ]
    for path, data in harmful:
        assert custodian.put(path, data=data).status_code == 422, path
        assert custodian.get(path).status_code == 404, path
    assert custodian.put("/v1/tables/t/hierarchies/age", data=b"1;*\n2;*\n").status_code == 201
