"""A service with jobs and a worker, and browsers that are signed in; whatever leaves the machine or is said is kept."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import pytest

from api.app import create_app
from api.jobs.jobs import Jobs
from api.jobs.records import Settings
from api.jobs.workers import Workers
from api.service.accounts import ROLES
from graphpriv.store import open_store
from tests.api.http.conftest import running


@dataclass
class Served:
    """A service at an address, with a token for each role."""

    address: str
    tokens: dict[str, str]


@dataclass
class Reader:
    """A browser of one role."""

    page: object
    address: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def go(self, path):
        """Open a page; its status."""
        return self.page.goto(self.address + path).status

    def keep_ears_open(self):
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(f"{self.page.url}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"{self.page.url}: {error}"))

    def has_kept_still(self):
        """Whether nothing left the machine and nothing was said."""
        away = [url for url in self.asked if not url.startswith(self.address)]
        return (away, self.said) == ([], [])

    @property
    def width_over(self):
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    home, store = folder / "home", f"file:{folder / 'store.db'}"
    home.mkdir(mode=0o700)
    open_store(store, create=True).close()
    settings = Settings(home=home, store=store, files="api.service.files:files_of", beat=0.2)
    with contextlib.closing(Jobs.opened(settings)) as jobs:
        app = create_app({"STORE": store, "HOME": str(home)}, queue=jobs)
        service = app.extensions["graphpriv"]
        tokens = {role: service.accounts.add(role, role)[1].secret for role in ROLES}
        workers = Workers(settings, 1)
        try:
            with running(app) as (host, port):
                yield Served(f"http://{host}:{port}", tokens)
        finally:
            workers.stop()
            service.close()


@pytest.fixture
def signed_in(served, chromium):
    """Sign in a browser of a role."""
    contexts = []

    def sign_in(role, **traits):
        contexts.append(chromium.new_context(**traits))
        reader = Reader(contexts[-1].new_page(), served.address)
        reader.page.set_default_timeout(60_000)
        reader.keep_ears_open()
        reader.page.goto(served.address)
        reader.page.get_by_label("Your token").fill(served.tokens[role])
        reader.page.get_by_role("button", name="Sign in").click()
        reader.page.wait_for_url(f"{served.address}/")
        return reader

    yield sign_in
    for each in contexts:
        each.close()
