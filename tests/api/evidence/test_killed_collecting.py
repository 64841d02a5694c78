"""Commands that change a store bit by bit, killed while they do: the store is sound, and the next run ends as one run.

They have hundreds of moments, nearly all of them writes to the log of the store, and each run is another one, since
networks and sites answer when they do. So one in so many moments is taken, not each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crawler.enriching.links import Links
from crawler.web.addresses import Endpoint, Guard
from graphpriv.store import Store, open_store
from tests.api.evidence.killed import Killing, Scene
from tests.crawler.crawling.crawls import World, agrees_with, asked_in_one_go, content, made, world
from tests.crawler.enriching.made import filled, profiles, serve
from tests.crawler.web.sites import Sites, answer, sites
from tests.moments import Ended

USERS = 14
#: So many of them are gone when the network is asked again.
GONE = 3


@dataclass(frozen=True)
class Collecting:
    """A command that collects, whom it asks, and what must come of it."""

    scene: Scene
    #: Serves whom it asks, and fills the store that it begins with.
    asks: Callable[[pytest.MonkeyPatch, Path], AbstractContextManager[Any]]
    #: All that is in the graph at the end, and what must be so.
    brings: Callable[[Store, Any], Any]
    #: One in so many moments is taken.
    every: int


@contextmanager
def network(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[World]:
    """A network of which nothing is known."""
    with world(made(USERS)) as there:
        patch.setenv("GRAPHPRIV_X_TOKEN", "made")
        patch.setenv("GRAPHPRIV_X_URL", there.url)
        yield there


@contextmanager
def left_network(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[World]:
    """A network that was crawled, and that some have left since."""
    with network(patch, folder) as there:
        with open_store(f"file:{folder / 'graphpriv.db'}", create=True) as store:
            there.crawled(store, "g")
            for id in gone(store, there):
                there.network.users[id] = replace(there.network.users[id], state="suspended")
        yield there


def gone(store: Store, there: World) -> list[str]:
    return sorted(id for id in there.network.users if there.network.users[id].handle != there.start)[:GONE]


@contextmanager
def pages(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[Sites]:
    """Sites on loopback, which the client may ask without a pause, and a graph of users who link to them."""
    with sites() as found, open_store(f"file:{folder / 'graphpriv.db'}", create=True) as store:
        filled(store, serve(found), name="g")
        # No page that a program of its own would read: it cannot live where moments are counted.
        found.answers[f"127.0.0.1:{found.port}/5/2"] = answer(b"a school is built")
        patch.setattr("crawler.web.addresses.Guard", lambda: Guard(exempt=Endpoint("127.0.0.1", found.port)))
        patch.setattr("crawler.enriching.links.Links", partial(Links, pause=0.0, together=1))
        yield found


def crawled(store: Store, there: World) -> Any:
    agrees_with(there.network, store, "g")
    asked_in_one_go(there.interface.log)
    return content(store, "g")


def refreshed(store: Store, there: World) -> Any:
    left = content(store, "g")
    assert len(left[0]) == USERS - GONE
    files = b"".join(path.read_bytes() for path in Path(store.address.removeprefix("file:")).parent.glob("*.db*"))
    assert not [id for id in gone(store, there) if there.network.users[id].handle.encode() in files]
    return left


def enriched(store: Store, there: Sites) -> Any:
    return profiles(store, "g")


START = max(made(USERS).follows.items(), key=lambda each: len(each[1]))[0]
CASES = (
    Collecting(
        Scene("crawl", f"x --graph g --start made_{START} --users {USERS} --posts 5 SEED", again="--resume"),
        network, crawled, every=7,
    ),
    Collecting(Scene("enrich", "g", again=""), pages, enriched, every=7),
    Collecting(Scene("graph refresh", "g", again=""), left_network, refreshed, every=7),
)  # fmt: skip


@pytest.mark.heavy
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.scene.verb)
def test_at_one_in_so_many_moments(
    case: Collecting, top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (inputs := top / "inputs").mkdir()
    with case.asks(monkeypatch, inputs) as there:
        killing = Killing(case.scene, top, False, inputs)
        log = there.interface.log if isinstance(there, World) else there.requests

        def brought() -> Any:
            with open_store(f"file:{killing.work / 'graphpriv.db'}", create=False) as store:
                assert store.check() == []
                return case.brings(store, there)

        def moments() -> Iterator[int]:
            for moment in count(1, case.every):
                log.clear()
                yield moment

        def look(moment: int, ended: Ended) -> None:
            try:
                killing.check_going_on()
                assert brought() == whole
            except BaseException as error:
                error.add_note(f"{case.scene.name}: killed at moment {moment}, at system call {ended.call}")
                raise

        log.clear()
        killing.run_unhurt()
        whole = brought()
        kills = killing.kill(moments(), look)
    assert kills > 10
    with capsys.disabled():
        print(f"\n{kills} kills, at one in {case.every} moments: {case.scene.name}", flush=True)
