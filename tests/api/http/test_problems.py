"""Errors as problem documents."""

from __future__ import annotations

import pytest

from api.app import create_app
from api.http.problems import problem
from graphpriv.store.records import taken
from tabular.errors import InvalidParameter, NoSolution, StoreUnavailable


@pytest.fixture
def failing(config):
    """An application with routes that fail."""
    app = create_app(config)

    def fail(error):
        def view():
            raise error

        return view

    for name, error in {
        "solution": NoSolution("No release with k=5 exists."),
        "parameter": InvalidParameter.wrong("at_risk", must="be at least 0", was=-1, owner="AuditRelease"),
        "overwrite": taken("people"),
        "store": StoreUnavailable(f"{config['STORE']}: it does not answer.", can_retry=True),
        "path": NoSolution(f"{config['HOME']}/.graphpriv-copy-abc/graph.json: the file is empty."),
        "memory": MemoryError(),
        "bug": KeyError("@ann_x"),
    }.items():
        app.add_url_rule(f"/fails/{name}", name, fail(error))
    return app.test_client()


def test_an_error_points_at_its_field(failing):
    answer = failing.get("/fails/parameter")
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert answer.json["detail"] == "/at_risk must be at least 0, not -1."
    assert answer.json["errors"] == [{"pointer": "/at_risk", "detail": answer.json["detail"]}]
    assert {"type", "title", "status", "detail"} <= set(answer.json)


def test_what_is_no_field_here_is_called_what_it_is_elsewhere(failing):
    answer = failing.get("/fails/overwrite")
    told = "A graph is called 'people' already; take another name, or replace it with DELETE and this request again."
    assert (answer.status_code, answer.json["detail"]) == (409, told)
    assert "errors" not in answer.json


def test_statuses_are_those_of_the_tree(failing):
    assert failing.get("/fails/solution").status_code == 422
    answer = failing.get("/fails/store")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert failing.get("/fails/memory").status_code == 413


def test_nothing_tells_where_the_service_lies(failing, config):
    assert failing.get("/fails/path").json["detail"] == "graph.json: the file is empty."
    assert failing.get("/fails/store").json["detail"] == "the store: it does not answer."


def test_a_bug_shows_a_reference_and_no_data(failing):
    answer = failing.get("/fails/bug")
    assert answer.status_code == 500
    assert "reference" in answer.json["detail"]
    assert "@ann_x" not in answer.text


def test_a_problem_without_fields_has_no_errors(app):
    with app.test_request_context():
        assert "errors" not in problem(400, "x", "y").json
