"""Command line and HTTP give the same document for the same input."""

from __future__ import annotations

import json

import pytest

from tests.api.conftest import SMALL


@pytest.fixture
def typed(graphpriv, config, monkeypatch):
    """Run a command on the store and in the folder of the service."""
    monkeypatch.setenv("GRAPHPRIV_STORE", config["STORE"])
    monkeypatch.setenv("GRAPHPRIV_HOME", config["HOME"])
    return lambda *words: graphpriv(*words, "--json").document


def test_graphs(custodian, typed, graphs, tmp_path):
    assert custodian.get("/v1/graphs").json["graphs"] == typed("graph", "list")["graphs"]
    for name in ("people", "people-v1"):
        assert custodian.get(f"/v1/graphs/{name}").json == typed("graph", "show", name)
        typed("graph", "export", name, "--out", tmp_path / f"{name}.out.json")
        assert custodian.get(f"/v1/graphs/{name}/file").data == (tmp_path / f"{name}.out.json").read_bytes()
    typed("graph", "export", "people-v1", "--out", tmp_path / "x.json", "--mapping", tmp_path / "m.csv")
    assert custodian.get("/v1/graphs/people-v1/mapping").data == (tmp_path / "m.csv").read_bytes()


def test_changes_of_graphs(custodian, typed, tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    sent = custodian.put("/v1/graphs/sent", data=path.read_bytes()).json
    assert sent == {**typed("graph", "import", path, "--graph", "typed"), "graph": "sent"}
    forgotten = custodian.delete("/v1/graphs/sent/users/ann").json
    assert forgotten == {**typed("graph", "forget", "typed", "ann"), "graph": "sent"}
    assert custodian.delete("/v1/graphs/sent").json == {"deleted": "sent"}
    assert typed("graph", "delete", "typed") == {"deleted": "typed"}


def test_accounts_and_tokens(custodian, typed):
    assert custodian.get("/v1/accounts").json["accounts"] == typed("account", "list")["accounts"]
    sent = custodian.post("/v1/accounts", {"name": "ann", "role": "analyst"}).json
    assert set(sent) == set(typed("account", "add", "bob", "--role", "analyst"))
    assert set(custodian.post("/v1/accounts/ann/tokens").json) == set(typed("token", "new", "bob"))
    listed = {each["id"]: each for each in typed("token", "list")["tokens"]}
    assert all(listed[each["id"]] == each for each in custodian.get("/v1/accounts/ann/tokens").json["tokens"])
    assert custodian.delete("/v1/accounts/ann").json == {"removed": "ann"}
