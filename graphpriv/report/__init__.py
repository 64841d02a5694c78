"""Reports of graphs: one HTML file each, from the same numbers as the JSON, without script and without network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphpriv.report.audit import audit_context
from graphpriv.report.demo import Shares, demo_context
from graphpriv.report.drawing import Drawing
from graphpriv.report.sweep import sweep_context
from tabular.report.kit.figures import Figures
from tabular.report.kit.page import page

__all__ = ["audit_report", "demo_report", "sweep_report"]


def audit_report(
    document: Mapping[str, Any], *, drawing: Drawing | None = None, title: str = "Audit of a released social graph"
) -> str:
    """The report of one audit, from its JSON document."""
    drawings = [drawing] if drawing else []
    context = audit_context(Figures(document))
    return page(__package__, "audit.html", title=title, drawings=drawings, confidential=True, **context)


def sweep_report(document: Mapping[str, Any], *, title: str = "Losses and risks by k") -> str:
    """The report of a sweep over k, from its JSON document."""
    return page(__package__, "sweep.html", title=title, **sweep_context(Figures(document)))


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
    context = audit_context(Figures(document)) | demo_context(graph_facts, files, shares or {})
    return page(__package__, "demo.html", title=title, drawings=[], graphs=drawings, confidential=True, **context)
