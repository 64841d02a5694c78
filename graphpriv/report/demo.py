"""The figures and charts that stand before the audit in the report of the demonstration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabular.report.kit.bars import before_after
from tabular.report.kit.figures import Figures
from tabular.report.kit.markup import foreign, join

#: By attribute: value, share of users before, share after.
Shares = Mapping[str, Sequence[tuple[str, float, float | None]]]

#: What the files of the demonstration hold, by what they are for.
FILES = {
    "original": "The original graph. Private.",
    "released": "The release.",
    "mapping": "Which user of the original is which user of the release. Private: custodian and auditor only.",
    "dictionary": "What the columns and values of the release mean.",
    "microdata": "The release as a table: degree, place and topics.",
    "microdata dictionary": "What the columns of the table mean.",
    "store": "The embedded store: the original, the release and the mapping. Private.",
    "audit": "The figures of this report, unrounded.",
    "report": "This report. For the custodian and the auditor.",
}

FACTS = {
    "users": "Users",
    "edges": "Follows",
    "directed": "Links have a direction",
    "degree": "Degree",
    "clustering": "Clustering",
    "path_length": "Mean path length, steps",
    "diameter": "Diameter, steps",
    "components": "Components",
    "largest_component": "Share of users in the largest component",
    "estimated": "Path length and diameter are estimates",
}

#: Groups of facts with more entries than these, such as the shares of all places, are not listed.
_FEW = 6


def demo_context(facts: Mapping[str, Any], files: Mapping[str, str], shares: Shares) -> dict[str, Any]:
    """What the template of the demonstration shows before the audit."""
    # Apart from the figures of the audit, which stand on the same page.
    beside = {name: [{"before": before, "after": after} for _, before, after in rows] for name, rows in shares.items()}
    figures = Figures({"graph": facts, "shares": beside})
    kinds = {"original": "json", "released": "json", "mapping": "csv"}
    return {
        "facts": _facts(figures["graph"]),
        "files": [[foreign(name), FILES.get(purpose, purpose)] for purpose, name in files.items()],
        "named": {name: files.get(name, f"{name}.{kind}") for name, kind in kinds.items()},
        "shares": [_shares(figures["shares"][name], name, rows) for name, rows in shares.items()],
    }


def _facts(graph: Figures) -> list[list[object]]:
    rows: list[list[object]] = []
    for name in graph.names(*FACTS):
        fact, shown = graph[name], FACTS.get(name) or foreign(name.replace("_", " ").capitalize())
        # Small groups, such as the mean and the largest degree, stand line by line.
        single = [key for key in fact.names() if not isinstance(fact[key].value, Mapping | list | None)]
        if len(single) <= _FEW:
            rows += [[join(shown, ", ", foreign(key.replace("_", " "))), fact[key]] for key in single]
        if fact.is_known and not isinstance(fact.value, Mapping | list):
            rows.append([shown, fact])
    return rows


def _shares(figures: Figures, name: str, rows: Sequence[tuple[str, float, float | None]]) -> dict[str, Any]:
    return {
        "caption": f"Share of users by {name}.",
        "chart": before_after(rows, label=f"Dots: share of users by {name}, before and after protection."),
        "rows": [
            [foreign(value), each["before"], each["after"]] for (value, *_), each in zip(rows, figures, strict=True)
        ],
    }
