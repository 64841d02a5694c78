"""What every report promises: nothing is missing, nothing is trusted, nothing is fetched, all can be read."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree, html

from tabular.report.kit.figures import pointer

Document = dict[str, Any]
Make = Callable[[Document], str]


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


def tooltips(report: str) -> list[str]:
    """What the marks of all charts say."""
    marks = html.document_fromstring(report).xpath("//figure//*[local-name()='title']")
    return [re.sub("[\u2068\u2069]", "", mark.text) for mark in marks]


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


class _EachReport:
    """Tests that take a `report` run with each of REPORTS: how it is made, and from which document."""

    REPORTS: ClassVar[dict[str, tuple[Make, Document]]]

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        if "report" in metafunc.fixturenames:
            metafunc.parametrize("report", cls.REPORTS.values(), ids=list(cls.REPORTS))


class ReportContract(_EachReport):
    """What holds for the HTML of each report; it may show figures BESIDE those of its document."""

    BESIDE: ClassVar[Document] = {}

    def test_a_row_of_a_table_holds_nothing_but_cells(self, report):
        # A browser moves anything else out of the table.
        page = made(report)
        assert "<tr" in page
        assert re.findall(r"<tr[^>]*>(?!\s*<t[dh]\b).{0,40}", page) == []
        assert re.findall(r"</t[dh]>(?!\s*(?:<t[dh]\b|</tr>)).{0,40}", page) == []

    def test_every_value_of_the_document_stands_in_the_report_unrounded(self, report):
        assert_all_shown(made(report), report[1] | self.BESIDE)

    def test_a_value_that_no_section_knows_is_listed_at_the_end(self, report):
        make, document = report
        document = document | {"later": {"a/b": [0.123456789, {"deep": "text"}]}}
        assert_all_shown(make(document), document | self.BESIDE)
        assert "/later/a~1b/0" in make(document)

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_parts_of_the_document_may_be_missing(self, report, data):
        document = data.draw(with_holes(report[1]))
        assert_all_shown(report[0](document), document | self.BESIDE)

    def test_an_empty_document_makes_a_report(self, report):
        assert "Meaning of the" in report[0]({})

    def test_a_report_is_well_formed_even_as_xml(self, report):
        etree.fromstring(made(report).encode(), etree.XMLParser(resolve_entities=False))

    def test_a_report_refers_to_nothing_outside_itself(self, report):
        page = html.document_fromstring(made(report))
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

    def test_a_report_allows_itself_its_own_style_and_nothing_else(self, report):
        page = html.document_fromstring(made(report))
        (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert len(page.xpath("//style")) == 1

    def test_a_report_can_be_read_without_eyes(self, report):
        page = html.document_fromstring(made(report))
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

    def test_the_same_document_makes_the_same_report(self, report):
        make, document = report
        before = copy.deepcopy(document)
        assert make(document) == make(document)
        assert document == before

    @pytest.mark.parametrize("text", NASTY)
    def test_no_text_becomes_markup(self, report, text):
        make, document = report
        harmless = make(strings_replaced(document, "harmless"))
        assert skeleton(make(strings_replaced(document, text))) == skeleton(harmless)


def made(report: tuple[Make, Document]) -> str:
    make, document = report
    return make(document)


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
class PageContract(_EachReport):
    """What holds for each report in a real browser: nothing is asked for, nothing fails, nothing is cut."""

    @pytest.fixture
    def address(self, report, tmp_path):
        path = tmp_path / "report.html"
        path.write_text(made(report))
        return path.as_uri()

    @pytest.fixture
    def page_of(self, chromium):
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

    def test_a_report_asks_for_nothing_and_complains_of_nothing(self, address, page_of):
        page = page_of(address)
        assert page.asked == [address]
        assert page.complaints == []

    def test_a_report_allows_neither_script_nor_requests(self, address, page_of):
        page = page_of(address)
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/x.png\">')")
        page.evaluate("document.body.appendChild(document.createElement('script')).textContent = 'window.ran = true'")
        page.wait_for_timeout(200)
        assert page.evaluate("window.ran") is None
        assert len([each for each in page.complaints if "Content Security Policy" in each]) == 2

    @pytest.mark.parametrize("width", [320, 390, 800, 1400])
    def test_no_width_makes_the_page_scroll_sideways(self, address, page_of, width):
        page = page_of(address, viewport={"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_charts_are_there_without_scripts(self, address, page_of, scheme):
        page = page_of(address, java_script_enabled=False, color_scheme=scheme)
        drawings = page.locator("figure svg").all()
        assert drawings
        for drawing in drawings:
            box = drawing.bounding_box()
            assert box["width"] > 250 and box["height"] > 60
            assert drawing.is_visible()

    def test_no_word_of_a_chart_is_cut(self, address, page_of):
        page = page_of(address, viewport={"width": 1100, "height": 800})
        cut = page.evaluate(
            """() => [...document.querySelectorAll('figure svg text')].filter(word => {
                const box = word.getBBox(), view = word.ownerSVGElement.viewBox.baseVal;
                return box.x < -0.5 || box.x + box.width > view.width + 0.5 || box.y + box.height > view.height + 1;
            }).map(word => word.textContent)"""
        )
        assert cut == []

    def test_the_scheme_of_the_reader_is_followed_on_screen_only(self, address, page_of):
        page = page_of(address, color_scheme="dark")
        colour = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
        dark = page.evaluate(colour)
        page.emulate_media(media="print", color_scheme="dark")
        assert dark != page.evaluate(colour) == "#ffffff"

    def test_a_report_becomes_a_document_of_a4_pages(self, address, page_of, tmp_path):
        page = page_of(address)
        pdf = page.pdf(prefer_css_page_size=True, print_background=True)
        assert pdf.startswith(b"%PDF")
        boxes = re.findall(rb"/MediaBox \[([\d. ]+)\]", pdf)
        assert 3 <= len(boxes) <= 16
        for box in boxes:
            _, _, width, height = map(float, box.split())
            assert (width, height) == pytest.approx((595, 842), abs=1.5)
