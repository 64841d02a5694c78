"""What every store of graphs promises; subclasses supply the address of an empty store."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphpriv.dictionary import release_dictionary
from graphpriv.formats import formats
from graphpriv.formats.contract import Writer
from graphpriv.graph import SocialGraph
from graphpriv.places import WORLD, PlaceTree
from graphpriv.release import Release, anonymous
from graphpriv.store import Added, Follow, Post, Run, Store, User, open_store, statements
from graphpriv.store.pages import Pages
from tabular.errors import (
    AlreadyReleased,
    InvalidInput,
    InvalidRecord,
    NameTaken,
    Outdated,
    ReportedError,
    StoreUnavailable,
    UnknownName,
)
from tests.contracts import importing
from tests.strategies import generators, graphs, random_graph

ROOT = Path(__file__).resolve().parents[2]

SPAIN = (("Spain", "country"), ("Europe", "continent"), WORLD)
BARCELONA = (("Barcelona", "locality"), *SPAIN)
MADRID = (("Madrid", "locality"), *SPAIN)
CHILE = (("Chile", "country"), WORLD)

ANA = User(id="17", location=BARCELONA, topics=("Sports", "Chess"), handle="@ana_of_the_test", name="Ana Pérez")
BEN = User(id="4", location=SPAIN, topics=("Politics", "Sports", "Weather"), location_text="somewhere in Spain")
CLEO = User(id="99")
PEOPLE = (ANA, BEN, CLEO)
FOLLOWS = (Follow("17", "4"), Follow("4", "17"), Follow("99", "4"))
POSTS = (
    Post(id="p2", user="17", text="what Ana wrote", links=("https://example.org/a",), created="2026-01-02T03:04:05Z"),
    Post(id="p1", user="4", text="what Ben wrote"),
    Post(id="p3", user="17", text="and again"),
)
RUN = Run(verb="protect", parameters={"k": 2, "method": "closest-profiles"}, version="0.1.0", input_hash="sha256:ab")


def little() -> SocialGraph:
    """Three users, an unknown place, empty topics, private columns, and a place where nobody lives."""
    tree = PlaceTree.from_paths([BARCELONA, MADRID, CHILE])
    graph, _ = SocialGraph.build(
        ["17", "4", "99"],
        np.array([0, 1, 2], dtype=np.int32),
        np.array([1, 0, 1], dtype=np.int32),
        directed=True,
        places=tree,
        location=np.array([tree.node(BARCELONA), tree.node(SPAIN), -1], dtype=np.int32),
        topics=[("Sports", "Chess", None), ("Politics", "Sports", "Weather"), (None, None, None)],
        private={"handle": ("@ana_of_the_test", None, None), "name": ("Ana Pérez", None, None)},
    )
    return graph


def release_of(graph: SocialGraph, seed: int = 7) -> Release:
    """A release that changes nothing but ids and order."""
    masked, mapping = anonymous(graph, graph, np.random.default_rng(seed))
    return Release(masked, mapping, k=1, method="closest-profiles", parameters={"ties": "lower index"})


def filled(store: Store, name: str = "town") -> Store:
    """The store with the three people, their follows and posts."""
    store.create_graph(name, directed=True)
    store.add_users(name, PEOPLE)
    store.add_follows(name, FOLLOWS)
    store.add_posts(name, POSTS)
    return store


def written(writers: Sequence[Writer]) -> list[bytes]:
    """What is written to each file."""
    files = [BytesIO() for _ in writers]
    for write, file in zip(writers, files, strict=True):
        write(file)
    return [file.getvalue() for file in files]


quietly = settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors],
)


class OnAStore:
    """Tests on an empty store, whose address subclasses supply."""

    @pytest.fixture
    def address(self) -> str:
        """Where an empty store may be made."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, address: str) -> Iterator[Store]:
        with importing.opened(address) as store:
            yield store


class StoreContract(OnAStore):
    """What every store promises."""

    #: How many users the graph has that is imported while the importing process is killed.
    users_when_killed = 4000
    #: Within how many seconds after the start of an import the kill comes.
    seconds_to_kill = 1.0

    # Whole graphs

    def test_what_is_written_page_by_page_is_what_is_written_of_the_whole_graph(self, store, monkeypatch):
        monkeypatch.setattr(statements, "PAGE", 2)
        monkeypatch.setattr(statements, "FOLLOWERS", 3)
        for directed in (False, True):
            store.save_graph(f"drawn-{directed}", random_graph(5, 11, 30, directed=directed))
        store.save_graph("little", little())
        filled(store)
        store.forget("town", "4")
        store.save_release("little", "release", release_of(little()), seed=1, run=RUN)
        store.create_graph("empty", directed=False)
        for info in store.graphs():
            graph, pages = store.load_graph(info.name), Pages.of(lambda: nullcontext(store), info.name)
            for entry in formats.entries():
                chosen, path = entry.method(), Path(f"g{entry.method.suffixes[0]}")
                whole, paged = (written(chosen.writers(each, path)) for each in (graph, pages))
                assert whole == paged
            assert (pages.info, len(pages), pages.edge_count) == (info, len(graph), graph.edge_count)
            if info.is_release:
                assert release_dictionary(pages, info) == release_dictionary(graph, info)

    def test_a_graph_is_replaced_and_deleted_in_the_state_that_is_named(self, store, monkeypatch):
        store.save_graph("town", little())
        old = store.revision("town")
        store.save_graph("town", little(), overwrite=True, revision=old)
        now = store.revision("town")
        for revision in (old, "none"):
            with pytest.raises(Outdated):
                store.save_graph("town", little(), overwrite=True, revision=revision)
            with pytest.raises(Outdated):
                store.delete_graph("town", revision=revision)
        with pytest.raises(Outdated):
            store.save_graph("other", little(), overwrite=True, revision=now)
        plain = store._put

        def too_late(*given, **how):
            monkeypatch.undo()
            store.add_users("town", [User(id="new")])
            plain(*given, **how)

        # What comes in between the first look and the last is found, too.
        monkeypatch.setattr(store, "_put", too_late)
        with pytest.raises(Outdated):
            store.save_graph("town", little(), overwrite=True, revision=now)
        assert store.graph("town").users == 4
        store.delete_graph("town", revision=store.revision("town"))
        assert store.graphs() == []

    def test_a_graph_that_changes_while_it_is_written_is_an_error(self, store, monkeypatch):
        monkeypatch.setattr(statements, "PAGE", 1)
        filled(store)
        pages = Pages.of(lambda: nullcontext(store), "town")
        people = pages.people()
        assert next(people)[0] == "17"
        store.add_users("town", [User(id="new")])
        with pytest.raises(StoreUnavailable, match="changed while it was being read"):
            list(people)
        with pytest.raises(StoreUnavailable):
            list(pages.ends())

    def test_a_new_store_is_empty_and_sound(self, store: Store) -> None:
        assert store.graphs() == []
        assert store.check() == []

    def test_a_graph_comes_back_as_it_was(self, store: Store) -> None:
        store.save_graph("town", little())
        assert store.load_graph("town") == little()
        assert store.check() == []

    @quietly
    @given(graph=graphs(max_users=8))
    def test_every_graph_comes_back_as_it_was(self, store: Store, graph: SocialGraph) -> None:
        store.save_graph("any", graph, overwrite=True)
        loaded = store.load_graph("any")
        assert loaded == graph
        assert loaded.follows.targets.dtype == graph.follows.targets.dtype
        assert loaded.location.dtype == graph.location.dtype == loaded.topics.dtype
        assert store.check() == []

    def test_a_graph_of_nobody_comes_back(self, store: Store) -> None:
        store.create_graph("empty", directed=False)
        assert len(store.load_graph("empty")) == 0
        assert not store.load_graph("empty").directed
        store.save_graph("again", store.load_graph("empty"))
        assert store.load_graph("again") == store.load_graph("empty")

    def test_a_larger_graph_with_hubs_comes_back_undirected_and_directed(self, store: Store) -> None:
        for directed in (True, False):
            graph = random_graph(5, 700, 2500, directed=directed, places=30, topics=12)
            store.save_graph("larger", graph, overwrite=True)
            assert store.load_graph("larger") == graph

    def test_graphs_are_listed_by_name_with_their_sizes(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("city", random_graph(1, 10, 20, directed=False))
        city, town = store.graphs()
        assert (city.name, city.kind, city.directed, city.users) == ("city", "original", False, 10)
        assert (town.name, town.directed, town.users, town.edges) == ("town", True, 3, 3)
        assert city.edges == random_graph(1, 10, 20, directed=False).edge_count
        assert town == store.graph("town")
        assert not town.is_release

    def test_a_name_that_exists_is_refused_and_nothing_changes(self, store: Store) -> None:
        store.save_graph("town", little())
        other = random_graph(3, 6, 9)
        with pytest.raises(NameTaken, match="'town'"):
            store.save_graph("town", other)
        with pytest.raises(NameTaken):
            store.create_graph("town", directed=True)
        assert store.load_graph("town") == little()
        store.save_graph("town", other, overwrite=True)
        assert store.load_graph("town") == other
        assert store.check() == []

    def test_an_unknown_name_is_answered_with_the_nearest(self, store: Store) -> None:
        store.save_graph("barcelona", little())
        for ask in (store.load_graph, store.graph, store.delete_graph, store.runs):
            with pytest.raises(UnknownName, match="did you mean 'barcelona'"):
                ask("barcelone")
        with pytest.raises(UnknownName):
            store.add_users("barcelone", [ANA])

    @pytest.mark.parametrize("name", ["", " town", "to\nwn", "x" * 201])
    def test_a_name_that_cannot_be_shown_is_refused(self, store: Store, name: str) -> None:
        with pytest.raises(InvalidInput, match="name of a graph"):
            store.save_graph(name, little())
        assert store.graphs() == []

    def test_a_deleted_graph_is_gone_with_its_parts(self, store: Store) -> None:
        filled(store)
        store.save_graph("other", little())
        store.delete_graph("town")
        assert [each.name for each in store.graphs()] == ["other"]
        assert store.load_graph("other") == little()
        assert store.check() == []

    def test_names_with_quotes_and_braces_are_only_names(self, store: Store) -> None:
        name = "'; DROP TABLE users; -- {x} $key \"`"
        store.save_graph(name, little())
        assert store.load_graph(name) == little()

    def test_text_that_is_no_unicode_is_refused_and_nothing_is_written(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            store.save_graph("town", replace(little(), ids=("17", "\ud800", "99")))
        assert store.graphs() == []
        assert store.check() == []

    def test_two_users_of_one_id_are_refused_without_the_id(self, store: Store) -> None:
        with pytest.raises(ReportedError) as caught:
            store.save_graph("town", replace(little(), ids=("secret-id", "4", "secret-id")))
        assert "secret-id" not in str(caught.value)
        assert store.graphs() == []

    def test_an_id_that_no_index_takes_is_refused_by_its_position_before_any_work(self, store: Store) -> None:
        longest = "\U0001f600" * 1000
        store.save_graph("town", replace(little(), ids=("17", longest, "99")))
        store.add_posts("town", [Post(id=longest, user=longest, text="")])
        assert store.load_graph("town").ids[1] == longest
        secret = longest + "s"
        refused = [
            lambda: store.save_graph("more", replace(little(), ids=("17", secret, "99"))),
            lambda: store.add_users("town", [CLEO, User(id=secret)]),
            lambda: store.add_posts("town", [Post(id="a", user="17", text=""), Post(id=secret, user="17", text="")]),
        ]
        for refuse in refused:
            with pytest.raises(InvalidInput, match=r"(User|Post) 1 of the .*: its id has more than 1,000") as caught:
                refuse()
            assert secret not in str(caught.value)
        assert [each.name for each in store.graphs()] == ["town"]

    # Records, as a crawl brings them

    def test_records_make_the_graph_that_was_saved_at_once(self, store: Store) -> None:
        filled(store)
        loaded = store.load_graph("town")
        assert loaded.ids == ("17", "4", "99")
        assert loaded.private["handle"] == ("@ana_of_the_test", None, None)
        assert loaded.private["location_text"] == (None, "somewhere in Spain", None)
        assert loaded.edge_count == 3
        assert loaded.topic_names == little().topic_names
        np.testing.assert_array_equal(loaded.topics, little().topics)
        assert [None if code < 0 else loaded.places.path(int(code)) for code in loaded.location] == [
            BARCELONA,
            SPAIN,
            None,
        ]
        assert store.check() == []

    def test_adding_a_user_twice_keeps_one(self, store: Store) -> None:
        store.create_graph("town", directed=True)
        assert store.add_users("town", [ANA, BEN]) == Added(2)
        assert store.add_users("town", [BEN, ANA, CLEO]) == Added(1, 2)
        assert list(store.users("town")) == [each if len(each.topics) == 3 else _padded(each) for each in PEOPLE]
        assert store.graph("town").users == 3
        assert store.check() == []

    def test_a_known_user_takes_the_new_record_and_keeps_the_place_in_the_order(self, store: Store) -> None:
        filled(store)
        moved = User(id="17", location=MADRID, topics=("Weather",), handle="@other")
        assert store.add_users("town", [moved]) == Added(0, 1)
        assert next(store.users("town")) == _padded(moved)
        assert store.load_graph("town").ids == ("17", "4", "99")
        assert store.load_graph("town").edge_count == 3
        assert store.check() == []

    def test_of_two_records_with_one_id_in_a_batch_the_last_counts(self, store: Store) -> None:
        store.create_graph("town", directed=True)
        assert store.add_users("town", [ANA, BEN, replace(ANA, topics=("Labor",))]) == Added(2)
        assert next(store.users("town")).topics == ("Labor", None, None)

    def test_adding_follows_twice_keeps_one_and_leaves_out_self_loops(self, store: Store) -> None:
        store.create_graph("town", directed=True)
        store.add_users("town", PEOPLE)
        assert store.add_follows("town", FOLLOWS) == Added(3)
        assert store.add_follows("town", [*FOLLOWS, Follow("17", "99"), Follow("4", "4")]) == Added(1, 3, 1)
        assert store.graph("town").edges == 4
        assert store.check() == []

    def test_an_undirected_edge_has_no_order(self, store: Store) -> None:
        store.create_graph("town", directed=False)
        store.add_users("town", PEOPLE)
        assert store.add_follows("town", [Follow("99", "17")]) == Added(1)
        assert store.add_follows("town", [Follow("17", "99"), Follow("17", "4"), Follow("4", "17")]) == Added(1, 2)
        assert store.load_graph("town").follows.targets.tolist() == [1, 2, 0, 0]
        assert store.check() == []

    def test_posts_can_come_with_their_graph_all_or_nothing(self, store: Store) -> None:
        graph = little()
        posts = [Post(id="p1", user=graph.ids[0], text="Rain", links=("https://a.example/",))]
        with pytest.raises(InvalidRecord, match="Post 1 of the batch: its user is no user of graph 'town'"):
            store.save_graph("town", graph, posts=[*posts, Post(id="p2", user="nobody", text="")])
        assert store.graphs() == []
        store.save_graph("town", graph, posts=posts)
        assert list(store.posts("town")) == posts
        assert store.load_graph("town") == graph
        assert store.check() == []

    def test_posts_keep_their_order_and_come_once(self, store: Store) -> None:
        filled(store)
        assert store.add_posts("town", [POSTS[1], replace(POSTS[0], text="mended")]) == Added(0, 2)
        assert list(store.posts("town")) == [replace(POSTS[0], text="mended"), *POSTS[1:]]

    def test_a_replaced_record_takes_along_the_place_and_the_topic_that_nobody_else_has(self, store: Store) -> None:
        filled(store)
        assert store.add_users("town", [User(id="17", location=CHILE, topics=("Sports",)), replace(CLEO)]) == Added(
            0, 2
        )
        left = store.load_graph("town")
        assert left.places == PlaceTree.from_paths([SPAIN, CHILE])
        assert left.topic_names == ("Politics", "Sports", "Weather")
        store.add_users("town", [User(id="4", location=BARCELONA, topics=("Chess",)), replace(ANA, id="99")])
        assert store.load_graph("town").places == PlaceTree.from_paths([BARCELONA, CHILE])
        assert store.check() == []

    def with_small_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let a page hold two records."""
        raise NotImplementedError

    @pytest.mark.parametrize("what", ["users", "posts"])
    def test_a_listing_of_several_pages_is_whole_or_an_error(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, what: str
    ) -> None:
        self.with_small_pages(monkeypatch)
        changes = {
            "added": lambda: store.add_users("town", [User(id="new")]),
            "replaced": lambda: store.add_users("town", [replace(CLEO, topics=("Labor",))]),
            "posted": lambda: store.add_posts("town", [Post(id="p9", user="4", text="late")]),
            "forgotten": lambda: store.forget("town", "99"),
            "saved anew": lambda: store.save_graph("town", little(), overwrite=True),
            "deleted": lambda: store.delete_graph("town"),
        }
        for change in changes.values():
            filled(store)
            listing = getattr(store, what)
            whole = list(listing("town"))
            assert [each.id for each in whole] == (["17", "4", "99"] if what == "users" else ["p2", "p1", "p3"])
            begun = listing("town")
            seen = [next(begun), next(begun)]
            assert seen == whole[:2]
            change()
            with pytest.raises(StoreUnavailable, match="'town' changed while it was being read; try again") as caught:
                next(begun)
            assert caught.value.can_retry
            for graph in store.graphs():
                store.delete_graph(graph.name)

    def test_a_record_that_names_nobody_is_refused_by_its_position_and_nothing_is_written(self, store: Store) -> None:
        filled(store)
        with pytest.raises(InvalidInput, match="Follow 1 of the batch: its target") as caught:
            store.add_follows("town", [Follow("17", "99"), Follow("17", "nobody-we-know")])
        assert "nobody-we-know" not in str(caught.value)
        with pytest.raises(InvalidInput, match="Post 1 of the batch"):
            store.add_posts("town", [Post(id="p9", user="17", text=""), Post(id="p8", user="nobody", text="")])
        with pytest.raises(InvalidInput, match="User 1 of the batch"):
            store.add_users("town", [User(id="new"), User(id="newer", topics=("a", "b", "c", "d"))])
        with pytest.raises(InvalidInput, match="world"):
            store.add_users("town", [User(id="new", location=(("Barcelona", "locality"),))])
        assert store.graph("town").edges == 3
        assert store.load_graph("town").ids == ("17", "4", "99")
        assert len(list(store.posts("town"))) == 3

    def test_a_graph_that_was_saved_grows_by_records(self, store: Store) -> None:
        store.save_graph("town", little())
        store.add_users("town", [User(id="5", location=MADRID, topics=("Ski", "Chess"))])
        store.add_follows("town", [Follow("5", "17")])
        grown = store.load_graph("town")
        assert grown.ids == ("17", "4", "99", "5")
        assert grown.places == little().places
        assert grown.topic_names == ("Politics", "Sports", "Weather", "Chess", "Ski")
        assert grown.topics[3].tolist() == [4, 3, -1]
        assert store.check() == []

    def test_nothing_is_added_to_a_release(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_release("town", "out", release_of(little()), seed=1, run=RUN)
        for add, batch in ((store.add_users, PEOPLE), (store.add_follows, FOLLOWS), (store.add_posts, POSTS)):
            with pytest.raises(InvalidInput, match="'out' is a release"):
                add("out", batch)

    # Releases, runs and what leads back

    def test_a_release_is_kept_with_its_mapping_apart(self, store: Store) -> None:
        store.save_graph("town", little())
        release = release_of(little())
        store.save_release("town", "out", release, seed=2**70 + 1, run=RUN)
        assert store.load_graph("out") == release.graph
        assert store.load_graph("out").private == {}
        np.testing.assert_array_equal(store.mapping("town", "out"), release.mapping)
        assert store.mapping("town", "out").dtype == np.int64
        assert store.seed("town", "out") == 2**70 + 1
        info = store.graph("out")
        assert (info.kind, info.original, info.k, info.method) == ("release", "town", 1, "closest-profiles")
        assert info.parameters == {"ties": "lower index"}
        assert [each for each in store.graphs() if each.original == "town"] == [info]
        assert store.check() == []

    @quietly
    @given(graph=graphs(max_users=8), rng=generators, forgotten=st.booleans())
    def test_every_release_and_its_mapping_come_back(
        self, store: Store, graph: SocialGraph, rng: np.random.Generator, forgotten: bool
    ) -> None:
        masked, mapping = anonymous(graph, graph, rng)
        if forgotten:
            mapping[rng.integers(len(graph))] = -1
        store.save_graph("any", graph, overwrite=True)
        store.save_release("any", "out", Release(masked, mapping, 1, "m"), seed=None, run=RUN, overwrite=True)
        assert store.load_graph("out") == masked
        np.testing.assert_array_equal(store.mapping("any", "out"), mapping)
        assert store.seed("any", "out") is None
        assert store.check() == []

    def test_a_release_with_private_columns_or_a_wrong_mapping_is_refused(self, store: Store) -> None:
        store.save_graph("town", little())
        good = release_of(little())
        bad = [
            replace(good, graph=replace(good.graph, private={"handle": ("a", "b", "c")})),
            replace(good, mapping=good.mapping[:2]),
            replace(good, mapping=np.array([0, 1, 3])),
            replace(good, mapping=np.array([0, 1, 1])),
        ]
        for release in bad:
            with pytest.raises(InvalidInput):
                store.save_release("town", "out", release, seed=1, run=RUN)
        assert [each.name for each in store.graphs()] == ["town"]
        assert store.check() == []

    def test_a_release_takes_no_name_that_exists(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("other", little())
        for name in ("town", "other"):
            with pytest.raises(NameTaken):
                store.save_release("town", name, release_of(little()), seed=1, run=RUN)
        with pytest.raises(NameTaken):
            store.save_release("town", "town", release_of(little()), seed=1, run=RUN, overwrite=True)

    def test_what_leads_back_is_asked_for_by_the_right_pair_of_names(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("other", little())
        store.save_release("town", "out", release_of(little()), seed=1, run=RUN)
        for ask in (store.mapping, store.seed):
            with pytest.raises(InvalidInput, match="'out' is not a release of 'other'; none is kept"):
                ask("other", "out")
            with pytest.raises(InvalidInput, match="there is out"):
                ask("town", "other")

    def test_a_release_outlives_its_original_without_what_leads_back(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("village", little())
        release = release_of(little())
        for original in ("town", "village"):
            store.save_release(original, f"out of {original}", release, seed=1, run=RUN)
        store.delete_graph("town")
        store.save_graph("village", little(), overwrite=True)
        for original in ("town", "village"):
            assert store.load_graph(f"out of {original}") == release.graph
            assert store.graph(f"out of {original}").original is None
        with pytest.raises(InvalidInput, match="is not a release"):
            store.mapping("village", "out of village")
        assert store.check() == []

    def test_runs_are_listed_with_those_of_the_releases_and_without_the_seed(self, store: Store) -> None:
        store.save_graph("town", little())
        imported = Run(verb="import", parameters={"file": "x.graphml"}, created="2026-01-01T00:00:00.000Z")
        store.add_run("town", imported)
        store.save_release("town", "out", release_of(little()), seed=123456789, run=RUN)
        assert store.runs("town") == [imported, RUN]
        assert store.runs("town", with_releases=False) == [imported]
        assert store.runs("out") == [RUN]
        assert "123456789" not in repr([store.runs("town"), store.graphs()])
        with pytest.raises(ValueError, match="seed"):
            Run(verb="protect", parameters={"seed": 1})

    # To be forgotten

    def test_a_forgotten_person_is_in_no_answer_any_more(self, store: Store) -> None:
        filled(store)
        original = store.load_graph("town")
        release = release_of(original)
        store.save_release("town", "out", release, seed=1, run=RUN)
        gone = store.forget("town", "17")
        assert (gone.follows, gone.posts, gone.mappings) == (2, 2, 1)
        assert gone.erased is not False
        left = store.load_graph("town")
        assert left.ids == ("4", "99")
        assert left.follows.targets.tolist() == [0]
        assert left.private["handle"] == (None, None)
        assert [post.id for post in store.posts("town")] == ["p1"]
        np.testing.assert_array_equal(store.mapping("town", "out"), release.mapping[1:])
        assert store.load_graph("out") == release.graph
        assert store.graph("town").users == 2
        assert store.graph("town").edges == 1
        assert store.check() == []

    def test_what_only_the_forgotten_person_had_is_gone_too(self, store: Store) -> None:
        filled(store)
        store.forget("town", "17")
        left = store.load_graph("town")
        assert left.places == PlaceTree.from_paths([SPAIN])
        assert left.topic_names == ("Politics", "Sports", "Weather")

    def test_after_a_forget_the_graph_grows_and_is_released_again(self, store: Store) -> None:
        filled(store)
        store.forget("town", "99")
        assert store.add_users("town", [User(id="new"), CLEO]) == Added(2)
        assert store.load_graph("town").ids == ("17", "4", "new", "99")
        release = release_of(store.load_graph("town"))
        store.save_release("town", "later", release, seed=1, run=RUN)
        np.testing.assert_array_equal(store.mapping("town", "later"), release.mapping)
        assert store.check() == []

    def test_an_unknown_person_is_not_named_in_the_refusal(self, store: Store) -> None:
        filled(store)
        with pytest.raises(InvalidInput) as caught:
            store.forget("town", "some-id-of-a-person")
        assert "some-id-of-a-person" not in str(caught.value)
        store.save_release("town", "out", release_of(store.load_graph("town")), seed=1, run=RUN)
        with pytest.raises(InvalidInput, match="'out' is a release"):
            store.forget("out", "17")
        assert store.load_graph("town").ids == ("17", "4", "99")

    def test_a_release_from_before_a_change_is_refused(self, store: Store) -> None:
        filled(store)
        release = release_of(store.load_graph("town"))
        store.forget("town", "17")
        with pytest.raises(InvalidInput, match="changed while it was being protected"):
            store.save_release("town", "out", release, seed=1, run=RUN)

    def test_a_release_of_an_original_that_was_replaced_is_refused(self, store: Store) -> None:
        def replace_it() -> None:
            store.save_graph("town", replace(little(), ids=("4", "99", "17")), overwrite=True)

        def exchange_one() -> None:
            store.forget("town", "99")
            store.add_users("town", [User(id="new")])

        def follow() -> None:
            store.add_follows("town", [Follow("17", "99")])

        def move() -> None:
            store.add_users("town", [replace(ANA, location=MADRID)])

        seen = set()
        for change in (replace_it, exchange_one, follow, move):
            store.save_graph("town", little(), overwrite=True)
            revision = store.revision("town")
            assert revision == store.revision("town")
            release = release_of(store.load_graph("town"))
            change()
            with pytest.raises(InvalidInput, match="'town' changed while it was being protected; run it again"):
                store.save_release("town", "out", release, seed=1, run=RUN, revision=revision)
            assert [each.name for each in store.graphs()] == ["town"]
            seen |= {revision, store.revision("town")}
        assert len(seen) == 8
        store.save_release(
            "town", "out", release_of(store.load_graph("town")), seed=1, run=RUN, revision=store.revision("town")
        )

    def test_a_release_made_beside_others_than_there_are_is_refused(self, store: Store) -> None:
        filled(store)
        assert store.releases_of("town") == {}
        release = release_of(store.load_graph("town"))

        def save(name: str, beside: dict[str, str] | None, overwrite: bool = False) -> None:
            store.save_release(
                "town", name, release, seed=1, run=RUN, beside=beside, overwrite=overwrite, revision=None
            )

        save("one", {})
        one = store.releases_of("town")
        assert list(one) == ["one"]
        save("two", one)
        both = store.releases_of("town")
        assert list(both) == ["one", "two"]
        assert both["one"] == one["one"]
        save("two", both, overwrite=True)
        again = store.releases_of("town")
        assert again["one"] == one["one"]
        assert again["two"] != both["two"]
        # One came, one was replaced, one went.
        for beside in ({}, one, both, {**again, "gone": "x"}):
            with pytest.raises(AlreadyReleased, match="'town' was added, replaced or deleted while this one was made"):
                save("three", beside)
        assert [each.name for each in store.graphs()] == ["one", "town", "two"]
        store.delete_graph("two")
        save("three", store.releases_of("town"))
        store.save_graph("town", little(), overwrite=True)
        assert store.releases_of("town") == {}
        with pytest.raises(InvalidInput, match="is a release"):
            store.releases_of("three")
        with pytest.raises(UnknownName):
            store.releases_of("nowhere")
        assert store.check() == []

    def test_a_pair_comes_with_its_mapping(self, store: Store) -> None:
        filled(store)
        release = release_of(store.load_graph("town"))
        store.save_release("town", "out", release, seed=1, run=RUN)
        store.forget("town", "17")
        original, released, mapping = store.load_pair("town", "out")
        assert original == store.load_graph("town")
        assert released == release.graph
        np.testing.assert_array_equal(mapping, release.mapping[1:])
        with pytest.raises(InvalidInput, match="is not a release"):
            store.load_pair("out", "town")

    # Backups

    def test_a_backup_holds_everything_and_is_a_store_itself(self, store: Store, tmp_path: Path) -> None:
        everything = full(store)
        store.backup(tmp_path / "backup.db")
        assert (tmp_path / "backup.db").stat().st_mode & 0o077 == 0
        with open_store(f"file:{tmp_path / 'backup.db'}", create=False) as copied:
            assert content(copied) == everything
            assert copied.check() == []

    def test_a_backup_is_restored_over_what_there_is_only_if_asked(self, store: Store, tmp_path: Path) -> None:
        everything = full(store)
        store.backup(tmp_path / "backup.db")
        with pytest.raises(NameTaken):
            store.backup(tmp_path / "backup.db")
        store.delete_graph("town")
        store.save_graph("later", little())
        now = content(store)
        with pytest.raises(NameTaken, match="give overwrite to replace all of it"):
            store.restore(tmp_path / "backup.db")
        assert content(store) == now
        store.restore(tmp_path / "backup.db", overwrite=True)
        assert content(store) == everything
        assert store.check() == []

    def test_a_backup_moves_into_an_embedded_store_and_back(self, store: Store, tmp_path: Path) -> None:
        everything = full(store)
        store.backup(tmp_path / "out.db")
        with open_store(f"file:{tmp_path / 'embedded.db'}", create=True) as embedded:
            embedded.restore(tmp_path / "out.db")
            assert content(embedded) == everything
            embedded.backup(tmp_path / "back.db")
        store.restore(tmp_path / "back.db", overwrite=True)
        assert content(store) == everything

    @pytest.mark.parametrize("table", ["users", "posts"])
    def test_an_id_that_no_index_takes_does_not_come_in_by_a_backup(
        self, store: Store, tmp_path: Path, table: str
    ) -> None:
        everything = full(store)
        store.backup(tmp_path / "backup.db")
        db = sqlite3.connect(tmp_path / "backup.db")
        graph = "(SELECT key FROM graphs WHERE name = 'town')"
        secret = "s" * 1001
        db.execute(f"UPDATE {table} SET id = ? WHERE number = 0 AND graph = {graph}", [secret])
        # Who makes a backup by hand leaves out the seals.
        db.execute("DELETE FROM summaries WHERE number IN (1, 2)")
        db.commit()
        db.close()
        with pytest.raises(
            InvalidInput, match=r"'town' of the backup: (User|Post) 0 of the graph: its id has"
        ) as caught:
            store.restore(tmp_path / "backup.db", overwrite=True)
        assert secret not in str(caught.value)
        assert content(store) == everything
        assert store.check() == []

    def test_backups_and_restores_need_no_folder_for_temporary_files(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        everything = full(store)
        (tmp_path / "out").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        seen = []

        def look(working_copy: Path, *_: object) -> None:
            seen.append(working_copy.parent)
            assert working_copy.parent.stat().st_mode & 0o777 == 0o700

        monkeypatch.setattr("graphpriv.store.copies._refuse_foreign", look)
        store.backup(tmp_path / "out" / "backup.db")
        assert [each.name for each in (tmp_path / "out").iterdir()] == ["backup.db"]
        store.restore(tmp_path / "out" / "backup.db", overwrite=True)
        assert [each.parent for each in seen] == [tmp_path if store.address.startswith("file:") else tmp_path / "out"]
        assert not list(tmp_path.glob("**/.graphpriv*"))
        assert content(store) == everything

    def test_a_backup_that_is_none_changes_nothing(self, store: Store, tmp_path: Path) -> None:
        everything = full(store)
        (tmp_path / "text.db").write_text("this is no store")
        store.backup(tmp_path / "half.db")
        half = (tmp_path / "half.db").read_bytes()
        (tmp_path / "half.db").write_bytes(half[: len(half) // 2])
        for name in ("text.db", "half.db", "missing.db"):
            with pytest.raises(InvalidInput, match=name):
                store.restore(tmp_path / name, overwrite=True)
        assert content(store) == everything

    # Killed

    @pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.heavy)])
    def test_killing_an_import_leaves_the_old_or_the_new_graph(self, store: Store, address: str, kills: int) -> None:
        both = importing.states(self.users_when_killed)
        store.save_graph(importing.NAME, both[1])
        moments = random.Random(kills)
        for _ in range(kills):
            importer = start_importing(address, self.users_when_killed)
            try:
                time.sleep(moments.uniform(0, self.seconds_to_kill))
            finally:
                importer.kill()
                importer.wait()
            assert store.load_graph(importing.NAME) in both
        time.sleep(0 if address.startswith("file:") else importing.LEASE + 0.5)
        assert store.check() == []
        self.nothing_is_left_over(store)
        assert store.load_graph(importing.NAME) in both

    def nothing_is_left_over(self, store: Store) -> None:
        """Look into the store by other means, where there is something to look for."""


def start_importing(address: str, users: int) -> subprocess.Popen[bytes]:
    """The process of `tests.contracts.importing`, about to begin its first import."""
    importer = subprocess.Popen(
        [sys.executable, "-m", "tests.contracts.importing", str(users)],
        cwd=ROOT,
        env={**os.environ, "STORE_OF_THE_TEST": address},
        stdout=subprocess.PIPE,
    )
    assert importer.stdout is not None
    assert importer.stdout.readline() == b"ready\n"
    return importer


def _padded(user: User) -> User:
    return replace(user, topics=(*user.topics, None, None, None)[:3])


def full(store: Store) -> list[object]:
    """Fill a store with one of everything, and tell its content."""
    filled(store)
    store.forget("town", "99")
    original = store.load_graph("town")
    store.save_release("town", "out", release_of(original), seed=5, run=RUN)
    store.forget("town", "4")
    store.save_graph("gone", little())
    store.save_release("gone", "orphan", release_of(little()), seed=6, run=RUN)
    store.delete_graph("gone")
    store.save_graph("city", random_graph(2, 40, 90, directed=False))
    store.add_run("city", Run(verb="import"))
    return content(store)


def content(store: Store) -> list[object]:
    """All that a store tells of its graphs."""
    told: list[object] = []
    for info in store.graphs():
        told += [info, store.load_graph(info.name), store.runs(info.name), list(store.users(info.name))]
        told += [list(store.posts(info.name))]
        if info.original is not None:
            told += [store.mapping(info.original, info.name).tolist(), store.seed(info.original, info.name)]
    return told
