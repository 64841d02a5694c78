"""What holds for every report: nothing is missing, nothing is trusted, nothing is fetched."""

from __future__ import annotations

import copy
import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree, html

from graphpriv.report import audit_report, demo_report, sweep_report
from graphpriv.report.definitions import MEASURES
from tabular.report import risk_loss_report, search_report
from tabular.report.kit.figures import pointer
from tests.graphpriv.report.documents import (
    audit_document,
    front_document,
    grid_document,
    search_document,
    sweep_document,
)

FACTS = {"users": 1638, "edges": 4622, "degree": 5.6434, "clustering": 0.13, "path_length": 4.26, "diameter": 11}
FILES = {"original": "original.json", "released": "released.json", "mapping": "mapping.csv", "other": "other.txt"}


def demo_of(document):
    return demo_report(
        document, graph_facts=FACTS, drawings=[], files=FILES, shares={"topic": [("Politics", 0.2, 0.3)]}
    )


REPORTS = {
    "audit": lambda: audit_report(audit_document()),
    "audit without mapping": lambda: audit_report(audit_document(mapping=False)),
    "sweep": lambda: sweep_report(sweep_document()),
    "risk against loss": lambda: risk_loss_report(grid_document()),
    "search of one node": lambda: search_report(search_document()),
    "search of a front": lambda: search_report(front_document()),
    "demo": lambda: demo_of(audit_document()),
}

every_report = pytest.mark.parametrize("name", REPORTS)


def leaves(value: Any, path: tuple[Any, ...] = ()):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for place, below in enumerate(value):
            yield from leaves(below, (*path, place))
    elif value is not None:
        yield pointer(path), value


def shown(report: str) -> dict[str, set[str]]:
    """The exact values of a report, by where they stand in the document."""
    found: dict[str, set[str]] = {}
    for element in html.document_fromstring(report.encode()).iter():
        if "data-key" in element.attrib:
            found.setdefault(element.attrib["data-key"], set()).add(element.attrib["data-value"])
    return found


def exact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def assert_all_shown(report: str, document: dict[str, Any]) -> None:
    found = shown(report)
    assert found == {key: {exact(value)} for key, value in leaves(document)}


@every_report
def test_a_row_of_a_table_holds_nothing_but_cells(name):
    # A browser moves anything else out of the table.
    report = REPORTS[name]()
    assert "<tr" in report
    assert re.findall(r"<tr[^>]*>(?!\s*<t[dh]\b).{0,40}", report) == []
    assert re.findall(r"</t[dh]>(?!\s*(?:<t[dh]\b|</tr>)).{0,40}", report) == []


@pytest.mark.parametrize("mapping", [True, False])
def test_every_value_of_an_audit_stands_in_its_report_unrounded(mapping):
    document = audit_document(mapping=mapping)
    assert_all_shown(audit_report(document), document)


def test_every_value_of_a_sweep_stands_in_its_report_unrounded():
    document = sweep_document()
    assert_all_shown(sweep_report(document), document)


def test_every_value_of_a_grid_stands_in_its_report_unrounded():
    document = grid_document()
    assert_all_shown(risk_loss_report(document), document)


@pytest.mark.parametrize("document", [search_document(), front_document()])
def test_every_value_of_a_search_stands_in_its_report_unrounded(document):
    assert_all_shown(search_report(document), document)


def test_a_table_shows_four_decimals_of_the_value_beside():
    page = html.document_fromstring(audit_report(audit_document()))
    cells = [cell for cell in page.iter("td") if "." in cell.get("data-value", "") and cell.get("class") == "number"]
    assert len(cells) > 60
    for cell in cells:
        assert cell.text_content() == f"{float(cell.get('data-value')):,.4f}"
        assert cell.get("title") == cell.get("data-value")


def test_a_value_that_no_section_knows_is_listed_at_the_end():
    document = audit_document() | {"later": {"a/b": [0.123456789, {"deep": "text"}]}}
    report = audit_report(document)
    assert_all_shown(report, document)
    assert "/later/a~1b/0" in report


def test_parameters_are_named_by_where_they_stand():
    page = html.document_fromstring(audit_report(audit_document()))
    (cell,) = page.xpath("//td[@data-key='/parameters/attackers/ego/budget']")
    assert cell.getprevious().text_content() == "Parameter attackers, ego, budget"
    assert "Further values" not in page.text_content()


def test_the_demo_shows_the_facts_of_its_graph_beside_the_audit():
    document = audit_document()
    report = demo_of(document)
    shares = {"topic": [{"before": 0.2, "after": 0.3}]}
    assert_all_shown(report, document | {"graph": FACTS, "shares": shares})
    assert "graphpriv audit --files original.json released.json --mapping mapping.csv" in report


def test_small_groups_of_facts_are_listed_and_long_ones_are_not():
    places = {f"place {number}": 0.05 for number in range(20)}
    facts = {"degree": {"mean": 5.6, "largest": 91, "followers": {"mean": 2.8}}, "places": places}
    found = shown(demo_report({}, graph_facts=facts, drawings=[], files={}))
    assert found == {"/graph/degree/mean": {"5.6"}, "/graph/degree/largest": {"91"}}


@st.composite
def with_holes(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """The document with some parts missing and some null."""

    def holes(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {}
            for key, below in value.items():
                fate = draw(st.sampled_from(("keep",) * 12 + ("drop", "null")))
                if fate != "drop":
                    kept[key] = holes(below) if fate == "keep" else None
            return kept
        return [holes(each) for each in value] if isinstance(value, list) else value

    return holes(document)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_parts_of_an_audit_may_be_missing(data):
    document = data.draw(with_holes(audit_document()))
    assert_all_shown(audit_report(document), document)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_parts_of_a_sweep_may_be_missing(data):
    document = data.draw(with_holes(sweep_document()))
    assert_all_shown(sweep_report(document), document)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_parts_of_a_grid_may_be_missing(data):
    document = data.draw(with_holes(grid_document()))
    assert_all_shown(risk_loss_report(document), document)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from([search_document(), front_document()]))
def test_parts_of_a_search_may_be_missing(data, whole):
    document = data.draw(with_holes(whole))
    assert_all_shown(search_report(document), document)


def test_an_empty_document_makes_a_report():
    assert "No solution" in search_report({})
    assert "No protection" in risk_loss_report({})
    assert "not known" in audit_report({})
    assert "no rows" in sweep_report({})


@every_report
def test_a_report_is_well_formed_even_as_xml(name):
    etree.fromstring(REPORTS[name]().encode(), etree.XMLParser(resolve_entities=False))


@every_report
def test_a_report_refers_to_nothing_outside_itself(name):
    page = html.document_fromstring(REPORTS[name]())
    anchors = {element.get("id") for element in page.iter() if element.get("id")}
    for element in page.iter():
        assert element.tag not in ("script", "link", "img", "iframe", "object", "embed", "base", "form", "image")
        for attribute, value in element.attrib.items():
            assert not attribute.startswith("on")
            assert attribute not in ("src", "srcset", "style", "action", "background")
            if attribute.endswith("href"):
                assert value[0] == "#" and value[1:] in anchors
    style = "".join(element.text for element in page.iter("style"))
    assert "@import" not in style and "url(" not in style and "//" not in style


@every_report
def test_a_report_allows_itself_its_own_style_and_nothing_else(name):
    page = html.document_fromstring(REPORTS[name]())
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert len(page.xpath("//style")) == 1


@every_report
def test_a_report_can_be_read_without_eyes(name):
    page = html.document_fromstring(REPORTS[name]())
    assert page.get("lang") == "en"
    assert page.findtext(".//title")
    levels = [int(element.tag[1]) for element in page.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for table in page.iter("table"):
        assert table.findtext("caption")
        assert {each.get("scope") for each in table.iter("th")} == {"col", "row"}
        widths = {len(row) for row in table.iter("tr")}
        assert len(widths) == 1, table.findtext("caption")
    for figure in page.iter("figure"):
        assert figure.findtext("figcaption") is not None
        assert [drawing.get("role") for drawing in figure.iter("svg")] == ["img"]
        assert all(drawing.get("aria-label") for drawing in figure.iter("svg"))
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_the_same_document_makes_the_same_report():
    document = audit_document()
    before = copy.deepcopy(document)
    assert audit_report(document) == audit_report(document)
    assert document == before


NASTY = [
    '"><script>alert(1)</script><b x="',
    "</style></title></svg><img src=http://example.org/x onerror=alert(1)>",
    "&lt;b&gt; &amp; ]]> <!-- --> {{7*7}} %s {0}",
    "\u202eright to left\u2066 \u0645\u062f\u064a\u0646\u0629",
    "x" * 500,
    "\x00\x1b\ud800\uffff\u0085",
    "東京" * 100,
    "",
]


def strings_replaced(value: Any, by: str) -> Any:
    """Every string and every key that no section knows, replaced."""
    if isinstance(value, dict):
        return {key: strings_replaced(below, by) for key, below in value.items()} | {f"{by}!": by}
    if isinstance(value, list):
        return [strings_replaced(each, by) for each in value]
    return by if isinstance(value, str) else value


def skeleton(report: str) -> set[tuple[str, tuple[str, ...]]]:
    page = etree.fromstring(report.encode())
    return {(element.tag, tuple(sorted(element.attrib))) for element in page.iter()}


@pytest.mark.parametrize("text", NASTY)
def test_no_text_becomes_markup(text):
    for make, document in (
        (audit_report, audit_document()),
        (sweep_report, sweep_document()),
        (risk_loss_report, grid_document()),
        (demo_of, audit_document()),
    ):
        harmless = make(strings_replaced(document, "harmless"))
        assert skeleton(make(strings_replaced(document, text))) == skeleton(harmless)


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


def test_a_place_name_with_markup_is_shown_as_it_is():
    document = audit_document()
    document["at_risk"][0]["user"] = "<b>Bold & Co</b>"
    page = html.document_fromstring(audit_report(document))
    (cell,) = page.xpath("//*[@data-key='/at_risk/0/user']")
    assert cell.text_content() == "<b>Bold & Co</b>"
    assert cell.find("bdi") is not None


def tooltips(report: str) -> set[str]:
    marks = html.document_fromstring(report).xpath("//figure//*[local-name()='title']")
    return {re.sub("[\u2068\u2069]", "", mark.text) for mark in marks}


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
            assert f"{name}: {counts['2-4']} users with 2\u20134 candidates ({share:.1%})" in said
        risk, undecided = alone["risk"][attacker], alone["undecided"][attacker]
        assert f"Links alone, {who}: {risk:.4f}, undecided {undecided:.4f}" in said
        assert f"Links alone, {who}: {alone['expected_success'][attacker]:.4f}" in said
        counts = alone["candidates"][attacker]
        assert f"Links alone: {counts['0']} users with no candidates" in " ".join(said)


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


def test_every_measure_is_defined_with_where_it_comes_from():
    page = html.document_fromstring(audit_report(audit_document()))
    (section,) = page.xpath("//dl[@class='definitions']")
    assert len(section.findall(".//dt")) == len(MEASURES)
    words = section.text_content()
    for equation in ("6.3", "6.4", "6.5", "6.6", "6.7", "6.8", "6.9", "6.10", "6.1", "6.2"):
        assert equation in words


def test_who_is_most_at_risk_is_marked_as_confidential():
    page = html.document_fromstring(audit_report(audit_document()))
    (section,) = page.xpath("//section[h2[@id='persons']]")
    assert section.get("class") == "confidential"
    assert "custodian and the auditor" in section.text_content()
    assert not html.document_fromstring(sweep_report(sweep_document())).xpath("//*[@class='mark']")
