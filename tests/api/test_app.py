"""The service as a whole: whether it lives, is ready, and what it lists."""

import os
import threading
import time

import pytest

from api.app import create_app, job_settings
from api.service.probe import Probe
from api.service.settings import Settings
from graphpriv.store import open_store
from tabular.errors import InvalidParameter, NoSolution, StoreUnavailable
from tabular.files.journal import WORKING
from tests.api.http.fakes import FakeJobs


@pytest.fixture
def config(tmp_path):
    return {"STORE": f"file:{tmp_path / 'service.db'}", "HOME": str(tmp_path / "home")}


@pytest.fixture
def app(config):
    return create_app(config)


def test_it_says_that_it_is_alive_and_ready(app, config, tmp_path):
    client = app.test_client()
    assert client.get("/healthz").json == {"status": "ok"}
    # A question does not make a store.
    assert client.get("/readyz").status_code == 503
    open_store(config["STORE"], create=True).close()
    other = create_app({**config, "HOME": str(tmp_path / "other")})
    assert other.test_client().get("/readyz").json == {"status": "ok"}


def test_it_is_not_ready_without_its_store(config):
    client = create_app({**config, "STORE": "neo4j://neo4j:secret-word@127.0.0.1:1"}).test_client()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.content_type == "application/problem+json"
    assert "secret-word" not in answer.text


def test_a_store_that_hangs_holds_nobody_for_long():
    hanging, looks = threading.Event(), []

    def look():
        looks.append(1)
        hanging.wait(30)

    probe = Probe(look, deadline=0.2)
    begun = time.monotonic()
    assert [probe.is_ready() for _ in range(20)] == [False] * 20
    assert time.monotonic() - begun < 2
    assert len(looks) == 1
    hanging.set()
    time.sleep(0.05)
    assert probe.is_ready()


def test_a_probe_keeps_its_last_answer_for_a_moment():
    answers = [None, StoreUnavailable("gone")]

    def look():
        error = answers.pop(0)
        if error:
            raise error

    probe = Probe(look)
    assert probe.is_ready() and probe.is_ready()
    assert len(answers) == 1
    time.sleep(1.1)
    assert not probe.is_ready()


def test_it_lists_every_registered_method(app):
    _, made = app.extensions["graphpriv"].accounts.add("ann", "analyst")
    lists = app.test_client().get("/v1/methods", headers={"Authorization": f"Bearer {made.secret}"}).json
    assert "closest-profiles" in {entry["name"] for entry in lists["Graph protections"]}
    assert {"ego", "subgraph"} <= {entry["name"] for entry in lists["Attackers"]}
    assert all(entry["cites"] and entry["limits"] for entries in lists.values() for entry in entries)


def test_every_error_is_a_problem_document(app):
    @app.get("/fails")
    def fails():
        raise NoSolution("No release with k=5 exists.")

    client = app.test_client()
    solved = client.get("/fails")
    assert (solved.status_code, solved.json["detail"]) == (422, "No release with k=5 exists.")
    missing = client.get("/nowhere")
    assert (missing.status_code, missing.content_type) == (404, "application/problem+json")


def test_a_route_that_says_nothing_of_who_may_take_it_is_refused(config, monkeypatch):
    from api.http.routes import catalogue

    monkeypatch.delattr(catalogue.verbs, "action")
    with pytest.raises(LookupError, match="/v1/verbs"):
        create_app(config)


def test_metrics_are_for_custodians_and_for_who_is_here(app):
    accounts, client = app.extensions["graphpriv"].accounts, app.test_client()
    tokens = {role: accounts.add(role, role)[1].secret for role in ("custodian", "analyst")}
    client.get("/v1/verbs")
    here = client.get("/metrics")
    assert 'graphpriv_answers_total{route="/v1/verbs",method="GET",status="401"} 1' in here.text
    away = {"REMOTE_ADDR": "10.0.0.9"}
    assert client.get("/metrics", environ_overrides=away).status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-For": "10.0.0.9"}).status_code == 403
    for role, status in (("custodian", 200), ("analyst", 403)):
        sent = {"Authorization": f"Bearer {tokens[role]}"}
        assert client.get("/metrics", headers=sent, environ_overrides=away).status_code == status


def test_a_setting_is_given_or_in_the_environment():
    environment = {"GRAPHPRIV_RATE_LIMIT": "7", "GRAPHPRIV_HOME": "there"}
    assert Settings.of({"HOME": "here"}, environment) == Settings(home="here", rate_limit=7.0)
    for text in ("x", "0", "nan", "-1", "inf"):
        with pytest.raises(InvalidParameter, match="rate_limit"):
            Settings.of({}, {"GRAPHPRIV_RATE_LIMIT": text})


def test_the_house_is_kept_while_the_service_runs(app, monkeypatch):
    monkeypatch.setattr("api.service.service._HOUSEKEEPING", 0.05)
    service = app.extensions["graphpriv"]
    upload = service.uploads.open(service.accounts.add("ann", "custodian")[0], 3)
    # Nobody holds its lock.
    left = service.folder / f"{WORKING}left"
    left.mkdir()
    os.utime(service.uploads.folder / upload.id, (time.time() - 4000,) * 2)
    service.keep_house()
    until = time.monotonic() + 10
    while (left.exists() or any(service.uploads.folder.iterdir())) and time.monotonic() < until:
        time.sleep(0.05)
    service.close()
    assert not left.exists() and not any(service.uploads.folder.iterdir())


def test_old_jobs_are_erased_after_as_many_days_as_the_settings_say(config):
    for days, expected in ((30, 30 * 24 * 3600), (0, None)):
        queue = FakeJobs()
        service = create_app({**config, "KEEP_JOBS": days}, queue=queue).extensions["graphpriv"]
        service.keep_house()
        service.stop()
        for thread in threading.enumerate():
            if thread.name == "house":
                thread.join(20)
        assert getattr(queue, "erased_after", None) == expected


def test_the_door_has_the_settings_of_jobs_that_workers_have(monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_JOBS_PRIVATE", "postgresql://host/private")
    monkeypatch.setenv("GRAPHPRIV_JOBS_MOST", "7")
    monkeypatch.setenv("GRAPHPRIV_JOBS_SECONDS", "2.5")
    monkeypatch.setenv("GRAPHPRIV_JOBS_STORE", "file:/nowhere")
    found = job_settings(Settings())
    assert (found.private, found.most, found.seconds, found.store) == (
        "postgresql://host/private", 7, 2.5, Settings().store
    )  # fmt: skip
    monkeypatch.setenv("GRAPHPRIV_JOBS_MOST", "many")
    with pytest.raises(InvalidParameter):
        job_settings(Settings())


def test_a_setting_is_true_or_false_in_the_environment():
    assert Settings.of({}, {"GRAPHPRIV_LOG_ADDRESSES": "true"}).log_addresses
    assert not Settings.of({}, {"GRAPHPRIV_LOG_ADDRESSES": "false"}).log_addresses
    with pytest.raises(InvalidParameter):
        Settings.of({}, {"GRAPHPRIV_LOG_ADDRESSES": "perhaps"})
