"""Figures carry their exact values, and what no one printed is left."""

from __future__ import annotations

from lxml import html
from markupsafe import escape

from tabular.report.kit.figures import Figures, cell, series

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
