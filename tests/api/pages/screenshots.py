"""Pictures of every page, wide, on a phone and in the dark, in `docs/pages`: `python -m tests.api.pages.screenshots`.

The data are made up from a seed, and what differs from run to run (times, ids, hashes) is written over before a picture
is taken: pictures change where pages do. Names of pages as arguments take those alone.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from api.service.accounts import ROLES
from graphpriv import connect
from tests.api.pages.every_page import PAGES, path_of
from tests.api.pages.serving import GRAPH, RELEASE, Reader, Served, fill, serving

FOLDER = Path(__file__).parents[3] / "docs" / "pages"

#: The ways to look at a page.
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}

#: Pages as others see them, and pages that the list has no place for: role, path and name.
OTHERS = (
    ("analyst", "/", "home-analyst"),
    ("analyst", f"/graphs/{RELEASE}?location=Europe&degree=3..&and_by=topic1#ask", "graph-asked"),
    ("auditor", f"/graphs/{GRAPH}", "graph-auditor"),
    ("custodian", "/jobs/{running}", "job-running"),
    ("custodian", "/nothing", "not-found"),
)

#: No picture is longer, in pixels.
LONGEST = {"wide": 2600, "phone": 2600, "dark": 1400}

#: Colours of a picture; pages have few.
COLOURS = 64

#: Writes over what differs from run to run.
STILL = r"""
() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    text.data = text.data
      .replace(/\b20\d\d-\d\d-\d\d\b/g, '2026-01-15')
      .replace(/\b\d\d:\d\d:\d\d\b/g, '09:30:00')
      .replace(/\b\d\d:\d\d\b/g, '09:30')
      .replace(/\b[0-9a-f]{12,}\b/g, found => '0123456789abcdef'.repeat(4).slice(0, found.length));
  }
  for (const bar of document.querySelectorAll('progress')) { bar.max = 100; bar.value = 41; }
  for (const words of document.querySelectorAll('.phase')) words.textContent = 'Sweeping 41 %, about 2 min left';
}
"""


def main(names: list[str]) -> None:
    """Take the pictures of the pages called so, or of all."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, serving(Path(folder)) as served, browser() as chromium:
        made = fill(served, Path(folder), users=1638)
        service = connect(served.address, served.tokens["custodian"])
        made["running"] = service.start("sweep", name=f"original:{GRAPH}", runs=10_000)
        for look, traits in LOOKS.items():
            readers = {role: reader_of(chromium.new_context(**traits), served, role) for role in (None, *ROLES)}
            for role, path, name in shots(made):
                if not names or name in names:
                    take(readers[role], path, FOLDER / f"{name}-{look}.png", LONGEST[look])
        service.cancel(made["running"])
    (FOLDER / "README.md").write_text(index(), encoding="utf-8")


def shots(made: Mapping[str, str]) -> Iterator[tuple[str | None, str, str]]:
    """Role, path and name of each picture."""
    for page in PAGES:
        yield (page.seen_by[0] if page.seen_by else None), path_of(page, made), page.name
    for role, path, name in OTHERS:
        yield role, path.format(**made), name


@contextmanager
def browser() -> Iterator[Any]:
    """The Chromium of this machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        found = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def reader_of(context: Any, served: Served, role: str | None) -> Reader:
    """A browser of a role, or of nobody."""
    reader = Reader(context.new_page(), served.address)
    # What runs stands still for its picture.
    reader.page.route("**/v1/jobs/**", lambda route: route.abort())
    if role is not None:
        reader.sign_in(served.tokens[role])
    return reader


def take(reader: Reader, path: str, into: Path, longest: int) -> None:
    """Take a picture of a page."""
    reader.go(path)
    if reader.page.locator("[data-picture]").count():
        reader.page.locator("canvas[data-drawn]").wait_for()
    reader.page.evaluate(STILL)
    reader.page.evaluate("scrollTo(0, 0)")
    with Image.open(BytesIO(reader.page.screenshot(full_page=True, animations="disabled"))) as found:
        shown = found.convert("RGB").crop((0, 0, found.width, min(found.height, longest)))
        shown.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(into, optimize=True)
    print(into.name, into.stat().st_size)


def index() -> str:
    """The page that shows all pictures."""
    names = [page.name for page in PAGES] + [name for _, _, name in OTHERS]
    lines = [
        "# The pages",
        "",
        "Made-up data. `python -m tests.api.pages.screenshots` takes these pictures; long pages are cut below.",
    ]
    for name in names:
        shown = " ".join(
            f'<img src="{name}-{look}.png" alt="{name}, {look}" width="{width}">' for look, width in WIDTHS.items()
        )
        lines += ["", f"## {name.replace('-', ' ').capitalize()}", "", shown]
    return "\n".join(lines) + "\n"


#: How wide the pictures stand in the index.
WIDTHS = {"wide": 420, "dark": 420, "phone": 130}

if __name__ == "__main__":
    main(sys.argv[1:])
