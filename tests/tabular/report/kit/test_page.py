"""Pages are put together late and apart: no template engine at start-up, no style but the one that is allowed."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys

from lxml import html

from tabular.report import search_report
from tabular.report.kit.page import content_security_policy, stylesheet


def test_importing_the_reports_imports_no_template_engine():
    code = "import sys, tabular.report, graphpriv.report; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_policy_allows_the_style_sheet_of_the_page_by_its_hash():
    page = html.document_fromstring(search_report({}))
    (style,) = page.iter("style")
    assert style.text == stylesheet()
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in content_security_policy()
    assert page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content") == [content_security_policy()]


def test_the_contents_name_each_section_in_its_order():
    page = html.document_fromstring(search_report({}))
    headings = [(f"#{each.get('id')}", each.text) for each in page.iter("h2")]
    assert [(each.get("href"), each.text) for each in page.xpath("//nav//a")] == headings
    assert page.xpath("//a[@class='skip']/@href") == [headings[0][0]]


def test_the_title_may_be_any_text():
    page = html.document_fromstring(search_report({}, title="<b>&\x00\ud800</b>"))
    assert page.findtext(".//title") == page.findtext(".//h1") == "<b>&\ufffd\ufffd</b>"
