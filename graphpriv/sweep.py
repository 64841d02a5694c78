"""Losses and risks by k, over repeated runs (Mares Soler 2013, section 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphpriv import DEFAULT_PROTECTION
from graphpriv.auditing import SharedFindings, audit
from graphpriv.graph import ATTRIBUTES, SocialGraph, fingerprint
from graphpriv.measures import Pair
from graphpriv.protections import check_k, protect
from graphpriv.release import Release
from graphpriv.risk import SCENARIOS
from tabular.errors import InvalidParameter, NoSolution
from tabular.loop import ALONE, Parts, Report, Values, document_of, key_of, of_document, silent
from tabular.release import version

#: A method with its parameters.
Way: TypeAlias = "tuple[str, Mapping[str, Any]]"

#: The parts of an audit that a sweep averages.
PARTS = ("disclosure_risk", "expected_success", "undecided")
#: The greatest risks, which it averages as well.
HIGHEST = ("highest", "highest_by_links")
#: What it averages of the attackers who know the links alone.
STRUCTURE_PARTS = ("risk", "expected_success", "undecided")


def sweep(
    graph: SocialGraph,
    ks: Sequence[int],
    runs: int,
    *,
    rng: np.random.Generator,
    method: str = DEFAULT_PROTECTION,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    beside: Sequence[Way] = (),
    attackers: Sequence[str] = ("ego", "subgraph"),
    scenarios: Mapping[str, tuple[str, ...]] = SCENARIOS,
    steps: int | None = None,
    kept: Mapping[int, NDArray[np.int64]] = MappingProxyType({}),
    workers: int | None = None,
    report: Report = silent,
    stop: Callable[[], bool] = lambda: False,
    parts: Parts = ALONE,
) -> dict[str, Any]:
    """Protect and audit *graph* *runs* times for each of *ks*; give means and standard deviations.

    *parameters* are those of the *method*; *beside* it others are tried in the same way, each with its own. *kept* are
    clusters that stand already, by k, where other releases are live (see `graphpriv.trails`). *steps* is how many steps
    the attackers may take in one audit. All of *ks* have their first run before one has its second. What follows from
    the links alone is found once for all runs whose releases have the same links. Each run is one of the *parts*. When
    *stop* says so, the runs that are done by then are the answer: each row says how many it has, and a k without any
    has no row.
    """
    if runs < 1:
        raise InvalidParameter.wrong("runs", must="be at least 1", was=runs)
    if not ks or len(set(ks)) < len(ks):
        raise InvalidParameter.wrong("k", must="be one number or several, each given once", was=list(ks))
    for k in ks:
        check_k(k, len(graph))
    ways: list[Way] = [(method, parameters), *beside]
    audits: dict[tuple[int, int], list[dict[str, Any]]] = {each: [] for each in product(range(len(ways)), ks)}
    shared = SharedFindings(", once for all releases with these links")
    # Run i starts from the same stream for every k: a k's figures do not depend on the other ks beside it.
    seeds = rng.integers(0, 2**63, size=runs)
    every = list(product(range(runs), range(len(ways)), ks))

    def measured(number: int) -> Values:
        run, way, k = every[number]
        by = f", {ways[way][0]}" if beside else ""
        within = _within(report, f"Run {run + 1} of {runs}, k={k}{by}")
        generator = np.random.default_rng(seeds[run])
        chosen, given = ways[way]
        release = protect(graph, k, method=chosen, rng=generator, kept=kept.get(k), report=within, **given)
        found = audit(
            graph,
            release.graph,
            release.mapping,
            attackers=attackers,
            scenarios=scenarios,
            steps=steps,
            at_risk=0,
            workers=workers,
            report=within,
            shared=shared,
            parts=parts,
        )
        return of_document({**_figures(found.document), "places": _places(graph, release)})

    stands = [each for k in ks for each in (k, kept.get(k))]
    tried = [(name, dict(given)) for name, given in ways]
    key = key_of(fingerprint(graph), seeds, tried, attackers, dict(scenarios), steps, *stands)
    for number, values in parts.each(
        key, measured, len(every), stop=stop, told=lambda done: report("Runs", done, len(every))
    ):
        audits[every[number][1:]].append(document_of(values))
    if not any(audits.values()):
        raise NoSolution("The sweep was stopped before its first run was done.")
    notes = {each.pop("note") for documents in audits.values() for each in documents}

    def rows(way: int) -> list[dict[str, Any]]:
        done = {k: audits[way, k] for k in ks if audits[way, k]}
        return [{"k": k, "runs": len(documents), **_spread(documents)} for k, documents in done.items()]

    return {
        "version": version(),
        "parameters": {
            "k": list(ks),
            "runs": runs,
            "method": method,
            "method_parameters": dict(parameters),
            "steps": steps,
            "attackers": list(attackers),
            "scenarios": list(scenarios),
        },
        "users": len(graph),
        "edges": graph.edge_count,
        "note": " ".join(sorted(notes)),
        "ended": sum(map(len, audits.values())) == len(every),
        "rows": rows(0),
        "beside": [
            {"method": name, "method_parameters": dict(given), "rows": rows(way)}
            for way, (name, given) in enumerate(beside, start=1)
        ],
    }


def _within(report: Report, run: str) -> Report:
    """A report of what happens within a *run*."""
    return lambda phase, done, of: report(f"{run}: {phase}", done, of)


def _places(graph: SocialGraph, release: Release) -> dict[str, float]:
    """The shares of users whose place is as it was, and who are released at `world` though they were not there."""
    pair = Pair.of(graph, release.graph, release.mapping).aligned
    before, after = pair.original.location, pair.masked.location
    return {
        "kept": int((before == after).sum()) / len(graph),
        "world": int(((after == 0) & (before != 0)).sum()) / len(graph),
    }


def _figures(audited: Mapping[str, Any]) -> dict[str, Any]:
    """What a sweep takes from one audit."""
    losses, structure = audited["information_loss"], audited["structure"]
    known = {"aamil": losses["aamil"]["mean"], "cdil": losses["cdil"]["mean"]}
    return {
        "note": structure["note"],
        "information_loss": {**known, "dbil": losses["dbil"], "mean": losses["mean"]},
        "loss_by_attribute": {name: _of_attribute(losses, name) for name in ATTRIBUTES},
        **{part: audited[part] for part in PARTS},
        "structure": {part: structure[part] for part in STRUCTURE_PARTS},
        **{part: {name: audited[part][name]["value"] for name in audited[part]} for part in HIGHEST},
        "smallest_candidate_set": audited["smallest_candidate_set"],
    }


def _of_attribute(losses: Mapping[str, Any], name: str) -> dict[str, float | None]:
    """What one attribute lost by each measure."""
    distances = losses["dbil_by_attribute"]
    found = {measure: losses[measure][name] for measure in ("aamil", "cdil")}
    return {**found, "dbil": None if distances is None else distances[name]}


def _spread(values: Sequence[Any]) -> Any:
    """Mean and standard deviation of numbers, or of what documents of one shape hold; null where one is not known."""
    if isinstance(values[0], Mapping):
        return {key: _spread([each[key] for each in values]) for key in values[0]}
    if None in values:
        return {"mean": None, "sd": None}
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0}
