"""What is done with the graphs of a store."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.protections import protect
from graphpriv.release import write_mapping
from graphpriv.store import open_store
from graphpriv.stored import (
    export,
    keep_release,
    match_files,
    match_stored,
    take_microdata,
)
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, NoSolution

GRAPH = synthetic_graph(40, 80, rng=np.random.default_rng(6))


@pytest.fixture
def store(tmp_path):
    with open_store(f"file:{tmp_path / 'g.db'}", create=True) as store:
        store.save_graph("g", GRAPH)
        yield store


def test_a_release_is_drawn_from_the_seed_that_is_kept(store):
    kept = keep_release(store, "g", "r", 3, seed=11)
    alone = protect(GRAPH, 3, rng=np.random.default_rng(11))
    assert store.load_graph("r") == kept.release.graph == alone.graph
    assert store.seed("g", "r") == 11
    assert kept.document["profiles"] <= 40 // 3
    (run,) = store.runs("g")
    assert run.parameters["k"] == 3
    assert run.parameters["method"] == "closest-profiles"
    assert run.input_hash.startswith("sha256:")


def test_a_release_has_a_name_of_its_own(store):
    told = []
    with pytest.raises(InvalidParameter) as caught:
        keep_release(store, "g", "g", 2, seed=1, overwrite=True, report=lambda *each: told.append(each))
    assert caught.value.parameter == "into"
    keep_release(store, "g", "r", 2, seed=1)
    with pytest.raises(NameTaken):
        keep_release(store, "g", "r", 2, seed=1, report=lambda *each: told.append(each))
    assert not told


def test_a_release_of_the_store_is_matched_by_its_mapping(store):
    release = keep_release(store, "g", "r", 2, seed=1).release
    matched = match_stored(store, "g", "r")
    assert matched.mapping.tolist() == release.mapping.tolist()
    assert (matched.original, matched.released, matched.notes) == (GRAPH, release.graph, ())


def test_other_graphs_of_the_store_are_matched_by_ids_that_agree(store):
    matched = match_stored(store, "g", "g")
    assert matched.mapping.tolist() == list(range(40))
    assert "users are matched by their ids" in matched.notes[0]
    store.save_graph("other", replace(GRAPH, ids=tuple(f"x{user}" for user in range(40))))
    assert match_stored(store, "g", "other").mapping is None


def test_files_are_matched_by_the_mapping_or_by_ids_that_agree(tmp_path):
    release = protect(GRAPH, 2, rng=np.random.default_rng(1))
    one, other, mapping = (str(tmp_path / name) for name in ("g.json", "r.json", "m.csv"))
    write_graph(GRAPH, one)
    write_graph(release.graph, other)

    def wrote(known):
        with Path(mapping).open("wb") as file:
            write_mapping(file, GRAPH.ids, release.graph.ids, known)
        return match_files(one, other, mapping=mapping)

    assert wrote(release.mapping).mapping.tolist() == release.mapping.tolist()
    assert wrote(release.mapping).notes == ()
    part = np.where(np.arange(40) < 30, release.mapping, -1)
    assert "leaves out 10 of 40 users" in wrote(part).notes[0]
    with pytest.raises(InvalidInput, match="names nobody; leave out mapping") as caught:
        wrote(np.full(40, -1))
    assert caught.value.named == ("mapping",)
    unknown = match_files(one, other)
    assert unknown.mapping is None
    assert "without a mapping" in unknown.notes[0]
    same = match_files(one, one)
    assert same.mapping.tolist() == list(range(40))
    assert "keeps the ids" in same.notes[0]


def test_an_export_has_the_origin_of_a_release_only_if_asked(store):
    release = keep_release(store, "g", "r", 2, seed=1).release
    assert export(store, "r").origin is None
    assert export(store, "r").notes == ()
    whole = export(store, "r", with_origin=True)
    assert (whole.graph, whole.origin.graph) == (release.graph, GRAPH)
    assert whole.origin.mapping.tolist() == release.mapping.tolist()
    assert "keep it apart" in whole.notes[0]
    assert "names persons" in export(store, "g").notes[0]
    with pytest.raises(InvalidParameter, match="is not a release") as caught:
        export(store, "g", with_origin=True)
    assert caught.value.parameter == "mapping"


def test_microdata_of_an_original_are_private_unless_they_are_masked(store):
    rng = np.random.default_rng
    plain = take_microdata(store, "g", rng=rng(1))
    assert plain.is_private
    assert "not protected" in plain.notes[0]
    assert plain.table.document["rows"] == 40
    with pytest.raises(NoSolution):
        take_microdata(store, "g", k=2, rng=rng(1))
    masked = take_microdata(store, "g", k=4, method="mondrian", rng=rng(1))
    assert not masked.is_private
    assert masked.table.measured_against == "the graph itself"
    keep_release(store, "g", "r", 4, seed=1)
    released = take_microdata(store, "r", k=4, method="mondrian", rng=rng(1))
    assert released.table.measured_against == "the original"
    assert released.table.document["parameters"]["k"] == 4
    assert not take_microdata(store, "r", rng=rng(1)).is_private
