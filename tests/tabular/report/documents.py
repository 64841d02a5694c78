"""Documents of the shape that a grid and a search give, with a different value at every place."""

from __future__ import annotations

import itertools
from typing import Any


def grid_document() -> dict[str, Any]:
    """A grid of protections: two of each of three methods, one of them with a parameter for each column."""
    shares = (12.02 + step * 0.712345678901 for step in itertools.count())
    measures = ("ctbil", "dbil", "ebil", "id", "dbrl", "prl", "rsrl", "informed", "clustering")
    scores = ("information_loss", "disclosure_risk", "score_max", "score_mean")
    parameters: list[tuple[str, dict[str, Any]]] = [
        ("global-recoding", {"count": {"age": 4, "sex": 2}}),
        ("microaggregation", {"k": 3, "univariate": True}),
        ("pram", {"retain": 0.30000000000000004}),
        ("global-recoding", {"count": 2}),
        ("microaggregation", {"k": 5}),
        ("pram", {"theta": 0.25}),
    ]
    return {
        "version": "0.1.0",
        "file": "people.csv",
        "rows": 1234,
        "columns": [
            {"name": "age", "kind": "ordinal", "categories": 71},
            {"name": "sex", "kind": "nominal", "categories": 2},
        ],
        "score": "max",
        "protections": [
            {
                "method": method,
                "parameters": given,
                "k": 17 + place,
                **{name: next(shares) for name in (*measures, *scores)},
                "on_front": place < 2,
            }
            for place, (method, given) in enumerate(parameters)
        ],
        "left_out": [{"method": "top-coding", "reason": "it takes ordinal columns only, and 'sex' is nominal"}],
    }


def search_document() -> dict[str, Any]:
    """A search of one node with a bound, and the release of the second of two nodes."""
    return {
        **_searched("optimal", "glm", []),
        "lower_bound": 100.12345678901,
        "gap": 11.12345678901,
        "moments": [
            {"seconds": 0.5 * place, "evaluated": 10 + place, "best": best, "lower_bound": bound}
            for place, (best, bound) in enumerate([(None, 50.0), (180.5, 60.5), (111.24691357802, 100.12345678901)], 1)
        ],
        "previous": {"releases": 3, "matched": "by the column 'id'", "k": 7},
        "release": {
            "place": 2,
            "levels": {"age": 1, "sex": 0},
            "k": 21,
            "l": 4,
            "t": 0.3123456789,
            "suppressed": 19,
            "attributes": [
                {
                    "name": name,
                    "level": level,
                    "height": 3 + level,
                    "values_before": 71 + level,
                    "values_after": 31 + level,
                    "cells_suppressed": 19,
                    "general_loss": 0.123456789 + level,
                    "precision": 0.33345678901 + level,
                    "non_uniform_entropy": 1.23456789012 + level,
                    "labels": [{"label": "[17,20]", "name": "young", "values": 4, "rows": 977}] if level else [],
                }
                for name, level in (("age", 1), ("sex", 0))
            ],
        },
    }


def front_document() -> dict[str, Any]:
    """A front that a heuristic found, of which one node is exact, beside the exact one of two."""
    return {
        **_searched("pbg-ea", None, ["k", "glm", "l"]),
        "exact_front": [
            {"node": [1, 0], "k": 21, "glm": 111.24691357802, "l": 2},
            {"node": [2, 1], "k": 33, "glm": 120.5, "l": 6},
        ],
        "comparison": {
            "representation_ratio": 0.512345,
            "convergence_error": 0.0212345678901,
            "mean_convergence_error": 0.0106172839450,
        },
    }


def _searched(algorithm: str, metric: str | None, objectives: list[str]) -> dict[str, Any]:
    numbers = (111.24691357802 + step * 37.712345678901 for step in itertools.count())
    return {
        "version": "0.1.0",
        "file": "people.csv",
        "rows": 1234,
        "quasi_identifiers": [
            {"name": "age", "values": 71, "height": 4},
            {"name": "sex", "values": 2, "height": 1},
        ],
        "sensitive": "illness",
        "class_label": "income",
        "limits": {"k": 20, "l": 2, "t": 0.45, "suppression": 0.01, "suppressible": 12},
        "algorithm": algorithm,
        "metric": metric,
        "objectives": objectives,
        "lattice_nodes": 10**18,
        "satisfying": 8,
        "evaluated": 9,
        "seconds": 1.512345678901,
        "ended": False,
        "solutions": [
            {
                "node": [1, place],
                "k": 21 - place,
                "l": 2 + place,
                "t": 0.212345678901 + place / 10,
                "s_k": 4_000_000 + place,
                "s_l": 40_000 + place,
                "glm": next(numbers),
                "cm": 300 + place,
                "precision": 0.26245678901 + place / 10,
                "suppressed": 11 + place,
                "discernibility": 88_000 + place,
                "l_recursive": None,
            }
            for place in range(2)
        ],
        "solutions_found": 2,
        "lower_bound": None,
        "gap": None,
        "parameters": {"generator": "local", "epsilon": [5, 100]},
    }


def evolution_document() -> dict[str, Any]:
    """An evolution of four members over three generations, one of which is withheld."""
    shares = (11.03 + step * 0.512345678901 for step in itertools.count())
    measures = ("ctbil", "dbil", "ebil", "id", "dbrl", "prl", "prl_em", "rsrl", "informed", "clustering")
    scores = ("information_loss", "disclosure_risk", "score_max", "score_mean", "score_max_em", "score_mean_em")

    def measured(linked: str) -> dict[str, Any]:
        highest = {"measure": linked, "value": next(shares)}
        return {**{name: next(shares) for name in (*measures, *scores)}, "highest_linkage": highest}

    def members(count: int) -> list[dict[str, Any]]:
        return [
            {
                "origin": f"rank-swapping percent={count + place}",
                "information_loss": next(shares),
                "disclosure_risk": next(shares),
                "on_front": place < 2,
            }
            for place in range(count)
        ]

    return {
        "version": "0.3.1",
        "file": "people.csv",
        "rows": 4321,
        "columns": ["age", "town"],
        "what": "records",
        "score": "max",
        "initial": measured("prl"),
        "final": measured("informed"),
        "generations": 3,
        "evaluations": 1777,
        "seconds": 2.5,
        "ended": False,
        "history": [[place, *(next(shares) for _ in range(3))] for place in range(4)],
        "population": {"initial": members(4), "final": members(3)},
        "left_out": [{"method": "top-coding", "reason": "it takes ordinal columns only, and 'town' is nominal"}],
        "withheld": [{"origin": "microaggregation k=2", "reason": "99.0 % of the protected cells are the original's"}],
        "remarks": ["The score fell by 1.00 points, but an attacker links more."],
    }
