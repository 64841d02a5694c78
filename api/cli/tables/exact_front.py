"""The exact front beside one that a heuristic found, and how near that comes to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from api.cli.tables.sought import Sought
from tabular.errors import InvalidParameter
from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.fronts.front import checked_epsilon, convergence_error, representation_ratio
from tabular.lattice.searches import searches
from tabular.lattice.searching import Evaluates, Question, run

#: Without being asked, a report has the exact front of lattices of up to so many nodes.
SMALL = 100_000
_EXACT = "exhaustive"


def check_exact(sought: Sought, exact: bool | None) -> None:
    """Refuse to compare where there is nothing to compare."""
    if exact and not sought.objectives:
        raise InvalidParameter("--exact compares fronts; give --objectives.")


def is_wanted(sought: Sought, nodes: int, *, exact: bool | None, for_report: bool) -> bool:
    """Whether the exact front is computed: if asked for, or for the report on a heuristic's front."""
    if exact is not None:
        return exact
    return for_report and bool(sought.objectives) and sought.entry.method.draws and nodes <= SMALL


def compared(sought: Sought, evaluator: Evaluates, found: Readings) -> dict[str, Any]:
    """The exact front, and what share of it was *found*."""
    question = Question(evaluator, sought.metric, sought.objectives)
    exact = run(_EXACT, searches[_EXACT].method(), question, rng=np.random.default_rng(0)).solutions
    values, theirs = (-each.costs(sought.objectives) for each in (exact, found))
    epsilon = checked_epsilon(sought.parameters.get("epsilon"), sought.objectives)
    error = convergence_error(values, theirs)
    return {
        "exact_front": [_entry(exact, place, sought.objectives) for place in range(len(exact))],
        "comparison": {
            "representation_ratio": representation_ratio(values, theirs, epsilon),
            "convergence_error": error.total,
            "mean_convergence_error": error.mean,
        },
    }


def _entry(exact: Readings, place: int, objectives: Sequence[str]) -> Mapping[str, Any]:
    found = exact.document(place)
    return {name: found[name] for name in ("node", *objectives)}
