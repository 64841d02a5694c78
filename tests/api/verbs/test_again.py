"""Verbs that change the store, performed again after they were cut short: with the same seed, to the same end."""

from __future__ import annotations

import pytest

from api.verbs import verbs
from api.verbs.contract import Work, perform
from api.verbs.values import made
from graphpriv.store import open_store
from tabular.errors import InvalidInput, NameTaken, UnknownName


@pytest.fixture
def do(small, tmp_path):
    """Perform a verb on a store of its own."""

    def perform_it(verb, /, again=False, seed=1, **options):
        work = Work(store=f"file:{tmp_path / 'g.db'}", seed=seed, again=again)
        return perform(made(verbs[verb].method, options), work).document

    perform_it("graph import", file=str(small), graph="g")
    perform_it.store = f"file:{tmp_path / 'g.db'}"
    return perform_it


def test_an_import_finds_what_it_has_stored_and_refuses_what_it_has_not(do, small, tmp_path):
    options = {"file": str(small), "graph": "h"}
    first = do("graph import", **options)
    with pytest.raises(NameTaken):
        do("graph import", **options)
    assert do("graph import", again=True, **options) == first
    other = tmp_path / "other.json"
    other.write_text(small.read_text().replace("Weather", "Sports"))
    with pytest.raises(NameTaken):
        do("graph import", again=True, file=str(other), graph="h")


def test_an_import_does_not_cut_the_releases_of_what_it_has_stored(do, small):
    do("protect", name="g", k=2, into="r")
    do("graph import", again=True, file=str(small), graph="g")
    with open_store(do.store, create=False) as store:
        assert store.graph("r").original == "g"


def test_a_release_that_is_stored_is_told_as_it_was_made_whatever_came_beside_it_since(do):
    do("protect", seed=6, name="g", k=2, into="q")
    options = {"name": "g", "k": 2, "into": "r", "previous": "q"}
    first = do("protect", seed=7, **options)
    assert first["beside"] == ["q"]
    do("protect", seed=8, name="g", k=2, into="s", accept_combined_risk=True)
    assert do("protect", seed=7, again=True, **options) == first


def test_a_release_that_is_stored_is_kept_and_so_is_that_of_others(do):
    options = {"name": "g", "k": 2, "into": "r"}
    first = do("protect", seed=7, **options)
    with open_store(do.store, create=False) as store:
        graph, mapping = store.load_graph("r"), store.mapping("g", "r")
    assert do("protect", seed=7, again=True, **options) == first
    with open_store(do.store, create=False) as store:
        assert store.load_graph("r").ids == graph.ids
        assert [each.verb for each in store.runs("r")] == ["protect"]
        assert store.mapping("g", "r").tolist() == mapping.tolist()
    for again in (False, True):
        with pytest.raises(NameTaken):
            do("protect", seed=8, again=again, **options)
    with pytest.raises(NameTaken):
        do("protect", seed=7, **options)


def test_what_is_deleted_or_forgotten_already_is_no_error(do):
    forgotten = do("graph forget", name="g", user="ann")
    assert forgotten["follows"] == 1
    assert do("graph forget", again=True, name="g", user="ann")["follows"] == 0
    with pytest.raises(InvalidInput):
        do("graph forget", name="g", user="ann")
    with pytest.raises(UnknownName):
        do("graph forget", again=True, name="h", user="ann")
    deleted = do("graph delete", name="g")
    assert do("graph delete", again=True, name="g") == deleted
    with pytest.raises(UnknownName):
        do("graph delete", name="g")
