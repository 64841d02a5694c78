"""A route for every verb, made from the registry."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import ClassVar

import pytest

from api.app import create_app
from api.http.schema import is_resource
from api.verbs import Outcome, Verb, Work, verbs
from tabular.errors import InvalidInput
from tabular.registry import option
from tests.api.http.conftest import Caller
from tests.api.http.fakes import FakeFiles, FakeJobs


@dataclass(frozen=True, kw_only=True)
class Greet(Verb):
    """Greet somebody."""

    quick: ClassVar[bool] = True
    draws: ClassVar[bool] = True

    name: str = option(help="Who is greeted.", positional=True)
    times: int = option(1, low=1, high=9, help="How often.")
    out: str | None = option(None, metavar="FILE", output=True, help="Where the greeting goes, too.")

    def check(self) -> None:
        if self.name == "nobody":
            raise InvalidInput("Greet somebody.")

    def run(self, work: Work) -> Outcome:
        return Outcome(document={"said": f"Hello {self.name}" * self.times, "by": work.account, "drawn": work.seed % 7})


@dataclass(frozen=True, kw_only=True)
class Depart(Greet):
    """Say goodbye, which takes long."""

    quick: ClassVar[bool] = False


@pytest.fixture
def greeting():
    verbs.add("party greet")(Greet)
    verbs.add("party depart")(Depart)
    yield
    del verbs["party greet"], verbs["party depart"]


@pytest.fixture
def jobs():
    return FakeJobs()


@pytest.fixture
def app(greeting, config, jobs):
    made = create_app(config, queue=jobs)
    yield made
    made.extensions["graphpriv"].close()


def test_every_verb_that_is_no_resource_has_a_route_and_no_other(app):
    paths = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("verb ")}
    assert paths == {f"/v1/{name.replace(' ', '/')}" for name in verbs if not is_resource(name)}


def test_a_verb_that_is_entered_is_there_without_another_line(custodian):
    answer = custodian.post("/v1/party/greet", {"name": "Ann", "times": 2.0, "seed": 9})
    assert (answer.status_code, answer.json) == (200, {"said": "Hello AnnHello Ann", "by": "custodian", "drawn": 2})
    listed = {each["name"]: each for each in custodian.get("/v1/verbs").json}
    assert listed["party greet"]["schema"]["properties"]["times"]["maximum"] == 9


def test_a_verb_that_names_no_action_is_for_custodians(callers):
    for role in ("auditor", "analyst"):
        assert callers[role].post("/v1/party/greet", {"name": "Ann"}).status_code == 403


def test_wrong_options_are_all_pointed_at(custodian):
    answer = custodian.post("/v1/party/greet", {"times": "x", "nonsense": 1, "out": "../x"})
    assert answer.status_code == 400
    assert {each["pointer"] for each in answer.json["errors"]} == {"/name", "/times", "/nonsense", "/out"}
    bounds = custodian.post("/v1/party/greet", {"name": "Ann", "times": 10})
    assert bounds.json["errors"][0]["pointer"] == "/times"
    assert custodian.post("/v1/party/greet", {"name": "nobody"}).json["detail"] == "Greet somebody."
    unknown = custodian.post("/v1/protect", {"name": "g", "k": 2, "into": "r", "method": "nonsense"})
    assert unknown.status_code in (400, 404, 503)


def test_what_is_not_quick_or_writes_files_is_a_job(custodian, jobs, service):
    answer = custodian.post("/v1/party/depart", {"name": "Ann", "seed": 4})
    assert answer.status_code == 202
    assert answer.headers["Location"] == "/v1/jobs/job0"
    assert answer.json["state"] == "queued"
    job = jobs.all["job0"]
    assert (job.verb, job.options, job.seed) == ("party depart", {"name": "Ann"}, 4)
    assert job.account == service.accounts.named("custodian").id
    assert custodian.post("/v1/party/greet", {"name": "Ann", "out": "a.txt"}).status_code == 202


def test_who_waits_gets_the_result_itself(custodian):
    answer = custodian.post("/v1/party/depart", {"name": "Ann"}, headers={"Prefer": "respond-async, wait=5"})
    assert (answer.status_code, answer.json) == (200, {"done": "party depart"})
    assert answer.headers["Location"] == "/v1/jobs/job0"
    assert answer.headers["Preference-Applied"] == "wait=5"
    assert answer.headers["Graphpriv-Condition"] == "holds"
    failed = custodian.post("/v1/party/depart", {"name": "fails"}, headers={"Prefer": "wait=5"})
    assert (failed.status_code, failed.json["detail"]) == (422, "No release exists.")


def test_a_request_that_is_sent_again_is_told_of_its_job_and_its_result_is_not_kept(custodian, jobs, service):
    headers = {"Prefer": "wait=5", "Idempotency-Key": "once"}
    first = custodian.post("/v1/party/depart", {"name": "Ann"}, headers=headers)
    again = custodian.post("/v1/party/depart", {"name": "Ann"}, headers=headers)
    assert (first.status_code, again.status_code, len(jobs.all)) == (200, 202, 1)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.json["id"] == "job0"
    quick = [custodian.post("/v1/party/greet", {"name": "Bob"}, headers={"Idempotency-Key": "2"}) for _ in range(2)]
    assert [each.status_code for each in quick] == [200, 200]
    held = b"".join(path.read_bytes() for path in service.folder.iterdir() if path.is_file())
    assert b"Hello Bob" not in held and b'"done"' not in held


def test_jobs_are_shown_to_who_asked_for_them_and_to_custodians(callers, jobs, service, graphs):
    analyst, auditor, custodian = callers["analyst"], callers["auditor"], callers["custodian"]
    assert analyst.post("/v1/microdata", {"name": "people-v1", "out": "m.csv"}).status_code == 202
    custodian.post("/v1/party/depart", {"name": "Ann"})
    assert [each["id"] for each in analyst.get("/v1/jobs").json["jobs"]] == ["job0"]
    assert auditor.get("/v1/jobs").json["jobs"] == []
    assert [each["id"] for each in custodian.get("/v1/jobs").json["jobs"]] == ["job1", "job0"]
    foreign, missing = analyst.get("/v1/jobs/job1"), analyst.get("/v1/jobs/job9")
    assert (foreign.status_code, foreign.data) == (404, missing.data)
    for path in ("cancel", "result", "files"):
        method = "POST" if path == "cancel" else "GET"
        assert analyst(method, f"/v1/jobs/job1/{path}").status_code == 404
    assert analyst.post("/v1/jobs/job0/cancel").json["state"] == "cancelled"
    assert custodian.get("/v1/jobs/job1/result").status_code == 409


def test_who_takes_what_came_of_another_ones_job_is_in_the_log(callers, jobs, service, graphs):
    auditor, custodian = callers["auditor"], callers["custodian"]
    auditor.post("/v1/audit", {"original": "people", "released": "people-v1"}, headers={"Prefer": "wait=1"})
    before = service.log.end()
    assert auditor.get("/v1/jobs/job0/result").status_code == 200
    assert service.log.end() == before
    assert custodian.get("/v1/jobs/job0/result").status_code == 200
    assert custodian.get("/v1/jobs/job0/files/a.txt").status_code == 200
    said = [(each.account, each.action, each.object) for each in service.log.entries(limit=2)]
    assert said == [("custodian", "job file", "job0"), ("custodian", "job result", "job0")]


def test_jobs_come_in_pages(custodian, jobs):
    for _ in range(5):
        custodian.post("/v1/party/depart", {"name": "Ann"})
    first = custodian.get("/v1/jobs?limit=2")
    assert [each["id"] for each in first.json["jobs"]] == ["job4", "job3"]
    follow = first.headers["Link"].split(">")[0].lstrip("<")
    second = custodian.get(follow)
    assert [each["id"] for each in second.json["jobs"]] == ["job2", "job1"]
    last = custodian.get(second.headers["Link"].split(">")[0].lstrip("<"))
    assert [each["id"] for each in last.json["jobs"]] == ["job0"]
    assert "Link" not in last.headers and last.json["next"] is None
    for query in ("limit=0", "limit=x", "limit=1001", "cursor=%25"):
        assert custodian.get(f"/v1/jobs?{query}").status_code == 400


def test_the_job_of_an_analyst_never_looks_at_an_original(analyst, custodian, jobs, graphs):
    asked = {"name": "people-v1", "out": "m.csv", "method": "mondrian", "param": ["k=2"]}
    assert analyst.post("/v1/microdata", asked).status_code == 202
    custodian.post("/v1/microdata", asked)
    assert [each.options["alone"] for each in jobs.all.values()] == [True, False]
    assert analyst.post("/v1/microdata", {**asked, "alone": False}).status_code == 400


def test_no_option_leads_to_a_path(custodian, jobs, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    for body in (
        {"file": str(tmp_path / "t.csv"), "column": "a", "by": "star", "out": "h.csv"},
        {"file": "../t.csv", "column": "a", "by": "star", "out": "h.csv"},
        {"file": "-", "column": "a", "by": "star", "out": "h.csv"},
    ):
        assert custodian.post("/v1/table/hierarchy", body).status_code == 404
    assert jobs.all == {}


@pytest.mark.parametrize("verb", ["places", "topics", "enrich"])
def test_providers_are_those_that_the_operator_allows(custodian, jobs, config, graphs, verb):
    about = {"name": "people", "pages": 0} if verb == "enrich" else {"file": "people"}
    option, name = ("topics", "tagging") if verb == "topics" else ("places", "nominatim")
    answer = custodian.post(f"/v1/{verb}", {**about, option: name})
    assert (answer.status_code, jobs.all) == (400, {})
    assert answer.json["errors"][0]["pointer"] == f"/{option}"
    assert f"this service does not offer '{name}'" in answer.json["detail"]
    assert "GRAPHPRIV_PROVIDERS" in answer.json["detail"] and "embedded" in answer.json["detail"]
    listed = {each["name"]: each["schema"]["properties"] for each in custodian.get("/v1/verbs").json}
    assert listed[verb][option]["enum"] == ["embedded"]
    body = custodian.get("/openapi.json").json["paths"][f"/v1/{verb}"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["properties"][option]["enum"] == ["embedded"]


def test_a_provider_that_the_operator_names_can_be_chosen(config, jobs, graphs):
    app = create_app(config | {"PROVIDERS": "nominatim, tagging"}, queue=jobs, files=FakeFiles())
    caller = Caller(app.test_client(), app.extensions["graphpriv"].accounts.add("ann", "custodian")[1].secret)
    assert caller.post("/v1/places", {"file": "people", "places": "nominatim"}).status_code == 202
    assert caller.post("/v1/places", {"file": "people", "places": "google"}).status_code == 400
    listed = {each["name"]: each["schema"]["properties"] for each in caller.get("/v1/verbs").json}
    assert set(listed["enrich"]["places"]["enum"]) == {"embedded", "nominatim"}
    assert set(listed["topics"]["topics"]["enum"]) == {"embedded", "tagging"}
    app.extensions["graphpriv"].close()


def test_a_provider_that_there_is_not_is_refused_when_the_service_starts(config):
    with pytest.raises(InvalidInput, match="No provider is called 'gogle'; did you mean 'google'"):
        create_app(config | {"PROVIDERS": "gogle"})


def test_without_jobs_only_quick_verbs_answer(greeting, config):
    app = create_app(config)
    _, made = app.extensions["graphpriv"].accounts.add("ann", "custodian")
    caller = Caller(app.test_client(), made.secret)
    answer = caller.post("/v1/party/depart", {"name": "Ann"})
    assert (answer.status_code, answer.json["detail"][:20]) == (503, "Jobs are not running")
    assert caller.post("/v1/party/greet", {"name": "Ann"}).status_code == 200


def test_only_so_many_wait_for_jobs_at_once(custodian, jobs, monkeypatch):
    monkeypatch.setattr("api.http.routes.jobs._WAITING", threading.BoundedSemaphore(1))
    gate, inside = threading.Event(), threading.Event()

    def wait(id, seconds):
        inside.set()
        gate.wait(10)
        return jobs.all[id]

    jobs.wait = wait
    headers = {"Prefer": "wait=2"}
    asked = ("/v1/party/depart", {"name": "Ann"})
    first = threading.Thread(target=custodian.post, args=asked, kwargs={"headers": headers})
    first.start()
    inside.wait(10)
    assert custodian.post("/v1/party/depart", {"name": "Bob"}, headers=headers).status_code == 202
    gate.set()
    first.join()
