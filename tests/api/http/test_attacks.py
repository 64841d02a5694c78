"""What somebody tries who means harm; docs/security.md says which attack each test is about."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from urllib.parse import quote

from api.http.gate import OF_ONE
from tabular.errors import FileFailure
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller

#: Names that mean something to a browser, a template, a format, a database or a shell.
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*191}}", "{%raw%}", "{0.__class__}", "%s%n",
    "x' OR '1'='1", '"); DROP TABLE graph;--', "') DETACH DELETE n//", "$(touch x)", "\ue000k\ue001", "=1+1",
)  # fmt: skip


def graph_of(user):
    nodes = [{"id": each, "location": None, "topics": ["A"]} for each in (user, "b", "c")]
    return json.dumps({"directed": True, "nodes": nodes, "edges": [{"source": user, "target": "b"}]})


def test_a_name_is_text_and_nothing_else(custodian, service):
    for number, name in enumerate(HOSTILE):
        sent = {"data": graph_of(name), "content_type": "application/octet-stream"}
        assert custodian.put(f"/v1/graphs/g{number}", **sent).status_code == 201
        below = f"/v1/graphs/g{number}/users/{quote(name, safe='')}/neighbours"
        assert [each["id"] for each in custodian.get(below).json["rows"]] == ["b"]
        page = custodian.get(f"/graphs/g{number}?user={quote(name, safe='')}").text
        assert not re.search(r"<script>|<img|1337", page)
        for path in ("/v1/graphs", "/v1/tables", "/graphs", "/releases"):
            answer = custodian.get(f"{path}/{quote(name, safe='')}", headers={"Accept": "text/html"})
            assert answer.status_code in (400, 404)
            # As JSON it is no page, whatever stands in it.
            assert answer.mimetype != "text/html" or not re.search(r"<script>|<img|1337", answer.text)
    assert len(service.graphs.visible("custodian")) == len(HOSTILE)


def test_a_column_is_text_and_nothing_else(custodian):
    for number, name in enumerate(HOSTILE):
        table, path = b'"%s",n\n1,2\n1,3\n' % name.replace('"', '""').encode(), f"/v1/tables/t{number}"
        assert custodian.put(path, data=table, content_type="text/csv").status_code == 201
        named = json.dumps(name) if "," in name or '"' in name else name
        assert custodian.get(f"{path}/counts?by={quote(named)}").status_code in (200, 400)
        assert [each[name] for each in custodian.get(f"{path}/rows").json["rows"]] == [1, 1]
        # No spreadsheet runs it.
        assert not custodian.get(f"{path}/rows?format=csv").text.startswith(("=", '"='))


NAMES = ("..", "../x", "..%2fx", "%2e%2e%2fx", "/etc/passwd", "a%00", ".hidden", "x" * 300, "%0d%0aSet-Cookie:x=1")


def test_no_name_leads_out_of_its_folder(custodian):
    custodian.put("/v1/tables/t", data=b"a\n1\n", content_type="text/csv")
    for name in NAMES:
        for method, path, body in (
            ("PUT", f"/v1/tables/{name}", b"a\n1\n"), ("GET", f"/v1/tables/{name}/file", None),
            ("PUT", f"/v1/tables/t/hierarchies/{name}", b"1;*\n"), ("GET", f"/v1/tables/t/hierarchies/{name}", None),
            ("GET", f"/v1/uploads/{name}", None), ("GET", f"/pages/{name}", None), ("GET", f"/docs/{name}", None),
        ):  # fmt: skip
            answer = custodian(method, path, **({} if body is None else {"data": body, "content_type": "text/csv"}))
            assert answer.status_code in (400, 404), (method, path, answer.text)
            assert "Set-Cookie" not in answer.headers and "root:" not in answer.text


def at_once(number, do):
    """What so many threads are answered that begin together."""
    gate, answers = threading.Barrier(number), []

    def work(place):
        gate.wait()
        answers.append(do(place).status_code)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(number)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return Counter(answers)


def test_of_many_who_make_one_name_one_does(app, custodian):
    def caller():
        return Caller(app.test_client(), custodian.token)

    body = json.dumps(SMALL)
    assert at_once(6, lambda _: caller().put("/v1/graphs/g", data=body)) == {201: 1, 409: 5}
    assert at_once(6, lambda _: caller().put("/v1/tables/t", data=b"a\n1\n2\n")) == {201: 1, 409: 5}
    account = {"name": "ann", "role": "analyst"}
    assert at_once(6, lambda _: caller().post("/v1/accounts", account)) == {201: 1, 409: 5}
    key = {"Idempotency-Key": "once"}
    other = {"name": "bob", "role": "analyst"}
    assert set(at_once(6, lambda _: caller().post("/v1/accounts", other, headers=key))) <= {201, 409}
    assert len(app.extensions["graphpriv"].accounts.tokens("bob")) == 1


def test_one_account_leaves_room_for_others(app, custodian, analyst, graphs):
    path = "/v1/graphs/people-v1/users?limit=all"
    streams = [analyst.client.get(path, headers={"Authorization": f"Bearer {analyst.token}"}) for _ in range(OF_ONE)]
    assert analyst.get("/v1/verbs").status_code == 503
    assert custodian.get("/v1/verbs").status_code == 200
    for each in streams:
        each.close()
    assert analyst.get("/v1/verbs").status_code == 200


def test_a_token_counts_in_its_header_alone(app, custodian):
    client = app.test_client()
    for place in ("token", "access_token", "Authorization"):
        assert client.get(f"/v1/graphs?{place}={custodian.token}").status_code == 401
    client.set_cookie("graphpriv-session", custodian.token)
    assert client.get("/v1/graphs").status_code == 401


def test_no_other_origin_is_let_in_and_every_answer_is_guarded(custodian, nobody, graphs):
    for caller in (custodian, nobody):
        for path in (
            "/v1/graphs",
            "/v1/graphs/people/file",
            "/nothing",
            "/sign-in",
            "/healthz",
            "/docs",
            "/openapi.json",
        ):
            answer = caller.get(path, headers={"Origin": "https://evil.example"})
            assert not [name for name, _ in answer.headers if name.startswith("Access-Control-")]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            policy = answer.headers["Content-Security-Policy"]
            assert all(f"{each} 'none'" in policy for each in ("default-src", "base-uri", "frame-ancestors"))
            if answer.mimetype.startswith("text/"):
                assert answer.mimetype_params["charset"] == "utf-8"


def test_what_is_downloaded_is_no_page_and_has_a_name_of_ours(custodian, graphs):
    custodian.put("/v1/tables/t", data=b"a\n<script>\n", content_type="text/csv")
    paths = {
        "/v1/graphs/people/file": "graph.json", "/v1/graphs/people/file?format=graphml": "graph.graphml",
        "/v1/graphs/people/file?format=edge-list": "graph.zip", "/v1/graphs/people-v1/mapping": "mapping.csv",
        "/v1/tables/t/file": "t.csv",
    }  # fmt: skip
    for path, name in paths.items():
        answer = custodian.get(path)
        assert answer.headers["Content-Disposition"] == f"attachment; filename={name}"
        assert answer.mimetype not in ("text/html", "image/svg+xml")


def test_nothing_that_is_for_developers_answers(app, nobody):
    assert not app.debug and not app.testing
    assert nobody("TRACE", "/healthz").status_code == 405
    for path in ("/pages/", "/docs/", "/static/", "/.git/config", "/console", "/v1/", "/pages/../pages.py", "/v1"):
        assert nobody.get(path).status_code in (401, 404), path


def test_a_get_changes_nothing(app, custodian, graphs, service):
    def state():
        with service.records.home.reading() as db:
            tables = ("accounts", "tokens", "uploads", "tables", "sessions")
            rows = [db.execute(f"SELECT count(*) FROM {each}").fetchone() for each in tables]
        return rows, service.opened().graphs()

    before = state()
    for rule in app.url_map.iter_rules():
        if "GET" in rule.methods:
            path = re.sub(r"<[^>]+>", "people", rule.rule)
            app.test_client().get(path, headers={"Authorization": f"Bearer {custodian.token}"})
    assert state() == before


def test_who_cannot_be_written_down_sees_nothing(custodian, graphs, service, monkeypatch):
    def full(*_, **__):
        raise FileFailure("The service's disk is full or failed; nothing was written.")

    monkeypatch.setattr(type(service.log), "add", full)
    for path in ("/v1/graphs/people", "/v1/graphs/people/file", "/v1/graphs/people-v1/mapping"):
        answer = custodian.get(path)
        assert answer.status_code == 507 and "ann" not in answer.text


def test_no_log_holds_a_token_or_a_name(app, custodian, graphs, caplog, capfd):
    with caplog.at_level("DEBUG"):
        custodian.get("/v1/graphs/people/users/dee/neighbours")
        custodian.get("/v1/graphs/nobody-knows-this")
        app.test_client().get("/v1/graphs", headers={"Authorization": "Bearer gp_this-is-wrong"})
        custodian.post("/v1/accounts", {"name": "ann", "role": "analyst"})
    said = caplog.text + "".join(capfd.readouterr())
    assert not re.search(r"gp_|dee|nobody-knows-this", said)


def test_secrets_are_256_bits_that_nobody_can_foresee(service):
    _, made = service.accounts.add("ann", "analyst")
    session = service.sessions.begin(made.secret)
    secrets = {made.secret.removeprefix("gp_"), session.secret, service.accounts.new_token("ann").secret}
    assert len(secrets) == 3 and all(len(each) >= 43 for each in secrets)


def test_sessions_end_with_their_account(app, service):
    _, made = service.accounts.add("ann", "analyst")
    session = service.sessions.begin(made.secret)
    assert service.sessions.find(session.secret) is not None
    service.accounts.remove("ann")
    assert service.sessions.find(session.secret) is None
