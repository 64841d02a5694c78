"""What is refused, and how: each row of the table in the docs, as it is sent to a service with a worker."""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import re
import socket
import sqlite3
import threading
import time
from contextlib import closing

import pytest

from api.app import create_app, job_settings
from api.jobs.jobs import Jobs
from api.jobs.workers import Workers
from api.service.accounts import ROLES
from api.service.settings import Settings
from api.service.signing.one_time_codes import code_of, step_at
from api.service.uploads import uploads as uploads_module
from api.service.uploads.scanner import Scanner
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.evidence.hostile import MIB, bomb
from tests.api.evidence.serving import TOP
from tests.api.http.conftest import Caller, config  # noqa: F401 (fixtures)
from tests.api.http.test_with_jobs import done

PEOPLE = json.dumps(SMALL).encode()

#: The rows of the table, in its order, by their first words.
ROWS = {}


def row(words):
    """Decorator: a check of the row of the table that begins with these words."""

    def enter(check):
        ROWS[words] = check
        return check

    return enter


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A client for each role, and the service, which has a graph `people` and a table `t`."""
    folder = tmp_path_factory.mktemp("bad-input")
    given = {"STORE": f"file:{folder / 's.db'}", "HOME": str(folder / "home"), "LARGEST_UPLOAD": 10**9}
    open_store(given["STORE"], create=True).close()
    running = job_settings(Settings.of(given, {}))
    jobs = Jobs.opened(running)
    app = create_app(given, queue=jobs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(TOP))
        patched.setenv("GRAPHPRIV_JOBS_SECONDS", "5")
        patched.setenv("GRAPHPRIV_MOST_COLUMNS", "10000")
        workers = Workers(running, 1)
        accounts = app.extensions["graphpriv"].accounts
        found = {role: Caller(app.test_client(), accounts.add(role, role)[1].secret) for role in ROLES}
        assert found["custodian"].put("/v1/graphs/people", data=PEOPLE).status_code == 201
        assert found["custodian"].put("/v1/tables/t", data=b"a,b\n" + b"1,2\n" * 9).status_code == 201
        yield {**found, "app": app, "service": app.extensions["graphpriv"], "jobs": jobs}
    workers.stop()
    jobs.close()
    app.extensions["graphpriv"].close()


def custodian(there):
    return there["custodian"]


@row("a body that is not a JSON object")
def no_json(there, _):
    for body in (b"", b"[]", b"{", b'{"k": 1, "k": 2}', b'{"k": NaN}', b"\xff", b'"\\ud800"', b"[" * 10**5):
        answer = custodian(there).post("/v1/protect", data=body, content_type="application/json")
        assert answer.status_code == 400, body
    yield custodian(there).post("/v1/protect", data=b"{", content_type="application/json")


@row("a body of another type, where JSON")
def another_type(there, _):
    yield custodian(there).post("/v1/protect", data=b"{}", content_type="text/plain")


@row("an option that is unknown")
def wrong_options(there, _):
    answer = custodian(there).post("/v1/protect", {"name": "people", "k": 1, "z": 2})
    assert {each["pointer"] for each in answer.json["errors"]} >= {"/z", "/into"}
    yield answer


@row("a `k` above the number of users or rows")
def too_large_k(there, _):
    for verb, body in (
        ("protect", {"name": "people", "k": 100, "into": "x"}),
        ("table/protect", {"file": "t", "columns": ["a"], "method": "mondrian", "param": ["k=100"], "out": "m.csv"}),
    ):
        answer, _ = done(custodian(there), "POST", f"/v1/{verb}", body)
        assert "/k" in answer.text or "k=100" in answer.text, answer.text
        yield answer


@row("an option that turns out wrong for the data")
def wrong_for_the_data(there, _):
    answer, _ = done(custodian(there), "POST", "/v1/table/check", {"file": "t", "quasi_identifiers": ["none"]})
    assert "none" in answer.json["detail"]
    yield answer
    # An identifier is not protected: that is known of the option, though the job alone can see it.
    rows = "".join(f"{number},{number % 2}\n" for number in range(20))
    custodian(there).put("/v1/tables/named", data=f"n,b\n{rows}".encode())
    custodian(there).put("/v1/tables/named/schema", json={"attributes": {"n": {"role": "identifier"}}})
    asked = {"file": "named", "columns": ["n"], "method": "mondrian", "param": ["k=3"], "out": "m.csv"}
    answer, _ = done(custodian(there), "POST", "/v1/table/protect", asked)
    assert [each["pointer"] for each in answer.json.get("errors", [])] == ["/columns"], answer.text
    yield answer


@row("more than 8 MiB in one request")
def too_large_a_body(there, _):
    yield custodian(there).put("/v1/tables/x", data=b"a\n" + b"1" * 8 * MIB)
    yield custodian(there).put("/v1/graphs/x", data=bomb(size=9 * MIB))


@row("a table beyond the limits")
def too_large_a_table(there, patched):
    patched.setenv("GRAPHPRIV_MOST_COLUMNS", "3")
    yield custodian(there).put("/v1/tables/x", data=b"a,b,c,d\n1,2,3,4\n")
    patched.setenv("GRAPHPRIV_MOST_CELLS", "7")
    yield custodian(there).put("/v1/tables/x", data=b"a\n" * 9)
    patched.setenv("GRAPHPRIV_LONGEST_FIELD", "9")
    before = csv.field_size_limit()
    try:
        yield custodian(there).put("/v1/tables/x", data=b"a\n1234567890\n")
    finally:
        csv.field_size_limit(before)


@row("an upload larger than `--largest-upload`")
def too_large_an_upload(there, _):
    yield custodian(there).post("/v1/uploads", {"size": 10**9 + 1})
    yield sent_in_piece(there, b"1234567", size=6)


def sent_in_piece(there, piece, size=6, offset=0):
    id = custodian(there).post("/v1/uploads", {"size": size}).json["id"]
    return custodian(there).put(f"/v1/uploads/{id}?offset={offset}", data=piece)


@row("a piece of an upload that does not begin")
def wrong_offset(there, _):
    yield sent_in_piece(there, b"123", offset=3)


@row("an upload for which the disk has no room")
def full_disk(there, patched):
    free = type("Usage", (), {"free": 0})
    with pytest.MonkeyPatch.context() as full:
        full.setattr(uploads_module.shutil, "disk_usage", lambda path: free)
        yield custodian(there).post("/v1/uploads", {"size": 6})
    begun = custodian(there).post("/v1/uploads", {"size": 6}).json["id"]
    where = f"/v1/uploads/{begun}"
    assert custodian(there).put(f"{where}?offset=0", data=b"123").json["offset"] == 3

    def fails(_):
        raise OSError(errno.ENOSPC, "full")

    with pytest.MonkeyPatch.context() as full:
        full.setattr(uploads_module.os, "fsync", fails)
        yield custodian(there).put(f"{where}?offset=3", data=b"456")
    assert custodian(there).get(where).json["offset"] == 3
    assert custodian(there).put(f"{where}?offset=3", data=b"456").json["finished"]


@row("no token, or one that is invalid")
def no_token(there, _):
    token = custodian(there).post("/v1/accounts/auditor/tokens").json
    held = Caller(there["app"].test_client(), token["token"])
    assert held.get("/v1/graphs").status_code == 200
    custodian(there).delete(f"/v1/accounts/auditor/tokens/{token['id']}")
    yield held.get("/v1/graphs")
    yield Caller(there["app"].test_client(), None).get("/v1/graphs")


@row("a token whose role does not allow it")
def another_role(there, _):
    yield there["auditor"].post("/v1/protect", {"name": "people", "k": 2, "into": "x"})
    yield there["analyst"].get("/v1/audit-log")


@row("a thing that does not exist, or that the role must not know")
def hidden(there, _):
    asked = [each.get("/v1/graphs/people") for each in (there["analyst"],)]
    assert asked[0].json["detail"] == "No graph is called 'people'."
    yield asked[0]
    yield custodian(there).get("/v1/graphs/none")


@row("a graph that is deleted while it is read")
def deleted_meanwhile(there, _):
    assert custodian(there).put("/v1/graphs/going", data=PEOPLE).status_code == 201
    told, going = [], threading.Event()

    def look():
        caller = Caller(there["app"].test_client(), custodian(there).token)
        while True:
            told.append(caller.get("/v1/graphs/going/users?limit=all"))
            going.set()
            if told[-1].status_code != 200:
                return

    thread = threading.Thread(target=look)
    thread.start()
    assert going.wait(60)
    assert custodian(there).delete("/v1/graphs/going").status_code == 200
    thread.join(60)
    assert {each.status_code for each in told} == {200, 404}
    yield told[-1]


@row("a job whose graph is gone")
def gone_before_the_job(there, _):
    assert custodian(there).put("/v1/graphs/gone", data=PEOPLE).status_code == 201
    busy = custodian(there).post("/v1/protect", {"name": "people", "k": 2, "into": "kept"}).json["id"]
    job = custodian(there).post("/v1/sweep", {"name": "gone"}).json["id"]
    assert custodian(there).delete("/v1/graphs/gone").status_code == 200
    assert {ended(there, each)["state"] for each in (busy, job)} <= {"done", "failed", "cancelled"}
    if ended(there, job)["state"] == "failed":
        yield custodian(there).get(f"/v1/jobs/{job}/result")


def ended(there, job):
    until = time.monotonic() + 120
    while not (found := custodian(there).get(f"/v1/jobs/{job}").json)["ended"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    return found


@row("a name that is taken")
def taken(there, _):
    yield custodian(there).put("/v1/graphs/people", data=PEOPLE)
    yield custodian(there).put("/v1/tables/t", data=b"a\n1\n")
    yield custodian(there).post("/v1/accounts", {"name": "auditor", "role": "auditor"})


@row("a state that has changed since")
def changed(there, _):
    yield custodian(there).put("/v1/graphs/people", data=PEOPLE, headers={"If-Match": '"other"'})
    yield custodian(there).delete("/v1/tables/t", headers={"If-Match": '"other"'})


@row("the result of an unfinished job")
def too_early(there, _):
    job = custodian(there).post("/v1/sweep", {"name": "people", "runs": 200}).json["id"]
    yield custodian(there).get(f"/v1/jobs/{job}/result")
    custodian(there).post(f"/v1/jobs/{job}/cancel")


@row("cancelling a job twice")
def cancelled_twice(there, _):
    job = custodian(there).post("/v1/sweep", {"name": "people", "runs": 200}).json["id"]
    for _ in range(2):
        yield custodian(there).post(f"/v1/jobs/{job}/cancel")
    assert ended(there, job)["state"] == "cancelled"
    yield custodian(there).post(f"/v1/jobs/{job}/cancel")


@row("resuming a job that was not cancelled")
def resumed(there, _):
    job = custodian(there).post("/v1/store/check", {}).json["id"]
    yield custodian(there).post(f"/v1/jobs/{job}/resume")
    ended(there, job)
    yield custodian(there).post(f"/v1/jobs/{job}/resume")


@row("a job that takes longer than")
def too_long(there, _):
    job = custodian(there).post("/v1/store/check", {}).json["id"]
    ended(there, job)
    # As a worker writes it down; that it does is for the tests of jobs.
    folder = there["service"].folder / "jobs" / job / "kept"
    (folder / "failure.json").write_text(json.dumps({"error": "TimeLimit", "text": "Too long.", "parameters": []}))
    with closing(sqlite3.connect(there["service"].folder / "jobs.db")) as db, db:
        db.execute("UPDATE job SET state = 'failed' WHERE id = ?", (job,))
    yield custodian(there).get(f"/v1/jobs/{job}/result")


@row("a token of an account with a second factor")
def token_with_a_factor(there, _):
    service, client = there["service"], there["app"].test_client()
    account, made = service.accounts.add("with-a-factor", "analyst")
    service.factors.confirm(account, code_of(service.factors.begin(account), step_at(time.time())))
    yield Caller(client, made.secret).get("/v1/graphs")


@contextlib.contextmanager
def scanned(there, answer):
    """Have the service ask a scanner that gives one *answer*."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        with connection, listener:
            while not connection.recv(1 << 16).endswith(bytes(4)):
                pass
            connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    uploads = there["service"].uploads
    # The scanner of a service is named once, at its start.
    object.__setattr__(uploads, "scanner", Scanner.at(f"tcp:127.0.0.1:{listener.getsockname()[1]}"))
    try:
        yield
    finally:
        object.__setattr__(uploads, "scanner", None)


@row("a file in which the operator's scanner finds malware")
def malware(there, _):
    with scanned(there, b"stream: Worm FOUND\0"):
        yield custodian(there).put("/v1/tables/worm", data=b"a\n1\n")


@row("a file that the operator's scanner does not take")
def not_scanned(there, _):
    for said in (b"INSTREAM size limit exceeded. ERROR\0", b""):
        with scanned(there, said):
            yield custodian(there).put("/v1/tables/unknown", data=b"a\n1\n")


@row("more unfinished jobs than")
def too_many_jobs(there, patched):
    few = type(there["jobs"].settings)(**{**vars(there["jobs"].settings), "most": 1})
    patched.setattr(type(there["jobs"]), "_queue", crowded(type(there["jobs"])._queue, few))
    held = [custodian(there).post("/v1/sweep", {"name": "people", "runs": 200}) for _ in range(2)]
    yield held[1]
    custodian(there).post(f"/v1/jobs/{held[0].json['id']}/cancel")


def crowded(queue, few):
    return lambda jobs, new: queue(type(jobs)(few, jobs.ledger, jobs.private, jobs._client), new)


@row("more requests a second than")
def too_often(there, patched):
    patched.setattr(type(there["service"].limit), "wait", lambda *_: 1.5)
    answer = custodian(there).get("/v1/graphs")
    assert answer.headers["Retry-After"] == "2"
    yield answer


def documented():
    """The rows of the table in the docs, by their first words, with the statuses they tell."""
    page = (TOP / "docs" / "service.md").read_text()
    rows = re.findall(r"^\| (.+?) \| ([0-9]{3}(?:, [0-9]{3})*)\b.*\|$", page, flags=re.MULTILINE)
    return {words: {int(each) for each in statuses.split(", ")} for words, statuses in rows}


def test_the_table_has_a_check_for_each_row():
    told = documented()
    assert len(told) == len(ROWS)
    assert all(sum(each.startswith(words) for each in told) == 1 for words in ROWS)


@pytest.mark.parametrize("words", ROWS)
def test_it_is_refused_as_documented(there, words, monkeypatch):
    (wanted,) = (statuses for each, statuses in documented().items() if each.startswith(words))
    answers = list(ROWS[words](there, monkeypatch))
    assert {each.status_code for each in answers} <= wanted, [each.text for each in answers]
    for each in answers:
        assert each.status_code < 400 or each.json["status"] == each.status_code
