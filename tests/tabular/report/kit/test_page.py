"""The page, its colours and style, and the pieces of HTML that notebooks show."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from itertools import combinations, pairwise

import pytest
from lxml import etree, html

from tabular.report import search_report
from tabular.report.kit.charts import upright_bars
from tabular.report.kit.page import (
    ON_STEPS,
    SERIES,
    STEPS,
    TONES,
    chart_snippet,
    content_security_policy,
    stylesheet,
    table_snippet,
)


def test_importing_the_reports_imports_no_template_engine():
    code = "import sys, tabular.report, graphpriv.report; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_policy_allows_the_style_sheet_of_the_page_by_its_hash():
    page = html.document_fromstring(search_report({}))
    (style,) = page.iter("style")
    assert style.text == stylesheet()
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in content_security_policy()
    assert page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content") == [content_security_policy()]


def test_the_contents_name_each_section_in_its_order():
    page = html.document_fromstring(search_report({}))
    headings = [(f"#{each.get('id')}", each.text) for each in page.iter("h2")]
    assert [(each.get("href"), each.text) for each in page.xpath("//nav//a")] == headings
    assert page.xpath("//a[@class='skip']/@href") == [headings[0][0]]


def test_the_title_may_be_any_text():
    page = html.document_fromstring(search_report({}, title="<b>&\x00\ud800</b>"))
    assert page.findtext(".//title") == page.findtext(".//h1") == "<b>&\ufffd\ufffd</b>"


schemes = pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.2, from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@schemes
def test_text_has_the_contrast_of_wcag_aa(scheme):
    for ink in ("ink", "soft", "accent"):
        for paper in ("paper", "wash"):
            assert contrast(TONES[ink][scheme], TONES[paper][scheme]) >= 4.5
    assert contrast(TONES["warning"][scheme], TONES["warning-wash"][scheme]) >= 4.5


@schemes
def test_marks_have_the_contrast_of_wcag_aa(scheme):
    for colour in [*SERIES, TONES["rest"]]:
        assert contrast(colour[scheme], TONES["paper"][scheme]) >= 3


@schemes
def test_words_on_steps_can_be_read(scheme):
    for step, tone in zip(STEPS, ON_STEPS, strict=True):
        assert contrast(step[scheme], TONES[tone[scheme]][scheme]) >= 4.5, step


@schemes
def test_steps_fade_into_the_paper(scheme):
    against = [contrast(step[scheme], TONES["paper"][scheme]) for step in STEPS]
    assert against == sorted(against, reverse=True)
    assert all(before / after > 1.2 for before, after in pairwise(against))


def test_the_two_attackers_differ_in_grey():
    assert contrast(SERIES[0][0], SERIES[1][0]) >= 2


def seen_by(colour: str, kind: str) -> tuple[float, float, float]:
    """The colour as eyes without red or green cones see it (Vienot, Brettel and Mollon 1999)."""
    red, green, blue = (((int(colour[at : at + 2], 16) / 255) ** 2.2) for at in (1, 3, 5))
    matrix = {
        "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
        "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    }[kind]
    return tuple(max(a * red + b * green + c * blue, 0) ** (1 / 2.2) for a, b, c in matrix)


@schemes
@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_series_are_told_apart_by_colour_blind_eyes(scheme, kind):
    seen = [seen_by(each[scheme], kind) for each in SERIES[:6]]
    for one, other in combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.1


def style_of(snippet):
    (style,) = etree.fromstring(snippet.encode()).iter("style")
    return style.text


def test_a_table_shows_its_rows_rounded_as_in_reports():
    page = etree.fromstring(table_snippet("Losses.", ["Measure", "Value"], [["dbil", 0.123456], ["rows", 1234]]))
    rows = [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]
    assert rows == [["Measure", "Value"], ["dbil", "0.1235"], ["rows", "1,234"]]
    assert page.findtext(".//caption") == "Losses."


def test_a_long_table_is_cut_and_says_so():
    page = etree.fromstring(table_snippet("Losses.", ["Place"], [[place] for place in range(30)], most=12))
    assert len(list(page.iter("tr"))) == 13
    assert "The first 12 of 30 rows." in "".join(page.itertext())


def test_no_text_becomes_markup():
    text = "</td><script>alert(1)</script>\x00\ud800"
    page = etree.fromstring(table_snippet(text, [text], [[text]]).encode())
    assert not list(page.iter("script"))
    assert page.find(".//caption").text.startswith("</td><script>")


def test_a_chart_stands_in_its_snippet_with_its_style():
    drawing = upright_bars(["a"], {"one": [0.5]}, label="Bars")
    snippet = chart_snippet(drawing, "Lower is better.")
    assert drawing in snippet
    assert "Lower is better." in snippet
    classes = {name for names in re.findall('class="([^"]*)"', drawing) for name in names.split()} - {"chart"}
    assert all(f".{name}" in style_of(snippet) for name in classes)


def test_the_style_reaches_nothing_but_the_snippet():
    style = style_of(table_snippet("", [], []))
    selectors = [each for rule in re.findall(r"([^{}]+)\{[^}]*\}", style) for each in rule.split(",")]
    assert len(selectors) > 30
    assert all(each.strip().startswith(".graphpriv-result") for each in selectors)
    assert "url(" not in style and "@" not in style
