"""Checkpoints: what is kept comes back, for its owner alone, wholly or not at all, and of no other run."""

from __future__ import annotations

import stat

import numpy as np
import pytest

from tabular.errors import InvalidInput, NameTaken
from tabular.evolution.checkpoint import Checkpoint, CheckpointFile, CheckpointPart
from tabular.loop import Parts

RUN = {"table": "a1", "what": "records", "score": "max", "columns": ["a", "b"]}


def checkpoint(**given):
    codes = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    known = {
        "run": RUN, "seed": str(2**127 + 1), "document": {"generation": 3, "seconds": 0.1},
        "history": np.array([[0.0, 1 / 3, 0.1, 2.5]]), "population": {"files": codes, "gains": np.array([5, 7])},
    }  # fmt: skip
    return Checkpoint(**{**known, **given})


@pytest.fixture
def kept(tmp_path):
    found = CheckpointFile.beside(str(tmp_path / "out.csv"))
    found.keep(checkpoint())
    return found


def test_all_of_it_comes_back(kept):
    before, after = checkpoint(), kept.recall()
    assert (after.run, after.seed, after.document) == (before.run, before.seed, before.document)
    assert np.array_equal(after.history, before.history)
    for name, array in before.population.items():
        assert np.array_equal(after.population[name], array) and after.population[name].dtype == array.dtype


def test_it_lies_beside_the_output_and_its_owner_alone_can_read_it(kept, tmp_path):
    assert kept.path == tmp_path / "out.csv.checkpoint"
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv.checkpoint"]


def test_the_next_one_takes_its_place_and_at_the_end_it_is_gone(kept):
    kept.keep(checkpoint(seed="8"))
    assert kept.recall().seed == "8"
    kept.clear()
    assert kept.recall() is None and not kept.path.exists()


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"x" + data, lambda data: b""])
def test_a_damaged_one_is_refused(kept, damage):
    kept.path.write_bytes(damage(kept.path.read_bytes()))
    with pytest.raises(InvalidInput, match="no checkpoint of this version, or it is damaged"):
        kept.recall()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"table": "b2"}, "of a run on another table; go on with"),
        ({"score": "mean"}, "of a run with score=max, not mean; go on with"),
        ({"columns": ["a"]}, "of a run with columns=a,b, not a; go on with"),
    ],
)
def test_one_of_another_run_is_refused_and_the_error_says_what_differs(change, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        checkpoint().refuse_other({**RUN, **change}, "here")
    assert str(caught.value).startswith("here: ")
    checkpoint().refuse_other(RUN, "here")


def test_nobody_begins_anew_over_it_by_mistake(kept):
    with pytest.raises(NameTaken, match="resume goes on with it, overwrite begins anew"):
        kept.refuse_existing()
    kept.clear()
    kept.refuse_existing()


class Kept(Parts):
    """Parts that are kept."""

    def __init__(self, *, helps=False):
        self.helps, self.held = helps, {}

    def keep(self, key, values):
        self.held[key] = values

    def recall(self, key):
        return self.held.get(key)


def test_a_job_keeps_it_among_its_parts_and_a_helper_does_not():
    parts = Kept()
    keeper = CheckpointPart(parts, RUN, "5")
    assert keeper.recall() is None
    keeper.keep(checkpoint())
    keeper.keep(checkpoint(document={"generation": 4}))
    assert keeper.recall().document == {"generation": 4}
    assert CheckpointPart(parts, RUN, "6").recall() is None
    helping = Kept(helps=True)
    CheckpointPart(helping, RUN, "5").keep(checkpoint())
    assert helping.held == {}
