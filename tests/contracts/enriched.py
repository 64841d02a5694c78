"""What every store promises of enrichment; subclasses supply the address of an empty store."""

from __future__ import annotations

import time

import pytest

from graphpriv.store import Post, Store, User
from graphpriv.store.crawls import FOR_EVER, PAGE, VISITED, document
from graphpriv.store.enriched import Linked, page_id
from tabular.errors import InvalidInput
from tests.contracts.store import OnAStore, little

SPAIN = (("Spain", "country"), ("Europe", "continent"), ("world", "world"))
ANA = User(id="17", handle="ana", location_text="Madrid")
BEN = User(id="4", handle="ben")
CLEO = User(id="99")
NEWS, BLOG = Linked("read", 200, "All the news."), Linked("timeout")
LINKS = {"https://news.example/1": ["17", "4"], "https://blog.example/": ["4"]}


def filled(store: Store) -> None:
    store.create_graph("town", directed=True)
    store.add_users("town", [ANA, BEN, CLEO])
    store.add_posts("town", [Post(id="b", user="4", text="one"), Post(id="a", user="17", text="two")])
    store.add_posts("town", [Post(id="c", user="4", text="three", links=tuple(LINKS))])


class EnrichedContract(OnAStore):
    @pytest.fixture(autouse=True)
    def _filled(self, store: Store) -> None:
        filled(store)

    def test_people_come_in_blocks_with_their_posts_in_order(self, store: Store) -> None:
        people, of = store.people("town", 0, 2)
        assert [each.user.id for each in people] == ["17", "4"]
        assert [[post.id for post in each.posts] for each in people] == [["a"], ["b", "c"]]
        assert (people[0].user.location_text, people[0].note, of) == ("Madrid", {}, 3)
        assert [each.user.id for each in store.people("town", 2, 2)[0]] == ["99"]

    def test_a_crawl_tells_where_a_location_stood(self, store: Store) -> None:
        store.begin_crawl("crawled", [document(VISITED, "1", {"state": "kept", "location_from": "description"})])
        store.add_users("crawled", [User(id="1"), User(id="2")])
        assert [each.location_from for each in store.people("crawled", 0, 9)[0]] == ["description", "profile"]

    def test_profiles_come_with_their_notes_and_leave_the_rest(self, store: Store) -> None:
        store.put_profiles("town", {"17": (SPAIN, ("Sports",))}, {"17": {"from": "text"}, "4": {"from": "nothing"}})
        ana, ben = store.people("town", 0, 2)[0]
        assert (ana.user.location, ana.user.topics, ana.user.handle) == (SPAIN, ("Sports", None, None), "ana")
        assert (ana.note, ben.note, ben.user.location) == ({"from": "text"}, {"from": "nothing"}, None)
        assert store.check() == []

    def test_who_is_forgotten_meanwhile_stays_forgotten(self, store: Store) -> None:
        store.forget("town", "17")
        store.put_profiles("town", {"17": (SPAIN, ("Sports",)), "4": (SPAIN, ())}, {"17": {}, "4": {"a": 1}})
        store.put_linked("town", {"https://a.example/": NEWS}, {"https://a.example/": ["17"]}, FOR_EVER)
        assert [each.id for each in store.users("town")] == ["4", "99"]
        assert [(each.kind, each.id) for each in everything(store)] == [("note", "4")]
        assert store.check() == []

    def test_a_page_is_kept_once_for_all_who_link_to_it(self, store: Store) -> None:
        store.put_linked("town", dict(zip(LINKS, (NEWS, BLOG), strict=True)), LINKS, FOR_EVER)
        assert store.linked("town", {url: ["99"] for url in LINKS}) == dict(zip(LINKS, (NEWS, BLOG), strict=True))
        assert len(everything(store)) == 2
        store.put_linked("town", {"https://blog.example/": NEWS}, {"https://blog.example/": ["17"]}, FOR_EVER)
        assert store.linked("town", {"https://blog.example/": []}) == {"https://blog.example/": BLOG}

    def test_a_page_that_was_asked_for_again_takes_the_place_of_what_failed(self, store: Store) -> None:
        url = "https://blog.example/"
        store.put_linked("town", {url: BLOG}, {url: ["4"]}, FOR_EVER)
        again = Linked("read", 200, "The blog.", tries=2, run=1)
        store.put_linked("town", {url: again}, {url: ["17"]}, FOR_EVER)
        assert store.linked("town", {url: []}) == {url: again}
        store.put_linked("town", {url: BLOG}, {url: ["99"]}, FOR_EVER)
        assert store.linked("town", {url: []}) == {url: again}
        for user in ("4", "17"):
            store.forget("town", user)
            assert store.linked("town", {url: []}) == {url: again}
        store.forget("town", "99")
        assert everything(store) == []

    def test_a_page_goes_with_the_last_who_links_to_it(self, store: Store) -> None:
        store.put_linked("town", dict(zip(LINKS, (NEWS, BLOG), strict=True)), LINKS, FOR_EVER)
        store.put_profiles("town", {}, {"4": {"posts": ["b", "c"]}})
        store.forget("town", "4")
        assert [each.id for each in everything(store)] == [page_id("https://news.example/1")]
        store.forget("town", "17")
        assert everything(store) == []
        store.add_users("town", [BEN])
        assert store.linked("town", {url: ["4"] for url in LINKS}) == {}

    def test_a_page_belongs_to_who_links_to_it_later_too(self, store: Store) -> None:
        store.put_linked("town", {"https://blog.example/": BLOG}, {"https://blog.example/": ["4"]}, FOR_EVER)
        store.linked("town", {"https://blog.example/": ["99", "nobody"]})
        store.forget("town", "4")
        assert store.linked("town", {"https://blog.example/": []}) == {"https://blog.example/": BLOG}
        store.forget("town", "99")
        assert everything(store) == []

    def test_a_page_has_an_age(self, store: Store) -> None:
        store.put_linked("town", {"https://blog.example/": BLOG}, LINKS, int(time.time()) + 60)
        assert store.expire() == 0
        assert store.expire(time.time() + 61) == 1
        assert everything(store) == []

    def test_all_of_it_goes_with_the_graph_and_into_copies(self, store: Store) -> None:
        store.put_linked("town", dict(zip(LINKS, (NEWS, BLOG), strict=True)), LINKS, FOR_EVER)
        store.put_profiles("town", {"17": (SPAIN, ("Sports",))}, {"17": {"from": "text"}})
        (copy,) = store.copies()
        assert {(each.kind, each.id) for each in copy.records} >= {
            ("note", "17"),
            (PAGE, page_id("https://blog.example/")),
        }
        store.delete_graph("town")
        store.save_graph("town", little())
        assert everything(store) == []

    def test_a_release_has_nothing_to_enrich(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            store.people("nowhere", 0, 10)


def everything(store: Store) -> list:
    return [each for kind in ("note", PAGE) for each in store.records("town", kind)]
