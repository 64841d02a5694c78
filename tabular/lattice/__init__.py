"""The lattice of full-domain generalisations: its nodes, what they are worth, and searches for the best of them.

from tabular.lattice import Evaluator, Limits, Question, run
from tabular.lattice.searches import searches

evaluator = Evaluator(table, hierarchies, limits=Limits(k=5, suppression=0.02))
found = run("optimal", searches["optimal"].method(), Question(evaluator, "glm"), rng=numpy.random.default_rng())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabular.lattice.bounds import lower_bounds, support_map
    from tabular.lattice.evaluator.evaluator import Evaluator
    from tabular.lattice.evaluator.readings import Readings
    from tabular.lattice.limits import Limits
    from tabular.lattice.question import Question
    from tabular.lattice.release.node import released
    from tabular.lattice.searches.contract import Search
    from tabular.lattice.searching import Result, run
    from tabular.lattice.space import Lattice

__all__ = [
    "Evaluator",
    "Lattice",
    "Limits",
    "Question",
    "Readings",
    "Result",
    "Search",
    "lower_bounds",
    "released",
    "run",
    "support_map",
]

#: Where the names live; they are loaded when asked for, so that the small modules stay quick to import.
_HOMES = {
    "Evaluator": "evaluator.evaluator",
    "Lattice": "space",
    "Limits": "limits",
    "Question": "question",
    "Readings": "evaluator.readings",
    "Result": "searching",
    "Search": "searches.contract",
    "lower_bounds": "bounds",
    "released": "release.node",
    "run": "searching",
    "support_map": "bounds",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home = import_module(f"tabular.lattice.{_HOMES[name]}")
        return getattr(home, name)
    raise AttributeError(f"module 'tabular.lattice' has no attribute {name!r}")
