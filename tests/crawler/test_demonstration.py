"""How the graph of the demonstration is collected."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.crawling import collected
from crawler.demonstration import POSTS, agreement, collect, entrances
from crawler.made.population import Pages, peopled
from graphpriv.store import open_store
from graphpriv.store.crawls import CHARGES
from graphpriv.synthetic import synthetic_graph
from graphpriv.topics import TOPICS

#: What was collected is made once, for all of these tests.
pytestmark = pytest.mark.xdist_group("demonstration")

USERS = 40


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A synthetic graph, and two stores into which it was collected."""
    made = synthetic_graph(USERS, rng=np.random.default_rng(1))
    copies, documents = [], []
    for number in range(2):
        url = f"file:{tmp_path_factory.mktemp('demo') / f'{number}.db'}"
        with open_store(url, create=True) as store:
            documents.append(collect(store, "original", made, seed=5))
            assert collected(store, "original") == documents[-1]["crawl"]
            copies += store.copies()
    return made, copies, documents


def links(graph):
    return {(graph.ids[user], graph.ids[other]) for user in range(len(graph)) for other in graph.follows.of(user)}


def test_the_network_is_crawled_whole(collection):
    made, (copy, _), (document, _) = collection
    assert set(copy.graph.ids) == set(made.ids)
    assert links(copy.graph) == links(made)
    assert len(copy.posts) == USERS * POSTS == document["enrichment"]["posts"]
    assert document["crawl"]["users"] == {"kept": USERS}
    assert document["crawl"]["ended"] == "users"


def test_topics_and_places_are_mostly_those_that_were_meant(collection):
    made, (copy, _), (document, _) = collection
    meant = document["agreement"]
    assert meant == agreement(made, copy.graph)
    assert meant["users"] == USERS
    assert meant["placed"] > 0.9
    assert meant["country"] > 0.8
    assert meant["first_topic"] > 0.5
    # Each user's pages, of whom several link to one page.
    assert document["enrichment"]["pages"]["read"] == document["enrichment"]["pages"]["links"] > 0


def test_what_agrees_with_itself_agrees_wholly(collection):
    made = collection[0]
    found = agreement(made, made)
    assert found.pop("users") == USERS
    assert found.pop("placed_though_unknown") in (0.0, None)
    assert set(found.values()) == {1.0}


def test_the_same_seed_collects_the_same(collection):
    _, (one, other), (document, again) = collection
    assert document == again
    # The pages are served at another port each time.
    said = [[(post.id, post.user, post.text) for post in copy.posts] for copy in (one, other)]
    assert (one.graph.ids, said[0]) == (other.graph.ids, said[1])
    assert one.graph.topics.tolist() == other.graph.topics.tolist()


def test_a_store_takes_the_crawl_over_but_not_its_marks_of_payment(collection, tmp_path):
    _, (copy, _), (document, _) = collection
    with open_store(f"file:{tmp_path / 's.db'}", create=True) as store:
        store.save_graph("original", synthetic_graph(5, rng=np.random.default_rng(1)))
        store.save_graph("mine", synthetic_graph(5, rng=np.random.default_rng(1)))
        store.adopt(copy, overwrite=True)
        assert [each.name for each in store.graphs()] == ["mine", "original"]
        assert collected(store, "original") == document["crawl"]
        assert not list(store.records("original", CHARGES))
        assert store.check() == []


@given(st.integers(2, 40), st.integers(0, 80), st.integers(0, 1000))
def test_everybody_is_reached_from_the_entrances_and_none_of_them_can_be_left_out(users, follows, seed):
    graph = synthetic_graph(users, min(follows, users * (users - 1)), rng=np.random.default_rng(seed))
    walked = nx.DiGraph()
    walked.add_nodes_from(range(users))
    walked.add_edges_from((user, int(other)) for user in range(users) for other in graph.follows.of(user))
    entered = {each: {each, *nx.descendants(walked, each)} for each in entrances(graph)}
    assert set().union(*entered.values()) == set(range(users))
    for left_out in entered:
        assert left_out not in set().union(*(reached for each, reached in entered.items() if each != left_out))


def test_links_lead_to_pages_about_their_topic():
    graph, pages = synthetic_graph(30, rng=np.random.default_rng(2)), Pages(0)
    network = peopled(graph, posts=10, pages="http://127.0.0.1:1", rng=np.random.default_rng(0))
    links = {link for posts in network.posts.values() for post in posts for link in post.links}
    assert links
    assert all(pages.reply(link.removeprefix("http://127.0.0.1:1"), {}, "").status == 200 for link in links)
    assert pages.reply("/0/0", {}, "") == pages.reply("/0/0", {}, "")
    for path in ("/", "/0", f"/{len(TOPICS)}/0", "/a/b", "/0/0/0"):
        assert pages.reply(path, {}, "").status == 404
