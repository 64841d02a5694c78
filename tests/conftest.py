"""What all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.servers import (
    neo4j_server,
    neo4j_url,
    postgres_server,
    postgres_url,
    pytest_collection_modifyitems,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = [
    "chromium", "neo4j_server", "neo4j_url", "postgres_server", "postgres_url", "pytest_collection_modifyitems",
]  # fmt: skip

# The first example of a test may compile a kernel; speed is measured in `benchmarks/`, not here.
settings.register_profile("graphpriv", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("graphpriv")


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of the real data sets; tests that need it are skipped where it is not."""
    folder = Path(os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the shared data are not here; name their folder in GRAPHPRIV_SHARED_DATA")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine; tests that need it are skipped where there is none, except in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("There is no Chromium to look at pages with; install the package `chromium`.")
        pytest.skip("no Chromium to look at pages with")
    from playwright.sync_api import expect, sync_playwright

    # A click returns before the page it leads to is there: what is asserted of a page is waited for.
    expect.set_options(timeout=180_000)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()
