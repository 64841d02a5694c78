"""Asking a network again: who is gone there is gone here, from graph and journal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from crawler.crawling import collected, journal
from crawler.crawling.prices import Prices
from crawler.crawling.refresh import Refresh, source_of
from crawler.made.x import XInterface
from graphpriv.store import Store, open_store
from graphpriv.store.crawls import VISITED
from tabular.errors import InvalidInput
from tests.contracts.store import little
from tests.crawler.crawling.crawls import Killed, World, billed, killed_at, made, standing, world


@pytest.fixture
def store(tmp_path: Path):
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        yield store


def refreshing(there: World, store: Store, **given) -> Refresh:
    crawl = there.crawl(store)
    return Refresh(
        store=store, graph="town", source=crawl.source, prices=Prices.read("x"), clock=there.hurried.clock, **given
    )  # fmt: skip


def refresh(there: World, store: Store, **given) -> dict:
    return refreshing(there, store, **given).run()


CHANGES = ({"state": "deleted"}, {"state": "suspended"}, {"protected": True}, {"description": "now #nobot"})


def test_who_is_gone_there_is_gone_here_and_is_not_collected_again(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("crawler.sources.x.X.batch", 7)
    with world(made(40)) as there:
        there.crawled(store, users=25)
        before = [user.id for user in store.users("town")]
        gone = before[3:7]
        for id, change in zip(gone, CHANGES, strict=True):
            there.network.users[id] = replace(there.network.users[id], **change)
        there.interface.log.clear()
        found = refresh(there, store)
        assert found["states"] == {"kept": 21, "locked": 1, "opted-out": 1, "suspended": 1, "vanished": 1}
        assert (found["asked"], found["erased"], found["requests"], found["ended"]) == (25, 4, 4, "done")
        # The same day, users who were paid for are not charged for again; of the list of one nobody knew all.
        assert found["cost"] == 0
        billed(there, store)
        assert [user.id for user in store.users("town")] == [id for id in before if id not in gone]
        raw = b"".join(body for _, body in journal(store, "town"))
        assert not any(f'"{id}"'.encode() in raw for id in gone)
        assert collected(store, "town")["users"]["kept"] == 21
        # Of the lists and places of those who are gone nothing is counted any more.
        noted = [each.document for each in store.records("town", VISITED) if each.id not in gone]
        found = collected(store, "town")
        assert sum(count for name, count in found["lists"].items() if name != "share_seen") == len(noted) == 21
        assert standing(store).told == sum(each["following"] for each in noted)
        assert found["locations"] == Counter(each["location_from"] for each in noted if "location_from" in each)
        assert store.check() == []
        more = there.crawl(store)
        more.resume("x")
        more.run()
    assert set(gone).isdisjoint(user.id for user in store.users("town"))


def test_a_budget_ends_it_when_all_of_it_is_used(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("crawler.sources.x.X.batch", 10)
    with world(made(40)) as there:
        there.crawled(store, users=25)
        there.hurried.moment += 86_400
        before = there.interface.bill.total
        found = refresh(there, store, budget=150)
        assert (found["asked"], found["cost"], found["ended"]) == (15, 0.15, "budget")
        assert there.interface.bill.total - before == Decimal("0.15")
        assert Decimal(standing(store).spent) / 1000 == there.interface.bill.total


def test_it_goes_on_where_the_last_one_stopped_and_then_begins_anew(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("crawler.sources.x.X.batch", 4)
    asked: list[list[str]] = []
    with world(made(40)) as there:
        there.crawled(store, users=18)
        order = [user.id for user in store.users("town")]
        profiles = there.interface._profiles
        there.interface._profiles = lambda ids, query: asked.append(list(ids)) or profiles(ids, query)
        first = refresh(there, store, stop=lambda: len(asked) == 2)
        assert (first["asked"], first["left"], first["ended"]) == (8, 10, "stopped")
        # Whoever is forgotten meanwhile does not move the place.
        store.forget("town", order[2])
        second = refresh(there, store)
        assert (second["asked"], second["left"], second["ended"]) == (10, 0, "done")
        assert [id for ids in asked for id in ids] == order
        assert refresh(there, store)["asked"] == 17
        assert billed(there, store) > 0


@pytest.mark.parametrize("days", [0, 1])
def test_a_kill_repeats_one_batch_which_counts_if_it_may_have_been_charged_for_twice(store, monkeypatch, days) -> None:
    monkeypatch.setattr("crawler.sources.x.X.batch", 4)
    with world(made(40)) as there:
        there.crawled(store, users=18, posts=0)
        there.hurried.moment += 86_400
        before = int(there.interface.bill.total * 1000)
        first = refreshing(there, store, budget=200)
        killed_at(first.source, "profiles", 3)
        with pytest.raises(Killed):
            first.run()
        there.hurried.moment += days * 86_400
        there.interface.log.clear()
        # What the killed run has cost is part of the budget.
        found = refresh(there, store, budget=200)
        stands, bill = standing(store), int(there.interface.bill.total * 1000)
        assert stands.twice == 1
        assert stands.uncertain == 40 * days
        assert bill == stands.spent + stands.uncertain
        assert bill - before <= 200
        assert (found["ended"], found["uncertain_cost"]) == ("budget" if days else "done", 0.04 * days)
        assert len(there.interface.log) == found["requests"] == (2 if days else 3)
        # The next run has a budget of its own.
        assert refresh(there, store, budget=200)["asked"] > 0


def test_a_batch_that_a_killed_refresh_had_under_way_leaves_less_for_the_crawl(store: Store) -> None:
    with world(made(40)) as there:
        there.crawled(store, users=10, posts=0)
        there.hurried.moment += 86_400
        begun = refreshing(there, store)
        killed_at(begun.source, "profiles")
        with pytest.raises(Killed):
            begun.run()
        budget = standing(store).spent + 150
        rest = there.crawl(store, users=40, posts=0, budget=budget)
        rest.resume("x")
        rest.run()
        assert standing(store).ended == "budget"
        assert budget - 10 < there.interface.bill.total * 1000 <= budget


def test_somebody_who_is_forgotten_while_it_runs_ends_nothing(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("crawler.sources.x.X.batch", 4)
    with world(made(40)) as there:
        there.crawled(store, users=18)
        order = [user.id for user in store.users("town")]
        profiles, asked = there.interface._profiles, []

        def answer(ids, query):
            if ids[0] not in asked:
                asked.append(ids[0])
                store.forget("town", order[len(asked)])
            return profiles(ids, query)

        there.interface._profiles = answer
        found = refresh(there, store)
        assert (found["ended"], found["erased"]) == ("done", 0)
        billed(there, store)
    assert len(list(store.users("town"))) == 18 - len(asked)
    assert store.check() == []


def test_users_can_be_asked_about_one_by_one(store: Store, monkeypatch) -> None:
    with world(made(20)) as there:
        there.crawled(store, users=8)
        last = [user.id for user in store.users("town")][-1]
        there.network.users[last] = replace(there.network.users[last], state="suspended")
        monkeypatch.setattr("crawler.sources.x.X.batch", 0)
        there.interface.log.clear()
        found = refresh(there, store)
    assert (found["erased"], found["requests"]) == (1, 8)
    assert Counter(kind for kind, _, _ in there.interface.log) == {"profile": 8}


def test_a_graph_from_elsewhere_has_no_network(store: Store) -> None:
    store.save_graph("town", little())
    with pytest.raises(InvalidInput, match="was not crawled"):
        source_of(store, "town")
    assert XInterface(made(2)).log == []
