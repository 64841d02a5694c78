"""Reports of graphs."""

from graphpriv.report.reports import audit_report, demo_report, sweep_report

__all__ = ["audit_report", "demo_report", "sweep_report"]
