"""The access log: what stands in a line, and what stands nowhere in it."""

from __future__ import annotations

import json
import re

import pytest

from api.app import create_app
from api.http.access_log import Log
from api.http.sessions import BEFORE
from api.service.accounts import ROLES
from api.service.signing.sessions import mark_of
from graphpriv.store import open_store
from tabular.errors import FileFailure
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeJobs

#: Names and values of a walk that must not be found.
NAMES = ("people-of-ours", "release-of-ours", "patients-of-ours", "ann", "bob", "Technology", "Washington", "carla")


@pytest.fixture
def logged(config, tmp_path):
    open_store(config["STORE"], create=True).close()
    app = create_app({**config, "ACCESS_LOG": str(tmp_path / "access.log")}, queue=FakeJobs())
    yield app, lambda: [json.loads(line) for line in (tmp_path / "access.log").read_text().splitlines()]
    app.extensions["graphpriv"].close()


def test_a_line_has_what_is_needed_and_no_name_id_or_token_of_a_whole_walk(logged, tmp_path, make):
    app, lines = logged
    accounts = app.extensions["graphpriv"].accounts
    tokens = {role: accounts.add(role, role)[1].secret for role in ROLES}
    callers = {role: Caller(app.test_client(), token) for role, token in tokens.items()}
    custodian = callers["custodian"]
    custodian.put("/v1/graphs/people-of-ours", data=json.dumps(SMALL).encode())
    make("protect", name="people-of-ours", k=2, into="release-of-ours")
    upload = custodian.post("/v1/uploads", {"size": 3, "name": "carla.csv"}).json["id"]
    custodian.put(f"/v1/uploads/{upload}?offset=0", data=b"a\n1")
    custodian.put("/v1/tables/patients-of-ours", data=b"name\ncarla\n")
    made = custodian.post("/v1/accounts", {"name": "carla", "role": "analyst"}).json
    job = custodian.post("/v1/protect", {"name": "people-of-ours", "k": 2, "into": "x"}).json["id"]
    # Its stream ends at once.
    custodian.post(f"/v1/jobs/{job}/cancel")
    for caller in callers.values():
        for path in ("/v1/graphs", "/v1/graphs/people-of-ours", "/v1/graphs/people-of-ours/users/bob/neighbours",
                     "/v1/graphs/release-of-ours/users?topic=Technology&location=Washington%20DC&limit=all",
                     "/v1/graphs/release-of-ours/file", f"/v1/jobs/{job}", f"/v1/jobs/{job}/events", "/v1/ann/bob",
                     "/v1/tables/patients-of-ours/rows?where=name=carla", "/people-of-ours?ann=bob"):  # fmt: skip
            caller.client.get(path, headers={"Authorization": f"Bearer {caller.token}"}, buffered=True)
    custodian.delete("/v1/graphs/people-of-ours/users/bob")
    browser = app.test_client()
    for path in ("/", "/sign-in", f"/jobs/{job}", "/graphs/people-of-ours"):
        browser.get(path, headers={"User-Agent": "ann", "Referer": "http://x/people-of-ours"})

    found = lines()
    assert len(found) >= 40
    text = json.dumps([{**line, "route": "", "id": ""} for line in found])
    for secret in (*NAMES, *tokens.values(), upload, made["token"], job):
        assert secret not in text
    known = {rule.rule for rule in app.url_map.iter_rules()} | {"none"}
    for line in found:
        account = ["account"] if 400 <= line["status"] < 500 else []
        assert list(line) == ["time", "method", "route", "status", "role", *account, "id", "seconds", "bytes"]
        assert line["route"] in known
        assert re.fullmatch(r"[0-9a-f]{16}", line["id"])
        assert line["role"] in (*ROLES, None)
        assert line["seconds"] >= 0
    assert len({line["id"] for line in found}) == len(found)
    assert (tmp_path / "access.log").stat().st_mode & 0o077 == 0


def test_without_a_log_what_is_refused_is_told_on_standard_error(config, capfd):
    open_store(config["STORE"], create=True).close()
    app = create_app({**config, "RATE_LIMIT": 1})
    service = app.extensions["graphpriv"]
    account, made = service.accounts.add("ann", "analyst")
    client = app.test_client()
    client.get("/sign-in")
    form = {"form": mark_of(client.get_cookie(BEFORE).value), "token": "gp_wrong"}
    ann = {"Authorization": f"Bearer {made.secret}"}
    asked = [
        ("GET", "/v1/graphs", {"headers": ann}),
        ("GET", "/v1/accounts", {"headers": ann}),
        ("GET", "/v1/graphs/hidden", {"headers": ann}),
        ("GET", "/v1/graphs", {"headers": {"Authorization": "Bearer gp_wrong"}}),
        ("POST", "/sign-in", {"data": form}),
        ("GET", "/v1/graphs", {"headers": {"Host": "evil.example/x"}}),
    ]
    capfd.readouterr()
    for method, path, given in asked:
        client.open(path, method=method, **given)
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["route"], line["status"], line["account"]) for line in lines] == [
        ("/v1/accounts", 403, account.id),
        ("/v1/graphs/<name>", 429, account.id),
        ("/v1/graphs", 401, None),
        ("/sign-in", 401, None),
        ("/v1/graphs", 400, None),
    ]
    assert service.accounts.named("ann").document["log_id"] == account.id
    service.close()


@pytest.mark.parametrize("with_addresses", [False, True])
def test_an_entry_of_the_audit_log_leads_to_the_line_of_its_request(config, tmp_path, with_addresses):
    open_store(config["STORE"], create=True).close()
    file = tmp_path / "access.log"
    app = create_app({**config, "ACCESS_LOG": str(file), "LOG_ADDRESSES": with_addresses})
    service = app.extensions["graphpriv"]
    caller = Caller(app.test_client(), service.accounts.add("ann", "custodian")[1].secret)
    caller.post("/v1/accounts", {"name": "bob", "role": "analyst"})
    (entry,) = service.log.entries()
    (line,) = [json.loads(each) for each in file.read_text().splitlines()]
    assert entry.details["request"] == line["id"] and line["route"] == "/v1/accounts"
    assert entry.details.get("address") == line.get("address") == ("127.0.0.1" if with_addresses else None)
    service.log.add("check", "service", None)
    assert service.log.entries()[0].details == {} and service.log.problems() == []
    service.close()


def test_a_line_has_the_bytes_that_were_sent_and_the_id_that_was_told(logged, make, small):
    app, lines = logged
    caller = Caller(app.test_client(), app.extensions["graphpriv"].accounts.add("c", "custodian")[1].secret)
    make("graph import", file=str(small), graph="people")
    for path in ("/v1/graphs", "/v1/graphs/people/file", "/v1/graphs/people/users?limit=all", "/v1/nowhere",
                 "/static/style.css"):  # fmt: skip
        answer = caller.client.get(path, headers={"Authorization": f"Bearer {caller.token}"}, buffered=True)
        size = len(answer.data)
        answer.close()
        line = lines()[-1]
        assert (line["bytes"], line["status"]) == (size, answer.status_code), path
        assert line["id"] == answer.headers["Request-Id"]
    first = caller.get("/v1/graphs")
    caller.get("/v1/graphs", headers={"If-None-Match": first.headers["ETag"]})
    assert (lines()[-1]["status"], lines()[-1]["bytes"]) == (304, 0)


def test_a_stream_that_is_broken_off_has_its_line(logged, make, small):
    app, lines = logged
    caller = Caller(app.test_client(), app.extensions["graphpriv"].accounts.add("c", "custodian")[1].secret)
    make("graph import", file=str(small), graph="people")
    answer = caller.client.get(
        "/v1/graphs/people/users?limit=all&format=ndjson", headers={"Authorization": f"Bearer {caller.token}"}
    )
    sent = len(next(answer.iter_encoded()))
    assert [line for line in lines() if line["route"].endswith("/users")] == []
    answer.close()
    assert lines()[-1]["bytes"] == sent


def test_addresses_stand_in_it_only_where_that_was_asked_for(config, tmp_path):
    for asked in (False, True):
        file = tmp_path / f"{asked}.log"
        create_app({**config, "ACCESS_LOG": str(file), "LOG_ADDRESSES": asked}).test_client().get("/healthz")
        assert json.loads(file.read_text()).get("address") == ("127.0.0.1" if asked else None)


def test_a_bug_is_told_in_it_by_its_kind_and_place(logged):
    app, lines = logged

    @app.get("/broken")
    def broken():
        raise LookupError("ann lives in Washington")

    answer = app.test_client().get("/broken")
    told, line = lines()
    assert told["level"] == "error"
    assert re.fullmatch(r"internal error [0-9a-f]{8}: LookupError at test_access_log.py:\d+", told["message"])
    assert told["message"].split()[2].rstrip(":") in answer.json["detail"]
    assert line["status"] == 500


def test_a_file_that_was_moved_away_is_made_anew(tmp_path):
    log = Log.at(str(tmp_path / "a.log"))
    log.write(n=1)
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    log.write(n=2)
    assert json.loads((tmp_path / "a.log").read_text())["n"] == 2


def test_a_log_that_cannot_be_written_is_told_at_the_start(config, tmp_path):
    with pytest.raises(FileFailure, match=r"missing/a.log: No such file or directory\. The access log cannot"):
        create_app({**config, "ACCESS_LOG": str(tmp_path / "missing" / "a.log")})


def test_it_goes_to_standard_error_too(capfd):
    Log.at("-").write(n=1)
    assert json.loads(capfd.readouterr().err)["n"] == 1
