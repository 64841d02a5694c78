"""What every request passes: host, token, rate, role, key; and what every answer carries."""

from __future__ import annotations

import json
import time

import pytest

from api.app import create_app
from tests.api.http.conftest import Caller


def test_without_a_good_token_nothing_under_v1_answers(nobody, app):
    for path in ("/v1/graphs", "/v1/verbs", "/v1/nowhere", "/v1/jobs/1"):
        for sent in ("", "Bearer gp_wrong", "Basic eDp5", "Bearer"):
            answer = nobody.get(path, headers={"Authorization": sent})
            assert (answer.status_code, answer.content_type) == (401, "application/problem+json")
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_token_stops_at_once(app, service):
    _, made = service.accounts.add("ann", "analyst")
    caller = Caller(app.test_client(), made.secret)
    assert caller.get("/v1/verbs").status_code == 200
    service.accounts.revoke(made.token.id)
    assert caller.get("/v1/verbs").status_code == 401


def test_who_asks_too_often_is_told_when_to_come_back(config):
    app = create_app({**config, "RATE_LIMIT": 2})
    _, made = app.extensions["graphpriv"].accounts.add("ann", "analyst")
    caller = Caller(app.test_client(), made.secret)
    answers = [caller.get("/v1/verbs") for _ in range(6)]
    assert [each.status_code for each in answers][:4] == [200] * 4
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert app.test_client().get("/healthz").status_code == 200


@pytest.mark.parametrize("host", ["", "a,b", "a, b", "a b", "a/b", "a@b", "[::1", "a:b", "a:1:2"])
def test_a_missing_doubled_or_broken_host_is_refused(app, host):
    answer = app.test_client().get("/healthz", environ_overrides={"HTTP_HOST": host})
    assert answer.status_code == 400
    assert "Host" in answer.json["detail"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "[::1]:8000", "10.0.0.1"])
def test_a_sound_host_passes(app, host):
    assert app.test_client().get("/healthz", environ_overrides={"HTTP_HOST": host}).status_code == 200


def test_a_method_that_an_address_does_not_take_is_told_with_those_it_takes(custodian):
    answer = custodian.delete("/v1/verbs")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD"}
    assert answer.content_type == "application/problem+json"
    assert custodian.get("/v1/protect").headers["Allow"] == "POST"
    assert custodian("OPTIONS", "/v1/verbs").status_code == 405


def test_a_body_of_more_than_8_mib_is_refused(custodian):
    answer = custodian.post("/v1/accounts", data=b"x" * (8 * 1024 * 1024 + 1), content_type="application/json")
    assert answer.status_code == 413
    assert "uploads" in answer.json["detail"]


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"1", b"{", b'{"name": "a", "name": "b"}', b'{"days": NaN}', b'{"days": 1e400}', b"\xff",
     b'{"name": "\\ud800"}', b"[" * 100_000, b'{"days": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(custodian, text):
    answer = custodian.post("/v1/accounts", data=text, content_type="application/json")
    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"


def test_a_refusal_does_not_send_back_all_that_it_refuses(custodian):
    begun = time.monotonic()
    for body in (
        {"name": "x" * 1_000_000, "k": "y" * 1_000_000, "into": ["z" * 1_000_000]},
        {f"option {number}": 1 for number in range(100_000)},
        {"x" * 1_000_000: 1},
    ):
        answer = custodian.post("/v1/protect", body)
        assert answer.status_code == 400
        assert len(answer.data) < 30_000
    assert time.monotonic() - begun < 20


def test_another_type_than_json_is_refused(custodian):
    assert custodian.post("/v1/accounts", data=b"name=a", content_type="text/plain").status_code == 415


def test_every_answer_carries_security_headers_and_a_tag(custodian, nobody):
    for answer in (custodian.get("/v1/verbs"), nobody.get("/v1/verbs"), nobody.get("/healthz"), custodian.get("/x")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "no-cache" in answer.headers["Cache-Control"]
    first = custodian.get("/v1/verbs")
    again = custodian.get("/v1/verbs", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_same_key_gives_the_same_answer_and_does_nothing_again(custodian, service):
    key = {"Idempotency-Key": "once"}
    first = custodian.post("/v1/accounts", {"name": "ann", "role": "analyst"}, headers=key)
    again = custodian.post("/v1/accounts", {"name": "ann", "role": "analyst"}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    # A token is shown once, and not kept in clear for those who ask again.
    assert again.json == {**first.json, "token": None}
    assert len(service.accounts.tokens("ann")) == 1
    other = custodian.post("/v1/accounts", {"name": "bob", "role": "analyst"}, headers=key)
    assert other.status_code == 422


def test_a_key_belongs_to_one_account_and_errors_are_kept_too(custodian, auditor):
    key = {"Idempotency-Key": "once"}
    assert custodian.post("/v1/accounts", {"name": "a/b", "role": "analyst"}, headers=key).status_code == 400
    again = custodian.post("/v1/accounts", {"name": "a/b", "role": "analyst"}, headers=key)
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (400, "true")
    assert auditor.post("/v1/accounts", {"name": "x", "role": "analyst"}, headers=key).status_code == 403
    assert custodian.post("/v1/accounts", {}, headers={"Idempotency-Key": "a b"}).status_code == 400


def test_work_under_a_key_that_is_not_done_is_not_begun_twice(custodian, service):
    asked = {"name": "ann", "role": "analyst"}
    caller = service.accounts.named("custodian")
    body = json.dumps(asked).encode()
    import hashlib

    request = hashlib.sha256(b"POST /v1/accounts?\n" + body).hexdigest()
    assert service.answers.begin(caller.id, "once", request) is None
    answer = custodian.post(
        "/v1/accounts", data=body, content_type="application/json", headers={"Idempotency-Key": "once"}
    )
    assert answer.status_code == 409


def test_a_token_is_nowhere_in_the_folder_in_clear(custodian, service, tmp_path):
    made = custodian.post("/v1/accounts", {"name": "ann", "role": "analyst"}, headers={"Idempotency-Key": "once"})
    held = b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())
    assert made.json["token"].encode() not in held
