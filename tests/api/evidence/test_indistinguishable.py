"""An analyst cannot tell whether there is an original: two worlds that differ in it give the same answers."""

from __future__ import annotations

import random

import pytest
from flask import g

from api.http.routes import jobs as job_routes
from api.service.accounts import Account
from tests.api.evidence.worlds import Jobs, answered, questions, world
from tests.api.http.conftest import app, config, service  # noqa: F401 (fixtures)

#: Moments, and what differs between any two requests wherever they are sent.
CHANCE = {"Date", "Last-Modified", "Request-Id"}

#: So many questions are asked in each world of the plain run; all of them with `-m heavy`.
SOME = 80


def answers(folder, seed, with_original, most):
    """What an analyst is told: the same questions in the same order wherever they are asked."""
    with world(folder, seed, with_original) as there:
        asked = list(questions(there.name))
        if most is not None:
            asked = [asked[place] for place in sorted(random.Random(seed).sample(range(len(asked)), most))]
        told = []
        for question in asked:
            answer = answered(there, question)
            headers = [each for each in answer.headers if each[0] not in CHANCE]
            told.append((question, answer.status_code, headers, answer.data))
        return told


def compare(tmp_path, seed, most=None):
    with_it, without = (answers(tmp_path / f"{seed}-{is_there}", seed, is_there, most) for is_there in (True, False))
    for one, other in zip(with_it, without, strict=True):
        assert one == other


def test_all_sorts_of_answers_are_compared(tmp_path):
    told = answers(tmp_path / "1", 1, False, None)
    compared = {(way, status) for (way, *_), status, _, _ in told}
    wanted = {("token", status) for status in (200, 400, 403, 404, 405)} | {
        ("browser", each) for each in (200, 403, 404)
    }
    assert wanted <= compared
    assert len(told) > 500


@pytest.mark.parametrize("seed", range(20))
def test_an_analyst_is_told_the_same_with_and_without_an_original(tmp_path, seed):
    compare(tmp_path, seed, SOME)


@pytest.mark.heavy
def test_so_in_200_worlds(tmp_path):
    for seed in range(200):
        compare(tmp_path, seed)


def test_a_job_of_an_analyst_does_not_show_the_name_in_the_store(app, service, tmp_path):  # noqa: F811
    """Where an original has the name of a release, that lies in the store under another one."""
    job = Jobs("", tmp_path).submit("microdata", {"name": "release:people", "out": "m.csv"}, account="1")
    with app.test_request_context():
        g.account = Account("1", "ann", "analyst", "")
        assert job_routes._shown(job)["options"] == {"name": "people", "out": "m.csv"}
