"""Fixtures of the service: an application with a folder and a store of its own, and a client for each role."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from api.app import create_app
from api.http.describing import PROBLEM_SCHEMA
from api.http.openapi import openapi, template_of
from api.http.server import server_at
from api.service.accounts import ROLES
from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from graphpriv.store import open_store
from tests.api.conftest import SMALL


def check_documented(app: Any, method: str, path: str, answer: TestResponse) -> None:
    """Fail unless the OpenAPI document has this answer: every test of a route is one of the document, too."""
    try:
        rule, _ = app.url_map.bind("localhost").match(path.split("?")[0], method, return_rule=True)
    except HTTPException:
        # No route, or no method of one.
        assert answer.status_code in (400, 401, 404, 405, 429), (method, path, answer.status_code)
        return
    if rule.endpoint.startswith("pages."):
        return
    if "document" not in app.extensions:
        app.extensions["document"] = openapi(app)
    operation = app.extensions["document"]["paths"][template_of(rule)][method.lower()]
    described = operation["responses"].get(str(answer.status_code))
    assert described is not None, f"{method} {path}: {answer.status_code} is not documented. {answer.text}"
    if answer.status_code in (204, 304):
        assert not answer.data
        return
    assert answer.mimetype in described["content"], (method, path, answer.status_code, answer.mimetype)
    schema = described["content"][answer.mimetype].get("schema")
    if schema is not None:
        schema = PROBLEM_SCHEMA if "$ref" in schema else schema
        pytest.importorskip("jsonschema").validate(answer.json, schema)


@dataclass(frozen=True)
class Caller:
    """A client with a token."""

    client: Any
    token: str | None

    def __call__(self, method: str, path: str, **given: Any) -> TestResponse:
        headers = dict(given.pop("headers", {}))
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        answer = self.client.open(path, method=method, headers=headers, **given)
        check_documented(self.client.application, method, path, answer)
        return answer

    def get(self, path: str, **given: Any) -> TestResponse:
        return self("GET", path, **given)

    def post(self, path: str, body: Any = None, **given: Any) -> TestResponse:
        return self("POST", path, **({} if body is None else {"json": body}), **given)

    def put(self, path: str, **given: Any) -> TestResponse:
        return self("PUT", path, **given)

    def delete(self, path: str, **given: Any) -> TestResponse:
        return self("DELETE", path, **given)


@contextmanager
def running(app: Any) -> Iterator[tuple[str, int]]:
    """The address of a server of *app*, which is stopped with all its threads and connections."""
    server = server_at(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.addresses[0]
    finally:
        server.stop()
        thread.join(20)


@pytest.fixture
def config(tmp_path):
    return {"STORE": f"file:{tmp_path / 'store.db'}", "HOME": str(tmp_path / "home"), "RATE_LIMIT": 100_000}


@pytest.fixture
def make(config):
    """Performs a verb on the store of the service, as the command line would."""

    def call(verb: str, /, **options: Any) -> Any:
        return perform(made(verbs[verb].method, options), Work(store=config["STORE"], seed=1)).document

    return call


@pytest.fixture
def app(config):
    # As `serve` does.
    open_store(config["STORE"], create=True).close()
    made_app = create_app(config)
    yield made_app
    made_app.extensions["graphpriv"].close()


@pytest.fixture
def service(app):
    return app.extensions["graphpriv"]


@pytest.fixture
def callers(app, service):
    """A client for each role, by its name, and one without a token."""
    tokens = {role: service.accounts.add(role, role)[1].secret for role in ROLES}
    return {role: Caller(app.test_client(), tokens.get(role)) for role in (*ROLES, None)}


@pytest.fixture
def custodian(callers):
    return callers["custodian"]


@pytest.fixture
def auditor(callers):
    return callers["auditor"]


@pytest.fixture
def analyst(callers):
    return callers["analyst"]


@pytest.fixture
def nobody(callers):
    return callers[None]


@pytest.fixture
def graphs(make, tmp_path):
    """An original `people` and its release `people-v1`."""
    path = tmp_path / "people.json"
    path.write_text(json.dumps(SMALL))
    make("graph import", file=str(path), graph="people")
    make("protect", name="people", k=2, into="people-v1")
