"""What is done with the graphs of a store."""

import contextlib
import sqlite3
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphpriv.formats import write_graph
from graphpriv.graph import fingerprint
from graphpriv.protections import protect
from graphpriv.release import write_mapping
from graphpriv.store import Follow, Run, User, open_store
from graphpriv.stored import (
    export,
    keep_release,
    marked,
    match_files,
    match_stored,
    protection_run,
    take_microdata,
)
from graphpriv.synthetic import synthetic_graph
from graphpriv.verification import UnsoundRelease
from tabular.errors import AlreadyReleased, InvalidInput, InvalidParameter, NameTaken, NoSolution, UnknownName

RUN = Run(verb="protect")
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
    assert run.parameters["method"] == "least-loss"
    assert run.input_hash == marked(store, fingerprint(GRAPH))


def test_a_release_has_a_name_of_its_own(store):
    told = []
    with pytest.raises(InvalidParameter) as caught:
        keep_release(store, "g", "g", 2, seed=1, overwrite=True, report=lambda *each: told.append(each))
    assert caught.value.parameter == "into"
    keep_release(store, "g", "r", 2, seed=1)
    with pytest.raises(NameTaken):
        keep_release(store, "g", "r", 2, seed=1, report=lambda *each: told.append(each))
    assert not told


def seen_by(*releases):
    """For each person, by id, the profiles that these releases of a store show: place and topics as texts."""
    told = {}
    for store, original, name in releases:
        graph, mapping = store.load_graph(name), store.mapping(original, name)
        for person, row in zip(store.load_graph(original).ids, mapping.tolist(), strict=True):
            place, topics = int(graph.location[row]), graph.topics[row].tolist()
            shown = (
                None if place < 0 else graph.places.path(place),
                *(None if code < 0 else graph.topic_names[code] for code in topics),
            )
            told.setdefault(person, []).append(None if row < 0 else shown)
    return {person: tuple(each) for person, each in told.items()}


def joint(store, *names):
    """How many persons share the rarest of these."""
    return min(Counter(seen_by(*((store, "g", name) for name in names)).values()).values())


def test_a_second_live_release_is_refused_before_any_work(store):
    told = []
    keep_release(store, "g", "r", 3, seed=1)
    with pytest.raises(AlreadyReleased, match="'g' has the live release 'r' already") as caught:
        keep_release(store, "g", "s", 3, seed=2, report=lambda *each: told.append(each))
    assert caught.value.named == ("previous", "overwrite", "accept_combined_risk")
    assert not told
    keep_release(store, "g", "s", 3, seed=2, accept_combined_risk=True)
    with pytest.raises(AlreadyReleased, match="live releases 'r', 's' already") as caught:
        keep_release(store, "g", "t", 3, seed=2)
    assert "delete them, or take" in str(caught.value)
    # To replace one of them leaves the other.
    with pytest.raises(AlreadyReleased, match="live release 's'"):
        keep_release(store, "g", "r", 3, seed=2, overwrite=True)
    for name in ("r", "s"):
        store.delete_graph(name)
    assert keep_release(store, "g", "t", 3, seed=2).joint_k >= 3


def test_the_joint_k_is_that_of_an_observer_who_joins_all_releases(store):
    kept = [keep_release(store, "g", name, 4, seed=seed, accept_combined_risk=True) for seed, name in enumerate("abc")]
    assert [each.joint_k for each in kept] == [joint(store, *"abc"[: many + 1]) for many in range(3)]
    assert (kept[0].joint_k, kept[2].joint_k) == (4, 1)
    assert kept[2].document["beside"] == ["a", "b"]
    assert store.runs("c")[0].parameters["beside"] == ["a", "b"]


def test_releases_that_keep_the_clusters_of_the_previous_one_keep_k_together(store):
    keep_release(store, "g", "a", 4, seed=1)
    assert keep_release(store, "g", "b", 4, seed=2, previous="a").joint_k == joint(store, "a", "b") == 4
    # Places, topics and links change, and so do the profiles; who is with whom does not.
    first, *others = store.users("g")
    store.add_users("g", [replace(first, location=None, topics=("Weather",))])
    store.add_follows("g", [Follow(first.id, others[5].id), Follow(others[8].id, first.id)])
    assert keep_release(store, "g", "c", 3, seed=3, previous="a").joint_k == joint(store, *"abc") == 4
    # Enough new users keep to themselves.
    store.add_users("g", [User(id=f"new {number}", topics=("Sports",)) for number in range(4)])
    kept = keep_release(store, "g", "d", 4, seed=4, previous="b")
    assert kept.joint_k == joint(store, *"abcd") == 4
    assert kept.document["beside"] == ["a", "b", "c"]
    assert seen_by((store, "g", "d"))["new 0"] not in set(seen_by((store, "g", "c")).values())
    with pytest.raises(NoSolution, match="Lower k to 4"):
        keep_release(store, "g", "e", 5, seed=5, previous="d")


def test_a_few_new_users_or_a_forgotten_one_leave_no_release_that_keeps_k(store):
    keep_release(store, "g", "a", 4, seed=1)
    store.add_users("g", [User(id=f"new {number}") for number in range(3)])
    with pytest.raises(NoSolution, match="3 users were added since"):
        keep_release(store, "g", "b", 4, seed=2, previous="a")
    assert keep_release(store, "g", "b", 3, seed=2, previous="a").joint_k == joint(store, "a", "b") == 3
    store.forget("g", "new 0")
    with pytest.raises(NoSolution, match="together with 'b': it has a row of a person forgotten"):
        keep_release(store, "g", "c", 2, seed=3, previous="a")
    kept = keep_release(store, "g", "c", 2, seed=3, accept_combined_risk=True)
    assert kept.document["forgotten_beside"] == 1
    assert kept.joint_k == joint(store, *"abc")
    assert [each.name for each in store.graphs()] == ["a", "b", "c", "g"]


def test_a_release_of_the_same_data_under_another_name_is_live_as_well(store):
    store.save_graph("h", GRAPH)
    keep_release(store, "h", "a", 4, seed=1)
    for accept in (False, True):
        with pytest.raises(AlreadyReleased, match="'a' is a live release of 'h', which held the same data as 'g'"):
            keep_release(store, "g", "b", 4, seed=2, accept_combined_risk=accept)
    store.delete_graph("a")
    assert keep_release(store, "g", "b", 4, seed=2).beside == []


def test_a_mark_says_nothing_to_whom_the_secret_is_not_known(store, tmp_path):
    keep_release(store, "g", "a", 4, seed=1)
    (run,) = store.runs("a")
    held = fingerprint(GRAPH)
    assert held.removeprefix("sha256:") not in run.input_hash
    with open_store(f"file:{tmp_path / 'other.db'}", create=True) as other:
        assert other.secret() != store.secret()
        assert marked(other, held) != run.input_hash == marked(store, held)
        # A backup is restored with the secret that its marks were made with.
        store.backup(tmp_path / "kept.bak")
        other.restore(tmp_path / "kept.bak")
        assert marked(other, held) == run.input_hash
    # And none outlives a person who is forgotten.
    store.forget("g", GRAPH.ids[0])
    assert [each.input_hash for each in store.runs("g")] == [""]


def test_a_release_that_an_earlier_version_marked_is_live_as_well(store):
    store.save_graph("h", GRAPH)
    release = protect(GRAPH, 4, rng=np.random.default_rng(1))
    store.save_release("h", "a", release, seed=1, run=protection_run(fingerprint(GRAPH), release))
    with contextlib.closing(sqlite3.connect(store.address.removeprefix("file:"))) as db:
        db.execute("PRAGMA user_version = 6")
    with open_store(store.address, create=False) as opened, pytest.raises(AlreadyReleased):
        keep_release(opened, "g", "b", 4, seed=2)


def test_a_release_whose_original_was_imported_anew_is_still_live(store):
    keep_release(store, "g", "a", 4, seed=1)
    store.save_graph("g", GRAPH, overwrite=True)
    for accept in (False, True):
        with pytest.raises(AlreadyReleased, match="'a' was released from the data that 'g' holds"):
            keep_release(store, "g", "b", 4, seed=2, accept_combined_risk=accept)
    assert keep_release(store, "g", "a", 4, seed=2, overwrite=True).beside == []
    store.delete_graph("g")
    store.save_graph("h", GRAPH)
    with pytest.raises(AlreadyReleased, match="delete 'a', or replace it under its name with overwrite"):
        keep_release(store, "h", "b", 4, seed=2)
    store.delete_graph("a")
    assert keep_release(store, "h", "b", 4, seed=2).joint_k == 4
    # Other data are another original, as far as anybody can tell.
    store.delete_graph("h")
    store.save_graph("h", GRAPH.restricted(np.arange(39)))
    assert keep_release(store, "h", "c", 4, seed=2).joint_k >= 4


def test_the_clusters_of_a_release_that_is_replaced_are_kept_if_asked(store):
    before = keep_release(store, "g", "a", 4, seed=1).release
    kept = keep_release(store, "g", "a", 4, seed=2, previous="a", overwrite=True)
    assert (kept.joint_k, kept.document["beside"]) == (4, ["a"])
    assert kept.release.graph.ids != before.graph.ids
    one, other = before.graph.profiles()[before.mapping], kept.release.graph.profiles()[kept.release.mapping]
    assert one.tolist() == other.tolist()


def test_the_previous_release_must_be_one_of_this_original(store):
    store.save_graph("other", GRAPH)
    keep_release(store, "other", "o", 3, seed=1)
    for name in ("o", "g", "nothing"):
        with pytest.raises(UnknownName, match=f"No release of 'g' is called '{name}'; there is none yet"):
            keep_release(store, "g", "r", 3, seed=1, previous=name)


def test_a_release_that_another_process_adds_meanwhile_is_found_out(store):
    def add(text, done, total):
        if text == "Storing":
            store.save_release("g", "quick", protect(GRAPH, 3, rng=np.random.default_rng(5)), seed=5, run=RUN)

    with pytest.raises(AlreadyReleased, match=r"run it again\. Nothing was written"):
        keep_release(store, "g", "slow", 3, seed=1, report=add)
    assert [each.name for each in store.graphs()] == ["g", "quick"]


def test_an_original_that_changes_between_two_readings_is_found_out(store, monkeypatch):
    keep_release(store, "g", "a", 4, seed=1)
    read = store.mapping

    def forget_and_read(original, release):
        store.forget("g", GRAPH.ids[3])
        return read(original, release)

    monkeypatch.setattr(store, "mapping", forget_and_read)
    with pytest.raises(InvalidInput, match="changed while it was being protected"):
        keep_release(store, "g", "b", 4, seed=1, previous="a")


def test_together_a_release_that_breaks_k_is_never_kept(store, monkeypatch):
    keep_release(store, "g", "a", 4, seed=1)
    monkeypatch.setattr("graphpriv.stored.kept_clusters", lambda *anything: None)
    with pytest.raises(UnsoundRelease, match="share what is published of them, less than 4"):
        keep_release(store, "g", "b", 4, seed=2, previous="a")
    assert [each.name for each in store.graphs()] == ["a", "g"]


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
    def opened():
        return nullcontext(store)

    release = keep_release(store, "g", "r", 2, seed=1).release
    assert export(opened, "r").origin is None
    assert export(opened, "r").notes == ()
    whole = export(opened, "r", with_origin=True)
    assert (whole.graph, whole.origin.graph) == (release.graph, GRAPH)
    assert whole.origin.mapping.tolist() == release.mapping.tolist()
    assert "keep it apart" in whole.notes[0]
    assert "names persons" in export(opened, "g").notes[0]
    with pytest.raises(InvalidParameter, match="is not a release") as caught:
        export(opened, "g", with_origin=True)
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
