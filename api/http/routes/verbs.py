"""A route for every verb that is no resource, made from the registry: `POST /v1/` and its words."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from flask import Flask, Response

from api.http.bodies import json_object
from api.http.describing import ANY_OBJECT, answers
from api.http.gate import account, needs, service, tell_again
from api.http.problems import HttpProblem, service_of
from api.http.routes import jobs
from api.http.schema import is_resource, path_of, schema_of
from api.service.requests import Request
from api.verbs import Verb, verbs
from api.verbs.contract import Outcome, perform
from tabular.registry import Entry


def register(app: Flask) -> None:
    """Add the routes of all verbs to *app*."""
    for entry in verbs.entries():
        if not is_resource(entry.name):
            view = _view(entry, service_of(app).settings.offered)
            app.add_url_rule(path_of(entry.name), endpoint_of(entry.name), view, methods=["POST"])


def endpoint_of(name: str) -> str:
    """The endpoint of a verb."""
    return f"verb {name}"


def _view(entry: Entry[Verb], providers: Set[str]) -> Callable[[], Response]:
    """The view that performs a verb, with those providers that the operator allows."""

    @needs(entry.method.action)
    @answers(
        ANY_OBJECT,
        others={202: jobs.JOB},
        headers={"Prefer": "wait=N waits N seconds for the result of a job, at most 30."},
        body=schema_of(entry.name, entry.method, providers),
        refusals=jobs.REFUSALS,
    )
    def view() -> Response:
        asked = service().requests.read(entry.name, entry.method, json_object(), account())
        service().note_request(asked, account())
        if not asked.is_quick:
            return jobs.submitted(asked)
        tell_again(None)
        outcome = performed(asked)
        return jobs.answered(outcome.document, condition_holds=outcome.condition_holds)

    view.__doc__ = entry.summary
    return view


def performed(asked: Request, **given: Any) -> Outcome:
    """Perform a request at once."""
    outcome = perform(asked.verb, service().work(account(), seed=asked.seed, **given))
    if outcome.failure is not None:
        raise HttpProblem(422, "Failed", outcome.failure)
    return outcome
