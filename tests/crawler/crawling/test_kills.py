"""Crawls with faults that are killed (`kill -9` of a real process): as good as one that nobody disturbed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawler.crawling.crawls import made
from tests.crawler.crawling.killing import a_killed_crawl_is_as_good


def test_three_kills_of_three_hundred_users(tmp_path: Path) -> None:
    store, plain = (f"file:{tmp_path / name}.db" for name in ("killed", "plain"))
    a_killed_crawl_is_as_good(store, plain, made(330, posts=0), kills=3, users=300, posts=0)


@pytest.mark.neo4j
def test_two_kills_of_twelve_users_on_a_server(tmp_path: Path, neo4j_url: str) -> None:
    a_killed_crawl_is_as_good(neo4j_url, f"file:{tmp_path / 'plain.db'}", made(20, posts=1), kills=2, users=12, posts=1)


@pytest.mark.heavy
def test_twenty_kills_of_ten_thousand_users(tmp_path: Path) -> None:
    store, plain = (f"file:{tmp_path / name}.db" for name in ("killed", "plain"))
    a_killed_crawl_is_as_good(store, plain, made(10_800, posts=2), kills=20, users=10_000)


@pytest.mark.heavy
@pytest.mark.neo4j
def test_twenty_kills_of_ten_thousand_users_on_a_server(tmp_path: Path, neo4j_url: str) -> None:
    a_killed_crawl_is_as_good(neo4j_url, f"file:{tmp_path / 'plain.db'}", made(10_800, posts=2), kills=20, users=10_000)
