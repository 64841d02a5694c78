"""Graphs are named with their kind in the same way by every verb."""

from __future__ import annotations

import pytest

from api.verbs import verbs
from api.verbs.contract import names_with
from graphpriv.store import open_store


@pytest.fixture
def released(graphpriv, small):
    """An original and its release."""
    graphpriv("graph", "import", small, "--graph", "people")
    assert graphpriv("protect", "people", "--k", 2, "--into", "people-v1").code == 0
    return graphpriv


@pytest.mark.parametrize(
    "command",
    [
        "graph show release:people-v1",
        "graph show original:people",
        "graph export release:people-v1 --out r.json --mapping m.csv",
        "audit original:people release:people-v1",
        "sweep original:people --k 2 --runs 1",
        "microdata release:people-v1 --out m.csv",
        "graph forget original:people ann",
        "graph delete release:people-v1",
        "protect original:people --k 2 --into people-v2 --previous release:people-v1",
    ],
)
def test_every_verb_takes_a_name_with_its_kind(released, command):
    ended = released(*command.split())
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("graph show release:people", "No release is called 'people'; did you mean 'people-v1'?"),
        ("graph show original:people-v1", "No original is called 'people-v1'; did you mean 'people'?"),
        ("enrich release:people-v2", "No release is called 'people-v2'; did you mean 'people-v1'?"),
        (
            "enrich release:people-v1",
            "NAME 'people-v1' is a release: nobody's posts and locations are in it; enrich 'people' and release that "
            "again.",
        ),
        ("enrich people-v1", "NAME 'people-v1' is a release"),
    ],
)
def test_a_name_of_another_kind_is_refused(released, command, said):
    ended = released(*command.split())
    assert ended.code == 2 and ended.error.startswith(said), ended.error


def test_a_graph_that_lies_under_its_kind_in_the_store_comes_first(released):
    """As the service keeps a release whose name an original has."""
    assert released("protect", "people", "--k", 2, "--into", "release:people", "--accept-combined-risk").code == 0
    assert released("graph", "show", "release:people", "--json").document["kind"] == "release"
    assert released("graph", "show", "original:people", "--json").document["kind"] == "original"
    released("graph", "delete", "release:people")
    with open_store("file:graphpriv.db", create=False) as store:
        assert [each.name for each in store.graphs()] == ["people", "people-v1"]


def test_every_verb_about_a_graph_of_the_store_says_so():
    """What is named so is found in one place, so a verb that names a graph must say that it does."""
    named = {name for name in verbs if names_with(verbs[name].method, "graph")}
    assert {name for name in verbs if name.startswith("graph ")} - named == {"graph list", "graph import"}
