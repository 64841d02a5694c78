"""The reports on tables."""

from __future__ import annotations

import re
from typing import ClassVar

from lxml import html

from tabular.report import risk_loss_report, search_report
from tests.contracts.report import PageContract, ReportContract, tooltips
from tests.tabular.report.documents import front_document, grid_document, search_document


class OfSearches:
    REPORTS: ClassVar = {
        "of one node": (search_report, search_document()),
        "of a front": (search_report, front_document()),
    }


class TestSearchReport(OfSearches, ReportContract):
    pass


class TestSearchPage(OfSearches, PageContract):
    pass


def test_the_report_of_one_node_says_what_is_proven_and_what_was_released():
    page = html.document_fromstring(search_report(search_document()))
    said = " ".join(re.sub("[\u2068\u2069]", "", page.text_content()).replace("\xa0", " ").split())
    assert "age 1, sex 0 has the least glm." in said
    assert "Proven: no node that satisfies the limits loses less than 100.1235; the gap is 11.1235." in said
    assert "was stopped before its end" in said
    assert "The release uses solution 2: age 1, sex 0. Counted again in the released cells: k = 21, l = 4" in said
    assert not page.xpath("//section[h2[@id='front']]")
    titles = [each.text for each in page.xpath("//figure//*[local-name()='title']")]
    assert titles == [
        "0.500 s, 11 nodes, bound 50.0000",
        "1.000 s, 12 nodes, best 180.5000, bound 60.5000",
        "1.500 s, 13 nodes, best 111.2469, bound 100.1235",
    ]


def test_the_report_of_a_front_says_levels_at_each_point_and_tells_what_was_missed():
    page = html.document_fromstring(search_report(front_document()))
    titles = [re.sub("[\u2068\u2069]", "", each.text) for each in page.xpath("//figure//*[local-name()='title']")]
    assert "age 1, sex 0: k 21, l 2, GLM 111.2469136, Rows suppressed 11" in titles
    assert "age 2, sex 1: k 33, l 6, GLM 120.5" in titles
    said = " ".join(page.text_content().split())
    assert "The front of k, glm, l has 2 nodes." in said
    assert "The solutions occupy 51.2 % of the boxes of the exact front (RR)." in said.replace("\xa0", " ")
    (section,) = page.xpath("//section[h2[@id='front']]")
    assert [row[-1].text for row in section.xpath(".//tbody/tr")] == ["yes", "no"]


def test_a_list_that_was_cut_says_how_long_it_is():
    document = search_document() | {"solutions_found": 12_960}
    page = html.document_fromstring(search_report(document))
    assert "The first 2 of 12,960; the JSON document has all." in page.text_content()


def test_a_document_without_solutions_says_so():
    assert "No solution is in the document." in search_report({})


class OfGrids:
    REPORTS: ClassVar = {"grid": (risk_loss_report, grid_document())}


class TestGridReport(OfGrids, ReportContract):
    pass


class TestGridPage(OfGrids, PageContract):
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
