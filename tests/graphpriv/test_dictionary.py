import json
from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.dictionary import (
    microdata_dictionary,
    release_dictionary,
)
from graphpriv.microdata import microdata
from graphpriv.places import WORLD, PlaceTree
from graphpriv.protections import protect
from graphpriv.verification import strings_in
from tests.graphpriv.figures import figure_6_5
from tests.strategies import graphs, random_graph


def rng():
    return np.random.default_rng(1)


def field(document, name):
    (found,) = (each for each in document["fields"] if each["name"] == name)
    return found


def test_the_dictionary_of_figure_6_5():
    release = protect(figure_6_5(), 3, rng=rng())
    document = release_dictionary(release.graph, release)
    assert {name: document[name] for name in ("k", "smallest_profile", "method", "users", "edges", "directed")} == {
        "k": 3,
        "smallest_profile": 3,
        "method": "least-loss",
        "users": 3,
        "edges": 2,
        "directed": False,
    }
    assert field(document, "location")["values"] == [{"value": "United States", "count": 3, "type": "country"}]
    assert field(document, "topic1")["values"] == [{"value": "Technology_Internet", "count": 3}]
    assert field(document, "topic3")["missing"]["code"] is None
    assert field(document, "topic3")["missing"]["count"] == 0


def test_it_says_what_is_not_protected():
    release = protect(figure_6_5(), 3, rng=rng())
    assert any("edges are those of the original" in each for each in document_words(release))
    table = microdata(release.graph, rng=rng())
    assert any("degree" in each for each in microdata_dictionary(table)["not_protected"])


def test_it_says_that_places_are_called_anew():
    twins = [(("Paris", "locality"), (country, "country"), WORLD) for country in ("France", "Utopia")]
    tree = PlaceTree.from_paths(twins)
    graph = replace(figure_6_5(), places=tree, location=np.full(3, tree.node(twins[0]), dtype=np.int32))
    assert tree.keys[tree.node(twins[0])] == "Paris, France"
    release = protect(graph, 3, rng=rng())
    document = release_dictionary(release.graph, release)
    assert [each["value"] for each in field(document, "location")["values"]] == ["Paris"]
    assert "the same place may be called otherwise in the original" in field(document, "locations")["meaning"]


def document_words(release):
    return release_dictionary(release.graph, release)["not_protected"]


@given(graph=graphs(), data=st.data())
def test_the_values_are_those_that_occur_each_with_its_count(graph, data):
    release = protect(graph, data.draw(st.integers(1, len(graph))), rng=rng())
    table = microdata(release.graph, rng=rng())
    rows = list(table.rows())
    for document, missing in (
        (release_dictionary(release.graph, release), None),
        (microdata_dictionary(table), ""),
    ):
        for column, name in enumerate(("location", "topic1", "topic2", "topic3"), start=1):
            found = field(document, name)
            counted = {value["value"]: value["count"] for value in found["values"]}
            expected = Counter(row[column] for row in rows)
            assert found["missing"]["count"] == expected.pop("", 0)
            assert found["missing"]["code"] == missing
            assert counted == expected
    degrees = {value["value"]: value["count"] for value in field(microdata_dictionary(table), "degree")["values"]}
    assert degrees == Counter(int(row[0]) for row in rows)


def test_no_string_of_a_person_and_no_value_that_is_not_released_is_in_it():
    graph = random_graph(3, 60, 120, places=40, topics=8)
    graph = replace(graph, private={"handle": tuple(f"@handle{user}" for user in range(60))})
    release = protect(graph, 20, rng=rng())
    documents = [
        release_dictionary(release.graph, release),
        microdata_dictionary(microdata(release.graph, rng=rng())),
    ]
    hidden = {*graph.ids, *graph.private["handle"], *graph.topic_names, *graph.places.names}
    hidden -= {*release.graph.topic_names, *release.graph.places.names}
    assert {name for name in hidden if name.startswith("Town")}
    for document in documents:
        assert not hidden & set(strings_in(document))


def test_it_is_json():
    release = protect(figure_6_5(), 3, rng=rng())
    for document in (
        release_dictionary(release.graph, release),
        microdata_dictionary(microdata(release.graph, rng=rng())),
    ):
        assert json.loads(json.dumps(document, allow_nan=False)) == document
