"""Texts become elements without becoming markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markupsafe import Markup

from tabular.report.kit.markup import clean, element, foreign, isolated, join, shortened

texts = st.text(st.characters(exclude_categories=[]), max_size=30)


@given(texts, texts)
def test_any_text_comes_back_from_content_and_attributes(content, attribute):
    read = etree.fromstring(element("p", content, data_value=attribute).encode())
    # XML reads a carriage return as a line feed, and attributes hold blanks for both.
    assert (read.text or "") == clean(content).replace("\r", "\n")
    blank = str.maketrans("\r\n\t", "   ")
    assert read.get("data-value").translate(blank) == clean(attribute).translate(blank)


def test_markup_stays_markup_and_lists_are_flattened():
    assert join("<", Markup("<b>"), [None, ["&"]]) == Markup("&lt;<b>&amp;")


def test_attributes_that_are_none_are_left_out_and_coordinates_rounded():
    assert element("rect", x=1.23456, y=2.0, class_="a", title=None) == '<rect x="1.23" y="2" class="a"></rect>'


def test_directions_do_not_leak_out_of_names():
    assert isolated("\u202eabc") == "\u2068abc\u2069"
    assert foreign("a") == "<bdi>a</bdi>"


@given(texts, st.integers(1, 20))
def test_a_cut_text_is_never_wider_than_asked_for(text, width):
    assert len(shortened(text, width)) <= width


def test_wide_characters_take_two_columns():
    assert shortened("東京都庁", 5) == "東京…"
