"""The service with its jobs: what is asked over HTTP, workers do."""

from __future__ import annotations

import json
import time

import pytest

from api.app import create_app, job_settings
from api.jobs.jobs import Jobs
from api.jobs.workers import Workers
from api.service.accounts import ROLES
from api.service.settings import Settings
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller

WAIT = {"Prefer": "wait=30"}

#: How long a job may take here, in seconds: it may have to compile what it needs.
PATIENCE = 300


def done(caller, method, path, body):
    """The answer to what was asked, at once or when its job has ended, and the address of the job."""
    answer = caller(method, path, json=body, headers=WAIT)
    job, until = answer.headers["Location"], time.monotonic() + PATIENCE
    while answer.status_code == 202:
        assert time.monotonic() < until
        time.sleep(0.2)
        if caller.get(job).json["ended"]:
            answer = caller.get(f"{job}/result")
    return answer, job


@pytest.fixture
def callers(config):
    open_store(config["STORE"], create=True).close()
    settings = Settings.of(config, {})
    running = job_settings(settings)
    jobs = Jobs.opened(running)
    app = create_app(config, queue=jobs)
    workers = Workers(running, 1)
    accounts = app.extensions["graphpriv"].accounts
    yield {role: Caller(app.test_client(), accounts.add(role, role)[1].secret) for role in ROLES}
    workers.stop()
    jobs.close()
    app.extensions["graphpriv"].close()


def test_from_an_upload_to_microdata(callers, graphpriv, config, tmp_path):
    custodian, auditor, analyst = (callers[role] for role in ROLES)
    data = json.dumps(SMALL).encode()
    begun = custodian.post("/v1/uploads", {"size": len(data)})
    custodian.put(f"{begun.headers['Location']}?offset=0", data=data)
    imported, _ = done(custodian, "PUT", "/v1/graphs/people", {"upload": begun.json["id"]})
    assert (imported.status_code, imported.json["users"]) == (200, 4)

    asked = {"name": "people", "k": 2, "into": "people", "seed": 3}
    released, _ = done(custodian, "POST", "/v1/protect", asked)
    assert released.status_code == 200
    assert [each["kind"] for each in custodian.get("/v1/graphs").json["graphs"]] == ["original", "release"]
    assert [each["name"] for each in analyst.get("/v1/graphs").json["graphs"]] == ["people"]

    audited, _ = done(auditor, "POST", "/v1/audit", {"original": "people", "released": "release:people"})
    said = graphpriv("audit", "people", "release:people", "--store", config["STORE"], "--json").document
    assert {**audited.json, "version": said["version"]} == said

    taken, job = done(analyst, "POST", "/v1/microdata", {"name": "people", "out": "m.csv"})
    assert taken.json["table"] == "m.csv"
    assert {each["name"] for each in analyst.get(f"{job}/files").json["files"]} == {"m.csv", "m.csv.dictionary.json"}
    assert analyst.get(f"{job}/files/m.csv").data.startswith(b"degree,location")
    assert "event: state" in analyst.get(f"{job}/events").text
    assert auditor.get(job).status_code == 404
    assert "original" not in analyst.get(job).text

    again, _ = done(custodian, "POST", "/v1/protect", asked)
    assert again.status_code == 409
