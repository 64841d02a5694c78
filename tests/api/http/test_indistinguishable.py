"""An analyst cannot tell whether there is an original: two worlds that differ in it give the same answers."""

from __future__ import annotations

import json
import random

import pytest
from flask import g

from api.app import create_app
from api.http.routes import jobs as job_routes
from api.service.accounts import Account
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeFiles, FakeJobs

#: What differs between any two requests, wherever they are sent.
CHANCE = {"Date"}


class Jobs(FakeJobs):
    """Jobs that have no time of their own."""


def world(folder, seed, with_original):
    """A service with a release, whose original is still there or not, and other originals beside it or not."""
    folder.mkdir()
    rng = random.Random(seed)
    store, name = f"file:{folder / 'store.db'}", rng.choice(["people", "follows", "v1"])

    def do(verb, **options):
        perform(made(verbs[verb].method, options), Work(store=store, seed=seed))

    graph = {**SMALL, "edges": rng.sample(SMALL["edges"], 2)}
    (folder / "g.json").write_text(json.dumps(graph))
    do("graph import", file=str(folder / "g.json"), graph="source")
    # Where an original had the name before, the release lies in the store under another one.
    is_second = with_original and rng.random() < 0.5
    do("protect", name="source", k=2, into=f"release:{name}" if is_second else name)
    if not with_original:
        do("graph delete", name="source")
    app = create_app({"STORE": store, "HOME": str(folder / "home")}, queue=Jobs(), files=FakeFiles())
    accounts = app.extensions["graphpriv"].accounts
    tokens = {role: accounts.add(role, role)[1].secret for role in ("custodian", "analyst")}
    if with_original:
        custodian = Caller(app.test_client(), tokens["custodian"])
        for taken in (name, "other"):
            assert custodian.put(f"/v1/graphs/{taken}", data=json.dumps(SMALL).encode()).status_code == 201
        assert custodian.get(f"/v1/graphs/{name}").json["kind"] == "original"
    return app, Caller(app.test_client(), tokens["analyst"]), name


READS = (
    "/file", "/file?format=graphml", "/mapping", "/users", "/users?format=csv", "/degrees", "/components",
    "/mixing?by=location:country", "/counts?by=topic1", "/users/ann/neighbours",
)  # fmt: skip


def questions(name):
    """Everything that an analyst may try."""
    for thing in (name, f"release:{name}", "source", "other", f"original:{name}", "original:source", "nobody"):
        for path in ("", *READS):
            yield "GET", f"/v1/graphs/{thing}{path}", None
        yield "DELETE", f"/v1/graphs/{thing}/users/ann", None
        yield "PUT", f"/v1/graphs/{thing}", {}
        yield "DELETE", f"/v1/graphs/{thing}", None
        for verb, body in (
            ("protect", {"name": thing, "k": 2, "into": "new"}),
            ("protect", {"name": "nobody", "k": 2, "into": thing}),
            ("audit", {"original": thing, "released": name}),
            ("audit", {"original": "nobody", "released": thing}),
            ("sweep", {"name": thing}),
            ("microdata", {"name": thing, "out": "m.csv"}),
            ("microdata", {"name": thing, "out": "m.csv", "method": "mondrian", "param": ["k=2"]}),
        ):
            yield "POST", f"/v1/{verb}", body
    for path in ("/v1/graphs", "/v1/graphs?limit=1", "/v1/jobs", "/v1/jobs/job0", "/v1/audit-log", "/v1/accounts",
                 "/readyz", "/v1/verbs"):  # fmt: skip
        yield "GET", path, None


def answers(folder, seed, with_original):
    app, analyst, name = world(folder, seed, with_original)
    told = []
    for method, path, body in questions(name):
        answer = analyst(method, path, **({} if body is None else {"json": body}))
        headers = [each for each in answer.headers if each[0] not in CHANCE]
        told.append((method, path, body, answer.status_code, headers, answer.data))
    with open_store(app.extensions["graphpriv"].settings.store, create=False) as store:
        created = next(each.created for each in store.graphs() if each.is_release)
    app.extensions["graphpriv"].close()
    return [[str(part).replace(created, "CREATED") for part in each] for each in told]


def compare(tmp_path, seed):
    with_it, without = (answers(tmp_path / f"{seed}-{is_there}", seed, is_there) for is_there in (True, False))
    assert len(with_it) == len(without) > 90
    for one, other in zip(with_it, without, strict=True):
        # Tags are hashes of what is answered, in which a moment stands.
        assert [one[:4], one[5]] == [other[:4], other[5]]
        assert [each for each in eval(one[4]) if each[0] != "ETag"] == [
            each for each in eval(other[4]) if each[0] != "ETag"
        ]


@pytest.mark.parametrize("seed", range(20))
def test_an_analyst_is_told_the_same_with_and_without_an_original(tmp_path, seed):
    compare(tmp_path, seed)


@pytest.mark.heavy
def test_so_in_200_worlds(tmp_path):
    for seed in range(200):
        compare(tmp_path, seed)


def test_a_job_of_an_analyst_does_not_show_the_name_in_the_store(app, service):
    """Where an original has the name of a release, that lies in the store under another one."""
    job = Jobs().submit("microdata", {"name": "release:people", "out": "m.csv"}, account="1")
    with app.test_request_context():
        g.account = Account("1", "ann", "analyst", "")
        assert job_routes._shown(job)["options"] == {"name": "people", "out": "m.csv"}
