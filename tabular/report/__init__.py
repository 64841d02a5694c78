"""Reports on tables."""

from tabular.report.reports import risk_loss_report, search_report

__all__ = ["risk_loss_report", "search_report"]
