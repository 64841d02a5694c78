"""The reports of graphs: audit, demonstration, sweep."""

from __future__ import annotations

import copy
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html

from graphpriv.report import audit_report, demo_report, sweep_report
from graphpriv.report.drawing import draw, shares
from tests.contracts.report import PageContract, ReportContract, shown, skeleton, tooltips
from tests.graphpriv.report.documents import audit_document, sweep_document
from tests.graphpriv.report.test_drawing import LIMA, PARIS, graph_of

MEASURES = [
    "k (section 6.2.1, Algorithms 13 and 14)",
    "AAMIL, attributes adjacency matrices information loss (eq 6.3 and 6.4)",
    "AAMIL, anchored (Figure 6.6)",
    "CDIL, categories distribution information loss (eq 6.5 and 6.6)",
    "DBIL, distance-based information loss (eq 6.7, with the distances of eq 6.1 and 6.2)",
    "Mean information loss (eq 6.8)",
    "Disclosure risk (eq 6.9 and 6.10)",
    "Whole neighbourhood (ego) (a reading of eq 6.10)",
    "Part of it (subgraph) (a reading of eq 6.10)",
    "Links alone (eq 6.9 without attributes)",
    "Candidates (beyond the source)",
    "Expected success (beyond the source)",
    "Undecided (beyond the source)",
    "Degree, clustering, path length, diameter (section 6.5)",
]


class OfAudits:
    REPORTS: ClassVar = {
        "with mapping": (audit_report, audit_document()),
        "without mapping": (audit_report, audit_document(mapping=False)),
    }


class TestAuditReport(OfAudits, ReportContract):
    pass


class TestAuditPage(OfAudits, PageContract):
    pass


def test_a_table_shows_four_decimals_of_the_value_beside():
    page = html.document_fromstring(audit_report(audit_document()))
    cells = [cell for cell in page.iter("td") if "." in cell.get("data-value", "") and cell.get("class") == "number"]
    assert len(cells) > 60
    for cell in cells:
        assert cell.text_content() == f"{float(cell.get('data-value')):,.4f}"
        assert cell.get("title") == cell.get("data-value")


def test_parameters_are_named_by_where_they_stand():
    page = html.document_fromstring(audit_report(audit_document()))
    (cell,) = page.xpath("//td[@data-key='/parameters/steps']")
    assert cell.getprevious().text_content() == "Parameter steps"
    assert "Further values" not in page.text_content()


def test_a_place_name_with_markup_is_shown_as_it_is():
    document = audit_document()
    document["at_risk"][0]["user"] = "<b>Bold & Co</b>"
    page = html.document_fromstring(audit_report(document))
    (cell,) = page.xpath("//*[@data-key='/at_risk/0/user']")
    assert cell.text_content() == "<b>Bold & Co</b>"
    assert cell.find("bdi") is not None


def test_the_charts_of_an_audit_show_its_figures():
    document = audit_document()
    said = tooltips(audit_report(document))
    losses, alone = document["information_loss"], document["structure"]
    names = {"location": "Place", "topic3": "Topic 3", "mean": "Mean"}
    for key, name in names.items():
        dbil = losses["dbil"] if key == "mean" else losses["dbil_by_attribute"][key]
        assert f"{name}, AAMIL: {losses['aamil'][key]:.4f}" in said
        assert f"{name}, CDIL: {losses['cdil'][key]:.4f}" in said
        assert f"{name}, DBIL: {dbil:.4f}" in said
    for attacker, who in (("ego", "Whole neighbourhood (ego)"), ("subgraph", "Part of it (subgraph)")):
        for key, name in (("location", "Place"), ("topic2", "Second topic"), ("all", "Place and topics")):
            risk, undecided = (document[part][attacker][key] for part in ("disclosure_risk", "undecided"))
            assert f"{name}, {who}: {risk:.4f}, undecided {undecided:.4f}" in said
            assert f"{name}, {who}: {document['expected_success'][attacker][key]:.4f}" in said
            counts = document["candidates"][attacker][key]
            share = counts["2-4"] / sum(counts.values())
            assert f"{name}, candidates 2\u20134: {counts['2-4']} users ({share:.1%})" in said
        risk, undecided = alone["risk"][attacker], alone["undecided"][attacker]
        assert f"Links alone, {who}: {risk:.4f}, undecided {undecided:.4f}" in said
        assert f"Links alone, {who}: {alone['expected_success'][attacker]:.4f}" in said
        counts = alone["candidates"][attacker]
        assert f"Links alone, candidates none: {counts['0']} users" in " ".join(said)


@pytest.mark.parametrize("report", [audit_report(audit_document()), sweep_report(sweep_document())])
def test_every_measure_is_defined_with_where_it_comes_from(report):
    (section,) = html.document_fromstring(report).xpath("//dl[@class='definitions']")
    assert [" ".join(term.text_content().split()) for term in section.findall(".//dt")] == MEASURES
    assert all(meaning.text_content().strip() for meaning in section.findall(".//dd"))


def test_who_is_most_at_risk_is_marked_as_confidential():
    page = html.document_fromstring(audit_report(audit_document()))
    (section,) = page.xpath("//section[h2[@id='persons']]")
    assert section.get("class") == "confidential"
    assert "custodian and the auditor" in section.text_content()
    assert not html.document_fromstring(sweep_report(sweep_document())).xpath("//*[@class='mark']")


def verdict_of(document) -> str:
    page = html.document_fromstring(audit_report(document))
    return " ".join(page.find_class("verdict")[0].text_content().replace("\u00a0", " ").split())


def test_the_verdict_names_k_and_says_that_links_are_not_protected():
    words = verdict_of(audit_document())
    assert "At least 5 users share every profile." in words
    assert "The release keeps all links as they are and does not protect them." in words


@pytest.mark.parametrize("k", [0, 1])
def test_a_unique_profile_is_called_unprotected(k):
    assert "At least one profile is unique" in verdict_of(audit_document() | {"k": k})


def test_shares_are_given_as_per_cent_and_as_people():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 51 / 1638
    assert "finds a match in the release for 3.1 % of users (51 of 1,638)." in verdict_of(document)


def test_a_release_with_other_links_is_not_said_to_keep_them():
    document = audit_document()
    document["structure"]["edges_unchanged"] = False
    words = verdict_of(document)
    assert "The release changes the links" in words
    assert "as they are" not in words


def test_a_release_without_open_cases_is_called_exact():
    document = audit_document()
    document["undecided"] = {"ego": {"all": 0.0}, "subgraph": {"all": 0.0}}
    document["structure"]["undecided"] = {"ego": 0.0, "subgraph": 0.0}
    assert "Every search was completed: the risks are exact." in verdict_of(document)


def test_the_largest_undecided_share_is_told():
    document = audit_document()
    document["undecided"]["subgraph"]["topic2"] = 0.75
    assert "For up to 75.0 % of users the search used up its budget" in verdict_of(document)


def test_without_a_mapping_the_verdict_says_what_cannot_be_known():
    words = verdict_of(audit_document(mapping=False))
    assert "No mapping was given." in words
    assert "The mean is not known." in words
    assert "A guess" not in words


def test_a_share_is_never_rounded_to_nobody_or_to_everybody():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 0.00001
    document["structure"]["risk"]["ego"] = 0.99999
    words = verdict_of(document)
    assert "under 0.1 % of users" in words
    assert "over 99.9 % of users" in words


def test_no_match_at_all_is_said_plainly_and_the_links_still_count():
    document = audit_document()
    document["disclosure_risk"]["ego"]["all"] = 0.0
    document["at_risk"] = []
    words = verdict_of(document)
    assert "finds no match in the release: 0 % of users." in words
    assert "the highest of the risks counts" in words
    assert "The list is empty." in audit_report(document)


FACTS = {"users": 1638, "edges": 4622, "degree": 5.6434, "clustering": 0.13, "path_length": 4.26, "diameter": 11}
FILES = {"original": "original.json", "released": "released.json", "mapping": "mapping.csv", "other": "other.txt"}
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwll-llantysiliogogogoch" * 8


def demo_of(document):
    shares = {"topic": [("Politics", 0.2, 0.3)]}
    return demo_report(document, graph_facts=FACTS, drawings=[], files=FILES, shares=shares)


class TestDemoReport(ReportContract):
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


class TestDemoPage(PageContract):
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


class OfSweeps:
    REPORTS: ClassVar = {"sweep": (sweep_report, sweep_document())}


class TestSweepReport(OfSweeps, ReportContract):
    pass


class TestSweepPage(OfSweeps, PageContract):
    pass


def test_the_charts_of_a_sweep_show_its_figures():
    document = sweep_document()
    said = tooltips(sweep_report(document))

    def told(name, k, spread):
        return f"{name}, k = {k}: {spread['mean']:.4f}, deviation {spread['sd']:.4f}"

    for row in document["rows"]:
        for key, name in (("aamil", "AAMIL"), ("dbil", "DBIL"), ("mean", "Mean")):
            assert told(name, row["k"], row["information_loss"][key]) in said
        for part in ("disclosure_risk", "expected_success"):
            for attacker in ("ego", "subgraph"):
                assert told("Third topic", row["k"], row[part][attacker]["topic3"]) in said
    assert len(said) == 5 * (4 + 2 * 2 * 6)


def test_a_sweep_says_of_the_links_what_its_document_says():
    document = sweep_document()
    page = html.document_fromstring(sweep_report(document))
    (section,) = page.xpath("//section[h2[@id='structure']]")
    assert document["note"] in section.text_content()
    for part in ("risk", "expected_success", "undecided"):
        for attacker in ("ego", "subgraph"):
            (shown,) = section.xpath(f".//*[@data-key='/rows/4/structure/{part}/{attacker}/mean']")
            assert shown.get("data-value") == repr(document["rows"][4]["structure"][part][attacker]["mean"])


def test_the_verdict_names_the_first_and_the_last_k():
    page = html.document_fromstring(sweep_report(sweep_document()))
    (verdict,) = page.find_class("verdict")
    said = " ".join(verdict.text_content().replace("\u00a0", " ").split())
    assert "The mean information loss goes from " in said
    assert "found by links alone, part of the neighbourhood, goes from " in said


def test_a_sweep_without_rows_says_so():
    assert "The document holds no rows." in sweep_report({})
