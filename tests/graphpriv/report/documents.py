"""Documents of the shape that an audit and a sweep give, with a different value at every place."""

from __future__ import annotations

import itertools
from typing import Any

SCENARIOS = ("location", "topic1", "topic2", "topic3", "topics", "all")
ATTRIBUTES = SCENARIOS[:4]
BUCKETS = ("0", "1", "2-4", "5-10", "11-20", "more")


def audit_document(*, mapping: bool = True) -> dict[str, Any]:
    """An audit with a mapping, or one without, where what follows persons is null."""
    shares = (0.02 + step * 0.00712345678901 for step in itertools.count())
    counts = itertools.count(3)

    def losses() -> dict[str, float]:
        return {name: next(shares) for name in (*ATTRIBUTES, "mean")}

    def labelled() -> dict[str, dict[str, float]]:
        return {attacker: {name: next(shares) for name in SCENARIOS} for attacker in ("ego", "subgraph")}

    def buckets() -> dict[str, int]:
        return {name: next(counts) for name in BUCKETS}

    def alone() -> dict[str, float]:
        return {"ego": next(shares), "subgraph": next(shares)}

    ends = (0.2 + step * 0.00098765432109 for step in itertools.count())

    def facts() -> dict[str, Any]:
        numbers = {name: 1 + next(shares) for name in ("degree", "clustering", "path_length")}
        return {**numbers, "diameter": next(counts), "estimated": False}

    document = {
        "version": "0.1.0",
        "inputs": {"released": f"sha256:{'0f' * 32}"},
        "parameters": {
            "attackers": ["ego", "subgraph"],
            "steps": 30_000_000_000,
            "scenarios": list(SCENARIOS),
            "undirected": False,
        },
        "k": 5,
        "users": 1638,
        "edges": 4622,
        "directed": True,
        "released_users": 1637,
        "released_edges": 4621,
        "unmapped": 0,
        "information_loss": {
            "aamil": {**losses(), "anchored": losses()},
            "cdil": losses(),
            "dbil": next(shares),
            "dbil_by_attribute": {name: next(shares) for name in ATTRIBUTES},
            "mean": next(shares),
        },
        "disclosure_risk": labelled(),
        "expected_success": labelled(),
        "undecided": labelled(),
        "candidates": {attacker: {name: buckets() for name in SCENARIOS} for attacker in ("ego", "subgraph")},
        "bounds": {
            part: {
                each: {name: [next(ends), next(ends)] for name in (*SCENARIOS, "structure")}
                for each in ("ego", "subgraph")
            }
            for part in ("disclosure_risk", "expected_success", "one_candidate")
        },
        "highest": {
            part: {"attacker": "subgraph", "scenario": "topic1", "value": next(ends)}
            for part in ("disclosure_risk", "expected_success")
        },
        "highest_by_links": {
            part: {"attacker": "subgraph", "scenario": "structure", "value": next(ends)}
            for part in ("disclosure_risk", "expected_success")
        },
        "smallest_candidate_set": 3,
        "structure": {
            "original": facts(),
            "released": facts(),
            "change": {"degree": 0.0, "clustering": 0.0, "path_length": 0.0, "diameter": 0},
            "edges_unchanged": True,
            "risk": alone(),
            "expected_success": alone(),
            "undecided": alone(),
            "candidates": {"ego": buckets(), "subgraph": buckets()},
            "note": "The edges are left as they are.",
        },
        "at_risk": [
            {
                "user": f"u{place}",
                "expected_success": 1 / (1 + place),
                "attacker": "ego",
                "scenario": "topics" if place else "structure",
                "candidates": 1 + place,
            }
            for place in range(5)
        ],
    }
    return document if mapping else _without_mapping(document)


def sweep_document() -> dict[str, Any]:
    """A sweep over five k."""
    values = (0.3 + step * 0.00112345678901 for step in itertools.count())

    def spread() -> dict[str, float]:
        return {"mean": next(values), "sd": next(values) / 100}

    def labelled() -> dict[str, dict[str, dict[str, float]]]:
        return {attacker: {name: spread() for name in SCENARIOS} for attacker in ("ego", "subgraph")}

    return {
        "version": "0.1.0",
        "inputs": {"original": f"sha256:{'ab' * 32}"},
        "parameters": {"k": [2, 3, 5, 10, 20], "runs": 4, "method": "closest-profiles", "attackers": ["ego"]},
        "users": 306,
        "edges": 342,
        "note": "The edges are left as they are.",
        "rows": [
            {
                "k": k,
                "structure": {
                    part: {"ego": spread(), "subgraph": spread()} for part in ("risk", "expected_success", "undecided")
                },
                "information_loss": {name: spread() for name in ("aamil", "cdil", "dbil", "mean")},
                **{part: labelled() for part in ("disclosure_risk", "expected_success", "undecided")},
                **{
                    part: {each: spread() for each in ("disclosure_risk", "expected_success")}
                    for part in ("highest", "highest_by_links")
                },
                "smallest_candidate_set": spread(),
            }
            for k in (2, 3, 5, 10, 20)
        ],
    }


def _without_mapping(document: dict[str, Any]) -> dict[str, Any]:
    document["inputs"]["mapping"] = document["unmapped"] = document["at_risk"] = None
    document["information_loss"]["aamil"]["anchored"] = None
    document["information_loss"] |= {"dbil": None, "dbil_by_attribute": None, "mean": None}
    document["expected_success"] = {each: dict.fromkeys(SCENARIOS) for each in ("ego", "subgraph")}
    for part in ("highest", "highest_by_links"):
        document[part]["expected_success"] = {"attacker": None, "scenario": None, "value": None}
    document["bounds"]["expected_success"] = dict.fromkeys(("ego", "subgraph"))
    document["smallest_candidate_set"] = None
    document["structure"]["expected_success"] = {"ego": None, "subgraph": None}
    return document
