"""The guide: which candidates are computed, what is released, and plans."""

from __future__ import annotations

import io
import json
import re
from types import SimpleNamespace

import pytest

from api.app import create_app
from api.pages.releases import graphs as graph_releases
from graphpriv.protections import protections
from graphpriv.store import open_store
from tests.api.conftest import SMALL
from tests.api.http.conftest import Caller, config, make  # noqa: F401 (fixtures)
from tests.api.http.fakes import FakeJobs

LINES = [f"n{row},{20 + row % 9},{'ABC'[row % 3]},{'xy'[row % 2]}\n" for row in range(60)]
ROWS = "name,age,zip,illness\n" + "".join(LINES)


@pytest.fixture
def world(config, make, tmp_path):  # noqa: F811
    """A service whose jobs are done at once, with a graph and a table; a custodian, and the jobs."""
    open_store(config["STORE"], create=True).close()
    (tmp_path / "people.json").write_text(json.dumps(SMALL))
    make("graph import", file=str(tmp_path / "people.json"), graph="people")
    jobs = FakeJobs()
    app = create_app(config, queue=jobs)
    service = app.extensions["graphpriv"]
    custodian = Caller(app.test_client(), service.accounts.add("custodian", "custodian")[1].secret)
    (tmp_path / "t.csv").write_text(ROWS)
    service.tables.add("patients", "original", tmp_path / "t.csv")
    yield custodian, jobs
    service.close()


def asked(jobs):
    """The verbs and options of all jobs."""
    return [(each.verb, dict(each.options)) for each in jobs.all.values()]


def test_a_graph_with_one_protection_has_three_values_of_k(world):
    custodian, jobs = world
    every = dict(protections)
    del protections["closest-profiles"]
    try:
        answer = custodian.post("/release/candidates", data={"graph": "people", "k": "2"})
    finally:
        # All of them, for the order counts.
        protections.clear()
        protections.update(every)
    assert answer.status_code == 303 and "step=3" in answer.headers["Location"]
    assert asked(jobs) == [("sweep", {"name": "people", "k": ["2"], "runs": 1, "method": "least-loss"})]


def test_with_more_protections_the_candidates_are_methods(world):
    custodian, jobs = world
    custodian.post("/release/candidates", data={"graph": "people", "k": "2"})
    assert sorted((verb, options["method"], options["k"]) for verb, options in asked(jobs)) == [
        ("sweep", "closest-profiles", ["2"]),
        ("sweep", "least-loss", ["2"]),
    ]
    custodian.post("/release", data={"graph": "people", "chosen": "closest-profiles k=3", "into": "out"})
    verb, options = asked(jobs)[-1]
    assert (verb, options["method"], options["k"]) == ("protect", "closest-profiles", 3)


def test_candidates_beside_a_live_release_keep_its_groups(world, make):  # noqa: F811
    custodian, jobs = world
    make("protect", name="people", k=2, into="people-v1")
    custodian.post("/release/candidates", data={"graph": "people", "k": "2"})
    assert asked(jobs)[-1][1]["previous"] == "people-v1"


def test_losses_of_places_topics_and_links_are_told_apart():
    spread = {"mean": 0.5, "sd": 0.0}
    row = {
        "information_loss": {"aamil": {"mean": 0.25}},
        "loss_by_attribute": {
            "location": {"aamil": spread, "cdil": {"mean": 0.2}, "dbil": {"mean": 0.4}},
            "topic1": {"aamil": spread, "cdil": {"mean": 0.1}, "dbil": {"mean": None}},
        },
    }
    assert graph_releases._losses(row) == {"places": pytest.approx(0.3), "topics": 0.1, "links": 0.25}


def test_a_table_is_compared_by_what_an_attacker_may_know(world):
    custodian, jobs = world
    text = custodian.get("/release?table=patients").text
    assert re.findall(r'name="columns" value="(\w+)"( checked)?', text) == [
        ("age", " checked"), ("zip", " checked"), ("illness", ""),
    ]  # fmt: skip
    custodian.post("/release/candidates", data={"table": "patients", "k": "4", "columns": ["age", "zip"]})
    verb, options = asked(jobs)[-1]
    assert (verb, options["columns"], options["k"]) == ("table compare", ["age", "zip"], 4)
    assert "into" not in options and "out" not in options


def test_a_method_is_released_in_a_new_order_without_identifiers(world):
    custodian, jobs = world
    form = {"table": "patients", "columns": ["age", "zip"], "chosen": "mondrian k=4", "into": "safe"}
    assert custodian.post("/release", data=form).status_code == 303
    verb, options = asked(jobs)[-1]
    assert verb == "table protect" and options["shuffle"] is True and options["into"] == "safe"
    assert (options["method"], options["param"], options["role"]) == ("mondrian", ["k=4"], ["name=identifier"])


def test_a_generalisation_is_released_by_its_levels_without_another_search(world):
    custodian, jobs = world
    form = {"table": "patients", "columns": ["age", "zip"], "into": "safe"}
    form["chosen"] = "full-domain k=4 suppression=0.01 levels=1,0"
    custodian.post("/release", data=form)
    verb, options = asked(jobs)[-1]
    assert verb == "table search" and options["alone"] is True and options["choose"] == "age=1,zip=0"
    assert (options["k"], options["suppression"], options["shuffle"]) == (4, 0.01, True)


def without_release(text):
    """Whether a page of step 5 has the button switched off, and says why."""
    return "<button disabled>Release it</button>" in text and 'class="problem"' in text


def test_a_release_that_would_be_refused_is_switched_off_with_the_reason(world, tmp_path):
    custodian, _ = world
    (tmp_path / "serial.csv").write_text("age,serial\n" + "".join(f"{row % 9},{7 * row}\n" for row in range(60)))
    custodian.put("/v1/tables/serial", data=(tmp_path / "serial.csv").read_bytes())
    custodian.put("/v1/tables/one", data=b"name,id\nAnn,1\n")
    for address, reason in (
        ("table=serial&columns=age", "All values of serial are distinct"),
        ("table=patients&columns=age&k=61", "k is 61, and the table has 60 rows. Lower k."),
        ("table=one", "none is left to protect"),
        ("graph=people&k=90", "k is 90, and the graph has"),
        ("table=patients&columns=age&k=4&chosen=full-domain+k%3D4+levels%3D1", "age has none."),
    ):
        text = custodian.get(f"/release?{address}&step=5").text
        assert without_release(text) and reason in text
    for address in ("table=serial&columns=age&columns=serial", "table=patients&columns=age&k=4", "graph=people&k=2"):
        assert not without_release(custodian.get(f"/release?{address}&step=5").text)


def test_a_generalisation_that_lacks_hierarchies_is_no_candidate(world, monkeypatch):
    custodian, jobs = world
    custodian.put("/v1/tables/patients/hierarchies/zip", data=b"A;*\nB;*\nC;*\n")
    custodian.post("/release/candidates", data={"table": "patients", "k": "4", "columns": ["age", "zip"]})
    figures = {"disclosure_risk": 5.0, "losses": {"age": 1.0, "zip": 1.0}, "information_loss": 1.0, "k": 4}
    levels = {"method": "full-domain", "parameters": {"k": 4, "levels": "1,0"}, **figures}
    document = {
        "columns": [{"name": "age"}, {"name": "zip"}],
        "protections": [levels, {"method": "mondrian", "parameters": {"k": 4}, **figures}],
        "left_out": [],
    }
    (job,) = jobs.all.values()
    job.state = "done"
    monkeypatch.setattr(jobs, "result", lambda id: SimpleNamespace(document=document, condition_holds=True))
    page = f"/release?table=patients&columns=age&columns=zip&k=4&job={job.id}&step=4"
    text = custodian.get(page).text
    assert "1 candidate." in text
    assert "full-domain: A release by levels needs a hierarchy for each column; age has none." in text
    custodian.put("/v1/tables/patients/hierarchies/age", data="".join(f"{age};*\n" for age in range(20, 29)).encode())
    assert "2 candidates" in custodian.get(page).text


@pytest.mark.parametrize(
    "chosen", ["nonsense k=4", "full-domain k=4 levels=1", "mondrian 'k", "full-domain levels=1,x"]
)
def test_what_is_no_candidate_is_refused(world, chosen):
    custodian, jobs = world
    form = {"table": "patients", "columns": ["age", "zip"], "chosen": chosen, "into": "safe"}
    assert custodian.post("/release", data=form).status_code == 400
    assert jobs.all == {}


def test_columns_that_the_table_lacks_are_not_passed_over(world):
    custodian, jobs = world
    form = {"table": "patients", "columns": ["age", "town"], "chosen": "mondrian k=4", "into": "safe"}
    answer = custodian.post("/release", data=form)
    assert answer.status_code == 400 and "town" in answer.text and jobs.all == {}


@pytest.mark.parametrize(
    ("address", "k", "chosen"),
    [
        ("graph=people&k=3&into=out", "3", "least-loss k=3"),
        ("table=patients&columns=age&columns=zip&chosen=mondrian+k%3D4&into=out", "4", "mondrian k=4"),
        (
            "table=patients&columns=age&columns=zip&chosen=full-domain+k%3D4+suppression%3D0.01+levels%3D1,0&into=out",
            "4",
            "full-domain k=4 suppression=0.01 levels=1,0",
        ),
    ],
)
def test_a_plan_brings_the_choices_back(world, address, k, chosen):
    custodian, _ = world
    plan = custodian.get(f"/release/plan?{address}").data
    answer = custodian.post("/release/plan", data={"plan": (io.BytesIO(plan), "plan.toml")})
    assert answer.status_code == 303, answer.text
    text = custodian.get(answer.headers["Location"]).text
    assert f'value="{k}"' in text
    assert chosen.replace(" ", "+").replace("=", "%3D") in answer.headers["Location"].replace("%2C", ",")
    assert address.split("&")[0] in answer.headers["Location"]


def test_a_plan_of_something_else_is_refused(world):
    custodian, _ = world
    plan = b'plan = 1\nverb = "graph list"\n\n[options]\n'
    answer = custodian.post("/release/plan", data={"plan": (io.BytesIO(plan), "plan.toml")})
    assert answer.status_code == 400 and "which makes no release" in answer.text


def test_going_from_step_to_step_computes_nothing_twice_at_once(world):
    custodian, jobs = world
    first = custodian.post("/release/candidates", data={"table": "patients", "k": "4"}).headers["Location"]
    (job,) = jobs.all
    again = custodian.post("/release/candidates", data={"table": "patients", "k": "4", "job": job})
    assert list(jobs.all) == [job] and again.headers["Location"] == first


def test_an_earlier_release_of_a_table_is_told_before_the_next_one(world, tmp_path):
    custodian, jobs = world
    form = {"table": "patients", "columns": ["age", "zip"], "chosen": "mondrian k=4", "into": "safe"}
    custodian.post("/release", data=form)
    (job,) = jobs.all.values()
    job.state = "done"
    address = "/release?table=patients&columns=age&columns=zip&step=5"
    assert "came from this table before" not in custodian.get(address).text
    (tmp_path / "safe.csv").write_text("age,zip\n20,A\n20,A\n")
    custodian.client.application.extensions["graphpriv"].tables.add("safe", "release", tmp_path / "safe.csv")
    assert "safe came from this table before" in custodian.get(address).text
