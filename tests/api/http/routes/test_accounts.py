"""Routes of accounts, tokens and the audit log."""

from __future__ import annotations

import pytest

from api.http.paging import coded
from tests.api.http.conftest import Caller


def test_an_account_is_added_and_its_token_works(custodian, app):
    answer = custodian.post("/v1/accounts", {"name": "ann", "role": "auditor"})
    assert answer.status_code == 201
    assert {"account": "ann", "role": "auditor"}.items() <= answer.json.items()
    assert answer.headers["Cache-Control"] == "no-store"
    caller = Caller(app.test_client(), answer.json["token"])
    assert caller.get("/v1/graphs").status_code == 200
    assert caller.get("/v1/accounts").status_code == 403
    listed = [each["account"] for each in custodian.get("/v1/accounts").json["accounts"]]
    assert listed == ["analyst", "ann", "auditor", "custodian"]


def test_wrong_accounts_are_refused(custodian):
    assert custodian.post("/v1/accounts", {"name": "ann"}).json["errors"][0]["pointer"] == "/role"
    assert custodian.post("/v1/accounts", {"name": "ann", "role": "boss"}).status_code == 400
    assert custodian.post("/v1/accounts", {"name": "analyst", "role": "analyst"}).status_code == 409
    assert custodian.delete("/v1/accounts/ann").status_code == 404


def test_a_removed_account_is_out_at_once(custodian, auditor):
    assert custodian.delete("/v1/accounts/auditor").json == {"removed": "auditor"}
    assert auditor.get("/v1/verbs").status_code == 401
    assert custodian.delete("/v1/accounts/custodian").status_code == 400


def test_tokens_are_made_listed_and_revoked(custodian, app):
    made = custodian.post("/v1/accounts/analyst/tokens", {"days": 3})
    assert made.status_code == 201
    caller = Caller(app.test_client(), made.json["token"])
    assert caller.get("/v1/verbs").status_code == 200
    listed = custodian.get("/v1/accounts/analyst/tokens").json["tokens"]
    assert made.json["id"] in [each["id"] for each in listed]
    assert made.json["token"] not in custodian.get("/v1/accounts/analyst/tokens").text
    assert custodian.delete(f"/v1/accounts/auditor/tokens/{made.json['id']}").status_code == 404
    assert custodian.delete(f"/v1/accounts/analyst/tokens/{made.json['id']}").status_code == 200
    assert caller.get("/v1/verbs").status_code == 401
    assert custodian.post("/v1/accounts/analyst/tokens", {"days": 0}).json["errors"][0]["pointer"] == "/days"
    assert custodian.get("/v1/accounts/nobody/tokens").status_code == 404
    assert custodian.post("/v1/accounts/nobody/tokens").status_code == 404


def test_changes_of_accounts_are_in_the_log_with_who_made_them(custodian):
    custodian.post("/v1/accounts", {"name": "ann", "role": "auditor"})
    custodian.delete("/v1/accounts/ann")
    entries = custodian.get("/v1/audit-log").json["entries"]
    assert [(each["account"], each["action"], each["object"]) for each in entries[:2]] == [
        ("custodian", "remove", "ann"),
        ("custodian", "add", "ann"),
    ]


def test_the_log_comes_in_pages(custodian, service):
    for number in range(5):
        service.log.add("read", "original", f"g{number}")
    first = custodian.get("/v1/audit-log?limit=3")
    assert [each["object"] for each in first.json["entries"]] == ["g4", "g3", "g2"]
    second = custodian.get(first.headers["Link"].split(">")[0].lstrip("<"))
    assert [each["object"] for each in second.json["entries"]] == ["g1", "g0"]


@pytest.mark.parametrize("key", ["²", "9" * 30, "-1", "\0", "zz"])
def test_a_cursor_of_the_log_that_is_none_is_refused(custodian, key):
    answer = custodian.get(f"/v1/audit-log?cursor={coded(key)}")
    assert (answer.status_code, "cursor" in answer.json["detail"]) == (400, True)
