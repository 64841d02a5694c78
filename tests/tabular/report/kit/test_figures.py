"""Figures carry exact values and forget none; texts are made fit to stand in a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from markupsafe import Markup, escape

from tabular.report.kit.figures import Figures, cell, clean, element, foreign, isolated, join, series, shortened

DOCUMENT = {"k": 5, "loss": 0.123456789, "names": ["a", "b"], "by": {"age": {"count": 4}, "none": None}, "done": False}


def parsed(markup):
    return html.fromstring(str(markup))


def test_a_figure_in_a_sentence_is_rounded_and_carries_its_exact_value():
    shown = parsed(escape(Figures(DOCUMENT)["loss"]))
    assert shown.text_content() == "0.1235"
    assert (shown.get("data-key"), shown.get("data-value"), shown.get("title")) == (
        "/loss",
        "0.123456789",
        "0.123456789",
    )


def test_words_stand_for_a_value_in_sentences_and_cells():
    loss = Figures(DOCUMENT)["loss"]
    for markup in (escape(loss.share), loss.share.cell):
        assert parsed(markup).text_content() == "12.3\u00a0%"
        assert parsed(markup).get("data-value") == "0.123456789"


def test_what_is_missing_is_called_not_known():
    missing = Figures(DOCUMENT).at("by", "sex", "count", 3)
    assert (missing.value, missing.number, missing.is_known, list(missing)) == (None, None, False, [])
    assert "not known" in missing.cell and "not known" in escape(missing.share)


def test_what_was_not_printed_is_left():
    document = Figures(DOCUMENT)
    assert document["k"].number == 5
    escape(document["loss"])
    escape(series([*document["names"]]))
    assert [parsed(where).text_content() for where, _ in document.rest()] == ["/k", "/by/age/count", "/done"]
    for _, figure in document.rest():
        cell(figure)
    assert document.rest() == []


def test_only_finite_numbers_are_numbers():
    values = Figures([1, 0.5, True, float("nan"), float("inf"), "1", None])
    assert [each.number for each in values] == [1, 0.5, None, None, None, None, None]


def test_known_names_come_first_and_others_in_their_order():
    assert Figures(DOCUMENT).names("loss", "absent", "k") == ["loss", "k", "names", "by", "done"]
    assert Figures(DOCUMENT)["k"].names("loss") == []


def test_parameters_are_rows_by_where_they_stand_and_lists_stay_whole():
    rows = Figures(DOCUMENT).parameter_rows()
    assert [parsed(name).text_content() for name, _ in rows] == [
        "Parameter k", "Parameter loss", "Parameter names", "Parameter by, age, count", "Parameter done",
    ]  # fmt: skip
    assert parsed(rows[2][1].cell).text_content() == "a, b"


def test_what_is_known_is_listed_under_its_name():
    assert [name for name, _ in Figures(DOCUMENT)["by"].listed({"none": "None", "age": "Age"})] == ["Age"]


def test_a_cell_of_anything_else_is_escaped():
    assert cell("<b>") == '<td class="number">&lt;b&gt;</td>'


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
