from __future__ import annotations

from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest

from graphpriv.auditing import EDGES_CHANGED, EDGES_KEPT, Audit, SharedFindings, audit
from graphpriv.graph import Links, SocialGraph
from graphpriv.protections import protect
from graphpriv.release import Release
from graphpriv.risk import Comparison, Disclosure
from graphpriv.risk.subgraph import Subgraph
from graphpriv.sweep import sweep
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tests.contracts.parts import Remembered

GRAPH = synthetic_graph(60, 120, rng=np.random.default_rng(7))


def swept(**options: Any) -> dict[str, Any]:
    return sweep(GRAPH, [2, 5], 2, rng=np.random.default_rng(3), scenarios={"topic1": ("topic1",)}, **options)


def test_a_row_is_the_mean_of_audits_that_can_be_made_again() -> None:
    document = swept()
    seeds = np.random.default_rng(3).integers(0, 2**63, size=2)
    for row in document["rows"]:
        releases = [protect(GRAPH, row["k"], rng=np.random.default_rng(seed)) for seed in seeds]
        audits = [audit(GRAPH, each.graph, each.mapping).document for each in releases]

        def spread(values: list[float]) -> dict[str, float]:
            return {"mean": fmean(values), "sd": stdev(values)}

        for attacker in ("ego", "subgraph"):
            for part in ("disclosure_risk", "expected_success", "undecided"):
                assert row[part][attacker]["topic1"] == spread([each[part][attacker]["topic1"] for each in audits])
            for part in ("risk", "expected_success", "undecided"):
                found = [each["structure"][part][attacker] for each in audits]
                assert row["structure"][part][attacker] == spread(found)
        assert row["information_loss"]["cdil"] == spread([each["information_loss"]["cdil"]["mean"] for each in audits])


def test_the_links_are_found_whatever_k_is_and_the_document_says_why() -> None:
    document = swept()
    assert document["note"] == EDGES_KEPT
    assert [row["structure"]["risk"]["ego"]["mean"] for row in document["rows"]] == [1.0, 1.0]


def test_steps_reach_the_attackers_and_stand_among_the_parameters() -> None:
    tight = swept(steps=1)
    assert tight["parameters"]["steps"] == 1
    assert tight["rows"][0]["structure"]["undecided"]["subgraph"]["mean"] > 0
    assert swept()["rows"][0]["structure"]["undecided"]["subgraph"]["mean"] == 0


def unshared(monkeypatch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    """A sweep of which every run is audited on its own."""

    def alone(*graphs: Any, shared: SharedFindings, **rest: Any) -> Audit:
        return audit(*graphs, **rest)

    with monkeypatch.context() as patch:
        patch.setattr("graphpriv.sweep.audit", alone)
        return swept(**options)


def looks_at_links(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Each time that the links alone are searched is noted here."""
    looks: list[None] = []
    disclosed = Subgraph.disclosed

    def noted(self: Subgraph, comparison: Comparison, attributes: tuple[str, ...], *rest: Any) -> Disclosure:
        looks.extend([] if attributes else [None])
        return disclosed(self, comparison, attributes, *rest)

    monkeypatch.setattr(Subgraph, "disclosed", noted)
    return looks


@pytest.mark.parametrize("steps", [None, 2000])
def test_runs_that_keep_the_links_share_what_these_tell(steps: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = unshared(monkeypatch, steps=steps)
    looks = looks_at_links(monkeypatch)
    assert swept(steps=steps) == alone
    assert len(looks) == 1
    if steps:
        assert alone["rows"][0]["structure"]["undecided"]["subgraph"]["mean"] > 0


def test_runs_that_change_the_links_share_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def protect_and_cut(graph: SocialGraph, k: int, *, rng: np.random.Generator, **options: Any) -> Release:
        release = protect(graph, k, rng=rng, **options)
        sources, targets = release.graph.follows.sources, release.graph.follows.targets
        kept = np.random.default_rng([k, rng.integers(2**32)]).random(len(sources)) < 0.9
        fewer = Links.from_pairs(sources[kept], targets[kept], len(graph))
        return replace(release, graph=replace(release.graph, follows=fewer))

    monkeypatch.setattr("graphpriv.sweep.protect", protect_and_cut)
    alone = unshared(monkeypatch)
    looks = looks_at_links(monkeypatch)
    document = swept()
    assert document == alone
    assert document["note"] == EDGES_CHANGED
    assert document["rows"][0]["structure"]["expected_success"]["subgraph"]["sd"] > 0
    assert len(looks) == 4


def test_progress_says_what_is_found_for_all_runs() -> None:
    told: set[str] = set()
    swept(report=lambda phase, *_: told.add(phase))
    assert "Run 1 of 2, k=2: Attacker subgraph, structure, once for all releases with these links" in told


def test_parameters_go_to_the_method() -> None:
    with pytest.raises(UnknownName, match="parameter of least-loss"):
        swept(parameters={"colour": "red"})


def test_progress_counts_the_runs() -> None:
    told: list[tuple[str, int, int]] = []
    swept(report=lambda *each: told.append(each))
    assert [each for each in told if each[0] == "Runs"] == [("Runs", done, 4) for done in range(5)]
    assert {phase.partition(": ")[0] for phase, _, _ in told} == {
        "Runs",
        *(f"Run {n} of 2, k={k}" for n in (1, 2) for k in (2, 5)),
    }


def test_a_sweep_that_is_stopped_keeps_the_runs_that_are_done() -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    document, whole = swept(stop=stop), swept()
    assert not document["ended"] and whole["ended"]
    assert [(row["k"], row["runs"]) for row in document["rows"]] == [(2, 2), (5, 1)]
    assert document["rows"][0] == whole["rows"][0]
    assert document["rows"][1]["information_loss"]["dbil"]["sd"] == 0
    with pytest.raises(NoSolution, match="stopped before its first run"):
        swept(stop=lambda: True)


@pytest.mark.parametrize(
    ("ks", "runs", "error"), [([], 1, InvalidParameter), ([2], 0, InvalidParameter), ([61], 1, NoSolution)]
)
def test_what_cannot_be_swept_is_refused_before_the_work(ks: list[int], runs: int, error: type[Exception]) -> None:
    told: list[object] = []
    with pytest.raises(error):
        sweep(GRAPH, ks, runs, rng=np.random.default_rng(1), report=lambda *each: told.append(each))
    assert not told


def test_a_sweep_that_was_cut_off_goes_on_from_the_runs_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, begun = swept(), []

    def counted(*given: Any, **options: Any) -> Audit:
        begun.append(options["shared"])
        return audit(*given, **options)

    monkeypatch.setattr("graphpriv.sweep.audit", counted)
    parts = Remembered()
    parts.more = 3
    with pytest.raises(InterruptedError):
        swept(parts=parts)
    parts.more = 10
    assert swept(parts=parts) == swept(parts=parts) == whole
    assert len(begun) == 4
    # Other steps or another graph are another sweep.
    swept(parts=parts, steps=10**7)
    assert len(begun) == 8
