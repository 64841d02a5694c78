"""The chain from an original on."""

import hashlib
import io
import json

import numpy as np
import pytest

from graphpriv.auditing import audit
from graphpriv.demonstration import FILES, demonstrate
from graphpriv.formats.node_link import from_document
from graphpriv.protections import protect
from graphpriv.store import open_store
from graphpriv.store.sqlite.transaction import SqliteTransaction
from graphpriv.synthetic import synthetic_graph


def written(found):
    files = {}
    for name, write in found.writers().items():
        files[name] = io.BytesIO()
        write(files[name])
    return {name: file.getvalue() for name, file in files.items()}


def test_the_chain_leaves_what_can_be_recomputed(tmp_path):
    found = demonstrate(synthetic_graph(50, rng=np.random.default_rng(4)), k=3, seed=4)
    files = written(found)
    assert {*files, *found.dictionaries(), "store"} == set(FILES)
    table = f"sha256:{hashlib.sha256(files['microdata']).hexdigest()}"
    assert found.dictionaries()["microdata dictionary"]["release"] == table
    original = from_document(json.loads(files["original"]), "original").graph
    released = from_document(json.loads(files["released"]), "released").graph
    again = audit(original, released, found.release.mapping).document
    assert json.loads(files["audit"]) == again == found.audit.document
    with open_store(f"file:{tmp_path / 'demo.db'}", create=True) as store:
        found.keep(store)
        seed = store.seed("original", "released")
        assert protect(original, 3, rng=np.random.default_rng(seed)).graph.ids == store.load_graph("released").ids


def test_one_seed_gives_the_same_bytes():
    graph = synthetic_graph(30, rng=np.random.default_rng(7))
    one, other = (written(demonstrate(graph, k=2, seed=7)) for _ in range(2))
    assert one == other


def test_a_store_takes_original_and_release_together_or_neither(tmp_path, monkeypatch):
    graph = synthetic_graph(30, rng=np.random.default_rng(7))
    first, second = (demonstrate(graph, k=2, seed=seed) for seed in (7, 8))
    insert = SqliteTransaction.insert_copy

    def failing(at, copy, *given):
        if copy.info.is_release:
            raise Stopped
        return insert(at, copy, *given)

    with open_store(f"file:{tmp_path / 'demo.db'}", create=True) as store:
        for found, before in ((first, []), (second, ["original", "released"])):
            revisions = {each.name: store.revision(each.name) for each in store.graphs()}
            assert sorted(revisions) == before
            with monkeypatch.context() as patch, pytest.raises(Stopped):
                patch.setattr(SqliteTransaction, "insert_copy", failing)
                found.keep(store)
            assert {each.name: store.revision(each.name) for each in store.graphs()} == revisions
            found.keep(store)
            assert store.seed("original", "released") == found.seed
            assert store.mapping("original", "released").tolist() == found.release.mapping.tolist()
            assert store.check() == []


class Stopped(Exception):
    """Stands for whatever ends it."""
