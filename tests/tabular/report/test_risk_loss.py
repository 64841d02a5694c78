"""The map of risk against loss: each point where its figures say, the front ringed, the same in the tables."""

from __future__ import annotations

import re

import pytest
from lxml import etree, html

from tabular.report import risk_loss_report
from tabular.report.kit.scatter import Point, scatter
from tests.graphpriv.report.documents import grid_document

SVG = "{http://www.w3.org/2000/svg}"


def parsed(series):
    drawing = scatter(series, label="Map", across="x", upwards="y", ceiling=100.0)
    return etree.fromstring(drawing.encode())


def centres(drawing, kind):
    dots = [each for each in drawing.iter(f"{SVG}circle") if each.get("class").startswith(kind)]
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in dots if dot.getparent().tag == f"{SVG}g"]


def test_points_lie_where_their_figures_say():
    drawing = parsed({"one": [Point(0, 0, "low"), Point(50, 25, "middle"), Point(100, 50, "high")]})
    low, middle, high = centres(drawing, "fill-series-1")
    assert middle[0] == pytest.approx((low[0] + high[0]) / 2, abs=0.02)
    assert middle[1] == pytest.approx((low[1] + high[1]) / 2, abs=0.02)
    # Upwards on the page is a smaller y.
    assert low[0] < high[0] and low[1] > high[1]


def test_only_the_front_is_ringed_and_joined_by_steps():
    points = [Point(10, 40, "a", True), Point(20, 30, "b", True), Point(30, 35, "c")]
    drawing = parsed({"one": points})
    rings, dots = centres(drawing, "ring"), centres(drawing, "fill-series-1")
    assert len(rings) == 2
    assert set(rings) < set(dots)
    (line,) = drawing.iter(f"{SVG}polyline")
    corners = [tuple(map(float, corner.split(","))) for corner in line.get("points").split()]
    assert len(corners) == 3
    assert corners[1] == pytest.approx((corners[2][0], corners[0][1]))


def test_every_series_has_a_mark_of_its_own():
    series = {f"method {number}": [Point(number, number, f"{number}")] for number in range(9)}
    drawing = parsed(series)
    marks = set()
    for group in drawing.iter(f"{SVG}g"):
        mark = group[-1]
        corners = len(mark.get("points", "").split())
        marks.add((mark.get("class"), mark.tag, corners, mark.get("points", "")[:0]))
    assert len(marks) == len(series)


def test_the_map_and_the_tables_show_every_protection():
    document = grid_document()
    page = html.document_fromstring(risk_loss_report(document))
    said = [re.sub("[\u2068\u2069]", "", each.text) for each in page.xpath("//figure//*[local-name()='title']")]
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
