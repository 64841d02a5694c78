"""Enriching graphs of both stores, and reading pages site by site."""

from __future__ import annotations

import threading
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.enriching.links import TEXT, Links
from crawler.web.outcomes import Outcome
from crawler.web.pages import Page
from graphpriv.store import User, open_store
from tests.contracts.enriching import EnrichingContract, EnrichingMore


class TestEmbedded(EnrichingMore):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return f"file:{tmp_path / 'graphs.db'}"


@pytest.mark.neo4j
class TestNeo4j(EnrichingContract):
    @pytest.fixture
    def address(self, neo4j_url: str) -> str:
        return neo4j_url


class Clock:
    """A reader whose pages take a second each, by a clock that only it and the pauses move, one for each site."""

    def __init__(self) -> None:
        self.now = threading.local()
        self.read_at: dict[str, list[float]] = defaultdict(list)

    def time(self) -> float:
        return getattr(self.now, "value", 0.0)

    def sleep(self, seconds: float) -> None:
        self.now.value = self.time() + seconds

    def read(self, url: str) -> Page:
        if "broken" in url:
            raise RuntimeError("a bug")
        self.read_at[url.split("/")[2]].append(self.time())
        self.sleep(1.0)
        return Page(Outcome.READ, 200, "x" * 10_000)


@pytest.fixture
def store(tmp_path):
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        store.create_graph("town", directed=True)
        store.add_users("town", [User(id="1")])
        yield store


def links(store, clock):
    return Links(store=store, graph="town", reader=clock, sleep=clock.sleep, clock=clock.time, pause=2.0, workers=1)


def test_a_site_is_read_one_page_at_a_time_with_a_pause(store):
    clock = Clock()
    urls = [f"https://{site}.example/{page}" for page in range(3) for site in ("a", "B", "b")]
    told = []
    found = links(store, clock).pages({url: ["1"] for url in urls}, lambda *each: told.append(each), lambda: False)
    assert set(found) == set(urls) and {len(page.text) for page in found.values()} == {TEXT}
    times = sorted([*clock.read_at["b.example"], *clock.read_at["B.example"]])
    assert len(times) == 6
    assert all(later - earlier >= 3.0 for earlier, later in pairwise(times))
    assert told[-1] == (9, 9)


def test_a_bug_of_a_reader_is_no_outcome_and_nothing_hangs(store):
    urls = {f"https://{site}.example/": ["1"] for site in ("a", "broken", "c", "d", "e")}
    with pytest.raises(RuntimeError, match="a bug"):
        links(store, Clock()).pages(urls, lambda done, of: None, lambda: False)


def test_nothing_is_asked_once_it_is_to_stop(store):
    clock = Clock()
    urls = {f"https://a.example/{page}": ["1"] for page in range(9)}
    found = links(store, clock).pages(urls, lambda done, of: None, lambda: len(clock.read_at["a.example"]) >= 3)
    assert len(found) == len(clock.read_at["a.example"]) == 3
