"""Enriching a graph of any store: what comes out, what is done again, and what a kill changes."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace

import pytest

from graphpriv.places import WORLD
from graphpriv.store import Post, Store, User, open_store
from graphpriv.store.crawls import VISITED, document
from tabular.errors import SourceUnavailable
from tests.contracts.store import OnAStore
from tests.crawler.enriching.made import MADRID, SPAIN, Found, Keywords, Names, enrichment, filled, profiles, serve
from tests.crawler.web.sites import Sites, answer, sites


def asked(web: Sites) -> Counter[str]:
    """How often each page was asked for."""
    paths = [request.split(b" ")[1].decode() for request in web.requests]
    return Counter(path for path in paths if path != "/robots.txt")


class EnrichingContract(OnAStore):
    @pytest.fixture
    def web(self):
        with sites() as found:
            yield found

    @pytest.fixture(autouse=True)
    def _filled(self, store: Store, web: Sites) -> None:
        filled(store, serve(web))

    def test_users_get_topics_and_places_with_where_they_come_from(self, store: Store, web: Sites) -> None:
        document = enrichment(store, web).run()
        (u0, note), (u1, _), (u2, n2), *_ = profiles(store)
        # Its posts: a goal, rain, a vote with pages about a song and a vote, a goal.
        assert u0.topics == ("Sports", "Weather", "Politics")
        assert note["topics"]["sources"]["Politics"] == {"text": ["p0-2"], "pages": ["p0-2"]}
        assert note["place"] == {"outcome": "placed", "by": ["names", "1"], "from": "profile", "score": 0.9,
                                 "alternatives": []}  # fmt: skip
        assert (u0.location, u1.location, u2.location) == (MADRID, SPAIN, None)
        assert n2["place"]["outcome"] == "unclear"
        assert u0.handle == "h0" and u0.location_text == "Madrid"
        assert document == {
            "graph": "town",
            "users": 12,
            "posts": 48,
            "places": {"by": "names", "version": "1", "placed": 4, "placed_from": {"profile": 4}, "unclear": 2,
                       "no_place": 2, "no_text": 4, "kept": 0},
            "topics": {"by": "words", "version": "1", "folded": False, "users_with": 12, "users_without": 0, "kept": 0,
                       "posts_by_text": 48, "posts_by_page": 12,
                       "users_by_topic": {"Politics": 12, "Sports": 12, "Weather": 12}},
            "pages": {"links": 24, "read": 23, "empty": 0, "failed": 1, "failed_by_outcome": {"status": 1}},
            "left": 0,
        }  # fmt: skip
        assert set(asked(web).values()) == {1} and len(asked(web)) == 13
        assert store.check() == []

    def test_what_is_done_is_not_done_again(self, store: Store, web: Sites) -> None:
        document, before = enrichment(store, web).run(), profiles(store)
        revision = store.revision("town")
        again = enrichment(store, web)
        assert again.run() == document
        assert (again.categoriser.seen, again.gazetteer.seen) == ([], [])
        assert store.revision("town") == revision
        # Another way to say it reads no page again.
        assert enrichment(store, web, topics_by=("words", "2")).run()["topics"]["version"] == "2"
        assert set(asked(web).values()) == {1}
        # More posts of one user change that user alone.
        store.add_posts("town", [Post(id="new", user="u7", text="a song, a song")])
        store.add_users("town", [User(id="late", location_text="Madrid")])
        third = enrichment(store, web, topics_by=("words", "2"))
        third.run()
        assert "a song, a song" in third.categoriser.seen and len(third.categoriser.seen) <= 6
        assert [user for user, _ in profiles(store)][:7] == [user for user, _ in before][:7]

    def test_a_kill_loses_nothing_and_changes_nothing(self, store: Store, web: Sites, address: str) -> None:
        filled(store, serve(web), name="twin")
        expected = enrichment(store, web, name="twin").run()
        unhurt = profiles(store, "twin")
        web.requests.clear()
        host, killed = f"127.0.0.1:{web.port}", []
        page = web.answers[f"{host}/7/2"]

        def kill(connection) -> None:
            if not killed:
                killed.append(os.kill(child.pid, signal.SIGKILL))
            connection.sendall(page)

        web.answers[f"{host}/7/2"] = kill
        child = multiprocessing.get_context("fork").Process(target=enrich_alone, args=(address, web))
        child.start()
        child.join(30)
        assert child.exitcode == -signal.SIGKILL
        half = profiles(store)
        assert any(note for _, note in half) and not all(note for _, note in half)
        assert enrichment(store, web).run() == {**expected, "graph": "town"}
        assert profiles(store) == unhurt
        # The page in flight, the one that waited to be kept, and the one that was being kept.
        twice = [path for path, times in asked(web).items() if times > 1]
        assert len(twice) <= 3 and max(asked(web).values()) <= 2
        assert store.check() == []

    @pytest.mark.heavy
    def test_twenty_kills_at_any_moment_change_nothing(self, store: Store, web: Sites, address: str) -> None:
        users = 300
        for name in ("killed", "unhurt"):
            filled(store, serve(web, users), users, name)
        expected = enrichment(store, web, name="unhurt").run()
        web.requests.clear()
        rng, kills = random.Random(14), 20
        for _ in range(kills):
            child = multiprocessing.get_context("fork").Process(target=enrich_alone, args=(address, web, "killed"))
            child.start()
            # Some pages further on, and then at whatever it does a moment later.
            target = len(web.requests) + rng.randint(1, 16)
            while len(web.requests) < target and child.is_alive():
                time.sleep(0.001)
            child.join(rng.uniform(0.0, 0.03))
            child.kill()
            child.join()
            assert child.exitcode == -signal.SIGKILL
        assert enrichment(store, web, name="killed").run() == {**expected, "graph": "killed"}
        assert profiles(store, "killed") == profiles(store, "unhurt")
        assert sum(times - 1 for times in asked(web).values()) <= 3 * kills
        assert store.check() == []

    def test_pages_that_failed_for_the_moment_are_asked_for_once_more(self, store: Store, web: Sites) -> None:
        host = f"127.0.0.1:{web.port}"
        song = web.answers[f"{host}/7/2"]
        web.answers[f"{host}/7/2"] = answer(status="503 Service Unavailable")
        web.answers[f"{host}/9/2"] = answer(status="429 Too Many Requests")
        first = enrichment(store, web).run()
        assert first["pages"]["failed_by_outcome"] == {"status": 3}
        before = {user.id: (user, note) for user, note in profiles(store)}
        web.requests.clear()
        # That goes on with the same run.
        assert enrichment(store, web).run() == first
        assert web.requests == []
        web.answers[f"{host}/7/2"] = song
        links = replace(enrichment(store, web).links, run=1)
        second = enrichment(store, web, links=links)
        assert second.run()["pages"]["failed_by_outcome"] == {"status": 2}
        # The one that is not there was not asked for again; two users were done again, and one is another by that.
        assert asked(web) == {"/7/2": 1, "/9/2": 1}
        after = {user.id: (user, note) for user, note in profiles(store)}
        assert {id for id in after if after[id] != before[id]} == {"u7", "u9"}
        assert after["u7"][1]["pages"] == {"read": 2}
        third = enrichment(store, web, links=replace(links, run=2))
        assert third.run()["pages"] == second.run()["pages"]
        assert set(asked(web).values()) == {1}

    def test_who_is_forgotten_takes_pages_and_notes_along(self, store: Store, web: Sites) -> None:
        enrichment(store, web).run()
        pages = len(list(store.records("town", "page")))
        store.forget("town", "u1")
        assert len(list(store.records("town", "page"))) == pages - 1
        assert "u1" not in {each.id for each in store.records("town", "note")}
        assert enrichment(store, web).run()["users"] == 11


class EnrichingMore(EnrichingContract):
    """What no store makes a difference to."""

    def test_what_comes_from_elsewhere_is_kept_unless_told_otherwise(self, store: Store, web: Sites) -> None:
        own = User(id="u0", location=SPAIN, topics=("Chess",), location_text="Madrid")
        lost = User(id="u3", location=SPAIN, location_text="she/her")
        store.add_users("town", [own, lost])
        document = enrichment(store, web).run()
        u0, u3 = (profiles(store)[at][0] for at in (0, 3))
        assert (u0.location, u0.topics[0], u3.location) == (SPAIN, "Chess", SPAIN)
        assert (document["places"]["kept"], document["topics"]["kept"]) == (2, 1)
        assert "/0/2" not in asked(web)
        assert enrichment(store, web).run() == document
        enrichment(store, web, replace_profiles=True).run()
        u0, u3 = (profiles(store)[at][0] for at in (0, 3))
        assert (u0.location, u0.topics[0], u3.location) == (MADRID, "Sports", SPAIN)

    def test_a_place_out_of_a_description_is_marked(self, store: Store, web: Sites) -> None:
        store.begin_crawl("crawled", [document(VISITED, "2", {"state": "kept", "location_from": "description"})])
        store.add_users("crawled", [User(id="1", location_text="Spain"), User(id="2", location_text="Madrid")])
        counted = enrichment(store, web, "crawled", links=None).run()["places"]["placed_from"]
        assert counted == {"description": 1, "profile": 1}
        assert [note["place"]["from"] for _, note in profiles(store, "crawled")] == ["profile", "description"]

    def test_folding_leaves_nothing_sensitive_anywhere(self, store: Store, web: Sites) -> None:
        enrichment(store, web).run()
        assert any("Politics" in user.topics for user, _ in profiles(store))
        document = enrichment(store, web, fold_sensitive=True).run()
        assert document["topics"]["folded"]
        assert "Politics" not in store.load_graph("town").topic_names
        assert "Politics" not in str([note for _, note in profiles(store)])
        assert any("Other" in user.topics for user, _ in profiles(store))

    def test_where_each_text_costs_something_users_are_kept_one_by_one(self, store: Store, web: Sites) -> None:
        class Paid(Keywords):
            def categorise(self, texts):
                if len(self.seen) > 20:
                    raise SourceUnavailable("the service has had enough")
                return super().categorise(texts)

        expected = enrichment(store, web, links=None).run()
        other = {"links": None, "topics_by": ("paid", "1"), "together": 1}
        with pytest.raises(SourceUnavailable):
            enrichment(store, web, **other, categoriser=Paid()).run()
        done = sum(note["topics"]["by"] == ["paid", "1"] for _, note in profiles(store))
        assert 0 < done < 12
        again = enrichment(store, web, **other)
        assert again.run()["topics"]["users_by_topic"] == expected["topics"]["users_by_topic"]
        assert len(again.categoriser.seen) == 3 * (12 - done)

    def test_a_place_that_no_store_takes_is_unclear(self, store: Store, web: Sites) -> None:
        class Falling(Names):
            def locate_all(self, texts):
                return [Found((("Europe", "continent"), ("Spain", "country"), WORLD), 0.9) for _ in texts]

        places = enrichment(store, web, links=None, gazetteer=Falling()).run()["places"]
        assert (places["placed"], places["unclear"]) == (0, 8)

    def test_without_pages_none_is_asked(self, store: Store, web: Sites) -> None:
        document = enrichment(store, web, links=None).run()
        assert document["pages"]["links"] == 0
        assert web.requests == []

    def test_a_stop_leaves_whole_users_behind(self, store: Store, web: Sites) -> None:
        seen = []
        document = enrichment(
            store, web, stop=lambda: len(web.requests) > 4, report=lambda *told: seen.append(told)
        ).run()
        assert 0 < document["left"] == 12 - document["users"]
        assert enrichment(store, web).run()["left"] == 0
        assert ("Enriching", 0, 12) in [(phase, done, 12) for phase, done, _ in seen]
        assert set(asked(web).values()) == {1}


def enrich_alone(address: str, web: Sites, name: str = "town") -> None:
    """Enrich the graph in a process that somebody kills."""
    with open_store(address, create=False) as store:
        way = enrichment(store, web, name=name)
        links = replace(way.links, workers=1)
        replace(way, links=links).run()
