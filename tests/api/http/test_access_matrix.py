"""Every route x every role x original, release, and what is not there or somebody else's.

The rows are written down here once more, by hand: a route without a row fails, and so does a row without a route.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.app import create_app
from api.http.options import OPTIONS
from api.service.accounts import ROLES
from api.service.requests import offered
from api.verbs import verbs
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeFiles, FakeJobs

#: Routes that ask for no token.
OPEN = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/start.js", "/docs/swagger-ui.css"}
OPEN |= {"/docs/swagger-ui-bundle.js", "/sign-in", "/sign-in/code", "/pages/<file>"}

Y, N, H = "yes", 403, 404
ALL, CUSTODIANS, NOTHING = (Y, Y, Y), (Y, N, N), (H, H, H)

#: What changes things of a kind is for custodians; of originals, an analyst is told nothing.
CHANGES: dict[str, Any] = {"original": (Y, N, H), "release": (Y, N, N), "foreign": (H, N, H)}
MEASURES: dict[str, Any] = {"original": (Y, Y, H), "release": (Y, Y, N), "foreign": NOTHING}
READS: dict[str, Any] = {"release": ALL, "foreign": NOTHING}
ADMINISTERS = (H, N, N)


@dataclass(frozen=True)
class Row:
    """What a custodian, an auditor and an analyst are told, by what they ask about."""

    original: tuple[Any, ...] | None = None
    release: tuple[Any, ...] | None = None
    #: What is not there, or belongs to somebody else.
    foreign: tuple[Any, ...] | None = None
    #: Where a route is about no single thing.
    whole: tuple[Any, ...] | None = None
    body: Any = None
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


#: A person, out of the address.
ANN = {OPTIONS: "user=ann"}
LEVELS = b"30;*\n40;*\n"
ASKS = Row(original=(Y, N, H), **READS)
TABLES = {"file": "{name}", "quasi_identifiers": ["age"]}

MATRIX: dict[tuple[str, str], Row] = {
    ("GET", "/v1/methods"): Row(whole=ALL),
    ("GET", "/v1/verbs"): Row(whole=ALL),
    ("GET", "/v1/graphs"): Row(whole=ALL),
    ("GET", "/v1/graphs/<name>"): Row(original=(Y, Y, H), **READS),
    ("GET", "/v1/graphs/<name>/file"): Row(original=(Y, N, H), **READS),
    ("GET", "/v1/graphs/<name>/mapping"): Row(original=NOTHING, release=(Y, Y, N), foreign=NOTHING),
    # Questions about profiles: an original is for custodians alone.
    **{("GET", f"/v1/graphs/<name>/{each}"): ASKS for each in ("users", "degrees", "components", "clustering")},
    ("GET", "/v1/graphs/<name>/counts"): Row(original=(Y, N, H), **READS, query="?by=topic1"),
    ("GET", "/v1/graphs/<name>/mixing"): Row(original=(Y, N, H), **READS, query="?by=topic1"),
    # A release has other users than its original.
    ("GET", "/v1/graphs/<name>/users/<path:user>/neighbours"): Row(
        original=(Y, N, H), release=NOTHING, foreign=NOTHING
    ),
    ("GET", "/v1/graphs/<name>/neighbours"): Row(original=(Y, N, H), release=NOTHING, foreign=NOTHING, headers=ANN),
    ("DELETE", "/v1/graphs/<name>/users"): Row(**{**CHANGES, "release": (400, N, N)}, headers=ANN),
    # To replace an original takes its ETag: a conflict is a yes.
    ("PUT", "/v1/graphs/<name>"): Row(
        original=(409, N, N), release=CUSTODIANS, foreign=CUSTODIANS, body=json.dumps(SMALL).encode()
    ),
    ("DELETE", "/v1/graphs/<name>"): Row(**CHANGES),
    ("DELETE", "/v1/graphs/<name>/users/<path:user>"): Row(**{**CHANGES, "release": (400, N, N)}),
    ("GET", "/v1/tables"): Row(whole=ALL),
    ("GET", "/v1/tables/<name>"): Row(original=(Y, Y, H), **READS),
    **{("GET", f"/v1/tables/<name>/{each}"): ASKS for each in ("file", "rows", "schema", "hierarchies")},
    ("GET", "/v1/tables/<name>/counts"): Row(original=(Y, N, H), **READS, query="?by=age"),
    ("GET", "/v1/tables/<name>/dictionary"): Row(original=(H, N, H), **READS),
    ("GET", "/v1/tables/<name>/hierarchies/<path:column>"): Row(original=(Y, N, H), **READS),
    ("PUT", "/v1/tables/<name>"): Row(
        original=(409, N, N), release=CUSTODIANS, foreign=CUSTODIANS, body=b"age\n1\n2\n"
    ),
    ("PUT", "/v1/tables/<name>/hierarchies/<path:column>"): Row(
        original=CUSTODIANS, release=CUSTODIANS, foreign=ADMINISTERS, body=LEVELS
    ),
    ("PUT", "/v1/tables/<name>/schema"): Row(
        original=CUSTODIANS, release=CUSTODIANS, foreign=ADMINISTERS, body={"attributes": {"age": {"kind": "ordinal"}}}
    ),
    ("DELETE", "/v1/tables/<name>/hierarchies/<path:column>"): Row(**CHANGES),
    ("DELETE", "/v1/tables/<name>"): Row(**CHANGES),
    ("POST", "/v1/uploads"): Row(whole=CUSTODIANS, body={"size": 3}),
    ("GET", "/v1/uploads/<id>"): Row(foreign=ADMINISTERS),
    ("PUT", "/v1/uploads/<id>"): Row(foreign=ADMINISTERS, body=b"abc", query="?offset=0"),
    ("GET", "/v1/accounts"): Row(whole=CUSTODIANS),
    ("POST", "/v1/accounts"): Row(whole=CUSTODIANS, body={"name": "new", "role": "analyst"}),
    ("DELETE", "/v1/accounts/<name>"): Row(foreign=ADMINISTERS),
    ("GET", "/v1/accounts/<name>/tokens"): Row(foreign=ADMINISTERS),
    ("POST", "/v1/accounts/<name>/tokens"): Row(foreign=ADMINISTERS),
    ("DELETE", "/v1/accounts/<name>/tokens/<id>"): Row(foreign=ADMINISTERS),
    # Nobody here has a second factor.
    ("DELETE", "/v1/accounts/<name>/second-factor"): Row(foreign=ADMINISTERS),
    ("GET", "/v1/audit-log"): Row(whole=CUSTODIANS),
    ("GET", "/v1/jobs"): Row(whole=ALL),
    # The job of somebody else: a custodian sees it.
    ("GET", "/v1/jobs/<id>"): Row(foreign=(Y, H, H)),
    ("POST", "/v1/jobs/<id>/cancel"): Row(foreign=(Y, H, H)),
    # That job was not cancelled.
    ("POST", "/v1/jobs/<id>/resume"): Row(foreign=(409, H, H)),
    ("GET", "/v1/jobs/<id>/events"): Row(foreign=(Y, H, H)),
    ("GET", "/v1/jobs/<id>/result"): Row(foreign=(Y, H, H)),
    ("GET", "/v1/jobs/<id>/files"): Row(foreign=(Y, H, H)),
    ("GET", "/v1/jobs/<id>/files/<path:name>"): Row(foreign=(Y, H, H)),
    ("POST", "/v1/protect"): Row(
        **CHANGES,
        body={"name": "{name}", "k": 2, "into": "new"},
    ),
    ("POST", "/v1/audit"): Row(
        **MEASURES, body={"original": "{name}", "released": "people-v1"}
    ),
    ("POST", "/v1/sweep"): Row(**MEASURES, body={"name": "{name}"}),
    ("POST", "/v1/microdata"): Row(original=(Y, N, H), **READS, body={"name": "{name}", "out": "m.csv"}),
    ("POST", "/v1/enrich"): Row(**CHANGES, body={"name": "{name}", "pages": 0}),
    ("POST", "/v1/crawl"): Row(
        whole=CUSTODIANS, body={"source": "x", "graph": "new", "start": "somebody", "users": 1, "posts": 0}
    ),
    ("POST", "/v1/graph/refresh"): Row(**CHANGES, body={"name": "{name}"}),
    ("POST", "/v1/demo"): Row(whole=CUSTODIANS, body={}),
    ("POST", "/v1/warm-up"): Row(whole=CUSTODIANS, body={}),
    ("POST", "/v1/store/backup"): Row(whole=CUSTODIANS, body={"file": "backup.db"}),
    ("POST", "/v1/store/restore"): Row(
        whole=CUSTODIANS, foreign=ADMINISTERS, body={"file": {"upload": "{upload}"}}
    ),
    ("POST", "/v1/store/check"): Row(whole=CUSTODIANS, body={}),
    ("POST", "/v1/places"): Row(original=(Y, N, H), **READS, body={"file": "{name}"}),
    ("POST", "/v1/topics"): Row(original=(Y, N, H), **READS, body={"file": "{name}"}),
    ("POST", "/v1/table/describe"): Row(original=(Y, Y, H), **READS, body={"file": "{name}"}),
    ("POST", "/v1/table/import"): Row(
        original=CUSTODIANS, release=CUSTODIANS, foreign=ADMINISTERS, body={"file": "{name}", "into": "new"}
    ),
    ("POST", "/v1/table/check"): Row(original=(Y, Y, H), **READS, body=TABLES),
    ("POST", "/v1/table/hierarchy"): Row(
        **CHANGES,
        body={"file": "{name}", "column": "age", "by": "star", "out": "age.csv"},
    ),
    ("POST", "/v1/table/protect"): Row(
        **CHANGES,
        body={"file": "{name}", "columns": ["age"], "method": "mondrian", "param": ["k=2"], "out": "m.csv"},
    ),
    ("POST", "/v1/table/compare"): Row(**CHANGES, body={"file": "{name}", "columns": ["age"]}),
    ("POST", "/v1/table/evolve"): Row(
        **CHANGES,
        body={"file": "{name}", "what": "records", "columns": ["age"], "generations": 0, "out": "best.csv"},
    ),
    ("POST", "/v1/table/measure"): Row(
        **MEASURES,
        body={"original": "{name}", "masked": "people-v1", "columns": ["age"]},
    ),
    ("POST", "/v1/table/search"): Row(
        **CHANGES, body={**TABLES, "k": 2}
    ),
}  # fmt: skip

#: The pages: a form that was taken sends the browser on, and an empty one is wrong.
SENT_ON, EMPTY = (303, N, N), (400, N, N)

MATRIX |= {
    ("GET", "/"): Row(whole=ALL),
    ("POST", "/sign-out"): Row(whole=(303, 303, 303)),
    ("GET", "/sessions"): Row(whole=ALL),
    ("POST", "/sessions/end"): Row(whole=(303, 303, 303)),
    # It is for who is signed in, never with a token.
    ("POST", "/sessions/token"): Row(whole=(N, N, N)),
    ("GET", "/second-factor"): Row(whole=ALL),
    # It is changed by who is signed in, never with a token.
    **{("POST", f"/second-factor{each}"): Row(whole=(N, N, N)) for each in ("", "/confirm", "/codes", "/off")},
    ("GET", "/upload"): Row(whole=CUSTODIANS),
    ("POST", "/upload"): Row(whole=EMPTY),
    ("GET", "/collect"): Row(whole=CUSTODIANS),
    ("POST", "/collect"): Row(whole=EMPTY),
    ("GET", "/upload/<id>"): Row(foreign=ADMINISTERS),
    ("POST", "/upload/<id>"): Row(foreign=ADMINISTERS),
    ("GET", "/upload/<id>/table"): Row(foreign=ADMINISTERS),
    ("POST", "/upload/<id>/table"): Row(foreign=ADMINISTERS),
    ("GET", "/tables/<name>"): Row(original=(Y, Y, H), **READS),
    ("POST", "/tables/<name>"): Row(original=(303, 303, H), release=(303, 303, 303), foreign=NOTHING),
    ("GET", "/tables/<name>/download"): Row(original=(Y, N, H), **READS),
    ("POST", "/tables/<name>/columns"): Row(original=SENT_ON, release=SENT_ON, foreign=ADMINISTERS),
    ("POST", "/tables/<name>/delete"): Row(original=(303, N, H), release=SENT_ON, foreign=(H, N, H)),
    ("GET", "/tables/<name>/hierarchies/<path:column>"): Row(
        original=CUSTODIANS, release=CUSTODIANS, foreign=ADMINISTERS
    ),
    # An empty form is wrong.
    ("POST", "/tables/<name>/hierarchies/<path:column>"): Row(original=EMPTY, release=EMPTY, foreign=ADMINISTERS),
    ("POST", "/demo"): Row(whole=(404, N, N)),
    ("GET", "/jobs"): Row(whole=ALL),
    ("GET", "/jobs/<id>"): Row(foreign=(Y, H, H)),
    ("POST", "/jobs/<id>/cancel"): Row(foreign=(303, H, H)),
    ("POST", "/jobs/<id>/resume"): Row(foreign=(409, H, H)),
    ("GET", "/accounts"): Row(whole=CUSTODIANS),
    ("POST", "/accounts"): Row(whole=EMPTY),
    ("POST", "/accounts/<name>/tokens"): Row(foreign=ADMINISTERS),
    ("POST", "/accounts/<name>/tokens/<id>/revoke"): Row(foreign=ADMINISTERS),
    ("POST", "/accounts/<name>/second-factor/reset"): Row(foreign=ADMINISTERS),
    ("GET", "/audit-log"): Row(whole=CUSTODIANS),
    ("GET", "/graphs/<name>"): Row(original=(Y, Y, H), **READS),
    ("POST", "/graphs/<name>"): Row(original=(303, 303, H), release=(303, 303, 303), foreign=NOTHING),
    ("GET", "/graphs/<name>/picture"): Row(original=(Y, N, H), **READS),
    ("GET", "/graphs/<name>/download"): Row(original=(Y, N, H), **READS),
    # The graph was not collected, so there is nothing to go on with.
    ("GET", "/graphs/<name>/collect"): Row(original=ADMINISTERS, release=ADMINISTERS, foreign=ADMINISTERS),
    ("POST", "/graphs/<name>/collect"): Row(original=ADMINISTERS, release=ADMINISTERS, foreign=ADMINISTERS),
    ("POST", "/graphs/<name>/enrich"): Row(original=(303, N, H), release=(H, N, H), foreign=(H, N, H)),
    ("POST", "/graphs/<name>/delete"): Row(original=(303, N, H), release=SENT_ON, foreign=(H, N, H)),
    ("GET", "/releases/<name>/audit"): Row(original=NOTHING, release=(Y, Y, N), foreign=NOTHING),
    ("POST", "/releases/<name>/audit"): Row(original=NOTHING, release=(303, 303, N), foreign=NOTHING),
    ("POST", "/releases/<name>/map"): Row(original=NOTHING, release=(303, 303, N), foreign=NOTHING),
    ("GET", "/release"): Row(whole=CUSTODIANS, original=CUSTODIANS, query="?graph=people&step=5"),
    ("GET", "/release/plan"): Row(original=CUSTODIANS, query="?graph=people&into=new"),
    ("POST", "/release/plan"): Row(whole=EMPTY),
    ("POST", "/release/candidates"): Row(whole=EMPTY),
    ("GET", "/search"): Row(original=CUSTODIANS, query="?table=people"),
    ("POST", "/search"): Row(whole=EMPTY),
    ("GET", "/protections"): Row(original=CUSTODIANS, query="?table=people"),
    ("POST", "/protections"): Row(whole=EMPTY),
    # The job of somebody else is another one.
    **{("GET", f"/{each}/<id>"): Row(foreign=ADMINISTERS) for each in ("search", "protections")},
    **{("POST", f"/search/<id>/{each}"): Row(foreign=ADMINISTERS) for each in ("preview", "release", "stop")},
    ("GET", "/tables/<name>/audit"): Row(**MEASURES),
    # The stand-in for files knows no release by its address.
    ("POST", "/tables/<name>/check"): Row(original=(400, 400, H), release=(H, H, N), foreign=NOTHING),
    ("POST", "/tables/<name>/measure"): Row(original=(400, 400, H), release=(400, 400, N), foreign=NOTHING),
    ("POST", "/release"): Row(whole=EMPTY),
}


@pytest.fixture
def world(config, make, tmp_path):
    """A service with an original, its release, a job of somebody else, and a client for each role."""
    path = tmp_path / "people.json"
    path.write_text(json.dumps(SMALL))
    make("graph import", file=str(path), graph="people")
    make("protect", name="people", k=2, into="people-v1")
    (tmp_path / "t.csv").write_text("age,town\n30,A\n40,B\n30,B\n")
    (tmp_path / "d.json").write_text("{}")
    jobs = FakeJobs()
    app = create_app(config, queue=jobs, files=FakeFiles())
    accounts = app.extensions["graphpriv"].accounts
    callers = {role: Caller(app.test_client(), accounts.add(role, role)[1].secret) for role in ROLES}
    for name, kind in (("people", "original"), ("people-v1", "release")):
        dictionary = tmp_path / "d.json" if kind == "release" else None
        tables = app.extensions["graphpriv"].tables
        table = tables.add(name, kind, tmp_path / "t.csv", dictionary=dictionary)
        tables.put_hierarchy(table, "age", LEVELS)
    foreign, _ = accounts.add("somebody", "custodian")
    jobs.submit("demo", {}, account=foreign.id)
    jobs.all["job0"].state = "done"
    yield app, callers
    app.extensions["graphpriv"].close()


def routes(config):
    app = create_app(config)
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule not in OPEN
    }


def test_every_route_has_a_row_and_every_row_a_route(config):
    open_store(config["STORE"], create=True).close()
    assert routes(config) == set(MATRIX)


NAMES = {"original": "people", "release": "people-v1", "foreign": "nobody", "whole": ""}


def asked(caller, method, rule, row, what, role):
    """The answer to a request about a thing."""
    name = NAMES[what]
    path = (
        rule.replace("<id>", "job0")
        .replace("<path:user>", "ann")
        .replace("<path:name>", "a.txt")
        .replace("<path:column>", "age")
    )
    path = path.replace("<name>", name) + row.query
    given = row.body
    if isinstance(given, bytes):
        return caller(method, path, data=given)
    if given is not None:
        upload = f"upload-of-{role}" if what == "whole" else "upload-of-somebody"
        text = json.dumps(given).replace("{name}", name).replace("{upload}", upload)
        return caller(method, path, data=text, content_type="application/json")
    return caller(method, path, headers=row.headers)


@pytest.mark.parametrize(("method", "rule"), list(MATRIX))
def test_each_role_is_told_what_its_row_says(world, method, rule):
    _, callers = world
    row, told = MATRIX[method, rule], {}
    # What is not there first, and those last who can change something.
    for what in ("foreign", "release", "original", "whole"):
        expected = getattr(row, what)
        for role in reversed(ROLES) if expected is not None else ():
            answer = told[what, role] = asked(callers[role], method, rule, row, what, role)
            wanted = expected[ROLES.index(role)]
            if wanted == Y:
                assert answer.status_code < 300, (what, role, answer.text)
            else:
                assert answer.status_code == wanted, (what, role, answer.text)
    if ("original", "analyst") in told and ("foreign", "analyst") in told:
        hidden, missing = told["original", "analyst"], told["foreign", "analyst"]
        assert re.sub(r"(['\"]|&#39;)(release:|)people(?=['\"]|&#39;)", r"\1\2nobody", hidden.text) == missing.text
        same = ("Content-Length", "ETag", "Request-Id")
        assert [each for each in hidden.headers if each[0] not in same] == [
            each for each in missing.headers if each[0] not in same
        ]


def test_every_verb_says_what_one_must_be_allowed_to_do():
    from api.service.access import ACTIONS

    for entry in verbs.entries():
        assert entry.method.action in ACTIONS, entry.name
        # Whoever may only export or describe must be told by name what it is about.
        if entry.method.action in ("export", "describe", "measure"):
            forms = [each.metadata for each in offered(entry.method).values()]
            assert any(each.get("graph") or each.get("input") for each in forms), entry.name


def test_without_a_token_no_route_answers(world):
    app, _ = world
    nobody = Caller(app.test_client(), None)
    for method, rule in MATRIX:
        answer = asked(nobody, method, rule, MATRIX[method, rule], "original", "custodian")
        # A page sends the browser to where one signs in.
        is_sent = answer.status_code == 303 and answer.headers["Location"].startswith("/sign-in?")
        assert answer.status_code == 401 or (is_sent and not rule.startswith("/v1/"))
