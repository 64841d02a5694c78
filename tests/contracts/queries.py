"""What every store answers when it is asked about a graph; subclasses supply the address of an empty store."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.graph import SocialGraph
from graphpriv.queries import Page, answer, queries, rows
from graphpriv.queries.keys import KEYS, SINGLE
from graphpriv.release import Release, anonymous
from graphpriv.store import Follow, Store, User
from graphpriv.structure import describe
from tabular.errors import InvalidParameter, StoreUnavailable, UnknownName
from tests.contracts import importing
from tests.contracts.store import MADRID, PEOPLE, RUN, OnAStore, filled, little, quietly, release_of
from tests.graphpriv.queries import plain
from tests.strategies import generators, graphs, random_graph


def ask(store: Store, query: str, name: str = "any", **options: Any) -> Page:
    return answer(store, name, queries[query].make(options))


def every(store: Store, query: str, name: str = "any", **options: Any) -> list[dict[str, Any]]:
    found = rows(store, name, queries[query].make(options))
    page = ask(store, query, name, **options)
    assert (found.header, found.facts) == (page.header, page.facts)
    told = list(found)
    assert all(len(each.cells) == len(page.header) for each in told)
    return [*told]


def by_pages(store: Store, query: str, limit: int, name: str = "any", **options: Any) -> list[dict[str, Any]]:
    """All rows, page by page, each page full but for the last."""
    found: list[dict[str, Any]] = []
    page = ask(store, query, name, limit=limit, **options)
    while True:
        found += page.rows
        if page.next is None:
            assert len(page.rows) <= limit
            return found
        assert len(page.rows) == limit
        page = ask(store, query, name, limit=limit, cursor=page.next, **options)


def tallied(found: list[dict[str, Any]], counted: str) -> Counter[tuple[Any, ...]]:
    """Rows of a table of counts; no combination stands in two."""
    table = {tuple(value for name, value in row.items() if name != counted): row[counted] for row in found}
    assert len(table) == len(found)
    return Counter(table)


@st.composite
def selections(draw: st.DrawFn, graph: SocialGraph) -> dict[str, Any]:
    """Options that choose users of a graph."""
    ranges = st.sampled_from(["0", "1", "2..", "..1", "1..3"])
    asked: dict[str, Any] = {}
    if draw(st.booleans()):
        asked["location"] = draw(st.sampled_from(["", *graph.places.keys]))
    if draw(st.booleans()):
        asked["topic"] = draw(st.sampled_from(["", *graph.topic_names]))
        asked |= {"rank": draw(st.integers(1, 3))} if draw(st.booleans()) else {}
    for name in ("degree", "following", "followers") if graph.directed else ("degree",):
        asked |= {name: draw(ranges)} if draw(st.integers(0, 3)) == 0 else {}
    return asked


class QueryContract(OnAStore):
    """What every store answers."""

    @pytest.fixture
    def pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Columns are cut into pieces of three, and streams read two rows at a time."""
        monkeypatch.setattr("graphpriv.store.summary.CHUNK", 3)
        monkeypatch.setattr("graphpriv.queries.contract.STREAMED", 2)
        monkeypatch.setattr("graphpriv.queries.counts._LINKS", 2)

    # Against the slow version

    @quietly
    @given(graph=graphs(max_users=9), data=st.data())
    def test_users_are_those_of_the_slow_version(
        self, store: Store, pieces: None, graph: SocialGraph, data: st.DataObject
    ) -> None:
        store.save_graph("any", graph, overwrite=True)
        for _ in range(3):
            asked = data.draw(selections(graph))
            expected = [plain.row(graph, user) for user in plain.chosen(graph, **asked)]
            assert every(store, "users", **asked) == expected
            assert by_pages(store, "users", data.draw(st.integers(1, 4)), **asked) == expected

    @quietly
    @given(graph=graphs(max_users=9), data=st.data())
    def test_neighbours_are_those_of_the_slow_version(
        self, store: Store, pieces: None, graph: SocialGraph, data: st.DataObject
    ) -> None:
        store.save_graph("any", graph, overwrite=True)
        user = data.draw(st.integers(0, len(graph) - 1))
        for direction in ("any", "following", "followers"):
            asked = {"user": graph.ids[user], "direction": direction}
            expected = list(plain.neighbours(graph, user, direction))
            assert every(store, "neighbours", **asked) == expected
            assert by_pages(store, "neighbours", 2, **asked) == expected

    @quietly
    @given(graph=graphs(max_users=9), data=st.data(), dense=st.booleans())
    def test_counts_are_those_of_the_slow_version(
        self, store: Store, pieces: None, graph: SocialGraph, data: st.DataObject, dense: bool
    ) -> None:
        store.save_graph("any", graph, overwrite=True)
        known = [each for each in KEYS if graph.directed or each not in ("following", "followers")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graphpriv.queries.cells.DENSE", 1 << 22 if dense else 0)
            patch.setattr("graphpriv.queries.cells._MERGED", 2)
            for _ in range(4):
                by = ",".join(data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True)))
                asked = data.draw(selections(graph))
                expected = plain.counts(graph, by, **asked)
                assert tallied(every(store, "counts", by=by, **asked), "users") == expected
                page = ask(store, "counts", by=by, **asked)
                assert page.facts == {"users": len(plain.chosen(graph, **asked))}
                assert page.header == (*by.split(","), "users")
                ordered = by_pages(store, "counts", 2, by=by, order="count", **asked)
                assert tallied(ordered, "users") == expected
                assert [each["users"] for each in ordered] == sorted(expected.values(), reverse=True)

    @quietly
    @given(graph=graphs(max_users=9), data=st.data(), dense=st.booleans())
    def test_mixing_is_that_of_the_slow_version(
        self, store: Store, pieces: None, graph: SocialGraph, data: st.DataObject, dense: bool
    ) -> None:
        store.save_graph("any", graph, overwrite=True)
        by = data.draw(st.sampled_from([each for each in SINGLE if graph.directed or not each.startswith("follow")]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graphpriv.queries.cells.DENSE", 1 << 22 if dense else 0)
            expected = plain.mixing(graph, by)
            assert tallied(every(store, "mixing", by=by), "links") == expected
            assert tallied(by_pages(store, "mixing", 2, by=by, order="count"), "links") == expected
            facts = ask(store, "mixing", by=by).facts
        links = len(plain.follows(graph))
        assert facts["links"] == links
        within = sum(count for (one, other), count in expected.items() if one == other is not None)
        assert facts["within"] == (within / links if links else None)

    @quietly
    @given(graph=graphs(max_users=9))
    def test_degrees_components_and_clustering_are_those_of_the_slow_version(
        self, store: Store, pieces: None, graph: SocialGraph
    ) -> None:
        store.save_graph("any", graph, overwrite=True)
        for of in ("degree", "following", "followers") if graph.directed else ("degree",):
            expected = Counter((plain.degrees(graph, user)[of],) for user in range(len(graph)))
            found = every(store, "degrees", of=of)
            assert tallied(found, "users") == expected
            assert [each[of] for each in found] == sorted(each for (each,) in expected)
            facts = ask(store, "degrees", of=of).facts
            every_degree = [each for (each,) in expected.elements()]
            assert (facts["least"], facts["largest"]) == (min(every_degree), max(every_degree))
            assert facts["mean"] == sum(every_degree) / len(graph)
        there = plain.undirected(graph)
        sizes = Counter(len(each) for each in nx.connected_components(there))
        expected_sizes = [{"size": size, "components": sizes[size]} for size in sorted(sizes, reverse=True)]
        assert every(store, "components") == by_pages(store, "components", 1) == expected_sizes
        assert ask(store, "components").facts == {"components": sum(sizes.values()), "users": len(graph)}
        (clustering,) = every(store, "clustering")
        assert clustering["mean"] == pytest.approx(nx.average_clustering(there))
        assert clustering["global"] == pytest.approx(nx.transitivity(there))

    def test_a_larger_graph_with_hubs_is_answered_like_the_slow_version(self, store: Store) -> None:
        graph = random_graph(5, 300, 900, places=30, topics=12)
        store.save_graph("any", graph)
        region = graph.places.keys[int(graph.places.parents[graph.location.max()])]
        asked = {"location": region, "degree": "2.."}
        assert by_pages(store, "users", 7, **asked) == [plain.row(graph, user) for user in plain.chosen(graph, **asked)]
        assert 0 < len(every(store, "users", **asked)) < 300
        by = "location:administrative_area_level_1,topics"
        assert tallied(every(store, "counts", by=by), "users") == plain.counts(graph, by)
        by = "location:country"
        assert tallied(every(store, "mixing", by=by), "links") == plain.mixing(graph, by)

    # Cases by hand

    def test_a_user_is_shown_with_place_topics_and_degrees(self, store: Store) -> None:
        store.save_graph("town", little())
        page = ask(store, "users", "town")
        ana, _, cleo = page.rows
        assert ana == {
            "id": "17",
            "location": "Barcelona",
            "path": [["Barcelona", "locality"], ["Spain", "country"], ["Europe", "continent"], ["world", "world"]],
            "topics": ["Sports", "Chess", None],
            "degree": 1,
            "following": 1,
            "followers": 1,
        }
        assert (cleo["location"], cleo["path"], cleo["topics"]) == (None, None, [None, None, None])
        assert page.header == ("id", "location", "topic1", "topic2", "topic3", "degree", "following", "followers")
        assert ana.cells == ("17", "Barcelona", "Sports", "Chess", "", 1, 1, 1)
        assert page.document["next"] is None

    def test_a_place_stands_for_all_below_it_and_an_empty_text_for_what_is_not_known(self, store: Store) -> None:
        store.save_graph("town", little())
        found = {place: [each["id"] for each in every(store, "users", "town", location=place)]
                 for place in ("world", "Spain", "Barcelona", "Madrid", "")}  # fmt: skip
        assert found == {"world": ["17", "4"], "Spain": ["17", "4"], "Barcelona": ["17"], "Madrid": [], "": ["99"]}
        assert [each["id"] for each in every(store, "users", "town", topic="Sports", rank=2)] == ["4"]
        assert [each["id"] for each in every(store, "users", "town", topic="", rank=3)] == ["17", "99"]
        assert [each["id"] for each in every(store, "users", "town", topic="")] == ["99"]

    def test_nobody_is_an_empty_page(self, store: Store) -> None:
        store.create_graph("empty", directed=False)
        store.save_graph("town", little())
        for name, asked in (("empty", {}), ("town", {"location": "Chile"}), ("town", {"degree": "100.."})):
            page = ask(store, "users", name, **asked)
            assert (page.rows, page.next) == ([], None)
            assert ask(store, "counts", name, by="location,topics", **asked).document == {
                "users": 0, "rows": [], "next": None,
            }  # fmt: skip
        for query, options in (("mixing", {"by": "topic1"}), ("degrees", {}), ("components", {})):
            assert ask(store, query, "empty", **options).rows == []
        assert ask(store, "clustering", "empty").facts == {"mean": 0.0, "global": 0.0}

    def test_what_the_graph_does_not_have_is_refused_with_the_nearest(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("plain", random_graph(1, 5, 6, directed=False))
        refused: list[tuple[str, dict[str, Any], str, str]] = [
            ("town", {"location": "Barcelone"}, "location", "did you mean 'Barcelona'"),
            ("town", {"topic": "Sport"}, "topic", "did you mean 'Sports'"),
            ("town", {"topic": "xyzzy"}, "topic", "a topic of this graph"),
            ("town", {"topic": "y" * 9999}, "topic", r"not 'y{100}'\.$"),
            ("plain", {"following": "1.."}, "following", "no directions"),
        ]
        for name, options, parameter, words in refused:
            with pytest.raises(InvalidParameter, match=words) as caught:
                ask(store, "users", name, **options)
            assert caught.value.parameter == parameter
        for query, parameter in (("counts", "by"), ("mixing", "by"), ("degrees", "of")):
            with pytest.raises(InvalidParameter, match="no directions") as caught:
                ask(store, query, "plain", **{parameter: "followers"})
            assert caught.value.parameter == parameter
        with pytest.raises(UnknownName, match="did you mean 'town'"):
            ask(store, "users", "tow")

    def test_an_unknown_user_is_refused_and_the_id_not_repeated(self, store: Store) -> None:
        store.save_graph("town", little())
        with pytest.raises(InvalidParameter, match="id of a user") as caught:
            ask(store, "neighbours", "town", user="@someone-we-know")
        assert caught.value.parameter == "user"
        assert "@someone-we-know" not in str(caught.value)

    def test_a_hub_with_ten_thousand_neighbours_is_answered_in_pages(self, store: Store) -> None:
        spokes = 10_000
        ends = np.arange(1, spokes + 1, dtype=np.int32)
        star, _ = SocialGraph.build(
            [f"u{number}" for number in range(spokes + 1)],
            np.where(ends % 2, 0, ends).astype(np.int32),
            np.where(ends % 2, ends, 0).astype(np.int32),
            directed=True,
            places=little().places,
            location=np.zeros(spokes + 1, dtype=np.int32),
            topics=[("Chess", None, None)] * (spokes + 1),
        )
        store.save_graph("star", star)
        first = ask(store, "neighbours", "star", user="u0", limit=1000)
        assert [each["id"] for each in first.rows] == [f"u{number}" for number in range(1, 1001)]
        for direction, share in (("any", 1), ("following", 2), ("followers", 2)):
            found = every(store, "neighbours", "star", user="u0", direction=direction)
            assert len(found) == spokes // share
        assert {(each["id"] == "u10000", each["follows"]) for each in found} == {(False, True), (True, True)}
        assert every(store, "neighbours", "star", user="u7")[0]["degree"] == spokes
        assert ask(store, "components", "star").rows == [{"size": spokes + 1, "components": 1}]

    # Cursors

    def test_a_page_that_ends_with_the_last_user_has_no_next(self, store: Store) -> None:
        store.save_graph("town", little())
        assert ask(store, "users", "town", limit=3).next is None
        page = ask(store, "users", "town", limit=2)
        assert page.next is not None
        assert ask(store, "users", "town", limit=1, cursor=page.next).next is None

    def test_a_cursor_is_refused_where_it_was_not_given(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_graph("other", little())
        cursor = ask(store, "users", "town", limit=1).next
        assert cursor is not None
        assert ask(store, "users", "town", limit=2, cursor=cursor).rows
        asked: list[tuple[str, str, dict[str, Any]]] = [
            ("users", "other", {}),
            ("users", "town", {"degree": "1.."}),
            ("neighbours", "town", {"user": "17"}),
            ("counts", "town", {"by": "topic1"}),
        ]
        wrong = ["", "x", cursor[:-1], cursor + "A", cursor + "=", "é" * 12, cursor[:8], "A" * 22, cursor + "\n"]
        for query, name, options in [*asked, *(("users", "town", {"cursor": each}) for each in wrong)]:
            with pytest.raises(InvalidParameter, match="the next of an earlier page") as caught:
                ask(store, query, name, **{"cursor": cursor, **options})
            assert caught.value.parameter == "cursor"
        store.save_graph("town", little(), overwrite=True)
        with pytest.raises(InvalidParameter, match="cursor must be the next of an earlier page"):
            ask(store, "users", "town", limit=2, cursor=cursor)

    def test_a_cursor_goes_on_after_users_came_and_went_and_the_store_was_closed(
        self, store: Store, address: str
    ) -> None:
        filled(store)
        cursor = ask(store, "users", "town", limit=2).next
        store.add_users("town", [User(id="5", location=MADRID)])
        store.forget("town", "17")
        with importing.opened(address) as again:
            page = ask(again, "users", "town", limit=1, cursor=cursor)
            assert [each["id"] for each in page.rows] == ["99"]
            page = ask(again, "users", "town", limit=1, cursor=page.next)
            assert ([each["id"] for each in page.rows], page.next) == (["5"], None)

    # What changes

    def test_answers_follow_every_change(self, store: Store) -> None:
        store.save_graph("town", little())
        store.add_users("town", [User(id="5", location=MADRID, topics=("Ski", "Chess"))])
        self.is_answered(store)
        store.add_follows("town", [Follow("5", "17"), Follow("17", "99")])
        self.is_answered(store)
        store.add_users("town", [User(id="4", location=None, topics=("Ski",))])
        self.is_answered(store)
        store.forget("town", "4")
        self.is_answered(store)
        assert store.check() == []

    def is_answered(self, store: Store) -> None:
        """The answers are those of the graph as it is, also when they are asked for again."""
        graph = store.load_graph("town")
        for _ in range(2):
            assert every(store, "users", "town") == [plain.row(graph, user) for user in range(len(graph))]
            found = tallied(every(store, "counts", "town", by="location:country,topics"), "users")
            assert found == plain.counts(graph, "location:country,topics")
            for user, each in enumerate(graph.ids):
                neighbours = list(plain.neighbours(graph, user, "any"))
                assert every(store, "neighbours", "town", user=each) == neighbours
        assert store.figures("town") == describe(graph, rng=np.random.default_rng(0))

    def test_a_stream_is_whole_or_an_error(self, store: Store, pieces: None) -> None:
        filled(store)
        begun = rows(store, "town", queries["users"].make({}))
        seen = [next(begun), next(begun)]
        assert [each["id"] for each in seen] == [each.id for each in PEOPLE[:2]]
        store.add_users("town", [User(id="new")])
        with pytest.raises(StoreUnavailable, match="'town' changed while it was being read; try again") as caught:
            next(begun)
        assert caught.value.can_retry

    def test_who_cannot_keep_a_summary_is_answered_all_the_same(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled(store)

        def refuse(*_: object) -> None:
            raise StoreUnavailable("another process has been writing", can_retry=True)

        monkeypatch.setattr(store, "_write", refuse)
        assert len(every(store, "users", "town")) == 3
        assert store.figures("town")["users"] == 3

    def test_one_of_several_who_ask_makes_the_summary_and_the_others_are_told_to_come_again(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled(store)
        made, begun, go_on = store._summarise, threading.Event(), threading.Event()
        times: list[str] = []

        def slowly(name: str) -> Any:
            times.append(name)
            begun.set()
            assert go_on.wait(60)
            return made(name)

        monkeypatch.setattr(store, "_summarise", slowly)
        monkeypatch.setattr("graphpriv.store.contract._SUMMARY_PATIENCE", 0.01)
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(store.figures, "town")
            assert begun.wait(60)
            with pytest.raises(StoreUnavailable, match="'town' are being computed") as caught:
                threads.submit(store.figures, "town").result()
            assert caught.value.can_retry
            go_on.set()
            assert first.result() == store.figures("town")
        assert times == ["town"]

    def test_with_somebody_to_make_it_nobody_waits_for_a_summary(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled(store)
        made, go_on, times = store._summarise, threading.Event(), list[str]()

        def slowly(name: str) -> Any:
            times.append(name)
            assert go_on.wait(60)
            return made(name)

        threads: list[threading.Thread] = []

        def beside(work: Callable[[], None]) -> None:
            threads.append(threading.Thread(target=work))
            threads[-1].start()

        monkeypatch.setattr(store, "_summarise", slowly)
        monkeypatch.setattr("graphpriv.store.contract._SUMMARY_PATIENCE", 0.2)
        store.later = beside
        for _ in range(2):
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match="'town' are being computed"):
                store.figures("town")
            assert time.monotonic() - begun < 5
        go_on.set()
        for each in threads:
            each.join()
        assert store.figures("town")["users"] == 3
        assert times == ["town"]

    # Releases

    @quietly
    @given(graph=graphs(max_users=8), rng=generators)
    def test_a_release_answers_the_same_with_and_without_its_original(
        self, store: Store, graph: SocialGraph, rng: np.random.Generator
    ) -> None:
        masked, mapping = anonymous(graph, graph, rng)
        store.save_graph("any", graph, overwrite=True)
        store.save_release("any", "out", Release(masked, mapping, 1, "m"), seed=5, run=RUN, overwrite=True)
        asked: list[tuple[str, dict[str, Any]]] = [
            *[("users", {"limit": 2}), ("neighbours", {"user": masked.ids[0]}), ("counts", {"by": "location,topics"})],
            *[("mixing", {"by": "topic1"}), ("degrees", {}), ("components", {}), ("clustering", {})],
        ]
        with_original = [ask(store, query, "out", **options).document for query, options in asked]
        assert [each["id"] for each in every(store, "users", "out")] == list(masked.ids)
        store.delete_graph("any")
        assert [ask(store, query, "out", **options).document for query, options in asked] == with_original

    def test_figures_are_computed_when_a_graph_is_stored(self, store: Store) -> None:
        store.save_graph("town", little())
        store.save_release("town", "out", release_of(little()), seed=1, run=RUN)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graphpriv.structure.anatomy", None)
            for name in ("town", "out"):
                assert store.figures(name)["edges"] == 3
                assert ask(store, "clustering", name).facts["mean"] == 0.0
