"""One run of whatever evolves: its generations, when it stops, what is kept of it, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.evolution import EvolutionRequest, evolutions, evolve
from tabular.evolution.checkpoint import CheckpointFile
from tabular.evolution.evolving import GENERATIONS, remarks
from tests.tabular.evolution import counters


@pytest.fixture(autouse=True)
def entered():
    counters.enter()
    yield
    del evolutions[counters.NAME]
    counters.Counters.fails_at = None


def run(seed=5, *, table=None, **given):
    own = {name: given.pop(name) for name in ("keeper", "resumed", "stop", "best", "report") if name in given}
    asked = EvolutionRequest(what=counters.NAME, columns=("one",), **given)
    table = counters.table() if table is None else table
    return evolve(asked, table, rng=np.random.default_rng(seed), seed=str(seed), **own)


def timeless(document):
    return {name: value for name, value in document.items() if name != "seconds"}


def test_each_generation_has_a_row_with_the_best_the_mean_and_the_worst():
    found = run(generations=7).document
    assert (found["generations"], found["evaluations"]) == (7, 3 + 7)
    assert [row[0] for row in found["history"]] == list(range(8))
    assert found["history"][0] == [0, 50.0, 51.0, 52.0]
    for _, best, mean, worst in found["history"]:
        assert best <= mean <= worst
    assert [each["information_loss"] for each in found["population"]["initial"]] == [50.0, 51.0, 52.0]


def test_without_a_rule_there_are_as_many_generations_as_in_the_thesis():
    assert EvolutionRequest(what=counters.NAME, columns=("one",)).most == GENERATIONS == 1000
    assert EvolutionRequest(what=counters.NAME, columns=("one",), patience=5).most is None


def test_it_stops_at_a_target():
    history = run(target=45.0).document["history"]
    assert history[-1][1] <= 45.0 < history[-2][1]


def test_it_stops_when_the_best_was_not_beaten_for_so_many_generations():
    history = run(patience=200, generations=100_000).document["history"]
    # A score of at least the risk, 1, cannot be beaten.
    assert history[-1][1] == history[-201][1] == 1.0
    assert history[-202][1] > 1.0


def test_somebody_can_stop_it_and_it_gives_what_it_has():
    asked = iter([False] * 4)
    found = run(generations=100, stop=lambda: next(asked, True))
    assert found.document["generations"] == 4
    assert found.is_unfinished and not found.document["ended"]
    assert not run(generations=3).is_unfinished


def test_the_same_seed_gives_the_same_document_and_another_seed_another_one():
    one, same, other = (timeless(run(seed, generations=30).document) for seed in (5, 5, 6))
    assert one == same
    assert one["history"] != other["history"]


def test_a_run_that_was_cut_off_goes_on_and_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("tabular.evolution.evolving._OFTEN", 0.0)
    monkeypatch.setattr("tabular.evolution.evolving._SHARE", 1e9)
    whole = run(generations=40)
    keeper = CheckpointFile(tmp_path / "c")
    counters.Counters.fails_at = 3 + 25
    with pytest.raises(KeyboardInterrupt):
        run(generations=40, keeper=keeper)
    counters.Counters.fails_at = None
    kept = keeper.recall()
    assert kept.document["generation"] == 25 and kept.seed == "5"
    found = run(generations=40, keeper=keeper, resumed=kept)
    assert timeless(found.document) == timeless(whole.document)
    assert np.array_equal(found.release.table.columns["one"], whole.release.table.columns["one"])


def test_one_that_was_stopped_goes_on_to_more_generations(tmp_path):
    keeper = CheckpointFile(tmp_path / "c")
    asked = iter([False] * 10)
    run(generations=20, keeper=keeper, stop=lambda: next(asked, True))
    found = run(generations=30, keeper=keeper, resumed=keeper.recall())
    assert timeless(found.document) == timeless(run(generations=30).document)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": "mean"}, "a run with score=max, not mean"),
        ({"parameters": {"members": 4}}, "a run with"),
        ({"table": counters.table().rows(np.arange(11))}, "a run on another table"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, change, said):
    keeper = CheckpointFile(tmp_path / "c")
    asked = iter([False] * 3)
    run(generations=9, keeper=keeper, stop=lambda: next(asked, True))
    with pytest.raises(InvalidInput) as caught:
        run(generations=9, keeper=keeper, resumed=keeper.recall(), **change)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_withheld_is_not_released_unless_asked_for():
    found = run(generations=0, parameters={"withholds": True})
    assert found.document["began_as"] == "counter 1"
    assert found.document["withheld"] == [{"origin": "counter 0", "reason": "it is the first"}]
    assert [place for place, _ in found.members] == [1, 2]
    asked_for = run(generations=0, parameters={"withholds": True}, accept_unchanged=True)
    assert asked_for.document["began_as"] == "counter 0"
    with pytest.raises(NoSolution, match=r"it is the first\. accept_unchanged releases it"):
        run(generations=0, parameters={"withholds": True, "members": 1})


def test_the_first_and_the_last_are_measured_anew_with_all_attackers():
    found = run(generations=3).document
    for which in ("initial", "final"):
        assert {"prl", "prl_em", "informed", "highest_linkage", "score_max", "score_max_em"} <= set(found[which])
    assert found["final"]["records"] == 12


def test_who_watches_sees_the_scores_and_the_population():
    seen = []
    run(generations=3, best=seen.append)
    assert seen[0]["generation"] == 0
    assert set(seen[0]) == {"generation", "best", "mean", "worst", "fitness", "history", "start", "population"}
    assert seen[0]["population"] == [[50.0, 1.0], [51.0, 1.0], [52.0, 1.0]]


@pytest.mark.parametrize(
    ("given", "error"),
    [({"score": "median"}, "score must be one of max, mean, not 'median'."), ({"parameters": {"x": 1}}, "parameter")],
)
def test_what_cannot_be_is_refused(given, error):
    with pytest.raises(InvalidInput, match=error):
        run(generations=1, **given)
    with pytest.raises(InvalidParameter, match="no records"):
        run(generations=1, table=counters.table().rows(np.arange(0)))


def test_a_risk_that_the_score_does_not_count_is_said_in_words():
    before = {"score_max": 40.0, "informed": 10.0, "rsrl": 5.0}
    after = {"score_max": 35.0, "informed": 20.0, "rsrl": 6.0}
    (said,) = remarks(before, after, "max")
    assert "an attacker who knows the method links 20.00 %" in said
    assert remarks(before, {**after, "informed": 12.0}, "max") == []
