"""What every store promises of crawls; subclasses supply the address of an empty store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphpriv.store import Follow, Post, Store, User, open_store
from graphpriv.store.crawls import (
    CHARGES,
    CRAWL,
    FOR_EVER,
    FORGOTTEN,
    KINDS,
    ONLY,
    OWNER,
    PAGE,
    SEEN,
    VISITED,
    Disturbed,
    Step,
    charge_mark,
    document,
    packed,
    person_mark,
    unpacked,
)  # fmt: skip
from graphpriv.store.crawls import LISTED as LISTED_SO_FAR
from graphpriv.store.records import Record
from tabular.errors import InvalidInput, NameTaken, UnknownName
from tests.contracts.store import OnAStore, little

ME, OTHER = {"token": "me"}, {"token": "other"}
FOLLOWING = {"kind": "following", "user": "17"}
LISTED = json.dumps(
    {
        "data": [{"id": "4", "username": "ben"}, {"id": "99", "username": "Cleo", "entities": {"urls": []}}],
        "includes": {"users": [{"id": "99"}, {"id": "4", "url": "https://example.org/Cleo"}]},
    }
).encode()
WRITTEN = json.dumps(
    {"data": [{"id": "p9", "author_id": "4", "entities": {"mentions": [{"username": "Cleo"}]}}]}
).encode()


def refuse(owner: Any) -> bool:
    return False


def begun(store: Store) -> None:
    """A crawl that found three users, asked one, and has some of everything."""
    standing = {"source": "x", "current": {"user": "17"}, "users": {"kept": 2}}
    store.begin_crawl("town", [document(CRAWL, ONLY, standing)])
    store.claim_crawl("town", ME, refuse)
    secret = store.secret()
    charges = b"".join(charge_mark(secret, "followed", id) for id in ("4", "99"))
    store.advance(
        "town",
        Step(
            users=(User(id="17", handle="ana"), User(id="4", handle="ben")),
            follows=(Follow("17", "4"),),
            posts=(Post(id="p1", user="17", text="words"),),
            put=(
                document(SEEN, "99", {"by": ["17", "4"]}, 0),
                document(SEEN, "100", {"by": ["4"]}, 1),
                document(VISITED, "17", {"state": "kept", "following": 99}, 0),
                document(VISITED, "4", {"state": "kept"}, 1),
                Record(PAGE, "000001", packed(FOLLOWING, LISTED), FOR_EVER),
                Record(PAGE, "000002", packed({"kind": "posts", "user": "4"}, WRITTEN), FOR_EVER),
                Record(CHARGES, "1", charges, 20000),
            ),
        ),
        owner="me",
    )


def everything(store: Store) -> str:
    """All that is kept of the crawl, raw answers unpacked."""
    found = [each for kind in KINDS for each in store.records("town", kind)]
    pages = [b" ".join((json.dumps(unpacked(each.data)[0]).encode(), unpacked(each.data)[1])) for each in found
             if each.kind == PAGE]  # fmt: skip
    return repr([each for each in found if each.kind != PAGE]) + repr(pages)


class CrawlContract(OnAStore):
    """What every store promises of crawls."""

    def test_a_step_changes_graph_and_records_together(self, store: Store) -> None:
        begun(store)
        assert store.crawl_of("town") == {"source": "x", "current": {"user": "17"}, "users": {"kept": 2}}
        assert [each.id for each in store.users("town")] == ["17", "4"]
        assert [each.document for each in store.records_of("town", SEEN, ["99", "none"])] == [{"by": ["17", "4"]}]
        with pytest.raises(InvalidInput):
            store.advance("town", Step(put=(document(SEEN, "5", {}),), follows=(Follow("17", "5"),)), owner="me")
        assert [each.id for each in store.records("town", SEEN)] == ["100", "99"]
        store.advance("town", Step(put=(document(SEEN, "5", {}),), drop=((SEEN, "99"), (SEEN, "none"))), owner="me")
        assert [each.id for each in store.records("town", SEEN)] == ["100", "5"]
        assert store.check() == []

    def test_a_graph_from_elsewhere_has_no_crawl(self, store: Store) -> None:
        store.save_graph("town", little())
        assert store.crawl_of("town") is None
        with pytest.raises(NameTaken):
            store.begin_crawl("town", [])
        with pytest.raises(UnknownName):
            store.crawl_of("city")

    def test_only_one_is_at_work_on_a_crawl(self, store: Store) -> None:
        begun(store)
        with pytest.raises(InvalidInput, match="in use by another crawl"):
            store.claim_crawl("town", OTHER, refuse)
        store.claim_crawl("town", OTHER, lambda before: before["token"] == "me")
        with pytest.raises(InvalidInput, match="in use by another crawl"):
            store.advance("town", Step(), owner="me")
        store.leave_crawl("town", "me")
        store.advance("town", Step(), owner="other")
        store.leave_crawl("town", "other")
        assert store.claim_crawl("town", ME, refuse) == 0

    def test_who_is_forgotten_is_gone_from_all_that_is_kept_and_stays_out(self, store: Store) -> None:
        begun(store)
        assert "99" in everything(store) and "Cleo" in everything(store)
        charged = charge_mark(store.secret(), "followed", "99")
        assert charged in next(store.records("town", CHARGES)).data
        # Nobody of the graph, but the journal tells of them.
        store.check_person("town", "99")
        store.forget("town", "99")
        assert charged not in next(store.records("town", CHARGES)).data
        assert [json.loads(unpacked(each.data)[1])["data"] for each in store.records("town", PAGE)] == [
            [{"id": "4", "username": "ben"}],
            [{"id": "p9", "author_id": "4", "entities": {"mentions": [{"username": "Cleo"}]}}],
        ]
        assert [each.id for each in store.records("town", SEEN)] == ["100"]
        # A count that looks like the id is none.
        assert store.records_of("town", VISITED, ["17"])[0].document == {"state": "kept", "following": 99}
        assert store.records_of("town", FORGOTTEN, [person_mark(store.secret(), "99")])
        with pytest.raises(InvalidInput, match="no user with that id"):
            store.forget("town", "99")
        with pytest.raises(InvalidInput, match="no user with that id"):
            store.check_person("town", "99")
        assert store.check() == []

    def test_a_user_who_is_forgotten_takes_pages_and_links_along(self, store: Store) -> None:
        begun(store)
        gone = store.forget("town", "4")
        assert (gone.follows, gone.posts) == (1, 0)
        assert [each.id for each in store.records("town", PAGE)] == ["000001"]
        assert "ben" not in everything(store)
        assert [each.document for each in store.records("town", SEEN)] == [{"by": []}, {"by": ["17"]}]
        store.forget("town", "17")
        assert store.crawl_of("town") == {"source": "x", "users": {"forgotten": 2, "kept": 0}}
        assert list(store.records("town", PAGE)) == []

    def test_who_is_forgotten_is_no_longer_counted(self, store: Store) -> None:
        begun(store)
        current = {"user": "4", "ending": "complete", "seen": 2, "following": 2, "location_from": "profile"}
        counts = {"users": {"kept": 2, "locked": 1}, "lists": {"complete": 1, "hidden": 1, "capped": 1}}
        sums = {"locations": {"profile": 2}, "told": 12, "seen": 7, "requests": 9}
        told = {"state": "kept", "list": "capped", "seen": 5, "following": 10, "location_from": "profile"}
        put = (
            document(CRAWL, ONLY, {"source": "x", "current": current, **counts, **sums}),
            document(VISITED, "17", told, 0),
            document(VISITED, "50", {"state": "locked"}, 2),
            document(LISTED_SO_FAR, "000001", ["100"]),
        )
        store.advance("town", Step(put=put), owner="me")
        store.forget("town", "17")
        assert store.crawl_of("town") == {
            "source": "x", "current": current, "users": {"forgotten": 1, "kept": 1, "locked": 1},
            "lists": {"complete": 1, "hidden": 1}, "locations": {"profile": 1}, "told": 2, "seen": 2, "requests": 9,
        }  # fmt: skip
        store.forget("town", "50")
        assert store.crawl_of("town")["users"] == {"forgotten": 2, "kept": 1}
        assert len(list(store.records("town", LISTED_SO_FAR))) == 1
        # Of the user at hand the document of the crawl itself knows.
        store.forget("town", "4")
        assert store.crawl_of("town") == {
            "source": "x", "users": {"forgotten": 3, "kept": 0}, "lists": {"hidden": 1}, "locations": {},
            "told": 0, "seen": 0, "requests": 9,
        }  # fmt: skip
        assert list(store.records("town", LISTED_SO_FAR)) == []
        store.forget("town", "99")
        assert store.crawl_of("town")["users"] == {"forgotten": 3, "kept": 0}

    def test_a_crawl_at_work_learns_that_somebody_was_forgotten(self, store: Store) -> None:
        begun(store)
        store.forget("town", "99")
        with pytest.raises(Disturbed):
            store.advance("town", Step(users=(User(id="99"),)), owner="me")
        assert [each.id for each in store.users("town")] == ["17", "4"]
        assert store.claim_crawl("town", ME, refuse) == 1
        store.advance("town", Step(), owner="me", erasures=1)

    def test_a_step_may_erase_users_without_a_mark(self, store: Store) -> None:
        begun(store)
        store.advance("town", Step(erase=("4",), put=(document(VISITED, "4", {"state": "suspended"}, 1),)), owner="me")
        assert [each.id for each in store.users("town")] == ["17"]
        assert store.load_graph("town").edge_count == 0
        assert "ben" not in everything(store)
        assert list(store.records("town", FORGOTTEN)) == []
        assert store.check() == []

    def test_a_check_finds_users_who_were_kept_and_are_not_there(self, store: Store) -> None:
        begun(store)
        store.advance("town", Step(put=(document(VISITED, "5", {"state": "kept"}, 2),)), owner="me")
        assert store.check() == ["Graph 'town': 1 users whom its crawl has kept are not in it."]

    def test_raw_answers_are_erased_when_their_time_is_over(self, store: Store, address: str) -> None:
        begun(store)
        store.advance("town", Step(put=(Record(PAGE, "000003", packed(FOLLOWING, LISTED), 1_000),)), owner="me")
        assert store.expire(1_000) == 0
        assert store.expire(1_001) == 1
        assert [each.id for each in store.records("town", PAGE)] == ["000001", "000002"]
        store.advance("town", Step(put=(Record(PAGE, "000004", packed(FOLLOWING, LISTED), 1_000),)), owner="me")
        with open_store(address, create=False) as again:
            assert [each.id for each in again.records("town", PAGE)] == ["000001", "000002"]

    def test_a_crawl_goes_with_its_graph(self, store: Store) -> None:
        begun(store)
        store.delete_graph("town")
        assert store.check() == []
        store.begin_crawl("town", [])
        assert [each for kind in KINDS for each in store.records("town", kind)] == []

    def test_a_backup_has_the_crawl_and_no_raw_answer_whose_time_is_over(self, store: Store, tmp_path: Any) -> None:
        begun(store)
        store.advance("town", Step(put=(Record(PAGE, "000003", packed(FOLLOWING, LISTED), 1_000),)), owner="me")
        before = {kind: list(store.records("town", kind)) for kind in KINDS}
        store.backup(tmp_path / "b.db")
        store.delete_graph("town")
        store.restore(tmp_path / "b.db", overwrite=True)
        after = {kind: list(store.records("town", kind)) for kind in KINDS}
        assert [each.id for each in before[PAGE]] == ["000001", "000002", "000003"]
        assert after == {**before, PAGE: before[PAGE][:2]}
        assert OWNER in KINDS
        store.advance("town", Step(follows=(Follow("4", "17"),)), owner="me")
        assert store.check() == []
