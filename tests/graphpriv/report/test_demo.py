"""The report of the demonstration: the graph, its drawings and the way to check the figures stand before the audit."""

from __future__ import annotations

import copy
from typing import ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphpriv.report import demo_report
from graphpriv.report.drawing import draw, shares
from tests.contracts.report import PageContract, ReportContract, shown, skeleton
from tests.graphpriv.report.documents import audit_document
from tests.graphpriv.report.test_drawing import LIMA, PARIS, graph_of

FACTS = {"users": 1638, "edges": 4622, "degree": 5.6434, "clustering": 0.13, "path_length": 4.26, "diameter": 11}
FILES = {"original": "original.json", "released": "released.json", "mapping": "mapping.csv", "other": "other.txt"}
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwll-llantysiliogogogoch" * 8


def demo_of(document):
    shares = {"topic": [("Politics", 0.2, 0.3)]}
    return demo_report(document, graph_facts=FACTS, drawings=[], files=FILES, shares=shares)


class TestReport(ReportContract):
    REPORTS: ClassVar = {"demo": (demo_of, audit_document())}
    BESIDE: ClassVar = {"graph": FACTS, "shares": {"topic": [{"before": 0.2, "after": 0.3}]}}


def long_names(document):
    graph = graph_of([PARIS, LIMA, None] * 20, ["Sports", LONG, None] * 20, [(one, one // 2) for one in range(1, 60)])
    document = copy.deepcopy(document)
    document["at_risk"][0]["user"] = LONG
    facts = {"users": 60, "edges": 59, "degree": 1.9667, "clustering": 0.0, "path_length": 3.1, "diameter": 10}
    return demo_report(
        document,
        graph_facts=facts,
        drawings=draw(graph, graph, None),
        files={"original": "original.json", LONG: LONG},
        shares={"first topic": shares(graph, graph, "topic1")},
    )


class TestPage(PageContract):
    REPORTS: ClassVar = {"with long names": (long_names, audit_document())}


def test_the_demo_names_the_command_that_computes_its_figures_again():
    report = demo_of(audit_document())
    assert "graphpriv audit --files original.json released.json --mapping mapping.csv" in report


def test_small_groups_of_facts_are_listed_and_long_ones_are_not():
    places = {f"place {number}": 0.05 for number in range(20)}
    facts = {"degree": {"mean": 5.6, "largest": 91, "followers": {"mean": 2.8}}, "places": places}
    found = shown(demo_report({}, graph_facts=facts, drawings=[], files={}))
    assert found == {"/graph/degree/mean": {"5.6"}, "/graph/degree/largest": {"91"}}


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.text(st.characters(exclude_categories=[]), max_size=30))
def test_any_text_may_stand_in_names_titles_and_files(text):
    rows = [(text, 0.1, 0.2)]
    report = demo_report(
        audit_document() | {"version": text},
        graph_facts={"users": 3},
        drawings=[],
        files={text: text, "original": text},
        shares={text: rows},
        title=text or "title",
    )
    harmless = demo_report(
        audit_document() | {"version": "a"},
        graph_facts={"users": 3},
        drawings=[],
        files={"a": "a", "original": "a"},
        shares={"a": [("a", 0.1, 0.2)]},
        title="a",
    )
    if text != "original":
        assert skeleton(report) == skeleton(harmless)
