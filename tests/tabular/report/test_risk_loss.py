"""The report of a grid: the map and the tables show every protection, and what was left out."""

from __future__ import annotations

from typing import ClassVar

from lxml import html

from tabular.report import risk_loss_report
from tests.contracts.report import PageContract, ReportContract, tooltips
from tests.tabular.report.documents import grid_document


class OfGrids:
    REPORTS: ClassVar = {"grid": (risk_loss_report, grid_document())}


class TestReport(OfGrids, ReportContract):
    pass


class TestPage(OfGrids, PageContract):
    pass


def test_the_map_and_the_tables_show_every_protection():
    document = grid_document()
    report = risk_loss_report(document)
    page, said = html.document_fromstring(report), tooltips(report)
    for place, entry in enumerate(document["protections"]):
        loss, risk = entry["information_loss"], entry["disclosure_risk"]
        assert any(f"loss {loss:.2f} %, risk {risk:.2f} %, k = {entry['k']}" in each for each in said)
        cells = page.xpath(f"//td[@data-key='/protections/{place}/disclosure_risk']")
        assert {cell.get("data-value") for cell in cells} == {str(risk)}
    assert len(said) == 6
    assert "global-recoding count 4, 2: " in said[0] or any("global-recoding count 4, 2: " in each for each in said)


def test_the_best_of_each_method_is_its_first_by_score():
    page = html.document_fromstring(risk_loss_report(grid_document()))
    (section,) = page.xpath("//section[h2[@id='methods']]")
    rows = [row.text_content().split()[0] for row in section.xpath(".//tbody/tr")]
    assert rows == ["global-recoding", "microaggregation", "pram"]
    assert section.xpath(".//tbody/tr[1]//*[@data-key='/protections/0/k']")


def test_what_was_left_out_is_said():
    page = html.document_fromstring(risk_loss_report(grid_document()))
    (section,) = page.xpath("//section[h2[@id='left-out']]")
    assert "it takes ordinal columns only, and 'sex' is nominal" in section.text_content()
    assert not html.document_fromstring(risk_loss_report(grid_document() | {"left_out": []})).xpath(
        "//h2[@id='left-out']"
    )


def test_a_document_without_protections_says_so():
    assert "No protection is in the document." in risk_loss_report({})
