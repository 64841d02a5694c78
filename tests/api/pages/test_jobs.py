"""The pages of jobs."""

from __future__ import annotations

import pytest
from lxml import html

from api.app import create_app
from api.pages.jobs import title_of
from graphpriv.store import open_store
from tests.api.http.conftest import callers, config, custodian, service  # noqa: F401 (fixtures)
from tests.api.http.fakes import FakeEvent, FakeJobs


class Searching(FakeJobs):
    """Jobs that are in the midst of a search."""

    def events(self, after):
        found = [("state", {"state": "running"}, 10.0)]
        found += [
            ("best", {"loss": loss, "lower_bound": low}, at) for loss, low, at in ((0.5, 0.1, 12.0), (0.4, None, 15.5))
        ]
        return [FakeEvent(id, number, *each) for id in after for number, each in enumerate(found, 1)]


@pytest.fixture
def jobs():
    return Searching()


@pytest.fixture
def app(config, jobs):  # noqa: F811
    open_store(config["STORE"], create=True).close()
    made = create_app(config, queue=jobs)
    yield made
    made.extensions["graphpriv"].close()


@pytest.fixture
def job(jobs, service, custodian):  # noqa: F811
    return jobs.submit("sweep", {"name": "original:people", "k": ["2"]}, account=service.accounts.all()[0].id)


def test_the_page_draws_the_best_so_far_over_time(job, custodian):  # noqa: F811
    text = custodian.get(f"/jobs/{job.id}").text
    assert "After 2.0 s: 0.5000" in text and "After 5.5 s: 0.4000" in text and "data-live" in text


def test_the_list_shows_what_runs_with_a_way_to_stop_it(job, custodian):  # noqa: F811
    text = custodian.get("/jobs").text
    assert "Sweep: people" in text and f'action="/jobs/{job.id}/cancel"' in text
    job.state = "done"
    text = custodian.get("/jobs").text
    assert "Sweep: people" in text and "/cancel" not in text


def test_a_job_is_called_by_what_it_makes():
    assert title_of({"verb": "protect", "options": {"name": "original:a", "into": "release:b", "k": 5}}) == "Protect: b"
    assert title_of({"verb": "warm-up", "options": {}}) == "Warm-up"


def test_a_crawl_shows_how_far_it_is_and_what_it_cost(jobs, service, custodian):  # noqa: F811
    options = {"source": "x", "graph": "town", "users": 900, "posts": 5}
    job = jobs.submit("crawl", options, account=service.accounts.all()[0].id)
    job.state = "running"
    job.best = {
        "users": {"kept": 612, "locked": 7},
        "frontier": 51_234,
        "requests": 2_001,
        "cost": 1234.565,
        "failures": {"server-failed": 3},
        "expected_cost": 1800.0,
    }
    text = " ".join(custodian.get(f"/jobs/{job.id}").text.split())
    assert "<h1>Crawl: town" in text
    for shown in ("612", "locked", "51,234", "2,001", "$1,234.565", "about $1,800.00 in total", "server-failed"):
        assert shown in text


def evolving(jobs, service, **best):  # noqa: F811
    options = {"file": "original:people", "what": "matrices", "columns": ["age"], "out": "best.csv"}
    job = jobs.submit("table evolve", options, account=service.accounts.all()[0].id)
    job.state = "running"
    job.best = {
        "generation": 1200, "best": 31.25, "mean": 35.5, "worst": 40.75, "fitness": None,
        "history": [[0, None, None, None], [600, 33.5, 36.0, 41.0], [1200, 31.25, 35.5, 40.75]],
        "start": [[50.0, 10.0], [20.0, 45.0]], "population": [[30.0, 31.25], [32.0, 35.5]], **best,
    }  # fmt: skip
    return job


def test_an_evolution_shows_its_scores_and_its_population_live(jobs, service, custodian):  # noqa: F811
    job = evolving(jobs, service)
    page = html.fromstring(custodian.get(f"/jobs/{job.id}").text)
    (live,) = page.xpath("//*[@data-live]")
    said = "".join(live.text_content().split())
    assert "Generation1,200" in said and "Best31.2500" in said and "Worst40.7500" in said
    told = [each.text_content().strip("\u2068\u2069") for each in live.iter("title")]
    assert "generation 600: best 33.50, mean 36.00, worst 41.00" in told
    assert "member 1, now: loss 30.00 %, risk 31.25 %" in told
    assert "member 2, at the start: loss 20.00 %, risk 45.00 %" in told
    # What is not known of the start is in no curve, and what an earlier version told has none.
    assert not any("generation 0:" in each for each in told)
    job.best = {"generation": 3, "best": 1.0, "mean": 2.0, "worst": 3.0, "population": [[1.0, 2.0]]}
    assert custodian.get(f"/jobs/{job.id}").status_code == 200


def test_an_evolution_of_which_nothing_may_be_released_yet_says_so(jobs, service, custodian):  # noqa: F811
    job = evolving(jobs, service, best=None, mean=None, worst=None, fitness="mean expectation ratio")
    text = custodian.get(f"/jobs/{job.id}").text
    assert text.count("none may be released") == 3 and "the worst mean expectation ratio of the members" in text
