"""The report of a sweep: its charts and tables show each k, and it says what its document says of the links."""

from __future__ import annotations

from typing import ClassVar

from lxml import html

from graphpriv.report import sweep_report
from tests.contracts.report import PageContract, ReportContract, tooltips
from tests.graphpriv.report.documents import sweep_document


class OfSweeps:
    REPORTS: ClassVar = {"sweep": (sweep_report, sweep_document())}


class TestReport(OfSweeps, ReportContract):
    pass


class TestPage(OfSweeps, PageContract):
    pass


def test_the_charts_of_a_sweep_show_its_figures():
    document = sweep_document()
    said = tooltips(sweep_report(document))

    def told(name, k, spread):
        return f"{name}, k = {k}: {spread['mean']:.4f}, deviation {spread['sd']:.4f}"

    for row in document["rows"]:
        for key, name in (("aamil", "AAMIL"), ("dbil", "DBIL"), ("mean", "Mean")):
            assert told(name, row["k"], row["information_loss"][key]) in said
        for part in ("disclosure_risk", "expected_success"):
            for attacker in ("ego", "subgraph"):
                assert told("Third topic", row["k"], row[part][attacker]["topic3"]) in said
    assert len(said) == 5 * (4 + 2 * 2 * 6)


def test_a_sweep_says_of_the_links_what_its_document_says():
    document = sweep_document()
    page = html.document_fromstring(sweep_report(document))
    (section,) = page.xpath("//section[h2[@id='structure']]")
    assert document["note"] in section.text_content()
    for part in ("risk", "expected_success", "undecided"):
        for attacker in ("ego", "subgraph"):
            (shown,) = section.xpath(f".//*[@data-key='/rows/4/structure/{part}/{attacker}/mean']")
            assert shown.get("data-value") == repr(document["rows"][4]["structure"][part][attacker]["mean"])


def test_the_verdict_names_the_first_and_the_last_k():
    page = html.document_fromstring(sweep_report(sweep_document()))
    (verdict,) = page.find_class("verdict")
    said = " ".join(verdict.text_content().replace("\u00a0", " ").split())
    assert "The mean information loss goes from 32.0 % at k = 2 to 73.4 % at k = 20." in said
    assert "found by links alone, part of the neighbourhood, goes from 30.2 % at k = 2 to 71.6 % at k = 20." in said


def test_a_sweep_without_rows_says_so():
    assert "The document holds no rows." in sweep_report({})
