"""Pieces of HTML for notebooks: complete, harmless, and without effect on the page around them."""

from __future__ import annotations

import re

from lxml import etree

from tabular.report.kit.bars import upright_bars
from tabular.report.kit.snippet import chart_snippet, table_snippet


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
