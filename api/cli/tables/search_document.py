"""What a search says, as plain values: the lattice, what was asked, the solutions, how it went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from api.cli.tables.chain import AnyEvaluator
from api.cli.tables.sought import Sought
from tabular.files.reading import TableFile
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.searching import Result
from tabular.release.dictionary import effective_parameters
from tabular.release.fingerprint import fingerprint_of_table
from tabular.version import version

#: What is always said of a solution, in this order; None where there is no sensitive column or class label.
ALWAYS = ("node", "k", "l", "t", "s_k", "s_l", "glm", "cm", "precision", "suppressed")

#: A report lists so many solutions and moments; more than that nobody reads, and the JSON has them.
REPORTED, MOMENTS = 500, 100


def document_of(
    sought: Sought, source: TableFile, evaluator: AnyEvaluator, result: Result, solutions: Readings
) -> dict[str, Any]:
    """Everything that was found; *solutions* are those of the *result* with all their metrics."""
    table, limits = source.table, sought.limits
    return {
        "version": version(),
        "inputs": {"original": fingerprint_of_table(table)},
        "file": Path(source.name).name,
        "rows": len(table),
        "quasi_identifiers": [
            {"name": name, "values": len(each.domain), "height": each.height}
            for name, each in evaluator.hierarchies.items()
        ],
        "sensitive": sought.sensitive,
        "class_label": sought.class_label,
        "limits": {
            **{name: getattr(limits, name) for name in ("k", "l", "t", "suppression")},
            "suppressible": limits.suppressible(len(table)),
        },
        **result.document(),
        "parameters": _parameters(sought),
        "solutions": [solution(solutions, place) for place in range(len(solutions))],
        "moments": [
            {"seconds": each.seconds, "evaluated": each.evaluated, "best": each.best, "lower_bound": each.lower_bound}
            for each in result.moments
        ],
    }


def _parameters(sought: Sought) -> dict[str, Any]:
    """The parameters of the search that take effect, and the budgets."""
    listed = {name: list(value) for name, value in sought.parameters.items() if isinstance(value, tuple)}
    budgets = {"evaluations": sought.evaluations, "seconds": sought.seconds}
    return {
        **effective_parameters(sought.search(), sought.parameters),
        **listed,
        **{name: value for name, value in budgets.items() if value is not None},
    }


def solution(solutions: Readings, place: int) -> dict[str, Any]:
    """One solution with the keys that are always there first."""
    found = solutions.document(place)
    found.pop("satisfies")
    return {name: found.pop(name, None) for name in ALWAYS} | found


def for_report(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document as a report takes it: with the best solutions, and moments from first to last, where there are many.

    Of a front the course says nothing, since it has no best.
    """
    found, moments = document["solutions"], document["moments"] if document["metric"] is not None else []
    kept = np.unique(np.linspace(0, len(moments) - 1, MOMENTS).round().astype(int)).tolist() if moments else []
    return {
        **document,
        "solutions": found[:REPORTED],
        "solutions_found": len(found),
        "moments": [moments[place] for place in kept],
    }
