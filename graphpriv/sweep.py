"""Losses and risks by k, over repeated runs (Mares Soler 2013, section 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from statistics import fmean, stdev
from typing import Any

import numpy as np

from graphpriv.auditing import PROFILE_SCENARIOS, audit
from graphpriv.fingerprint import fingerprint
from graphpriv.graph import SocialGraph
from graphpriv.protections import check_k, protect
from tabular.errors import InvalidParameter

#: The parts of an audit that a sweep averages.
PARTS = ("disclosure_risk", "expected_success", "undecided")


def sweep(
    graph: SocialGraph,
    ks: Sequence[int],
    runs: int,
    *,
    rng: np.random.Generator,
    method: str = "closest-profiles",
    attackers: Sequence[str] = ("ego", "subgraph"),
    scenarios: Mapping[str, tuple[str, ...]] = PROFILE_SCENARIOS,
    workers: int | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Protect and audit *graph* *runs* times for each of *ks*; give means and standard deviations."""
    if runs < 1:
        raise InvalidParameter(f"Sweep: runs must be at least 1, not {runs}.")
    if not ks:
        raise InvalidParameter("Sweep: give at least one k.")
    for k in ks:
        check_k(k, len(graph))
    rows = []
    # Run i starts from the same stream for every k: a k's figures do not depend on the other ks beside it.
    seeds = rng.integers(0, 2**63, size=runs)
    for position, k in enumerate(ks):
        audits = []
        for run, seed in enumerate(seeds):
            release = protect(graph, k, method=method, rng=np.random.default_rng(seed))
            found = audit(
                graph,
                release.graph,
                release.mapping,
                attackers=attackers,
                scenarios=scenarios,
                at_risk=0,
                workers=workers,
            )
            audits.append(found.document)
            report(position * runs + run + 1)
        rows.append({"k": k, **_averaged(audits)})
    return {
        "version": version("graphpriv"),
        "inputs": {"original": fingerprint(graph)},
        "parameters": {
            "k": list(ks),
            "runs": runs,
            "method": method,
            "attackers": list(attackers),
            "scenarios": list(scenarios),
        },
        "users": len(graph),
        "edges": graph.edge_count,
        "rows": rows,
    }


def _averaged(audits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    losses = [each["information_loss"] for each in audits]
    return {
        "information_loss": {
            "aamil": _spread([each["aamil"]["mean"] for each in losses]),
            "cdil": _spread([each["cdil"]["mean"] for each in losses]),
            "dbil": _spread([each["dbil"] for each in losses]),
            "mean": _spread([each["mean"] for each in losses]),
        },
        **{
            part: {
                attacker: {name: _spread([each[part][attacker][name] for each in audits]) for name in scenarios}
                for attacker, scenarios in audits[0][part].items()
            }
            for part in PARTS
        },
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0}
