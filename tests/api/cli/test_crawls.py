"""`crawl` and `graph refresh` on the command line, over real HTTP; and the crawl as a verb of a job."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.verbs import verbs
from api.verbs.contract import Work, names_with, perform
from api.verbs.values import made as verb_of
from graphpriv.store import open_store
from graphpriv.store.crawls import CRAWL, ONLY, Step, document
from tests.crawler.crawling.crawls import agrees_with, made, world
from tests.crawler.sources.loopback import Network, bluesky, mastodon, served

STORE = ("--store", "file:graphs.db")


@pytest.fixture
def there(monkeypatch):
    with world(made(40)) as there:
        there.interface.clock = __import__("time").time
        monkeypatch.setenv("GRAPHPRIV_X_TOKEN", "made")
        monkeypatch.setenv("GRAPHPRIV_X_URL", there.url)
        yield there


def crawl(graphpriv, there, *more, users=12, posts=2, graph="town"):
    options = ("--start", there.start, "--users", users, "--posts", posts, "--graph", graph)
    return graphpriv("crawl", "x", *options, *STORE, *more)


def test_a_crawl_tells_how_it_went_and_goes_on(graphpriv, there) -> None:
    ended = crawl(graphpriv, there, "--json", "--seed", 1)
    assert ended.code == 0, ended.err
    found = ended.document
    assert (found["graph"], found["source"], found["users"], found["ended"]) == ("town", "x", {"kept": 12}, "users")
    assert found["cost"] == float(there.interface.bill.total)
    assert found["requests"] == len(there.interface.log)
    assert "X asks you to erase what was deleted" in ended.err and "kept for 30 days" in ended.err
    assert "at most about $600.42" in ended.err
    assert "made" not in ended.err + ended.out
    more = crawl(graphpriv, there, "--resume", "--json", "--seed", 1, users=20)
    assert more.document["users"] == {"kept": 20}
    whole = crawl(graphpriv, there, "--seed", 1, users=20, graph="whole")
    assert "whole: 20 users," in whole.out and "it has all the users requested" in whole.out
    for name in ("town", "whole"):
        graphpriv("graph", "export", name, "--out", f"{name}.json", *STORE)
    assert Path("town.json").read_text() == Path("whole.json").read_text()
    with open_store("file:graphs.db", create=False) as store:
        assert len(list(store.posts("town"))) == 40


def test_the_costs_are_told_whatever_the_budget_is(graphpriv, there) -> None:
    told = crawl(graphpriv, there, "--budget", 1).err
    assert "at most about $600.42, at the prices of" in told
    assert "It stops before it costs more than $1.00." in told


def test_a_graph_under_crawl_is_a_graph(graphpriv, there) -> None:
    crawl(graphpriv, there, "--requests", 9, users=30)
    assert graphpriv("graph", "show", "town", *STORE, "--json").document["users"] == 3
    assert graphpriv("graph", "export", "town", "--out", "town.json", *STORE).code == 0
    # The frontier is no part of it.
    assert len(json.loads(Path("town.json").read_text())["nodes"]) == 3
    assert graphpriv("protect", "town", "--k", 3, "--into", "town-v1", *STORE).code == 0
    assert graphpriv("store", "check", *STORE).code == 0
    last = crawl(graphpriv, there, "--resume", "--json", users=30)
    assert last.document["users"]["kept"] == 30


def test_a_dry_run_asks_nothing_and_needs_no_credentials(graphpriv, there, monkeypatch) -> None:
    monkeypatch.delenv("GRAPHPRIV_X_TOKEN")
    ended = crawl(graphpriv, there, "--dry-run", "--json", "--follows", 400, users=1638, posts=0)
    assert there.interface.log == []
    assert not Path("graphs.db").exists()
    cost = ended.document["cost"]
    # 1,638 users who follow 400 each: $6,552 for whom they follow, and $16.38 for themselves.
    assert (cost["likely"], cost["high"]) == (6552 + 16.38, 6552 + 16.38)
    assert ended.document["would_ask"] == {"users": 1638, "follows_at_most": 655_200, "posts_at_most": 0}
    Path("prices.toml").write_text(
        'date = "2030-01-01"\n[x]\nuser = 0\nfollowed = "0.001"\npost = 0\n[following]\nlow = 1\nlikely = 2\nhigh = 3\n'
    )
    ended = crawl(graphpriv, there, "--dry-run", "--prices", "prices.toml", users=1000)
    assert "likely cost $2.00: at least about $1.00, at most about $3.00" in ended.out
    assert "2030-01-01" in ended.out and "Nothing was asked" in ended.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--budget", "0.0001"), "--budget must be an amount in dollars, to a tenth of a cent"),
        (("--budget", "0.009"), "--budget does not pay for one user"),
        (("--users", "0"), "--users must be at least 1"),
        (("--prices", "none.toml"), "none.toml"),
        (("--start", "nobody_here"), "--start: there is no such user; nothing was stored"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_stored(graphpriv, there, options, told) -> None:
    ended = crawl(graphpriv, there, *options)
    assert (ended.code, told in ended.error) == (2, True), ended.error
    assert not Path("graphs.db").exists()


def test_a_network_that_cannot_be_asked_is_one_line(graphpriv, there, monkeypatch) -> None:
    monkeypatch.setenv("GRAPHPRIV_X_TOKEN", "wrong")
    ended = crawl(graphpriv, there)
    assert ended.code == 1 and "the token is refused; nothing was stored" in ended.error
    assert "wrong" not in ended.error
    monkeypatch.setattr("crawler.crawling.asking.FIRST_TRIES", 1)
    monkeypatch.setenv("GRAPHPRIV_X_URL", "http://ann:secret@127.0.0.1:9")
    ended = crawl(graphpriv, there)
    assert ended.code == 1 and "http://127.0.0.1:9: the network cannot be reached" in ended.error
    monkeypatch.setenv("GRAPHPRIV_X_URL", "nonsense")
    assert "The variable GRAPHPRIV_X_URL must be an address" in crawl(graphpriv, there).error
    monkeypatch.delenv("GRAPHPRIV_X_TOKEN")
    ended = crawl(graphpriv, there)
    assert ended.code == 2 and "set the variable GRAPHPRIV_X_TOKEN" in ended.error
    assert "No source is called 'y'" in graphpriv("crawl", "y", "--graph", "g", "--resume").error
    assert not Path("graphs.db").exists()


def test_what_it_needs_and_whose_name_is_taken(graphpriv, there) -> None:
    assert "--posts is missing" in graphpriv("crawl", "x", "--start", "a", "--users", 1, "--graph", "g").error
    assert crawl(graphpriv, there).code == 0
    taken = crawl(graphpriv, there)
    assert "give --resume to go on with it" in taken.error
    # One line, without what is said of a crawl that begins.
    assert len(taken.err.splitlines()) == 1
    with open_store("file:graphs.db", create=False) as store:
        store.claim_crawl("town", {"token": "somebody", "host": "elsewhere", "alive": 2e10}, lambda _: False)
    for more in ((), ("--resume",)):
        assert "'town' is in use by another crawl" in crawl(graphpriv, there, *more).error
    assert "No graph is called 'city'" in crawl(graphpriv, there, "--resume", graph="city").error


def test_a_crawl_goes_on_from_its_own_start_alone(graphpriv, there) -> None:
    other = next(each.handle for each in there.network.users.values() if each.handle != there.start)
    empty = crawl(graphpriv, there, "--start", "  ")
    assert (empty.code, empty.error, Path("graphs.db").exists()) == (2, "--start is empty; name a user.", False)
    assert crawl(graphpriv, there, "--requests", 9, users=30).code == 0
    asked = len(there.interface.log)
    for start in (other, "a\udcffb"):
        ended = graphpriv("crawl", "x", "--graph", "town", "--resume", "--start", start, *STORE)
        assert (ended.code, len(there.interface.log)) == (2, asked)
        assert "--start is not the user from whom the crawl of graph 'town' began" in ended.error
        assert start not in ended.error
    assert "--start is empty" in graphpriv("crawl", "x", "--graph", "town", "--resume", "--start", "", *STORE).error
    same = f"@{there.start.upper()}"
    ended = graphpriv("crawl", "x", "--graph", "town", "--resume", "--start", same, *STORE, "--json")
    assert ended.document["users"]["kept"] == 30


def test_a_dry_run_needs_nobody_to_start_from(graphpriv) -> None:
    ended = graphpriv("crawl", "x", "--graph", "g", "--users", 10, "--posts", 0, "--dry-run", "--json")
    assert ended.document["cost"]["likely"] == pytest.approx(10 * 0.01 + 10 * 400 * 0.01)


def test_a_dry_run_of_a_crawl_that_goes_on_tells_what_is_left(graphpriv, there) -> None:
    plain = graphpriv("crawl", "x", "--graph", "town", "--users", 30, "--posts", 0, "--dry-run")
    assert "It would keep 30 users" in plain.out
    crawl(graphpriv, there, "--requests", 9, "--budget", 2000, users=30)
    first = graphpriv("graph", "show", "town", *STORE, "--json").document["collected"]["users"]
    asked = len(there.interface.log)
    ended = graphpriv("crawl", "x", "--graph", "town", "--resume", "--dry-run", *STORE, "--json")
    found = ended.document
    assert (found["kept"], found["would_ask"]["users"], found["budget"]) == (first, 30 - first, 2000)
    assert found["spent"] * 1000 == there.interface.bill.total * 1000
    ended = graphpriv("crawl", "x", "--graph", "town", "--resume", "--dry-run", "--users", 40, *STORE)
    assert f"It would keep {40 - first} more users" in ended.out and len(there.interface.log) == asked
    assert "stops before it costs more than $2,000.00 in all" in ended.out
    ended = graphpriv("crawl", "bluesky", "--graph", "town", "--resume", "--dry-run", *STORE)
    assert ended.code == 2 and "was crawled from x" in ended.error


def test_what_was_asked_twice_and_what_it_may_have_cost_is_said_where_there_is_any(graphpriv, there) -> None:
    plain = crawl(graphpriv, there, "--requests", 9, users=30).out
    assert "again" not in plain and "may have" not in plain
    with open_store("file:graphs.db", create=False) as store:
        # As a kill in the midst of a question leaves it, two days ago.
        kept = store.crawl_of("town") | {"flight": [2000, int(time.time() // 86_400) - 2]}
        store.claim_crawl("town", {"token": "t", "host": "here", "alive": 0}, lambda _: True)
        step = Step(put=(document(CRAWL, ONLY, kept),))
        store.advance("town", step, owner="t", erasures=0)
        store.leave_crawl("town", "t")
    ended = graphpriv("crawl", "x", "--graph", "town", "--resume", *STORE)
    assert "1 question was under way when a run was cut off, and was asked again." in ended.out
    assert "Up to $2.000 more may have been charged" in ended.out


def test_a_graph_that_was_crawled_says_from_where_when_and_how_much_of_it(graphpriv, there, small) -> None:
    crawl(graphpriv, there, "--requests", 9, users=30)
    found = graphpriv("graph", "show", "town", *STORE, "--json").document["collected"]
    assert (found["source"], found["complete"], found["ended"], found["wanted"]) == ("x", False, "requests", 30)
    assert found["began"][:10] == time.strftime("%Y-%m-%d", time.gmtime()) and found["began"][:19] <= found["last"][:19]
    told = graphpriv("graph", "show", "town", *STORE).out
    assert "Collected from x, " in told and "not complete, 3 of 30 users (it reached the request limit)." in told
    document = graphpriv("crawl", "x", "--graph", "town", "--resume", "--follows", 5, *STORE, "--json").document
    told = " ".join(graphpriv("graph", "show", "town", *STORE).out.split())
    assert "complete (it has all the users requested)." in told
    assert f"{document['lists']['share_seen']:.1%} of its users' follows were seen." in told
    graphpriv("graph", "import", small, "--graph", "small", *STORE)
    assert graphpriv("graph", "show", "small", *STORE, "--json").document["collected"] is None
    assert "Collected" not in graphpriv("graph", "show", "small", *STORE).out


def test_a_refresh_tells_how_many_are_gone(graphpriv, there) -> None:
    crawl(graphpriv, there)
    with open_store("file:graphs.db", create=False) as store:
        gone = [user.id for user in store.users("town")][2]
    there.network.users[gone] = replace(there.network.users[gone], state="suspended")
    ended = graphpriv("graph", "refresh", "town", *STORE, "--json")
    assert ended.document["states"] == {"kept": 11, "suspended": 1}
    assert "asked about 11 users, erased 0" in graphpriv("graph", "refresh", "town", *STORE).out
    assert gone not in graphpriv("graph", "export", "town", "--out", "-", *STORE).out
    assert "the network cannot" not in graphpriv("store", "check", *STORE).out


def test_a_budget_holds_until_another_one_is_given(graphpriv, there) -> None:
    crawl(graphpriv, there, "--budget", "0.5", users=30)
    spent = there.interface.bill.total
    later = graphpriv("crawl", "x", "--graph", "town", "--resume", *STORE, "--json")
    assert (later.document["ended"], there.interface.bill.total) == ("budget", spent)
    assert "What is left will likely cost" in later.err
    more = graphpriv("crawl", "x", "--graph", "town", "--resume", "--budget", 99, *STORE, "--json")
    assert (more.document["ended"], more.document["users"]) == ("users", {"kept": 30})


def test_what_is_said_of_the_journal_is_true_of_later_runs(graphpriv, there) -> None:
    assert "Raw answers are not kept." in crawl(graphpriv, there, "--journal-days", 0, users=3).err
    later = graphpriv("crawl", "x", "--graph", "town", "--resume", "--users", 5, *STORE)
    assert "Raw answers are not kept." in later.err
    assert (
        "--journal-days must be from 0 to 36500"
        in crawl(graphpriv, there, "--journal-days", 10**16, graph="city").error
    )


def test_another_takes_the_place_of_who_was_forgotten(graphpriv, there) -> None:
    crawl(graphpriv, there)
    with open_store("file:graphs.db", create=False) as store:
        user = [user.id for user in store.users("town")][3]
        found = next(each.id for each in store.records("town", "seen"))
    assert graphpriv("graph", "forget", "town", user, *STORE).code == 0
    assert graphpriv("graph", "forget", "town", found, *STORE).code == 0
    ended = graphpriv("crawl", "x", "--graph", "town", "--resume", *STORE, "--json")
    assert ended.document["users"] == {"kept": 12, "forgotten": 1}
    assert graphpriv("graph", "show", "town", *STORE, "--json").document["users"] == 12


def test_a_table_without_the_network_is_refused_where_that_charges(graphpriv, there) -> None:
    table = 'date = "2030-01-01"\n[X]\nuser = 1\nfollowed = 1\npost = 1\n[following]\nlow = 1\nlikely = 2\nhigh = 3\n'
    Path("prices.toml").write_text(table)
    ended = crawl(graphpriv, there, "--budget", 1, "--prices", "prices.toml")
    assert (ended.code, "there is no table [x]" in ended.error, there.interface.log) == (2, True, [])


@pytest.mark.parametrize("token", ["sek\nret", "sekr…t", "sek ret"])
def test_a_token_that_is_none_is_one_line_without_it(graphpriv, there, monkeypatch, token) -> None:
    monkeypatch.setenv("GRAPHPRIV_X_TOKEN", token)
    ended = crawl(graphpriv, there)
    assert ended.code == 2 and "The variable GRAPHPRIV_X_TOKEN holds no token" in ended.error
    assert "sek" not in ended.err + ended.out
    monkeypatch.setenv("GRAPHPRIV_X_TOKEN", "made")
    ended = crawl(graphpriv, there, "--start", "a\udcffb")
    assert ended.code == 2 and "--start must be the name of a user" in ended.error


def test_the_sources_stand_in_the_help(graphpriv) -> None:
    help = " ".join(graphpriv("crawl", "--help").out.split())
    assert "SOURCE The network to ask. One of: " in help and " x." in help


def test_work_that_was_cut_short_is_taken_up_again(there, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"source": "x", "start": there.start, "users": 12, "posts": 1, "graph": "town"}
    verb = verb_of(verbs["crawl"].method, options)
    stops = iter([False] * 12 + [True] * 99)
    perform(verb, Work(store="file:graphs.db", seed=3, stop=lambda: next(stops)))
    with open_store("file:graphs.db", create=False) as store:
        assert 0 < store.graph("town").users < 12
    figures: list = []
    outcome = perform(verb, Work(store="file:graphs.db", seed=3, again=True, best=figures.append))
    assert outcome.document["users"]["kept"] == 12
    assert figures[-1]["requests"] == len(there.interface.log)
    assert figures[-1]["expected_cost"] == figures[-1]["cost"] == float(there.interface.bill.total)
    assert all(each["expected_cost"] >= each["cost"] > 0 for each in figures)
    with open_store("file:graphs.db", create=False) as store:
        there.network.posts = {id: posts[:1] for id, posts in there.network.posts.items()}
        agrees_with(there.network, store)
    assert names_with(verbs["crawl"].method, "personal") == ["start"]


@pytest.mark.parametrize("name", ["bluesky", "mastodon"])
def test_an_open_network_is_crawled_and_asked_again(graphpriv, monkeypatch, name) -> None:
    """With the client that everybody has, for which the configured server alone may be on loopback."""
    monkeypatch.setattr("tests.crawler.sources.loopback.home", lambda there, number: urlsplit(there.url).netloc)
    with served({"bluesky": bluesky, "mastodon": mastodon}[name](Network.made(24, seed=3, odd=0.0))) as there:
        monkeypatch.setenv(f"GRAPHPRIV_{name.upper()}_URL", there.url)
        start = "person0.made.example" if name == "bluesky" else "person0"
        options = ("--start", start, "--users", 30, "--posts", 2, "--graph", "town", "--json")
        ended = graphpriv("crawl", name, *options, *STORE)
        assert ended.code == 0, ended.err
        assert ended.document["users"] == {"kept": 24}
        assert ended.document["cost"] == 0
        again = graphpriv("graph", "refresh", "town", "--json", *STORE)
        assert (again.code, again.document["erased"]) == (0, 0)


def test_no_file_and_no_line_holds_the_token(graphpriv, there, monkeypatch, caplog) -> None:
    caplog.set_level("DEBUG")
    token = "AAAAopen%2Fsesame%3D"  # as those of X look
    monkeypatch.setenv("GRAPHPRIV_X_TOKEN", token)
    refused = crawl(graphpriv, there)
    there.interface.token = token
    ended = [refused, crawl(graphpriv, there, "--requests", 9, users=30), graphpriv("graph", "refresh", "town", *STORE)]
    assert [each.code for each in ended] == [1, 0, 0]
    there.interface.token = "another"
    ended.append(graphpriv("crawl", "x", "--graph", "town", "--resume", *STORE))
    assert ended[-1].code == 1 and "the token is refused" in ended[-1].error
    plan = graphpriv("crawl", "x", "--graph", "town", "--resume", *STORE, "--plan", "plan.toml")
    files = [path.read_bytes() for path in Path().rglob("*") if path.is_file()]
    assert plan.code == 0 and len(files) >= 2
    said = [each.out + each.err for each in (*ended, plan)]
    for text in (token, token.partition("%")[0]):
        assert not any(text in each for each in (*said, caplog.text))
        assert not any(text.encode() in each for each in files)
