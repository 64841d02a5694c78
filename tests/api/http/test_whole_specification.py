"""schemathesis over the whole specification: whatever is sent, the answer is a documented one."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from api.app import create_app
from tests.api.http.fakes import FakeFiles, FakeJobs

schemathesis = pytest.importorskip("schemathesis")

#: Requests that are tried over all operations together; the full count is for `-m heavy`.
FEW, MANY = 500, 10_000


#: What is there: made-up names alone would lead nowhere.
NAMES = ("people", "people-v1", "release:people-v1")


def call_by_names(case, name):
    """Let a request be about something that is there."""
    for known, value in (("name", name), ("id", "job0")):
        if known in (case.path_parameters or {}):
            case.path_parameters[known] = value
    for field in ("name", "original", "file") if isinstance(case.body, dict) else ():
        if isinstance(case.body.get(field), str):
            case.body[field] = name


def try_all(app, cases):
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    token = app.extensions["graphpriv"].accounts.new_token("custodian").secret
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    operations = [each.ok() for each in schema.get_all_operations()]
    wanted = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    for operation in operations:

        @settings(
            max_examples=-(-cases // len(operations)),
            database=None,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy(), name=st.sampled_from([None, *NAMES]), keeps_key=st.booleans())
        def send(case, name, keeps_key):
            headers = {**dict(case.headers or {}), "Authorization": f"Bearer {token}"}
            if not keeps_key:
                headers.pop("Idempotency-Key", None)
            if name is not None and case.method != "DELETE":
                call_by_names(case, name)
            case.call_and_validate(checks=wanted, headers=headers)

        send()


@pytest.fixture
def app(config, make, graphs):
    jobs = FakeJobs()
    made = create_app(config, queue=jobs, files=FakeFiles())
    jobs.submit("demo", {}, account="somebody")
    accounts = made.extensions["graphpriv"].accounts
    for name in ("custodian", "other"):
        accounts.add(name, "custodian")
    made.wsgi_app = read_to_its_end(made.wsgi_app)
    yield made
    made.extensions["graphpriv"].close()


def read_to_its_end(application):
    """An application whose answers are read and closed, as every server does: a stream holds a place until then."""

    def read(environ, start_response):
        answer = application(environ, start_response)
        try:
            return [b"".join(answer)]
        finally:
            answer.close()

    return read


def test_no_answer_is_undocumented_and_none_a_bug(app):
    try_all(app, FEW)


@pytest.mark.heavy
def test_no_answer_is_undocumented_in_ten_thousand(app):
    try_all(app, MANY)
