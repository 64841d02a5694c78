"""The service."""

import pytest

from api.app import create_app
from graphpriv.store import open_store
from tabular.errors import NoSolution


@pytest.fixture
def app(tmp_path):
    return create_app({"STORE": f"file:{tmp_path / 'service.db'}"})


def test_it_says_that_it_is_alive_and_ready(app):
    client = app.test_client()
    assert client.get("/healthz").json == {"status": "ok"}
    # A question does not make a store.
    assert client.get("/readyz").status_code == 503
    open_store(app.config["STORE"], create=True).close()
    assert client.get("/readyz").json == {"status": "ok"}


def test_it_is_not_ready_without_its_store():
    client = create_app({"STORE": "neo4j://neo4j:secret-word@127.0.0.1:1"}).test_client()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.content_type == "application/problem+json"
    assert "secret-word" not in answer.text


def test_it_lists_every_registered_method(app):
    lists = app.test_client().get("/v1/methods").json
    assert "closest-profiles" in {entry["name"] for entry in lists["Graph protections"]}
    assert {"ego", "subgraph"} <= {entry["name"] for entry in lists["Attackers"]}
    assert all(entry["cites"] and entry["limits"] for entries in lists.values() for entry in entries)


def test_every_error_is_a_problem_document(app):
    @app.get("/fails")
    def fails():
        raise NoSolution("No release with k=5 exists.")

    @app.get("/breaks")
    def breaks():
        raise KeyError("@ann_x")

    client = app.test_client()
    solved = client.get("/fails")
    assert (solved.status_code, solved.json["detail"]) == (422, "No release with k=5 exists.")
    broken = client.get("/breaks")
    assert broken.status_code == 500
    assert "reference" in broken.json["detail"]
    assert "@ann_x" not in broken.text
    missing = client.get("/nowhere")
    assert (missing.status_code, missing.content_type) == (404, "application/problem+json")
