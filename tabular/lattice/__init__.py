"""The lattice of full-domain generalisations: its nodes, what they are worth, and searches for the best of them.

from tabular.lattice import Limits, ReleaseRequest, SearchRequest, find_generalisation

limits = Limits(k=5, suppression=0.02)
request = SearchRequest(quasi_identifiers=("age", "sex"), limits=limits, release=ReleaseRequest())
found = find_generalisation(request, table, hierarchies, rng=numpy.random.default_rng())
found.document["solutions"][0], found.release.table
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabular import loaded_on_demand

if TYPE_CHECKING:
    from tabular.lattice.evaluator.evaluator import Evaluator
    from tabular.lattice.metrics import Readings
    from tabular.lattice.release import released
    from tabular.lattice.search_outcome import SearchOutcome, find_generalisation
    from tabular.lattice.search_request import ReleaseRequest, SearchRequest
    from tabular.lattice.searches.contract import Search
    from tabular.lattice.searching import Question, Result, run
    from tabular.lattice.space import Lattice, Limits, lower_bounds
else:
    __getattr__, __dir__ = loaded_on_demand(
        __name__,
        {
            "Evaluator": "evaluator.evaluator",
            "Lattice": "space",
            "Limits": "space",
            "Question": "searching",
            "Readings": "metrics",
            "ReleaseRequest": "search_request",
            "Result": "searching",
            "Search": "searches.contract",
            "SearchOutcome": "search_outcome",
            "SearchRequest": "search_request",
            "find_generalisation": "search_outcome",
            "lower_bounds": "space",
            "released": "release",
            "run": "searching",
        },
    )

__all__ = [
    "Evaluator",
    "Lattice",
    "Limits",
    "Question",
    "Readings",
    "ReleaseRequest",
    "Result",
    "Search",
    "SearchOutcome",
    "SearchRequest",
    "find_generalisation",
    "lower_bounds",
    "released",
    "run",
]
