"""The same chain on both stores, as typed: the same bytes."""

import json

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.synthetic import synthetic_graph

pytestmark = pytest.mark.neo4j


@pytest.fixture
def chain(graphpriv, tmp_path, monkeypatch):
    write_graph(synthetic_graph(400, rng=np.random.default_rng(3)), tmp_path / "g.json")

    def run(url, folder):
        (tmp_path / folder).mkdir()
        # A password is taken from the environment alone.
        monkeypatch.setenv("GRAPHPRIV_STORE", url)
        results = {}
        for name, arguments in {
            "import": ("graph", "import", "g.json", "--graph", "g"),
            "protect": ("protect", "g", "--k", 5, "--into", "r", "--seed", 11),
            "audit": ("audit", "g", "r"),
            "keep": ("protect", "g", "--k", 4, "--into", "s", "--previous", "r", "--seed", 12),
            "accept": ("protect", "g", "--k", 4, "--into", "t", "--accept-combined-risk", "--seed", 13),
            "show": ("graph", "show", "r"),
            "sweep": ("sweep", "g", "--k", "2,4", "--runs", 1, "--attacker", "ego", "--seed", 2),
            "check": ("store", "check"),
        }.items():
            ended = graphpriv(*arguments, "--json")
            assert ended.code == 0, (name, ended.err)
            results[name] = ended.out
        ended = graphpriv("graph", "export", "r", "--out", f"{folder}/r.json", "--mapping", f"{folder}/m.csv", "--json")
        assert ended.code == 0, ended.err
        ended = graphpriv("graph", "export", "s", "--out", f"{folder}/s.json", "--mapping", f"{folder}/n.csv", "--json")
        assert ended.code == 0, ended.err
        ended = graphpriv("microdata", "r", "--out", f"{folder}/d.csv", "--seed", 5)
        assert ended.code == 0, ended.err
        results |= {path.name: path.read_text() for path in sorted((tmp_path / folder).iterdir())}
        return results

    return run


def test_both_backends_give_the_same_bytes(chain, neo4j_url, tmp_path):
    embedded = chain(f"file:{tmp_path / 'g.db'}", "embedded")
    server = chain(neo4j_url, "server")
    assert set(embedded) == set(server)
    assert {"r.json", "m.csv", "s.json", "n.csv", "d.csv", "audit"} <= set(embedded)
    for name in embedded:
        assert embedded[name] == server[name], name
    assert json.loads(embedded["audit"])["k"] >= 5
    kept, accepted = json.loads(embedded["keep"]), json.loads(embedded["accept"])
    assert (kept["beside"], kept["joint_k"]) == (["r"], 5)
    assert (accepted["beside"], accepted["joint_k"]) == (["r", "s"], 1)


def test_a_wrong_password_is_bad_input_and_is_not_repeated(graphpriv, neo4j_url, monkeypatch):
    scheme, rest = neo4j_url.split("://")
    monkeypatch.setenv("GRAPHPRIV_STORE", f"{scheme}://neo4j:hunter2hunter2@{rest.rpartition('@')[2]}")
    ended = graphpriv("graph", "list")
    assert ended.code == 2
    assert "hunter2" not in ended.err


def test_a_server_that_is_not_there_is_a_failure(graphpriv, monkeypatch):
    monkeypatch.setenv("GRAPHPRIV_STORE", "neo4j://neo4j:hunter2hunter2@127.0.0.1:9")
    ended = graphpriv("graph", "list")
    assert ended.code == 1
    assert "hunter2" not in ended.err


def test_a_password_on_a_command_line_is_refused_and_not_repeated(graphpriv):
    ended = graphpriv("graph", "list", "--store", "neo4j://neo4j:hunter2hunter2@127.0.0.1:9")
    assert ended.code == 2
    assert "GRAPHPRIV_NEO4J_PASSWORD" in ended.error
    assert "hunter2" not in ended.err
