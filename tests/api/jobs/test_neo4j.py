"""Jobs on graphs of a Neo4j that is killed under them."""

from __future__ import annotations

import dataclasses
import random
import time

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.graph import fingerprint
from graphpriv.store import open_store
from graphpriv.synthetic import synthetic_graph
from tests.api.jobs.conftest import left_by, without_jobs

pytestmark = [pytest.mark.neo4j, pytest.mark.heavy]


@pytest.fixture
def settings(settings, neo4j_url):
    return dataclasses.replace(settings, store=neo4j_url)


def test_kills_of_the_store_change_nothing(jobs, worker, neo4j_server, neo4j_url, tmp_path):
    if neo4j_server.process is None:
        pytest.skip("a server that was named is not ended")
    chance = random.Random(5)
    write_graph(synthetic_graph(400, rng=np.random.default_rng(1)), tmp_path / "tables" / "g.json")
    embedded = f"file:{tmp_path / 'expected.db'}"
    # Each original has data of its own: the same data under two names has one release alone.
    for number in range(6):
        made = synthetic_graph(400, rng=np.random.default_rng(10 + number))
        write_graph(made, tmp_path / "tables" / f"g-{number}.json")
        for store in (neo4j_url, embedded):
            imported = {"file": f"g-{number}.json", "graph": f"original-{number}"}
            without_jobs("graph import", imported, 0, tmp_path / "tables", store)
    load = [("graph import", {"file": "g.json", "graph": f"new-{number}"}) for number in range(6)]
    load += [("protect", {"name": f"original-{number}", "k": 5, "into": f"release-{number}"}) for number in range(6)]
    chance.shuffle(load)
    sent = [jobs.submit(verb, options, account="a", seed=seed) for seed, (verb, options) in enumerate(load)]
    for _ in range(2):
        worker()
    for _ in range(4):
        time.sleep(chance.uniform(0.5, 3.0))
        neo4j_server.process.kill()
        time.sleep(chance.uniform(0.0, 2.0))
        neo4j_server.process.start()
    assert [jobs.wait(each.id, 120).state for each in sent] == ["done"] * len(sent)
    with open_store(neo4j_url, create=False) as held, open_store(embedded, create=False) as expected:
        for seed, (verb, options) in enumerate(load):
            (tmp_path / f"expected-{seed}").mkdir()
            (tmp_path / f"expected-{seed}" / "g.json").symlink_to(tmp_path / "tables" / "g.json")
            left = without_jobs(verb, options, seed, tmp_path / f"expected-{seed}", embedded)
            assert left_by(jobs, sent[seed]) == left
            name = options.get("into", options.get("graph"))
            assert fingerprint(held.load_graph(name)) == fingerprint(expected.load_graph(name))
        assert held.check() == []
