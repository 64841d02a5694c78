"""The service with its jobs: what is asked over HTTP, workers do."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from api.app import create_app, job_settings
from api.jobs.jobs import Jobs
from api.jobs.workers import Workers
from api.service.accounts import ROLES
from api.service.answers import Answer
from api.service.settings import Settings
from api.service.tables.tables import AT_ONCE
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller

WAIT = {"Prefer": "wait=30"}

#: How long a job may take here, in seconds: it may have to compile what it needs.
PATIENCE = 300


def done(caller, method, path, body, **headers):
    """The answer to what was asked, at once or when its job has ended, and the address of the job."""
    answer = caller(method, path, json=body, headers=WAIT | headers)
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


PERSON = "bob-x7q"


def bytes_below(*folders):
    return b"\n".join(each.read_bytes() for folder in folders for each in folder.rglob("*") if each.is_file())


def uploaded(caller, data, *, cut=0, name="data.csv"):
    begun = caller.post("/v1/uploads", {"size": len(data), "name": name}).json["id"]
    caller.put(f"/v1/uploads/{begun}?offset=0", data=data[: len(data) - cut])
    return begun


def test_a_forgotten_person_is_nowhere_in_the_folder_of_the_service(callers, config):
    custodian, auditor, _ = (callers[role] for role in ROLES)
    home, service = Path(config["HOME"]), custodian.client.application.extensions["graphpriv"]
    data = json.dumps(SMALL).replace("bob", PERSON).encode()
    imported = uploaded(custodian, data, name="people.json")
    tells = [
        uploaded(custodian, f"id,age\n{PERSON},30\n".encode()),
        uploaded(custodian, f"id,age\n{PERSON},30\n".encode(), cut=3),
        uploaded(custodian, gzip.compress(PERSON.encode())),
    ]
    other = uploaded(custodian, b"id,age\nbob-x7q2,30\n")
    done(custodian, "PUT", "/v1/graphs/people", {"upload": imported})
    protected, protection = done(custodian, "POST", "/v1/protect", {"name": "people", "k": 2, "into": "r", "seed": 3})
    assert protected.status_code == 200
    _, table = done(custodian, "POST", "/v1/microdata", {"name": "people", "out": "m.csv"})
    _, audit = done(auditor, "POST", "/v1/audit", {"original": "people", "released": "r", "html": "audit.html"})
    assert custodian.get(f"/v1/graphs/people/users/{PERSON}/neighbours").status_code == 200
    account = service.accounts.all()[0].id
    service.answers.begin(account, "key", "request")
    service.answers.end(account, "key", Answer(200, {}, PERSON.encode()))
    assert PERSON.encode() in bytes_below(home)

    gone = custodian.delete(f"/v1/graphs/people/users/{PERSON}")
    assert (gone.status_code, gone.json["mappings"], gone.json["uploads"], gone.json["jobs"]) == (200, 1, 4, 2)
    assert gone.json["erased"] is True
    left = bytes_below(Path(config["STORE"].removeprefix("file:")).parent)
    assert b"ann" in left
    for form in (PERSON.encode(), gzip.compress(PERSON.encode())[10:-8], PERSON.encode("utf-16-le")):
        assert form not in left.replace(b"bob-x7q2", b"")
    assert [custodian.get(f"/v1/uploads/{each}").status_code for each in (imported, *tells, other)] == [404] * 4 + [200]
    assert [custodian.get(each).status_code for each in (table, audit, protection)] == [404, 404, 200]
    assert service.log.problems() == []
    again = custodian.delete(f"/v1/graphs/people/users/{PERSON}")
    assert again.status_code == 404 and PERSON not in again.text


def test_an_upload_replaces_an_original_whole_or_not_at_all_and_what_was_made_of_the_old_one_goes(callers, config):
    custodian, service = callers["custodian"], callers["custodian"].client.application.extensions["graphpriv"]
    fewer = json.dumps({**SMALL, "nodes": SMALL["nodes"][:3], "edges": SMALL["edges"][:2]}).encode()
    first, second, torn = (
        uploaded(custodian, data, name="people.json") for data in (json.dumps(SMALL).encode(), fewer, fewer[:-9])
    )
    done(custodian, "PUT", "/v1/graphs/people", {"upload": first})
    done(custodian, "POST", "/v1/protect", {"name": "people", "k": 2, "into": "r", "seed": 3})
    _, table = done(custodian, "POST", "/v1/microdata", {"name": "people", "out": "m.csv"})
    named = {"If-Match": custodian.get("/v1/graphs/people").headers["ETag"]}

    failed, _ = done(custodian, "PUT", "/v1/graphs/people", {"upload": torn}, **named)
    assert failed.status_code == 400
    service.erasure.replaced(["people"])
    # Nothing was replaced, so nothing goes.
    assert custodian.get("/v1/graphs/people").json["users"] == 4
    assert [custodian.get(each).status_code for each in (f"/v1/uploads/{first}", table)] == [200, 200]

    seen = service.log.end()[0]
    replaced, _ = done(custodian, "PUT", "/v1/graphs/people", {"upload": second}, **named)
    assert (replaced.status_code, replaced.json["users"]) == (200, 3)
    assert service.log.entries()[0].action == "graph import" and service.log.end()[0] > seen
    assert service.log.problems() == []
    assert custodian.get("/v1/graphs/people").json["users"] == 3
    # The release stays, and its mapping, which would name people of the old graph, does not.
    assert custodian.get("/v1/graphs/release:r").status_code == 200
    assert custodian.get("/v1/graphs/release:r/mapping").status_code == 404
    service._tidy()
    assert [custodian.get(f"/v1/uploads/{each}").status_code for each in (first, second)] == [404, 200]
    assert custodian.get(table).status_code == 404
    # A second look finds nothing to erase, and a later job of the new graph stays.
    _, later = done(custodian, "POST", "/v1/microdata", {"name": "people", "out": "m.csv"})
    service._tidy()
    assert [custodian.get(each).status_code for each in (f"/v1/uploads/{second}", later)] == [200, 200]

    # The state that was named is gone: of two who replace it one does.
    stale = custodian.put("/v1/graphs/people", json={"upload": second}, headers=named)
    assert stale.status_code == 412
    job = service.jobs.submit(
        "graph import", {"file": f"upload-{second}.json", "graph": "people", "revision": "0" * 32},
        account=service.accounts.named("custodian").id,
    )  # fmt: skip
    assert service.jobs.wait(job.id, 20).state == "failed"
    assert custodian.get(f"/v1/jobs/{job.id}/result").status_code == 412


def test_a_deleted_table_is_nowhere_in_the_folder_of_the_service(callers, config):
    custodian, home = callers["custodian"], Path(config["HOME"])
    rows = (
        "name,age\n" + "".join(f"{name},{30 + place % 2}\n" for place, name in enumerate("abcdefgh")) + "rare-x7q,30\n"
    )
    upload = uploaded(custodian, rows.encode())
    custodian.put("/v1/tables/people", json={"upload": upload})
    levels = "".join(f"{name};*\n" for name in (*"abcdefgh", "rare-x7q"))
    assert custodian.put("/v1/tables/people/hierarchies/name", data=levels).status_code == 201
    asked = {"file": "people", "columns": ["age"], "method": "mondrian", "param": ["k=3"], "out": "m.csv"}
    kept, copy = done(custodian, "POST", "/v1/table/protect", {**asked, "role": ["name=insensitive"]})
    assert kept.status_code == 200
    masked, copied = done(custodian, "POST", "/v1/table/protect", {**asked, "role": ["name=identifier"], "into": "v1"})
    assert masked.status_code == 200
    assert bytes_below(home).count(b"rare-x7q") > 4

    # What is replaced is gone with what was made from it, and so is what is deleted.
    tag = custodian.get("/v1/tables/people").headers["ETag"]
    fewer = rows.replace("rare-x7q,30\n", "")
    assert custodian.put("/v1/tables/people", data=fewer, headers={"If-Match": tag}).status_code == 200
    assert [custodian.get(each).status_code for each in (copy, copied)] == [404, 404]
    assert custodian.delete("/v1/tables/people/hierarchies/name").status_code == 200
    assert b"rare-x7q" not in bytes_below(home)
    assert custodian.delete("/v1/tables/people").status_code == 200
    assert [each.name for each in (home / "tables").iterdir()] == [
        each.id for each in custodian.client.application.extensions["graphpriv"].tables.all()
    ]
    assert custodian.get("/v1/tables/v1").status_code == 200
    custodian.delete("/v1/tables/v1")
    assert b"age" not in bytes_below(home / "tables", home / "jobs", home / "uploads")


def test_a_large_table_is_described_by_a_job_and_then_answers(callers):
    custodian = callers["custodian"]
    rows = b"age,town\n" + b"".join(b"%d,somewhere-far-away\n" % (20 + row % 50) for row in range(400_000))
    assert len(rows) > AT_ONCE
    id = custodian.post("/v1/uploads", {"size": len(rows), "name": "t.csv"}).json["id"]
    for offset in range(0, len(rows), AT_ONCE):
        custodian.put(f"/v1/uploads/{id}?offset={offset}", data=rows[offset : offset + AT_ONCE])
    job = custodian.put("/v1/tables/large", json={"upload": id}).json["job"]
    while not custodian.get(f"/v1/jobs/{job}").json["ended"]:
        assert custodian.get("/v1/tables/large").status_code in (200, 413)
        time.sleep(0.1)
    assert custodian.get("/v1/tables/large").json["rows"] == 400_000
    assert custodian.get("/v1/tables/large/rows?limit=1").json["rows"] == [{"age": 20, "town": "somewhere-far-away"}]
    # What was read by an earlier job is there for later ones, too.
    assert custodian.get("/v1/tables/large").json == {
        **custodian.get(f"/v1/jobs/{job}/result").json, "kind": "original"
    }  # fmt: skip
