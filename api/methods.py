"""All registries in one place: what the command line, the service and the README list."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from graphpriv.formats import formats
from graphpriv.measures import measures
from graphpriv.protections import protections
from graphpriv.risk import attackers
from tabular.criteria import criteria
from tabular.hierarchies import hierarchies
from tabular.lattice.searches import searches
from tabular.measures import measures as table_measures
from tabular.protections import protections as table_protections
from tabular.registry import Registry

REGISTRIES: dict[str, Registry[Any]] = {
    "Graph protections": protections,
    "Graph measures": measures,
    "Attackers": attackers,
    "Graph formats": formats,
    "Table protections": table_protections,
    "Table measures": table_measures,
    "Hierarchies": hierarchies,
    "Table criteria": criteria,
    "Searches": searches,
}


def method_lists() -> dict[str, list[dict[str, Any]]]:
    """Each registry as a list of its methods, ready for JSON."""
    return {
        sort: [
            {
                "name": entry.name,
                "summary": entry.summary,
                "parameters": [asdict(each) for each in entry.parameters],
                "cites": entry.cites,
                "limits": entry.limits,
            }
            for entry in registry.entries()
        ]
        for sort, registry in REGISTRIES.items()
    }
