"""A whole service killed at random moments of a mixed load, and the servers it stands on: nothing is lost or half done.

Killed is the process group: the service, its workers and the processes of their verbs.
"""

from __future__ import annotations

import random
import time

import pytest

from tests.api.evidence.mixed_load import Load, write_inputs
from tests.api.evidence.serving import PATIENCE, Served

#: The chance of this run; a failure shows it.
SEED = random.SystemRandom().randrange(10**6)


@pytest.fixture
def load_of(tmp_path):
    """Start a service, and prepare a load on it."""
    started = []

    def begin(rounds, *options, **environment):
        served = Served(tmp_path, *options, **environment)
        started.append(served)
        served.start()
        write_inputs(tmp_path / "inputs", rounds)
        load = Load(served, tmp_path / "inputs", rounds)
        load.prepare()
        return load

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.kill()


def finish(load, asked, tmp_path):
    """Wait for the load, stop the service, and compare what it left with what it should have left."""
    for each in asked:
        each.result(3 * PATIENCE)
    load.check_nothing_is_half_written()
    load.check_finished()
    load.check_the_database_of_jobs()
    (tmp_path / "plain").mkdir()
    expected = load.expected(tmp_path / "plain")
    assert set(load.done) == set(expected)
    for name, left in expected.items():
        assert load.done[name] == left, name
    assert "Traceback" not in load.served.said()
    load.served.stop()


def kills(load, tmp_path, count, kill, chance, longest):
    pool, asked = load.run()
    try:
        for _ in range(count):
            time.sleep(chance.uniform(0.05, longest))
            kill()
            load.check_finished()
            assert not [each.exception() for each in asked if each.done() and each.exception()]
        finish(load, asked, tmp_path)
    finally:
        load.stopped = True
        load.served.is_up.set()
        pool.shutdown(cancel_futures=True)


def kill_service(load):
    load.served.kill()
    load.served.start()


def test_three_kills_of_the_whole_service_change_nothing(load_of, tmp_path):
    print(f"seed {SEED}")
    load = load_of(1)
    kills(load, tmp_path, 3, lambda: kill_service(load), random.Random(SEED), 1.0)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
def test_thirty_kills_of_the_whole_service_change_nothing(load_of, tmp_path, seed):
    load = load_of(6)
    kills(load, tmp_path, 30, lambda: kill_service(load), random.Random(seed), 4.0)


@pytest.mark.postgres
@pytest.mark.heavy
def test_kills_of_the_postgres_below_it_change_nothing(load_of, tmp_path, postgres_server, postgres_url):
    if isinstance(postgres_server, str):
        pytest.skip("a server that was named is not ended")
    chance = random.Random(3)
    load = load_of(3, "--database", postgres_url)

    def kill():
        postgres_server.stop()
        time.sleep(chance.uniform(0, 1))
        if chance.random() < 0.3:
            load.served.kill()
            postgres_server.start()
            load.served.start()
        else:
            postgres_server.start()
        until_it_answers(load)

    kills(load, tmp_path, 8, kill, chance, 4.0)


@pytest.mark.neo4j
@pytest.mark.heavy
def test_kills_of_the_neo4j_below_it_change_nothing(load_of, tmp_path, neo4j_server, neo4j_url):
    if neo4j_server.process is None:
        pytest.skip("a server that was named is not ended")
    chance = random.Random(4)
    load = load_of(2, GRAPHPRIV_STORE=neo4j_url)
    load.served.store = neo4j_url

    def kill():
        neo4j_server.process.kill()
        time.sleep(chance.uniform(0, 1))
        neo4j_server.process.start()
        until_it_answers(load)

    kills(load, tmp_path, 4, kill, chance, 6.0)


def until_it_answers(load):
    """Wait until the service is as it was before what it stands on was away."""
    load.served._wait(lambda: load.served.ask("GET", "/v1/graphs") and load.served.ask("GET", "/v1/jobs"))
