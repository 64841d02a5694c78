"""Microdata masked as a table: k holds with the degree, the figures are those of a plain comparison, nothing leaks."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphpriv.dictionary import microdata_dictionary
from graphpriv.graph import common_codes
from graphpriv.microdata import (
    HEADER,
    ITSELF,
    ORIGINAL,
    Origin,
    hierarchies_of,
    microdata,
    microdata_table,
    protect_microdata,
)
from graphpriv.protections import protect
from graphpriv.synthetic import synthetic_graph
from graphpriv.topics import in_order
from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.measures import summary
from tabular.protections import protect as protect_table
from tabular.protections import protections
from tabular.table import Table
from tests.graphpriv.figures import figure_6_5
from tests.strategies import graphs

#: The methods that promise k over columns of these kinds, with what they need.
PROMISING = {
    "mondrian": {},
    "microaggregation": {},
    "clustered": {"clusters": 3},
    "full-domain": {"levels": {"degree": 1, "location": 1, "topic1": 1}, "suppression": 1.0},
}


def rng(seed=1):
    return np.random.default_rng(seed)


def generated(users=120, edges=240, seed=4):
    return synthetic_graph(users, edges, rng=rng(seed))


def released(graph, k=3):
    release = protect(graph, k, rng=rng())
    return release.graph, Origin(graph, release.mapping)


def test_the_table_of_figure_6_5():
    table = microdata_table(figure_6_5())
    assert table.names == HEADER
    assert [table.attribute(name).kind for name in HEADER] == ["ordinal", *["nominal"] * 4]
    cells = (["" if value is None else str(value) for value in table.values(name)] for name in HEADER)
    assert Counter(zip(*cells, strict=True)) == Counter(microdata(figure_6_5(), rng=rng()).rows())


@settings(max_examples=25)
@given(graph=graphs(), data=st.data())
@pytest.mark.parametrize("method", PROMISING)
def test_k_holds_with_the_degree_in_what_is_written(method, graph, data):
    k = data.draw(st.integers(1, len(graph)))
    parameters = dict(PROMISING[method])
    if method == "full-domain":
        # Levels that the hierarchies of this graph have.
        heights = {name: each.height for name, each in hierarchies_of(microdata_table(graph), graph.places).items()}
        parameters["levels"] = {name: min(level, heights[name]) for name, level in parameters["levels"].items()}
    found = protect_microdata(graph, method=method, k=k, parameters=parameters, rng=rng())
    rows = Counter(found.rows())
    if found.counted.suppressed:
        # A column of one value has it in suppressed rows, too.
        constant = [len({*microdata_table(graph).values(name)}) == 1 for name in HEADER]
        nothing = [row for row in rows if all(cell == "*" or same for cell, same in zip(row, constant, strict=True))]
        assert [rows.pop(row) for row in nothing] == [found.counted.suppressed]
    assert min(rows.values()) == found.k >= k
    assert found.promises_k


@pytest.mark.parametrize("method", ["pram", "rank-swapping", "global-recoding"])
def test_methods_that_promise_no_k_say_so_and_are_refused_where_k_is_asked_for(method):
    graph = generated()
    found = protect_microdata(graph, method=method, rng=rng())
    assert not found.promises_k
    assert found.k == min(Counter(found.rows()).values())
    with pytest.raises(NoSolution, match=f"{method} promises no k") as refused:
        protect_microdata(graph, method=method, k=2, rng=rng())
    assert "mondrian" in str(refused.value)
    assert "global-median" not in str(refused.value)


def test_a_method_without_promise_passes_where_the_table_has_the_k():
    graph, _ = released(figure_6_5())
    star = {"percent": 0}
    # All three users are alike but for their degrees, of which 1 and 2 are not swapped.
    with pytest.raises(NoSolution):
        protect_microdata(graph, method="rank-swapping", k=2, parameters=star, rng=rng())
    circle = generated().restricted(np.zeros(0, dtype=np.int64))
    with pytest.raises(InvalidInput, match="no users"):
        protect_microdata(circle, method="rank-swapping", rng=rng())
    assert protect_microdata(graph, method="rank-swapping", k=1, parameters=star, rng=rng()).k == 1


def test_univariate_groups_promise_no_k_over_all_columns():
    with pytest.raises(NoSolution, match="promises no k over all columns"):
        protect_microdata(generated(), method="microaggregation", k=3, parameters={"univariate": True}, rng=rng())


def test_k_is_needed_once():
    graph = generated()
    with pytest.raises(InvalidParameter, match="needs k"):
        protect_microdata(graph, method="mondrian", rng=rng())
    with pytest.raises(InvalidParameter, match="given twice"):
        protect_microdata(graph, method="mondrian", k=3, parameters={"k": 4}, rng=rng())
    assert protect_microdata(graph, method="mondrian", parameters={"k": 4}, rng=rng()).k >= 4
    with pytest.raises(NoSolution, match="120 records"):
        protect_microdata(graph, method="mondrian", k=121, rng=rng())


def test_levels_of_a_hierarchy_are_asked_for_with_their_heights():
    with pytest.raises(InvalidParameter, match=r"degree 0 to .*, location 0 to .*, topic1 0 to 1"):
        protect_microdata(generated(), method="full-domain", k=3, rng=rng())


def test_places_go_up_the_tree():
    graph = generated()
    table = microdata_table(graph)
    hierarchy = hierarchies_of(table, graph.places)["location"]
    keys = graph.places.by_key
    for level in range(1, hierarchy.height):
        for value, label in zip(hierarchy.domain, (row[level] for row in hierarchy.rows()), strict=True):
            if value is None:
                continue
            above = [graph.places.names[node] for node in _upwards(graph.places, keys[value])]
            # A label is the value itself or a place above it, with what lies above that where names are shared.
            assert label == value or label.split(", ")[0] in above
    assert hierarchy.rows()[0][-1] == "*"


def _upwards(places, node):
    while node >= 0:
        yield node
        node = int(places.parents[node])


def plain_comparison(original, graph, mapping, masked):
    """Both tables by the full paths of places and the names of topics, row by row the same person."""
    paths = {key: tuple(reversed(graph.places.path(node))) for node, key in enumerate(graph.places.keys)}
    after = [masked.values(name) for name in HEADER]
    after[1] = [None if key is None else paths[key] for key in after[1]]
    before = [microdata_table(original).values(name) for name in HEADER]
    known = {key: tuple(reversed(original.places.path(node))) for node, key in enumerate(original.places.keys)}
    before[1] = [None if key is None else known[key] for key in before[1]]
    degrees = sorted({*original.neighbours.counts.tolist(), *graph.neighbours.counts.tolist()})
    attributes = [Attribute(name="degree", kind="ordinal", domain=tuple(degrees))]
    for name, one, other in list(zip(HEADER, before, after, strict=True))[1:]:
        values = {*one, *other} - {None}
        order = sorted(values) if name == "location" else in_order(values)
        attributes.append(Attribute(name=name, domain=tuple(order)))
    full = Table.from_columns(dict(zip(HEADER, before, strict=True)), attributes)
    rows = mapping.tolist()
    return summary(
        full,
        full.masked({name: [column[to] for to in rows] for name, column in zip(HEADER, after, strict=True)}),
        HEADER,
    )


def test_loss_and_risk_against_the_original_are_those_of_a_plain_comparison():
    original = generated()
    graph, origin = released(original)
    found = protect_microdata(graph, method="rank-swapping", parameters={"percent": 10}, origin=origin, rng=rng(7))
    masked = protect_table(microdata_table(graph), "rank-swapping", HEADER, rng=rng(7), percent=10)
    plain = plain_comparison(original, graph, origin.mapping, masked)
    assert found.measured_against == ORIGINAL
    for name, reading in found.summary.readings.items():
        assert reading.raw == pytest.approx(plain.readings[name].raw), name
    assert found.summary.information_loss == pytest.approx(plain.information_loss)
    assert found.summary.disclosure_risk == pytest.approx(plain.disclosure_risk)


def test_a_release_that_is_its_own_original_is_measured_as_the_graph_itself():
    graph = generated()
    order = rng(3).permutation(len(graph))
    mapping = np.empty(len(graph), dtype=np.int64)
    mapping[order] = np.arange(len(graph))
    moved = graph.restricted(order)
    alone = protect_microdata(moved, method="mondrian", k=4, rng=rng())
    beside = protect_microdata(moved, method="mondrian", k=4, origin=Origin(graph, mapping), rng=rng())
    assert (alone.measured_against, beside.measured_against) == (ITSELF, ORIGINAL)
    for name, reading in alone.summary.readings.items():
        if name != "clustering":
            assert beside.summary.readings[name].raw == pytest.approx(reading.raw), name


def test_users_who_were_forgotten_are_left_out_of_the_measures():
    original = generated()
    graph, origin = released(original)
    mapping = origin.mapping.copy()
    mapping[:20] = -1
    found = protect_microdata(graph, method="mondrian", k=3, origin=Origin(original, mapping), rng=rng())
    assert len(found) == 120
    assert 0 <= found.summary.disclosure_risk <= 100


def test_rows_stand_in_an_order_of_their_own_and_the_same_seed_gives_the_same():
    graph = generated()
    one, two, other = (
        list(protect_microdata(graph, method="mondrian", k=3, rng=rng(seed)).rows()) for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other
    assert Counter(one) == Counter(other)


def test_nothing_of_the_original_is_in_the_table_or_its_dictionary():
    original = generated()
    graph, origin = released(original, k=10)
    hidden = {*common_codes(original, graph)[0].places.names} - {*graph.places.names}
    assert hidden
    for method in ("mondrian", "pram", "microaggregation"):
        k = 10 if "k" in [each.name for each in protections[method].parameters] else None
        found = protect_microdata(graph, method=method, k=k, origin=origin, rng=rng())
        said = json.dumps([list(found.rows()), microdata_dictionary(found)], ensure_ascii=False)
        assert not [name for name in hidden if f'"{name}"' in said or f"|{name}" in said or f"{{{name}" in said]


def test_the_dictionary_says_k_loss_and_risk():
    found = protect_microdata(generated(), method="mondrian", k=4, rng=rng())
    document = microdata_dictionary(found)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["k"] == found.k
    assert document["parameters"] == {"k": 4, "cuts": "strict"}
    assert document["information_loss"] == found.summary.information_loss
    assert document["measured_against"] == ITSELF
    assert [each["name"] for each in document["fields"]] == list(HEADER)
