"""Whole crawls of Bluesky and Mastodon bring what is true of the made network, with faults and kills too."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.crawling import collected, journal
from crawler.crawling.asking import HOST_TRIES, PATIENCE
from crawler.crawling.crawl import Crawl
from crawler.crawling.limits import Limits
from crawler.crawling.prices import Prices
from crawler.crawling.refresh import Refresh
from crawler.sources import Answer, Page, Profile, Question
from crawler.sources.bluesky import Bluesky
from crawler.sources.mastodon import Mastodon
from graphpriv.store import Store, open_store
from graphpriv.store.crawls import SEEN
from tabular.errors import InvalidInput, SourceUnavailable
from tests.crawler.crawling.crawls import Hurried, content, counts_whoever_is_there, hasty, standing
from tests.crawler.sources.loopback import HOSTS, Faults, Loopback, Network, bluesky, did, mastodon, mastodon_id, served

NAMES = ["bluesky", "mastodon"]
FAULTS = {"limited": 0.05, "failed": 0.05, "cut": 0.05, "truncated": 0.05}


def loopback(name: str, network: Network, **faults: float) -> Loopback:
    make = {"bluesky": bluesky, "mastodon": mastodon}[name]
    return make(network, Faults(seed=7, **faults))


def crawl_of(there: Loopback, name: str, store: Store, clock: Any = None) -> Crawl:
    source = {"bluesky": Bluesky, "mastodon": Mastodon}[name](url=there.url, client=there.client(), timeout=10.0)
    return Crawl(
        store=store, graph="town", source=source, limits=Limits(users=10**6, posts=3), prices=Prices.read(name),
        clock=clock or Hurried().clock,
    )  # fmt: skip


def begin(crawl: Crawl, name: str) -> None:
    start = "person0.made.example" if name == "bluesky" else "person0"
    crawl.begin(name, start, np.random.default_rng(5))


def crawled(name: str, network: Network, path: Path, **faults: float) -> tuple[Any, dict[str, Any], Loopback]:
    """What a crawl brings, its figures, and the network that was asked."""
    with served(loopback(name, network, **faults)) as there, open_store(f"file:{path}", create=True) as store:
        crawl = crawl_of(there, name, store)
        begin(crawl, name)
        crawl.run()
        assert standing(store).ended == "frontier"
        assert store.check() == []
        return named(name, network, there, content(store)), collected(store, "town"), there


def named(name: str, network: Network, there: Loopback, found: tuple[Any, ...]) -> Any:
    """Users by number with their texts, follows and posts, whatever port the servers had."""
    number = {
        (did(each) if name == "bluesky" else mastodon_id(there, each)): each for each in range(len(network.people))
    }
    users, edges, posts = found
    return (
        [(number[user.id], user.name, user.location_text) for user in users],
        {(number[a], number[b]) for a, b in edges},
        [(number[each.user], each.text, each.links) for each in posts],
    )


def true_of(name: str, network: Network) -> tuple[set[int], set[tuple[int, int]]]:
    """Whom a crawl that goes to its end must find, and the follows between them."""
    kept = {each.number for each in network.people if each.state in ("kept", "hidden")}
    hidden = {each.number for each in network.people if each.state == "hidden" and name == "mastodon"}
    links = {(each.number, to) for each in network.people for to in each.follows}
    edges = {(a, b) for a, b in links if a in kept and b in kept and a not in hidden}
    found, waiting = {0}, [0]
    while waiting:
        at = waiting.pop()
        new = [b for a, b in edges if a == at and b not in found]
        found.update(new)
        waiting += new
    return found, {(a, b) for a, b in edges if a in found and b in found}


def agrees(name: str, network: Network, found: Any) -> None:
    users, edges, posts = found
    kept, links = true_of(name, network)
    assert {number for number, _, _ in users} == kept
    assert edges == links
    assert all(place == network.people[number].place for number, _, place in users)
    # Of each feed the first three entries; on Bluesky the second is what somebody else wrote.
    assert {number for number, _, _ in posts} == kept
    for number, text, _ in posts:
        assert any(text.startswith(each) for each in network.people[number].posts)


@pytest.mark.parametrize("name", NAMES)
def test_a_crawl_brings_what_is_true_with_faults_and_without(name, tmp_path):
    network = Network.made(40, seed=3)
    plain, figures, there = crawled(name, network, tmp_path / "plain.db")
    agrees(name, network, plain)
    assert max(there.asked.values()) == 1
    assert sum(figures["users"].values()) >= len(plain[0])
    spoiled, _, other = crawled(name, network, tmp_path / "spoiled.db", **FAULTS)
    assert spoiled == plain
    assert other.all_requests > there.all_requests
    if name == "mastodon":
        hidden = {each.number for each in network.people if each.state == "hidden"} & {
            number for number, *_ in plain[0]
        }
        assert figures["lists"].get("hidden", 0) == len([each for each in hidden if network.people[each].follows])


def test_a_server_that_is_down_ends_its_users_and_not_the_crawl(tmp_path, monkeypatch):
    network = Network.made(40, seed=3, odd=0.0)
    monkeypatch.setattr("tests.crawler.sources.loopback.HOSTS", ("birds.example", "down.example", "stones.example"))
    found, figures, there = crawled("mastodon", network, tmp_path / "graphs.db")
    up = {number for number, _, _ in found[0]}
    assert len(up) > 20
    assert not any(number % 4 == 2 for number in up)
    assert figures["users"]["unreachable"] > 3
    # The first of them is asked again and again, the others not at all.
    assert there.all_requests == sum(there.asked.values()) + HOST_TRIES == figures["requests"]


def test_the_next_run_asks_a_dead_server_once_and_everybody_on_it_when_it_is_back(tmp_path, monkeypatch):
    network = Network.made(40, seed=3, odd=0.0)
    monkeypatch.setattr("tests.crawler.sources.loopback.HOSTS", ("birds.example", "down.example", "stones.example"))
    with (
        served(loopback("mastodon", network)) as there,
        open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store,
    ):
        hurried = Hurried()
        crawl = crawl_of(there, "mastodon", store, hurried.clock)
        begin(crawl, "mastodon")
        crawl.run()
        assert there.by_host["down.example"] == HOST_TRIES
        assert sum(hurried.waits) < 32
        first = collected(store, "town")
        assert first["users"]["unreachable"] > 3 and first["frontier"] == 0
        counts_whoever_is_there(store)
        for asked in (1, 2):
            resumed(there, store)
            assert there.by_host["down.example"] == HOST_TRIES + asked
            assert collected(store, "town")["users"] == first["users"]
        assert "down.example" not in str(store.crawl_of("town"))
        there.down.clear()
        gone = min(each.id for each in store.records("town", SEEN))
        store.forget("town", gone)
        assert collected(store, "town")["users"]["forgotten"] == 1
        resumed(there, store)
        counts_whoever_is_there(store)
        users, edges, _ = named("mastodon", network, there, content(store))
        kept = {number for number, *_ in users}
        assert kept == {number for number in range(40) if mastodon_id(there, number) != gone}
        assert edges == {
            (each.number, to) for each in network.people for to in each.follows if {each.number, to} <= kept
        }
        assert collected(store, "town")["users"] == {"kept": 39, "forgotten": 1}
        assert max(there.asked.values()) == 1
        assert store.check() == []


def test_a_server_that_only_ever_says_wait_holds_a_crawl_up_for_so_long_and_no_longer(tmp_path, monkeypatch):
    network = Network.made(40, seed=3, odd=0.0)
    monkeypatch.setattr("tests.crawler.sources.loopback.HOSTS", ("birds.example", "down.example", "stones.example"))
    with (
        served(loopback("mastodon", network)) as there,
        open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store,
    ):
        hurried = Hurried()
        crawl = crawl_of(there, "mastodon", store, hurried.clock)
        there.down.clear()
        there.instead["down.example/api/v1/accounts/lookup"] = (429, {}, b"{}")
        begin(crawl, "mastodon")
        crawl.run()
        first = collected(store, "town")
        assert (first["ended"], first["servers_left"]) == ("frontier", 1)
        assert first["users"]["unreachable"] > 3
        assert 0 < sum(hurried.waits) <= PATIENCE
        assert (first["failures"], first["requests"]) == ({"rate-limited": 5}, there.all_requests)
        there.instead.clear()
        resumed(there, store)
        assert collected(store, "town")["users"] == {"kept": 40}
        assert collected(store, "town")["servers_left"] == 0
        agrees("mastodon", network, named("mastodon", network, there, content(store)))


def test_a_server_whose_list_never_ends_does_not_hold_a_crawl_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.crawling.crawl.MOST_PAGES", 20)
    source, pages = Mastodon(), []

    def read(question: Question, body: bytes) -> Page:
        if question.kind != "following":
            who = "ann@a.org" if question.kind == "start" else question.user
            return Page(profiles=(Profile(id=who, address="1/9", following=9),))
        pages.append(question.user)
        # Each page names somebody new, who is on a host of which nothing is known.
        return Page(followed=(f"x{len(pages)}@b.org",), cursor=str(len(pages)))

    object.__setattr__(source, "ask", lambda question: Answer(b"{}"))
    object.__setattr__(source, "read", read)
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        limits = Limits(users=3, posts=0)
        crawl = Crawl(store=store, graph="town", source=source, limits=limits, prices=Prices.read("mastodon"))
        crawl.begin("mastodon", "ann@a.org", np.random.default_rng(1))
        crawl.run()
        found = collected(store, "town")
        assert found["lists"]["incomplete"] == 3 and found["users"] == {"kept": 3}
        # The pages, and a profile each.
        assert (len(pages), found["requests"]) == (60, 63)


def test_a_fault_of_our_own_network_stops_the_crawl_and_loses_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.crawling.crawl.SILENT", 3)
    network = Network.made(40, seed=3, odd=0.0)
    with (
        served(loopback("mastodon", network)) as there,
        open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store,
    ):
        crawl = crawl_of(there, "mastodon", store)
        begin(crawl, "mastodon")

        def cut(figures: Any) -> None:
            if figures["users"]["kept"] == 5 and crawl.standing.current.stage == "profile":
                there.down.update(HOSTS, {f"127.0.0.1:{there.ports['http']}"})

        crawl.watch = cut
        with pytest.raises(SourceUnavailable, match="resume goes on from there"):
            crawl.run()
        stopped = collected(store, "town")
        assert (stopped["users"]["kept"], stopped["ended"]) == (5, "connection-cut")
        assert stopped["users"]["unreachable"] >= 2 and stopped["frontier"] > 0
        there.down.clear()
        resumed(there, store)
        agrees("mastodon", network, named("mastodon", network, there, content(store)))


def resumed(there: Loopback, store: Store) -> None:
    crawl = crawl_of(there, "mastodon", store)
    crawl.resume("mastodon")
    crawl.run()


@pytest.mark.parametrize("name", NAMES)
def test_a_refresh_erases_who_is_gone_and_nobody_else(name, tmp_path):
    network = Network.made(40, seed=3, odd=0.0)
    states = dict(enumerate(("suspended", "vanished", "opted-out", "moved"), start=1))
    later = Network(tuple(replace(each, state=states.get(each.number, "kept")) for each in network.people))
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        with served(loopback(name, network)) as there:
            crawl = crawl_of(there, name, store)
            begin(crawl, name)
            crawl.run()
            refresh = Refresh(
                store=store, graph="town", source=crawl.source, prices=crawl.prices, clock=Hurried().clock
            )
            # An answer about several that names nobody is no word that they are gone.
            base = f"127.0.0.1:{there.ports['http']}"
            there.instead[f"{base}/xrpc/app.bsky.actor.getProfiles"] = (200, {}, b'{"profiles": []}')
            assert refresh.run()["erased"] == 0
            there.instead.clear()
            # A server that answers no strangers any more, or nothing at all, has not said so either.
            for status in (401, 503):
                for host in (base, *HOSTS):
                    there.instead[f"{host}/api/v1/accounts/lookup"] = (status, {}, b'{"error": "x"}')
                assert refresh.run()["erased"] == 0
            there.instead.clear()
            there.network = later
            told = refresh.run()
        # On Bluesky the account that has moved is deactivated.
        gone = {1, 2, 3} if name == "mastodon" else {1, 2, 3, 4}
        left = {user.name for user in store.users("town")}
        assert told["erased"] == len(gone)
        assert len(left) == 40 - len(gone)
        assert not any(name in left for each in gone for name in (f"Person{each}", f"Person{each} ✨"))
        assert store.check() == []


@pytest.mark.parametrize("name", NAMES)
def test_who_is_forgotten_is_in_no_answer_that_is_kept(name, tmp_path):
    network = Network.made(40, seed=3, odd=0.0)
    with served(loopback(name, network)) as there, open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        crawl = crawl_of(there, name, store)
        begin(crawl, name)
        crawl.run()
        counts = Counter(to for person in network.people for to in person.follows)
        person = next(number for number, _ in counts.most_common() if number % 4 == 2)
        id = did(person) if name == "bluesky" else mastodon_id(there, person)
        assert sum(id.encode() in body.lower() for _, body in journal(store, "town")) > 3
        store.forget("town", id)
        kept = list(journal(store, "town"))
        assert len(kept) > 80
        for question, body in kept:
            assert f"person{person}@".encode() not in body.lower()
            assert f"Person{person}".encode() not in body
            assert id.encode() not in body.lower()
            assert crawl.source.read(question, body) is not None


def test_a_start_that_cannot_be_asked_leaves_nothing(tmp_path):
    path = tmp_path / "graphs.db"
    with served(mastodon(Network.made(9, seed=1))) as there, open_store(f"file:{path}", create=True) as store:
        crawl = crawl_of(there, "mastodon", store)
        for start, told in (
            ("nobody", "start: there is no such user; nothing was stored"),
            ("ann@localhost", "start: the user's server has an address that is not asked; nothing was stored"),
            ("ann@down.example", "The user's server: the connection was cut again and again; nothing was stored"),
        ):
            with pytest.raises((InvalidInput, SourceUnavailable), match=told):
                crawl.begin("mastodon", start, np.random.default_rng(5))
        assert store.graphs() == []


def _crawl(name: str, ports: dict[str, int], certificate: str, address: str, again: bool) -> None:
    there = loopback(name, Network(()))
    there.ports, there.certificate = ports, certificate
    with open_store(address, create=True) as store:
        crawl = crawl_of(there, name, store, hasty())
        if again:
            crawl.resume(name)
        else:
            begin(crawl, name)
        crawl.run()


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_300_users_with_faults_and_kills_give_the_graph_without(name, tmp_path):
    faults_and_kills_change_nothing(name, f"file:{tmp_path / 'killed.db'}", tmp_path)


@pytest.mark.heavy
@pytest.mark.neo4j
@pytest.mark.parametrize("name", NAMES)
def test_300_users_with_faults_and_kills_give_the_graph_without_on_a_server(name, tmp_path, neo4j_url):
    faults_and_kills_change_nothing(name, neo4j_url, tmp_path)


def faults_and_kills_change_nothing(name: str, address: str, folder: Path, users: int = 300, kills: int = 20) -> None:
    """A crawl with faults and kills, in the store at an address, brings what one without brings, and asks no more."""
    network = Network.made(users, seed=11)
    plain, _, _ = crawled(name, network, folder / "plain.db")
    agrees(name, network, plain)
    with served(loopback(name, network, **FAULTS)) as there:
        killed = _killed(there, name, address, kills)
        with open_store(address, create=False) as store:
            assert named(name, network, there, content(store)) == plain
            stands = standing(store)
            assert stands.ended == "frontier"
            assert store.check() == []
    assert killed == kills
    # At most the question that was under way at each kill was answered a second time.
    assert Counter(there.asked).total() - len(there.asked) <= stands.twice <= kills


def _killed(there: Loopback, name: str, address: str, kills: int) -> int:
    """Crawl in processes that are killed, until one comes to the end; tells how many were killed."""
    spawn, rng, killed = multiprocessing.get_context("spawn"), random.Random(2), 0
    while True:
        child = (name, there.ports, there.certificate, address, _holds_a_crawl(address))
        process = spawn.Process(target=_crawl, args=child)
        process.start()
        goal = there.all_requests + rng.randint(20, 90)
        while process.is_alive() and (there.all_requests < goal or killed == kills):
            time.sleep(0.005)
        if process.is_alive():
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        process.join()
        if process.exitcode == 0:
            return killed
        assert process.exitcode == -signal.SIGKILL


def _holds_a_crawl(address: str) -> bool:
    with open_store(address, create=True) as store:
        return any(each.name == "town" for each in store.graphs())
