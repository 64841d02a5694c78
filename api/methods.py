"""All registries in one place: what the command line, the service and the README list."""

from __future__ import annotations

from dataclasses import Field, asdict
from typing import Any

from api.verbs import Verb, verbs
from api.verbs.values import is_required, kind_of, options_of
from graphpriv.formats import formats
from graphpriv.measures import measures
from graphpriv.protections import protections
from graphpriv.risk import attackers
from tabular.clusterings import clusterings
from tabular.criteria import criteria
from tabular.hierarchies import hierarchies
from tabular.lattice.metrics import METRICS, MetricTable
from tabular.lattice.searches import searches
from tabular.measures import measures as table_measures
from tabular.protections import protections as table_protections
from tabular.registry import Entry, Registry, choices_of

REGISTRIES: dict[str, Registry[Any] | MetricTable] = {
    "Graph protections": protections,
    "Graph measures": measures,
    "Attackers": attackers,
    "Graph formats": formats,
    "Table protections": table_protections,
    "Clusterings": clusterings,
    "Table measures": table_measures,
    "Hierarchies": hierarchies,
    "Table criteria": criteria,
    "Searches": searches,
    "Lattice metrics": METRICS,
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


def verb_list() -> list[dict[str, Any]]:
    """Every verb with its options, ready for JSON."""
    return [
        {"name": entry.name, "summary": entry.summary, "options": [_option(each) for each in _options(entry)]}
        for entry in verbs.entries()
    ]


def _options(entry: Entry[Verb]) -> list[Field[Any]]:
    return list(options_of(entry.method).values())


def _option(option: Field[Any]) -> dict[str, Any]:
    choices = choices_of(option.metadata["choices"])
    return {
        "name": option.name,
        "kind": "list" if kind_of(option).startswith("tuple") else kind_of(option),
        "required": is_required(option),
        "default": None if is_required(option) else option.default,
        "help": option.metadata["help"],
        "low": option.metadata["low"],
        "high": option.metadata["high"],
        "choices": None if choices is None else list(choices),
    }
