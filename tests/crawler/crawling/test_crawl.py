"""The crawl over real HTTP, without faults and with them: what it brings, where it stops, and what it costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from crawler.crawling import collected, journal
from crawler.sources.failures import Failure
from crawler.sources.x import X
from graphpriv.store import Store, open_store
from graphpriv.store.crawls import LISTED, VISITED
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, SourceUnavailable
from tests.crawler.crawling.crawls import (
    MORNING,
    Killed,
    agrees_with,
    asked_in_one_go,
    billed,
    content,
    counts_whoever_is_there,
    killed_at,
    made,
    standing,
    world,
)  # fmt: skip
from tests.crawler.crawling.faults import Faults


@pytest.fixture
def store(tmp_path: Path):
    with open_store(f"file:{tmp_path / 'graphs.db'}", create=True) as store:
        yield store


@pytest.fixture(scope="module")
def network():
    return made(30)


def reachable(network, start):
    found, waiting = {start}, [start]
    while waiting:
        new = [each for each in network.follows[waiting.pop()] if each not in found]
        found.update(new)
        waiting += new
    return found


def test_everybody_who_can_be_found_is_there_with_all_links_and_posts(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store)
        agrees_with(network, store)
        assert {user.id for user in store.users("town")} == reachable(network, network.by_handle(there.start))
        assert standing(store).ended == "frontier"
        assert billed(there, store) > 0
        asked_in_one_go(there.interface.log)
        assert Counter(there.interface.log).most_common(1)[0][1] == 1
    assert store.check() == []
    found = collected(store, "town")
    assert found["lists"] == {"complete": found["users"]["kept"], "share_seen": 1.0}
    assert found["frontier"] == 0 and found["asked_twice"] == 0
    stood = {each.id: each.document.get("location_from") for each in store.records("town", VISITED)}
    assert all(stood[each.id] == (None if each.location_text is None else "profile") for each in store.users("town"))


def test_it_stops_at_the_users_that_were_asked_for_and_goes_on_to_more(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, users=6, posts=0)
        assert [standing(store).kept, standing(store).ended] == [6, "users"]
        users, edges, posts = content(store)
        assert (len(users), posts) == (6, [])
        kept = {user.id for user in users}
        assert edges == {(a, b) for a in kept for b in network.follows[a] if b in kept}
        more = there.crawl(store, users=12, posts=0)
        more.resume("x")
        more.run()
        assert standing(store).kept == 12
        there.crawled(store, "whole", users=12, posts=0)
        assert content(store, "whole")[0] == content(store)[0]
        assert content(store, "whole")[1] == content(store)[1]


def test_the_same_seed_takes_the_same_users_and_another_seed_others(store: Store, network) -> None:
    with world(network) as there:
        for graph, seed in (("a", 1), ("b", 1), ("c", 2)):
            there.crawled(store, graph, seed, users=15)
    order = {graph: [user.id for user in store.users(graph)] for graph in "abc"}
    assert order["a"] == order["b"] != order["c"]


def test_with_faults_the_graph_is_the_same(store: Store, network) -> None:
    faults = Faults(seed=3, share=0.3)
    with world(network) as there:
        there.crawled(store, "plain")
    with world(network, spoil=faults) as there:
        there.crawled(store, "town")
        billed(there, store)
        asked_in_one_go(there.interface.log)
    assert content(store, "plain") == content(store, "town")
    assert set(faults.done) == {"limited", "silent", "failed", "cut", "garbled"}
    counted = standing(store).failures
    assert counted["rate-limited"] == faults.done["limited"] + faults.done["silent"]
    assert counted["server-failed"] == faults.done["failed"]
    assert counted["connection-cut"] + counted["garbled"] == faults.done["cut"] + faults.done["garbled"]


def test_who_must_not_be_kept_is_counted_and_does_not_count(store: Store) -> None:
    network = made(30)
    start = max(network.follows, key=lambda id: len(network.follows[id]))
    others = sorted(reachable(network, start) - {start})
    for id, change in zip(
        others[:4],
        ({"protected": True}, {"description": "#nobot"}, {"state": "suspended"}, {"state": "deleted"}),
        strict=True,
    ):
        network.users[id] = replace(network.users[id], **change)
    with world(network) as there:
        # X names neither suspended nor deleted users in lists; an older list might.
        there.network.here = lambda id, here=network.here: here(id) or (id in others[2:4] and asking_lists())  # type: ignore

        def asking_lists():
            return there.interface.log[-1][0] == "following"

        there.crawled(store)
    states = collected(store, "town")["users"]
    assert states["locked"] == states["opted-out"] == states["suspended"] == states["vanished"] == 1
    kept = {user.id for user in store.users("town")}
    assert kept.isdisjoint(others[:4])
    assert states["kept"] == len(kept)
    raw = [(question, body) for question, body in journal(store, "town")]
    assert not any(question.user in others[:4] for question, _ in raw)
    assert not any(b"#nobot" in body or b'"protected": true' in body for _, body in raw)


def test_who_vanishes_between_two_questions_leaves_nothing(store: Store) -> None:
    network = made(30)
    with world(network) as there:
        id = network.by_handle(there.start)
        hers = network.follows[id][0]
        asked = []
        plain = there.interface.reply

        def reply(path, query, token):
            asked.append(path)
            if path.endswith(f"{hers}/tweets"):
                network.users[hers] = replace(network.users[hers], state="suspended")
            return plain(path, query, token)

        there.interface.reply = reply
        there.crawled(store)
    assert any(path.endswith(f"{hers}/tweets") for path in asked)
    assert hers not in {user.id for user in store.users("town")}
    assert collected(store, "town")["users"]["suspended"] == 1
    counts_whoever_is_there(store)
    assert hers.encode() not in b"".join(body for _, body in journal(store, "town"))
    assert store.check() == []


@pytest.mark.parametrize("budget", [455])
def test_the_bill_never_passes_the_budget_and_comes_close(store: Store, network, budget: int) -> None:
    with world(network) as there:
        there.crawled(store, budget=budget)
        assert standing(store).ended == "budget"
        spent = billed(there, store) * 1000
        # A page of posts has five at least, so up to 24 tenths may be left.
        assert budget - 25 < spent <= budget
        more = there.crawl(store)
        more.resume("x")
        more.run()
        asked_in_one_go(there.interface.log)
        there.crawled(store, "whole")
    assert content(store)[0] == content(store, "whole")[0]
    assert content(store)[1] == content(store, "whole")[1]
    agrees_with(network, store)


def test_a_budget_that_pays_for_nobody_asks_nobody(store: Store, network) -> None:
    with world(network) as there:
        with pytest.raises(InvalidParameter, match="does not pay for one user"):
            there.crawled(store, budget=9)
        assert there.interface.log == []
    assert store.graphs() == []


def test_requests_and_seconds_end_it_with_everything_kept(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, requests=17)
        assert (standing(store).ended, len(there.interface.log)) == ("requests", 17)
        assert standing(store).requests == 17
        later = there.crawl(store, seconds=0.0)
        later.resume("x")
        later.run()
        assert (standing(store).ended, len(there.interface.log)) == ("seconds", 17)
        rest = there.crawl(store)
        rest.resume("x")
        rest.run()
        agrees_with(network, store)
        assert standing(store).twice == 0


def test_a_list_that_is_cut_by_who_asks_is_marked_and_one_page_pays_for_no_more(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, follows=3)
    lists = collected(store, "town")["lists"]
    assert lists["capped"] > 0
    assert 0 < lists["share_seen"] < 1
    loaded = store.load_graph("town")
    assert max(loaded.follows.counts) <= 3


def test_on_the_next_day_everything_is_paid_for_again(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, "one", users=5)
        once = there.interface.bill.total
        there.crawled(store, "two", users=5)
        assert there.interface.bill.total == once
        there.hurried.moment = MORNING + 86_400
        there.crawled(store, "three", users=5)
        assert there.interface.bill.total == 2 * once
        assert Decimal(standing(store, "three").spent) / 1000 == once


def test_a_limit_is_waited_out_as_the_network_says(store: Store, network) -> None:
    with world(network, limit=10, window=900.0) as there:
        there.crawled(store, users=21)
        # Ten users a quarter of an hour, as users are asked for one by one.
        assert 2 * 900 <= sum(there.hurried.waits) < 3 * 900 + 10
        assert standing(store).failures["rate-limited"] == 0
        assert max(Counter(there.interface.log).values()) == 1


@pytest.mark.parametrize(
    ("reply", "ended"),
    [
        ((401, b"{}"), "token-refused"),
        ((402, b'{"title": "CreditsDepleted"}'), "payment-required"),
        ((403, b'{"title": "Client Forbidden", "reason": "client-not-enrolled"}'), "not-in-plan"),
        ((429, b'{"type": "https://api.twitter.com/2/problems/usage-capped"}'), "cap-reached"),
        ((400, b"{}"), "refused"),
        ((500, b""), "server-failed"),
        ((429, b""), "rate-limited"),
        ((200, b"{"), "garbled"),
    ],
)
def test_what_asking_again_does_not_mend_stops_it_with_everything_kept(store, network, reply, ended) -> None:
    from crawler.made.x import Reply

    broken = False

    def spoil(whole):
        return (Reply(*reply) if broken else whole), None

    with world(network, spoil=spoil) as there:
        there.crawled(store, users=4)
        broken = True
        crawl = there.crawl(store, users=8)
        crawl.resume("x")
        with pytest.raises(SourceUnavailable) as raised:
            crawl.run()
        assert "made" not in str(raised.value).replace(there.url, "")
        assert standing(store).ended == ended
        assert len(content(store)[0]) == 4
        broken = False
        crawl = there.crawl(store, users=8)
        crawl.resume("x")
        crawl.run()
        assert standing(store).kept == 8


def test_nothing_is_stored_where_there_is_nobody_to_start_from(store: Store, network) -> None:
    with world(network) as there:
        network.users["9"] = replace(network.users[min(network.users)], id="9", handle="gone", state="suspended")
        for start, told in (("nobody_here", "no such user"), ("gone", "suspended")):
            with pytest.raises(InvalidParameter, match=f"start: .*{told}.*nothing was stored"):
                there.crawl(store).begin("x", start, np.random.default_rng(1))
        del network.users["9"]
        wrong = there.crawl(store)
        wrong._asker.source = X(token="wrong", url=there.url)
        with pytest.raises(SourceUnavailable, match="token is refused"):
            wrong.begin("x", there.start, np.random.default_rng(1))
        away = there.crawl(store)
        away._asker.source = X(token="made", url="http://127.0.0.1:9")
        with pytest.raises(SourceUnavailable, match="cannot be reached"):
            away.begin("x", there.start, np.random.default_rng(1))
    assert store.graphs() == []


def test_a_graph_has_one_crawl_at_a_time(store: Store, network) -> None:
    with world(network) as there:
        first = there.crawl(store)
        first.begin("x", there.start, np.random.default_rng(1))
        second = there.crawl(store)
        with pytest.raises(InvalidInput, match="in use by another crawl"):
            second.resume("x")
        with pytest.raises(InvalidInput, match="in use by another crawl"):
            second.begin("x", there.start, np.random.default_rng(1))
        # Who knows that the first one has ended takes over; if it has not, it stops.
        third = there.crawl(store, users=3)
        third.takes_over = True
        third.resume("x")
        with pytest.raises(InvalidInput, match="in use by another crawl"):
            first.run()
        third.run()
        with pytest.raises(NameTaken, match="give resume to go on"):
            second.begin("x", there.start, np.random.default_rng(1))
        second.resume("x")
        second.run()
    agrees_with(network, store)


def test_who_is_forgotten_while_it_runs_is_not_found_again(store: Store, network) -> None:
    with world(network) as there:
        crawl = there.crawl(store, users=24)
        crawl.begin("x", there.start, np.random.default_rng(1))
        asked = 0
        gone = []

        def watch(figures):
            nonlocal asked
            asked += 1
            if asked == 20:
                gone.append([user.id for user in store.users("town")][-2])
                store.forget("town", gone[0])
            if asked == 30:
                gone.append(crawl._taking.frontier.order[0])
                store.forget("town", gone[1])

        crawl.watch = watch
        crawl.run()
    assert len(gone) == 2
    counts_whoever_is_there(store)
    assert set(gone).isdisjoint(user.id for user in store.users("town"))
    raw = b"".join(body for _, body in journal(store, "town"))
    assert not any(f'"{id}"'.encode() in raw for id in gone)
    assert store.check() == []


def test_the_figures_no_longer_count_who_was_forgotten(store: Store) -> None:
    network = made(30)
    start = max(network.follows, key=lambda id: len(network.follows[id]))
    locked = sorted(reachable(network, start) - {start})[0]
    network.users[locked] = replace(network.users[locked], protected=True)
    with world(network) as there:
        there.crawled(store, follows=3)
        counts_whoever_is_there(store)
        ids = [user.id for user in store.users("town")]
        before = collected(store, "town")
        assert before["users"]["locked"] == 1
        for id in (*ids[:5], locked):
            store.forget("town", id)
        found = collected(store, "town")
        counts_whoever_is_there(store)
        assert found["users"] == {"kept": len(ids) - 5, "forgotten": 6}
        assert sum(found["lists"][each] for each in ("capped", "complete")) == len(ids) - 5
        # What was paid and asked for stays.
        assert [found[each] for each in ("cost", "requests")] == [before[each] for each in ("cost", "requests")]


def test_whose_list_was_at_hand_and_is_forgotten_takes_nothing_from_the_next_list(store, network, monkeypatch) -> None:
    monkeypatch.setattr(X, "sizes", {"following": (1, 2), "posts": (5, 100)})
    with world(network) as there:
        there.crawled(store, users=8, requests=3)
        rest = there.crawl(store)
        rest.resume("x")
        gone: list[str] = []

        def watch(figures) -> None:
            current = rest.standing.current
            if not gone and figures["users"]["kept"] == 4 and current is not None and current.listing.pages == 2:
                gone.append(current.user)
                store.forget("town", current.user)
                assert list(store.records("town", LISTED)) == []

        rest.watch = watch
        rest.run()
    assert len(gone) == 1
    users, edges, _ = content(store)
    kept = {user.id for user in users}
    assert gone[0] not in kept
    assert edges == {(a, b) for a in kept for b in network.follows[a] if b in kept}
    counts_whoever_is_there(store)


def test_the_journal_can_be_read_again(store: Store, network) -> None:
    with world(network) as there:
        crawl = there.crawled(store, users=12)
        pages = [(question, crawl.source.read(question, body)) for question, body in journal(store, "town")]
        assert len(pages) == len(there.interface.log)
    users, _, posts = content(store)
    assert [each.id for question, page in pages if question.kind == "posts" for each in page.posts] == [
        p.id for p in posts
    ]
    assert [page.profiles[0].id for question, page in pages if page.profiles] == [user.id for user in users]


def test_a_journal_of_no_days_keeps_nothing(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, users=5, journal_days=0)
        assert list(journal(store, "town")) == []
        there.crawled(store, "kept", users=5, journal_days=2)
        assert len(list(journal(store, "kept"))) > 5
        assert store.expire(there.hurried.moment + 2 * 86_400 + 1) == len(there.interface.log) / 2


def test_half_characters_and_ids_that_are_none_stop_nothing(store: Store) -> None:
    network = made(12)
    start = max(network.follows, key=lambda id: len(network.follows[id]))
    network.users[start] = replace(network.users[start], name="half \ud83d", location="\udfff")
    network.posts[start][0] = replace(network.posts[start][0], text="cut \ud83d off")

    def spoil(reply):
        return replace(reply, body=reply.body.replace(b'"followers_count": 0', b'"followers_count": null')), None

    network.users["\ud800"] = replace(network.users[start], id="\ud800")
    network.follows = {**network.follows, start: ["\ud800", "x" * 2000, *network.follows[start]]}
    network.users["x" * 2000] = replace(network.users[start], id="x" * 2000)
    with world(network, spoil=spoil) as there:
        there.crawled(store, users=3)
    assert next(user.name for user in store.users("town")) == "half ?"
    assert next(store.posts("town")).text == "cut ? off"
    found = [id for id in network.follows[start] if id.isdigit()]
    store.forget("town", found[0])
    assert store.check() == []


def test_what_may_have_been_charged_for_before_midnight_counts_when_it_is_asked_again(store: Store, network) -> None:
    with world(network) as there:
        there.hurried.moment = MORNING + 16 * 3600 - 1.5
        crawl = there.crawl(store, users=3, posts=0)
        asked, plain = [], crawl.source.ask

        def ask(question):
            asked.append(question.kind)
            answer = plain(question)
            # Both answers were charged for and got lost; what is asked a third time is asked on the next day.
            if question.kind == "following" and asked.count("following") <= 2:
                raise Failure("connection-cut")
            return answer

        object.__setattr__(crawl.source, "ask", ask)
        crawl.begin("x", there.start, np.random.default_rng(1))
        crawl.run()
        stands = standing(store)
        bill = there.interface.bill.total * 1000
    assert stands.kept == 3
    assert stands.spent < bill <= stands.spent + stands.uncertain


MIDNIGHT = MORNING + 16 * 3600


def killed_and_resumed(there, store, before: float, after: float, **limits) -> tuple[int, int, int]:
    """What was billed, spent and maybe spent by a crawl that is killed at one moment and goes on at another one."""
    there.hurried.moment = before
    crawl = there.crawl(store, users=3, **limits)
    killed_at(crawl.source, "following", 2)
    crawl.begin("x", there.start, np.random.default_rng(1))
    with pytest.raises(Killed):
        crawl.run()
    there.hurried.moment = after
    rest = there.crawl(store, users=3, **limits)
    rest.resume("x")
    rest.run()
    stands = standing(store)
    return int(there.interface.bill.total * 1000), stands.spent, stands.uncertain


@pytest.mark.parametrize("ahead", [-1200.0, 1200.0, 40_000.0])
@pytest.mark.parametrize("budget", [None, 330])
def test_the_day_is_that_of_the_network_whose_clock_is_another(store: Store, network, ahead, budget) -> None:
    with world(network) as there:
        there.interface.clock = lambda: there.hurried.moment + ahead
        times = MIDNIGHT - ahead - 300, MIDNIGHT - ahead + 300
        bill, spent, maybe = killed_and_resumed(there, store, *times, posts=0, budget=budget)
    # What was under way before midnight was asked for again after it, and charged for twice.
    assert maybe > 0
    assert spent < bill <= spent + maybe <= (budget or bill + maybe)


def test_on_one_day_of_the_network_nothing_is_in_doubt_whatever_day_it_is_here(store: Store, network) -> None:
    with world(network) as there:
        there.interface.clock = lambda: there.hurried.moment + 1200
        bill, spent, maybe = killed_and_resumed(there, store, MIDNIGHT - 300, MIDNIGHT + 300)
    assert (spent, maybe) == (bill, 0)
    assert standing(store).twice == 1


@pytest.mark.parametrize("ahead", [-11 * 3600.0, 0.0, 11 * 3600.0])
def test_where_the_network_does_not_tell_the_time_both_days_count(store: Store, network, ahead) -> None:
    def timeless(reply):
        return replace(reply, headers={k: v for k, v in reply.headers.items() if k != "Date"}), None

    with world(network, spoil=timeless) as there:
        there.interface.clock = lambda: there.hurried.moment + ahead
        times = MIDNIGHT - ahead - 300, MIDNIGHT - ahead + 300
        bill, spent, maybe = killed_and_resumed(there, store, *times, budget=700)
    assert spent < bill <= spent + maybe <= 700


def test_what_was_under_way_is_not_lost_where_a_run_does_not_ask_for_it_again(store: Store, network) -> None:
    with world(network) as there:
        crawl = there.crawl(store, users=3, posts=0)
        killed_at(crawl.source, "following", 2)
        crawl.begin("x", there.start, np.random.default_rng(1))
        with pytest.raises(Killed):
            crawl.run()
        idle = there.crawl(store, users=3, posts=0, requests=1)
        idle.resume("x")
        idle.run()
        there.hurried.moment += 86_400
        rest = there.crawl(store, users=3, posts=0)
        rest.resume("x")
        rest.run()
        stands = standing(store)
        assert stands.spent < there.interface.bill.total * 1000 <= stands.spent + stands.uncertain


def test_a_smaller_page_than_the_one_that_was_under_way_leaves_the_rest_in_doubt(store: Store, network) -> None:
    with world(network) as there:
        crawl = there.crawl(store, users=3, posts=0)
        killed_at(crawl.source, "following", 1)
        crawl.begin("x", there.start, np.random.default_rng(1))
        with pytest.raises(Killed):
            crawl.run()
        assert there.interface.bill.counts["followed"] > 2
        rest = there.crawl(store, users=1, posts=0, follows=2)
        rest.resume("x")
        rest.run()
        stands = standing(store)
        assert stands.charged["followed"] == 2
        assert stands.spent < there.interface.bill.total * 1000 <= stands.spent + stands.uncertain


def test_an_answer_that_got_lost_counts_if_the_user_is_gone_when_asked_again(store: Store) -> None:
    network = made(30)
    with world(network) as there:
        crawl = there.crawl(store, users=3, posts=0)
        gone, plain = [], crawl.source.ask

        def ask(question):
            answer = plain(question)
            if question.kind == "profile" and not gone:
                gone.append(question.user)
                network.users[question.user] = replace(network.users[question.user], state="suspended")
                raise Failure("connection-cut")
            return answer

        object.__setattr__(crawl.source, "ask", ask)
        crawl.begin("x", there.start, np.random.default_rng(1))
        crawl.run()
        stands = standing(store)
    assert (stands.users["suspended"], stands.uncertain) == (1, 10)
    assert there.interface.bill.total * 1000 == stands.spent + 10


def test_lower_limits_pay_for_nothing_more_of_the_list_at_hand(store: Store, network) -> None:
    with world(network) as there:
        there.crawled(store, users=1, posts=5, requests=2)
        assert standing(store).current.stage == "posts"
        before = there.interface.bill.total
        later = there.crawl(store, users=1, posts=0)
        later.resume("x")
        later.run()
        assert (standing(store).ended, there.interface.bill.total) == ("users", before)
    assert store.check() == []


def test_a_crawl_that_was_killed_when_it_had_just_begun_knows_its_start(store: Store, network, monkeypatch) -> None:
    def killed(*_: object) -> None:
        raise Killed

    with world(network) as there:
        first = there.crawl(store)
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(store, "claim_crawl", killed)
            first.begin("x", there.start, np.random.default_rng(1))
        second = there.crawl(store)
        with pytest.raises(InvalidParameter, match="is not the user"):
            second.resume("x", "somebody")
        second.resume("x", there.start)
        second.run()
        agrees_with(network, store)
