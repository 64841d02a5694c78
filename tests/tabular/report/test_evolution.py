"""The report of an evolution."""

from __future__ import annotations

from typing import ClassVar

from lxml import html

from tabular.report import evolution_for_report, evolution_report
from tabular.report.evolution import GENERATIONS
from tests.contracts.report import PageContract, ReportContract, tooltips
from tests.tabular.report.documents import evolution_document


class OfEvolutions:
    REPORTS: ClassVar = {"evolution": (evolution_report, evolution_document())}


class TestEvolutionReport(OfEvolutions, ReportContract):
    pass


class TestEvolutionPage(OfEvolutions, PageContract):
    pass


def test_the_chart_has_each_generation_and_the_map_each_member():
    document = evolution_document()
    said = tooltips(evolution_report(document))
    for generation, best, mean, worst in document["history"]:
        assert f"generation {generation}: best {best:.2f}, mean {mean:.2f}, worst {worst:.2f}" in said
    for when, members in (("start", "initial"), ("end", "final")):
        for each in document["population"][members]:
            loss, risk = each["information_loss"], each["disclosure_risk"]
            assert f"{each['origin']}, at the {when}: loss {loss:.2f} %, risk {risk:.2f} %" in said


def test_it_says_how_far_the_score_fell_that_it_was_stopped_and_what_is_withheld():
    document = evolution_document()
    said = " ".join(html.document_fromstring(evolution_report(document)).text_content().split())
    first, last = (document[when]["score_max"] for when in ("initial", "final"))
    assert f"The score went from {first:.2f} to {last:.2f}." in said
    assert "was stopped before its end" in said
    assert "microaggregation k=2" in said and "an attacker links more" in said


def test_it_says_what_was_lowered_where_that_is_no_score_and_what_is_read_back():
    figures = {"unchanged": 40.25, "blind": 41.5, "percent": 48.75, "share": 12.5, "added": 9.125}
    document = evolution_document() | {
        "fitness": "difference of counts beside 'sex' (eq 4.5), in percent",
        "history": [[0, 7.5, 8.0, 9.0], [1, 4.25, 5.0, None]],
        "read_back": {"town": figures},
        "limits": {"added": 10.0, "recovered": 95.0},
    }
    said = " ".join(html.document_fromstring(evolution_report(document)).text_content().split())
    assert "The difference of counts beside 'sex' (eq 4.5), in percent fell from 7.50 to 4.25." in said
    assert "This was lowered, and not a score of loss and risk" in said
    assert "town40.2541.5048.759.12" in said
    assert "No member that is released adds more than 10 %" in said


def test_a_long_history_is_shortened_for_the_report_and_keeps_its_ends():
    document = evolution_document() | {"history": [[place, 1.0, 2.0, 3.0] for place in range(5000)]}
    document["population_files"] = [{"file": "a.csv"}]
    found = evolution_for_report(document)
    assert len(found["history"]) == GENERATIONS
    assert (found["history"][0][0], found["history"][-1][0]) == (0, 4999)
    assert "population_files" not in found and len(document["history"]) == 5000


def test_a_document_without_a_result_says_so():
    assert "No result is in the document." in evolution_report({})
