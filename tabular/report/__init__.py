"""Reports on tables: one HTML file each, from the same numbers as the JSON, without script and without network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabular.report.kit.figures import Figures
from tabular.report.kit.page import page
from tabular.report.risk_loss import risk_loss_context
from tabular.report.search import search_context

__all__ = ["risk_loss_report", "search_report"]


def risk_loss_report(document: Mapping[str, Any], *, title: str = "Risk against loss: protections compared") -> str:
    """The report of a grid of protections of one table, from its JSON document."""
    return page(__package__, "risk_loss.html", title=title, **risk_loss_context(Figures(document)))


def search_report(document: Mapping[str, Any], *, title: str = "Search of the lattice of generalisations") -> str:
    """The report of one search of a table's lattice, from its JSON document."""
    return page(__package__, "search.html", title=title, **search_context(Figures(document)))
