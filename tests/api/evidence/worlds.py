"""Worlds that differ in nothing but what is hidden from analysts: originals of graphs and tables, and work on them."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from api.app import create_app
from api.http.sessions import COOKIE
from api.service.files import files_of
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeJobs

#: When everything was made, in every world.
MOMENT = "2026-01-02T03:04:05.678Z"

ROWS = "age,town\n" + "".join(f"{20 + row % 5},{'AB'[row % 2]}\n" for row in range(40))
AGES = "".join(f"{age};{age // 5 * 5};*\n" for age in range(20, 25))

#: Names that releases have, each also that of an original in some worlds.
NAMES = ("people", "follows", "v1")


class Jobs(FakeJobs):
    """Jobs that have no time of their own, ids that tell of one account alone, and results of the real verbs."""

    def __init__(self, store: str, home: Path) -> None:
        super().__init__()
        self._store, self._home = store, home

    def submit(self, verb, options, *, account, priority=10, seed=None):
        made_now = super().submit(verb, options, account=account, priority=priority, seed=seed)
        del self.all[made_now.id]
        made_now.id = f"job-{account}-{sum(each.account == account for each in self.all.values())}"
        self.all[made_now.id] = made_now
        return made_now

    def wait(self, id, seconds):
        job = self.all[id]
        if not job.has_ended:
            self._perform(job)
        return job

    def result(self, id):
        return SimpleNamespace(document=self.all[id].document, condition_holds=True)

    def files(self, id):
        folder = self._home / "did" / id
        return {each.name: each.stat().st_size for each in folder.iterdir() if not each.is_symlink()}

    def file(self, id, name):
        return self._home / "did" / id / name

    def _perform(self, job):
        verb, folder = made(verbs[job.verb].method, job.options), self._home / "did" / job.id
        folder.mkdir(parents=True)
        for name, path in files_of(self._home, verb).items():
            (folder / name).symlink_to(path)
        before = Path.cwd()
        os.chdir(folder)
        try:
            done = perform(verb, Work(store=self._store, home=str(self._home), account=job.account, seed=job.seed or 1))
            job.document, job.state = done.document, "done"
        finally:
            os.chdir(before)


@dataclass(frozen=True)
class World:
    """A service and an analyst of it, with a token and with a browser."""

    app: Any
    #: What the release, of a graph and of a table, is called.
    name: str
    analyst: Caller
    browser: Any

    def close(self) -> None:
        self.app.extensions["graphpriv"].close()


@contextmanager
def world(folder, seed, with_original):
    """A service with releases, whose originals are still there or not, with others beside them or not."""
    folder.mkdir()
    rng = random.Random(seed)
    store, home, name = f"file:{folder / 'store.db'}", folder / "home", rng.choice(NAMES)
    (folder / "g.json").write_text(json.dumps({**SMALL, "edges": rng.sample(SMALL["edges"], 2)}))
    # Where an original had the name before, the release lies in the store under another one.
    is_second = with_original and rng.random() < 0.5
    do = doer(store, seed)
    do("graph import", file=str(folder / "g.json"), graph="source")
    do("protect", name="source", k=2, into=f"release:{name}" if is_second else name)
    if not with_original:
        do("graph delete", name="source")
    app = create_app({"STORE": store, "HOME": str(home), "RATE_LIMIT": 1e6}, queue=Jobs(store, home))
    service = app.extensions["graphpriv"]
    tokens = {role: service.accounts.add(role, role)[1].secret for role in ("custodian", "analyst")}
    custodian = Caller(app.test_client(), tokens["custodian"])
    add_tables(custodian, name, with_original, rng)
    if with_original:
        add_originals(custodian, name, rng)
    service.close()
    give_the_same_marks(folder)
    browser = app.test_client()
    # What the forms of a browser carry is made of this secret.
    with patch("api.service.accounts.secrets.token_urlsafe", return_value="s" * 43):
        browser.set_cookie(COOKIE, service.sessions.begin(tokens["analyst"]).secret)
    found = World(app, name, Caller(app.test_client(), tokens["analyst"]), browser)
    try:
        yield found
    finally:
        found.close()
        shutil.rmtree(folder)


def doer(store, seed):
    """Performs verbs as the command line would."""
    return lambda verb, **options: perform(made(verbs[verb].method, options), Work(store=store, seed=seed))


def add_tables(custodian, name, with_original, rng):
    """A masked table that is released; its original stays, or another one does, or none."""
    assert custodian.put("/v1/tables/raw", data=ROWS.encode()).status_code == 201
    assert custodian.put("/v1/tables/raw/hierarchies/age", data=AGES.encode()).status_code == 201
    masked = {"file": "raw", "columns": ["age"], "method": "mondrian", "param": ["k=3"], "out": "m.csv", "into": name}
    answer = custodian.post("/v1/table/protect", {**masked, "seed": 5}, headers={"Prefer": "wait=30"})
    assert answer.status_code == 200, answer.text
    levels = "".join(f"{each};*\n" for each in ("[20,21]", "[22,24]", "20", "21", "22", "23", "24"))
    custodian.put(f"/v1/tables/release:{name}/hierarchies/age", data=levels.encode())
    if not with_original:
        assert custodian.delete("/v1/tables/raw").status_code == 200
    elif rng.random() < 0.5:
        assert custodian.put(f"/v1/tables/{name}", data=ROWS.encode()).status_code == 201
        assert custodian.put(f"/v1/tables/{name}/hierarchies/town", data=b"A;*\nB;*\n").status_code == 201


def add_originals(custodian, name, rng):
    """Originals of other persons, one under the release's name, and work on them."""
    for taken in (name, "other"):
        assert custodian.put(f"/v1/graphs/{taken}", data=json.dumps(SMALL).encode()).status_code == 201
    assert custodian.get(f"/v1/graphs/{name}").json["kind"] == "original"
    for _ in range(rng.randrange(3)):
        custodian.post("/v1/sweep", {"name": "other"})
        custodian.post("/v1/uploads", {"size": 5})


def give_the_same_marks(folder):
    """The moments and random ids of all releases, as if they were drawn alike: tags are made of them."""
    with closing(sqlite3.connect(folder / "store.db")) as db, db:
        db.execute("UPDATE graphs SET created = ?", (MOMENT,))
    with closing(sqlite3.connect(folder / "home" / "service.db")) as db, db:
        for id, kind in db.execute("SELECT id, kind FROM tables").fetchall():
            if kind == "release":
                db.execute("UPDATE tables SET id = ?, created = ? WHERE id = ?", ("0" * 32, MOMENT, id))
                (folder / "home" / "tables" / id).rename(folder / "home" / "tables" / ("0" * 32))
        # An account has a random id, too, and ids of its jobs tell it here.
        db.execute("PRAGMA foreign_keys = OFF")
        for name, id in db.execute("SELECT name, id FROM accounts").fetchall():
            db.execute("UPDATE accounts SET id = ? WHERE id = ?", (f"id-of-{name}", id))
            db.execute("UPDATE tokens SET account = ? WHERE account = ?", (f"id-of-{name}", id))


GRAPH_READS = (
    "", "/file", "/file?format=graphml", "/file?format=edge-list", "/file?format=none", "/mapping", "/users",
    "/users?limit=1", "/users?format=csv", "/users?topic=Sports", "/users?topic=Nothing", "/users?cursor=bm8",
    "/degrees", "/components", "/clustering", "/mixing?by=location:country", "/counts?by=topic1", "/counts",
    "/users/ann/neighbours", "/nothing",
)  # fmt: skip

TABLE_READS = (
    "", "/file", "/dictionary", "/rows", "/rows?limit=2", "/rows?format=ndjson", "/rows?where=age%3E%3D22",
    "/rows?where=none%3D1", "/counts?by=age", "/counts?by=town&format=csv", "/counts", "/schema", "/hierarchies",
    "/hierarchies/age", "/hierarchies/town", "/nothing",
)  # fmt: skip

ELSEWHERE = (
    "/v1/graphs", "/v1/graphs?limit=1", "/v1/graphs?limit=0", "/v1/tables", "/v1/tables?limit=1", "/v1/jobs",
    "/v1/jobs?limit=1", "/v1/jobs/job-id-of-custodian-0", "/v1/jobs/job-id-of-custodian-0/result", "/v1/jobs/none",
    "/v1/audit-log", "/v1/accounts", "/v1/accounts/custodian/tokens", "/v1/uploads/none", "/v1/verbs", "/v1/none",
    "/readyz", "/healthz", "/docs", "/docs/start.js", "/openapi.json",
)  # fmt: skip

PAGES = (
    "/", "/jobs", "/jobs/none", "/jobs/job-id-of-custodian-0", "/accounts", "/audit-log", "/upload", "/release",
    "/none", "/sign-in", "/second-factor",
)  # fmt: skip


def things(name):
    """Names that an analyst may try: of the release, of what is hidden in one of the worlds, of nothing."""
    others = ("source", "other", "raw", "nobody")
    return (name, f"release:{name}", f"original:{name}", *others, "original:source", "release:source")


def questions(name):
    """Everything that an analyst may try, in an order: a way in, a method, an address and a body."""
    for thing in things(name):
        for path in GRAPH_READS:
            yield "token", "GET", f"/v1/graphs/{thing}{path}", None
        for path in TABLE_READS:
            yield "token", "GET", f"/v1/tables/{thing}{path}", None
        for kind in ("graphs", "tables"):
            yield "token", "PUT", f"/v1/{kind}/{thing}", {}
            yield "token", "DELETE", f"/v1/{kind}/{thing}", None
            yield "token", "POST", f"/v1/{kind}/{thing}", {}
        yield "token", "DELETE", f"/v1/graphs/{thing}/users/ann", None
        yield "token", "DELETE", f"/v1/tables/{thing}/hierarchies/age", None
        yield "token", "PUT", f"/v1/tables/{thing}/hierarchies/age", {}
        for verb, body in asked_of(thing, name):
            yield "token", "POST", f"/v1/{verb}", body
        for page in (f"/graphs/{thing}", f"/graphs/{thing}/picture", f"/graphs/{thing}/download",
                     f"/releases/{thing}/audit", f"/release?graph={thing}"):  # fmt: skip
            yield "browser", "GET", page, None
        yield "browser", "POST", f"/graphs/{thing}/delete", {}
        for page in ("", "?by=town&where=age%3D22", "?kind=original", "?kind=release", "/download",
                     "/download?what=dictionary", "/download?what=schema", "/hierarchies/age"):  # fmt: skip
            yield "browser", "GET", f"/tables/{thing}{page}", None
        for form in ("delete", "columns", "hierarchies/age"):
            yield "browser", "POST", f"/tables/{thing}/{form}", {}
        yield "browser", "GET", f"/release?table={thing}", None
        yield "token", "PUT", f"/v1/tables/{thing}/schema", {}
    for path in ELSEWHERE:
        yield "token", "GET", path, None
    for path in PAGES:
        yield "browser", "GET", path, None
    for path, body in (("/v1/uploads", {"size": 1}), ("/v1/accounts", {"name": "x", "role": "analyst"}),
                       ("/v1/graph/import", {}), ("/v1/jobs/job-id-of-custodian-0/cancel", None)):  # fmt: skip
        yield "token", "POST", path, body


def asked_of(thing, name):
    """Verbs that an analyst may try on a thing."""
    yield "protect", {"name": thing, "k": 2, "into": "new"}
    yield "protect", {"name": "nobody", "k": 2, "into": thing}
    yield "audit", {"original": thing, "released": name}
    yield "audit", {"original": "nobody", "released": thing}
    yield "sweep", {"name": thing}
    yield "microdata", {"name": thing, "out": "m.csv"}
    yield "microdata", {"name": thing, "out": "m.csv", "into": thing}
    yield "microdata", {"name": thing, "out": "m.csv", "method": "mondrian", "param": ["k=2"]}
    yield "table/describe", {"file": thing}
    yield "table/import", {"file": thing, "into": "new"}
    yield "table/import", {"file": "nobody", "into": thing}
    yield "table/check", {"file": thing, "quasi_identifiers": ["age"]}
    yield "table/measure", {"original": thing, "masked": name, "columns": ["age"]}
    yield "table/search", {"file": thing, "quasi_identifiers": ["age"], "k": 2}
    yield "table/protect", {"file": thing, "columns": ["age"], "method": "pram", "out": "p.csv"}
    yield "table/hierarchy", {"file": thing, "column": "age", "by": "range", "param": ["widths=5"], "out": "h.csv"}


def answered(there, question):
    """What a question is answered: status, headers in their order, and body."""
    way, method, path, body = question
    if way == "token":
        given = {} if body is None else {"json": body}
        return there.analyst(method, path, headers={"Prefer": "wait=30"}, **given)
    return there.browser.open(path, method=method, **({} if body is None else {"data": body}))
