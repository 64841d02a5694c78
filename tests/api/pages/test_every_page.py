"""What holds of every page: who sees it, what it weighs, and that everybody can use it."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest
from axe_playwright_python.sync_playwright import Axe

from api.service.accounts import ROLES
from tests.api.http.conftest import app, config  # noqa: F401 (fixtures)
from tests.api.pages.every_page import FILES, PAGES, path_of
from tests.api.pages.serving import Reader

#: A page with its style, its scripts and its pictures has at most so many bytes; what a graph is drawn from is apart.
HEAVIEST = 300 * 1024

#: What the Tab key reaches: of radio buttons with one name, the chosen one or the first; of a grid, one cell.
REACHABLE = """
() => {
  const seen = each => each.checkVisibility({visibilityProperty: true}) && !each.disabled && each.tabIndex >= 0;
  const all = [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')].filter(seen);
  const groups = new Map();
  for (const each of all.filter(each => each.type === 'radio'))
    if (!groups.has(each.name) || each.checked) groups.set(each.name, each);
  const kept = all.filter(each => each.type !== 'radio' || groups.get(each.name) === each);
  kept.forEach((each, place) => { each.dataset.place = place; });
  return kept.length;
}
"""

#: Where the focus is: the place of the element in the page, and whether it can be seen to have the focus.
FOCUSED = """
() => {
  const style = getComputedStyle(document.activeElement);
  const place = document.activeElement.dataset.place;
  return [place === undefined ? null : Number(place), style.outlineStyle !== 'none' && style.outlineWidth !== '0px'];
}
"""

#: Bytes of the page and all that it loaded, as far as these are no graphs.
WEIGHT = """
() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(each => !new URL(each.name).pathname.endsWith('/picture'))
  .reduce((sum, each) => sum + each.decodedBodySize, 0)
"""

# One process makes the service with all that the pages show.
pytestmark = pytest.mark.xdist_group("browser")


def test_the_list_has_every_page(app):  # noqa: F811
    rules = [each for each in app.url_map.iter_rules() if each.endpoint.startswith("pages.") and "GET" in each.methods]
    assert {each.endpoint for each in rules} - FILES == {each.endpoint for each in PAGES}


@pytest.mark.parametrize("role", ROLES)
def test_a_page_is_for_those_whom_the_list_names(served, made, role):
    for page in PAGES[1:]:
        expected = 200 if role in page.seen_by else page.refused
        assert status(served.address + path_of(page, made), served.tokens[role]) == expected, page.name


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def status(url, token):
    """What a GET of an address is answered with."""
    request = Request(url, headers={"Authorization": f"Bearer {token}", "Accept": "text/html"})
    try:
        with build_opener(_Stay).open(request) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


@pytest.fixture(scope="module")
def reader(served, chromium):
    """A browser of a custodian who wants no motion."""
    context = chromium.new_context(reduced_motion="reduce")
    found = Reader(context.new_page(), served.address)
    found.keep_ears_open()
    found.sign_in(served.tokens["custodian"])
    yield found
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("listed", PAGES[1:], ids=lambda each: each.name)
class TestInABrowser:
    """Each page, as a custodian sees it."""

    @pytest.fixture
    def page(self, reader, made, listed):
        reader.page.set_viewport_size({"width": 1280, "height": 800})
        reader.page.emulate_media(color_scheme="light")
        reader.said.clear()
        assert reader.go(path_of(listed, made)) == 200
        canvas = reader.page.locator("canvas")
        if canvas.count():
            reader.page.locator("canvas[data-drawn]").wait_for()
        return reader.page

    def test_it_is_light_silent_and_open_to_all(self, page, reader):
        axe = Axe()
        assert page.evaluate(WEIGHT) < HEAVIEST
        assert not axe.run(page).response["violations"], axe.run(page).generate_report()
        assert [page.locator(each).count() for each in ("h1", "main", "header", "html[lang=en]")] == [1] * 4
        page.emulate_media(color_scheme="dark")
        assert not axe.run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
        page.set_viewport_size({"width": 390, "height": 844})
        assert reader.width_over <= 0
        assert reader.has_kept_still(), (reader.asked, reader.said)

    def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(self, page):
        places = []
        for _ in range(page.evaluate(REACHABLE)):
            page.keyboard.press("Tab")
            place, can_be_seen = page.evaluate(FOCUSED)
            assert can_be_seen, page.evaluate("document.activeElement.outerHTML")
            places.append(place)
        assert places == list(range(len(places)))
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.browser
@pytest.mark.parametrize(("path", "role"), [("/sign-in", None), ("/nothing", "custodian"), ("/upload", "analyst")])
def test_whoever_cannot_go_on_is_told_so_on_a_page_for_all(served, chromium, path, role):
    with chromium.new_context(viewport={"width": 390, "height": 844}) as context:
        reader = Reader(context.new_page(), served.address)
        if role is not None:
            reader.sign_in(served.tokens[role])
        reader.go(path)
        assert not Axe().run(reader.page).response["violations"], Axe().run(reader.page).generate_report()
        assert reader.width_over <= 0 and reader.page.locator("h1").count() == 1
