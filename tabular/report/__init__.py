"""Reports on tables."""

from tabular.report.evolution import evolution_for_report, evolution_report
from tabular.report.reports import risk_loss_report, search_report

__all__ = ["evolution_for_report", "evolution_report", "risk_loss_report", "search_report"]
