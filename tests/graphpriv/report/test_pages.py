"""Reports in a real browser: nothing is asked for, nothing fails, nothing is cut, on a telephone and on paper."""

from __future__ import annotations

import re

import pytest

from graphpriv.report import audit_report, demo_report, sweep_report
from graphpriv.report.drawing import draw, shares
from tabular.report import risk_loss_report, search_report
from tests.graphpriv.report.documents import (
    audit_document,
    front_document,
    grid_document,
    search_document,
    sweep_document,
)
from tests.graphpriv.report.test_drawing import LIMA, PARIS, graph_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwll-llantysiliogogogoch" * 8


def demo() -> str:
    graph = graph_of([PARIS, LIMA, None] * 20, ["Sports", LONG, None] * 20, [(one, one // 2) for one in range(1, 60)])
    document = audit_document()
    document["at_risk"][0]["user"] = LONG
    facts = {"users": 60, "edges": 59, "degree": 1.9667, "clustering": 0.0, "path_length": 3.1, "diameter": 10}
    return demo_report(
        document,
        graph_facts=facts,
        drawings=draw(graph, graph, None),
        files={"original": "original.json", LONG: LONG},
        shares={"first topic": shares(graph, graph, "topic1")},
    )


REPORTS = {
    "audit": lambda: audit_report(audit_document()),
    "sweep": lambda: sweep_report(sweep_document()),
    "risk against loss": lambda: risk_loss_report(grid_document()),
    "search of one node": lambda: search_report(search_document()),
    "search of a front": lambda: search_report(front_document()),
    "demo": demo,
}


@pytest.fixture(params=REPORTS)
def report(request, tmp_path):
    path = tmp_path / f"{request.param}.html"
    path.write_text(REPORTS[request.param]())
    return path.as_uri()


@pytest.fixture
def page_of(chromium):
    """Open an address and collect what the page asks for and what it complains about."""
    opened = []

    def open_page(address, **options):
        context = chromium.new_context(**options)
        opened.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in opened:
        context.close()


def test_a_report_asks_for_nothing_and_complains_of_nothing(report, page_of):
    page = page_of(report)
    assert page.asked == [report]
    assert page.complaints == []


def test_a_report_allows_neither_script_nor_requests(report, page_of):
    page = page_of(report)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/x.png\">')")
    page.evaluate("document.body.appendChild(document.createElement('script')).textContent = 'window.ran = true'")
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    assert len([each for each in page.complaints if "Content Security Policy" in each]) == 2


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
def test_no_width_makes_the_page_scroll_sideways(report, page_of, width):
    page = page_of(report, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_there_without_scripts(report, page_of, scheme):
    page = page_of(report, java_script_enabled=False, color_scheme=scheme)
    drawings = page.locator("figure svg").all()
    assert drawings
    for drawing in drawings:
        box = drawing.bounding_box()
        assert box["width"] > 250 and box["height"] > 60
        assert drawing.is_visible()


def test_no_word_of_a_chart_is_cut(report, page_of):
    page = page_of(report, viewport={"width": 1100, "height": 800})
    cut = page.evaluate(
        """() => [...document.querySelectorAll('figure svg text')].filter(word => {
            const box = word.getBBox(), view = word.ownerSVGElement.viewBox.baseVal;
            return box.x < -0.5 || box.x + box.width > view.width + 0.5 || box.y + box.height > view.height + 1;
        }).map(word => word.textContent)"""
    )
    assert cut == []


def test_the_scheme_of_the_reader_is_followed_on_screen_only(report, page_of):
    page = page_of(report, color_scheme="dark")
    colour = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
    dark = page.evaluate(colour)
    page.emulate_media(media="print", color_scheme="dark")
    assert dark != page.evaluate(colour) == "#ffffff"


def test_a_report_becomes_a_document_of_a4_pages(report, page_of, tmp_path):
    page = page_of(report)
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    assert pdf.startswith(b"%PDF")
    boxes = re.findall(rb"/MediaBox \[([\d. ]+)\]", pdf)
    assert 3 <= len(boxes) <= 16
    for box in boxes:
        _, _, width, height = map(float, box.split())
        assert (width, height) == pytest.approx((595, 842), abs=1.5)
