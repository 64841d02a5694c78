"""The sections that stand before the audit in the demonstration's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphpriv.report.drawing import Drawing, drawn
from tabular.report.kit import charts
from tabular.report.kit.figures import Figures
from tabular.report.kit.markup import Markup, element, foreign, join
from tabular.report.kit.page import Section, figure, paragraphs, side_by_side, table

#: By attribute: value, share of users before, share after.
Shares = Mapping[str, Sequence[tuple[str, float, float | None]]]

#: What the files are that the demonstration leaves, by what they are for.
_FILES = {
    "original": "The original graph. Private.",
    "released": "The release.",
    "mapping": "Which user of the original is which of the release. Private: custodian and auditor only.",
    "dictionary": "What the columns and values of the release mean.",
    "microdata": "The release as a table: degree, place and topics.",
    "microdata dictionary": "What the columns of the table mean.",
    "store": "The embedded store: the original, the release and the mapping. Private.",
    "audit": "The figures of this report, unrounded.",
    "report": "This report. For the custodian and the auditor.",
}

_FACTS = {
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


def demo_sections(
    graph_facts: Mapping[str, Any],
    drawings: Sequence[Drawing],
    files: Mapping[str, str],
    shares: Shares,
) -> list[Section]:
    """What this is, the graph, its drawing, and how to compute the figures again."""
    # Apart from the keys of the audit, which stands on the same page.
    beside = {name: [{"before": before, "after": after} for _, before, after in rows] for name, rows in shares.items()}
    figures = Figures({"graph": graph_facts, "shares": beside})
    sections = [
        Section("about", "What this is", _about()),
        Section("graph", "The graph", _facts(figures)),
    ]
    if drawings:
        sections.append(Section("drawing", "Before and after", drawn(drawings)))
    if shares:
        sections.append(Section("shares", "Topics and places, before and after", _shares(figures, shares)))
    return [*sections, Section("check", "Check the figures yourself", _check(files))]


def _about() -> Markup:
    return paragraphs(
        "A made-up follow graph went through the whole chain: it was generated, protected, audited, stored and "
        "written out. No real person occurs in it. The same seed gives the same graph, release and figures.",
        "The protection groups users with alike profiles and gives everyone in a group the same profile: the closest "
        "place that contains all their places, and the three topics that win their vote. The links stay as they are. "
        "The audit then asks two questions of the release: what does it still tell, and whom does it still give away?",
    )


def _facts(figures: Figures) -> Markup:
    rows: list[list[object]] = []
    for name in figures.keys("graph", known=tuple(_FACTS)):
        value = figures.get("graph", name)
        shown = _FACTS.get(name) or foreign(name.replace("_", " ").capitalize())
        if isinstance(value, Mapping):
            # Small groups, such as the least and the largest degree, stand line by line.
            single = [key for key in figures.keys("graph", name) if not isinstance(value[key], Mapping | list | None)]
            if len(single) <= _FEW:
                cells = [(key, figures.cell("graph", name, key)) for key in single]
                rows.extend([join(shown, ", ", foreign(key.replace("_", " "))), cell] for key, cell in cells)
        elif value is not None and not isinstance(value, list):
            rows.append([shown, figures.cell("graph", name)])
    return table("The generated graph.", ["Measure", "Value"], rows)


def _shares(figures: Figures, shares: Shares) -> Markup:
    drawn, tables = [], []
    for name, rows in shares.items():
        label = f"Dots: share of users by {name}, before and after protection; the table has all."
        drawn.append(figure(charts.before_after(rows, label=label), f"Share of users by {name}."))
        cells = [
            [foreign(value), *(figures.cell("shares", name, place, when) for when in ("before", "after"))]
            for place, (value, _, _) in enumerate(rows)
        ]
        tables.append(table(f"Share of users by {name}.", ["Value", "Before", "After"], cells))
    return join(side_by_side(*drawn), side_by_side(*tables))


def _check(files: Mapping[str, str]) -> Markup:
    original, released, mapping = (
        files.get(name, f"{name}.{kind}")
        for name, kind in (("original", "json"), ("released", "json"), ("mapping", "csv"))
    )
    command = f"graphpriv audit --files {original} {released} --mapping {mapping}"
    rows = [
        [element("code", foreign(name)), element("td", _FILES.get(purpose, purpose))] for purpose, name in files.items()
    ]
    return join(
        paragraphs("Everything the figures rest on lies beside this report. In its folder, run:"),
        element("pre", element("code", command)),
        paragraphs(
            "The command reads the two graphs and the mapping from the files and computes every figure anew; add "
            "--json for the unrounded values, which are also the exact values behind the figures here."
        ),
        element("div", table("Files beside this report.", ["File", "Holds"], rows), class_="text") if rows else None,
    )
