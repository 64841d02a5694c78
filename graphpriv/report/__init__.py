"""Reports: one HTML file each, from the same numbers as the JSON, without script and without network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphpriv.report.audit import audit_sections, lead
from graphpriv.report.demo import Shares, demo_sections
from graphpriv.report.drawing import Drawing, drawn
from graphpriv.report.sweep import sweep_lead, sweep_sections
from tabular.report.kit.figures import Figures
from tabular.report.kit.page import page

__all__ = ["audit_report", "demo_report", "sweep_report"]


def audit_report(
    document: Mapping[str, Any], *, drawing: Drawing | None = None, title: str = "Audit of a released social graph"
) -> str:
    """The report of one audit, from its JSON document."""
    figures = Figures(document)
    sections = audit_sections(figures, drawn([drawing]) if drawing else None)
    return page(title, lead=lead(figures), sections=sections, confidential=True)


def sweep_report(document: Mapping[str, Any], *, title: str = "Losses and risks by k") -> str:
    """The report of a sweep over k, from its JSON document."""
    figures = Figures(document)
    return page(title, lead=sweep_lead(figures), sections=sweep_sections(figures))


def demo_report(
    document: Mapping[str, Any],
    *,
    graph_facts: Mapping[str, Any],
    drawings: Sequence[Drawing],
    files: Mapping[str, str],
    shares: Shares | None = None,
    title: str = "Demonstration: a social graph, protected and audited",
) -> str:
    """The report of the demonstration: the graph, its drawing and how to check the figures, then the audit."""
    figures = Figures(document)
    first = demo_sections(graph_facts, drawings, files, shares or {})
    return page(title, lead=lead(figures), sections=[*first, *audit_sections(figures)], confidential=True)
