import csv
import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.microdata import HEADER, microdata
from graphpriv.protections import protect, protections
from tabular.errors import InvalidInput, NoSolution
from tests.graphpriv.figures import figure_6_5
from tests.strategies import generators, graphs, random_graph


def rng(seed=1):
    return np.random.default_rng(seed)


def plain_rows(graph):
    """Each user's row, from sets of neighbours."""
    linked = [set() for _ in graph.ids]
    for one, other in zip(*(ends.tolist() for ends in graph.edges()), strict=True):
        linked[one].add(other)
        linked[other].add(one)
    keys, names = [*graph.places.keys, ""], [*graph.topic_names, ""]
    return [
        (str(len(linked[user])), keys[graph.location[user]], *(names[topic] for topic in graph.topics[user]))
        for user in range(len(graph))
    ]


def test_figure_6_5_as_a_table():
    table = microdata(figure_6_5(), rng=rng())
    assert HEADER == ("degree", "location", "topic1", "topic2", "topic3")
    assert sorted(table.rows()) == [
        ("1", "New York City", "Technology_Internet", "Politics", "Weather"),
        ("1", "Washington DC", "Politics", "Technology_Internet", "Entertainment_Culture"),
        ("2", "United States", "Technology_Internet", "Sports", "Religion_Belief"),
    ]


def test_the_degree_breaks_the_k_of_a_release():
    table = microdata(protect(figure_6_5(), 3, rng=rng()).graph, rng=rng())
    assert (len(table), table.k, table.k_without_degree) == (3, 1, 3)


@given(graph=graphs(), generator=generators)
def test_a_table_has_one_row_a_user_and_its_k_is_that_of_its_rows(graph, generator):
    table = microdata(graph, rng=generator)
    rows = list(table.rows())
    assert Counter(rows) == Counter(plain_rows(graph))
    assert table.k == min(Counter(rows).values())
    assert table.k_without_degree == min(Counter(row[1:] for row in rows).values())


@pytest.mark.parametrize("method", protections)
@given(graph=graphs(), data=st.data())
def test_the_profiles_of_a_release_keep_their_k_without_the_degree(method, graph, data):
    k = data.draw(st.integers(1, len(graph)))
    assert microdata(protect(graph, k, method=method, rng=rng()).graph, rng=rng()).k_without_degree >= k


def test_rows_do_not_stand_in_the_order_of_the_users():
    graph = random_graph(1, 200, 900)
    rows = list(microdata(graph, rng=rng()).rows())
    assert rows != plain_rows(graph)
    assert rows == list(microdata(graph, rng=rng()).rows())
    assert rows != list(microdata(graph, rng=rng(2)).rows())


def test_a_k_that_the_table_has_not_is_no_solution():
    table = microdata(figure_6_5(), rng=rng())
    table.require(1)
    with pytest.raises(NoSolution, match="k=1, less than k=2"):
        table.require(2)


def test_a_graph_without_users_has_no_microdata():
    with pytest.raises(InvalidInput, match="no users"):
        microdata(figure_6_5().restricted(np.zeros(0, dtype=np.int64)), rng=rng())


def test_the_file_holds_the_rows_and_no_id(tmp_path):
    graph = figure_6_5()
    path = tmp_path / "m.csv"
    with path.open("wb") as written:
        microdata(graph, rng=rng()).write(written)
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == HEADER
    assert sorted(map(tuple, rows)) == sorted(plain_rows(graph))
    assert not any(user in path.read_text() for user in graph.ids)


def test_a_topic_that_a_spreadsheet_would_run_is_made_harmless(tmp_path):
    graph = replace(figure_6_5(), topic_names=("=HYPERLINK(1)", *figure_6_5().topic_names[1:]))
    with (tmp_path / "m.csv").open("wb") as file:
        microdata(graph, rng=rng()).write(file)
    assert "'=HYPERLINK(1)" in (tmp_path / "m.csv").read_text()


def test_the_order_comes_from_a_keyed_hash_and_not_from_the_generator():
    """Decision 0006: the generator gives a key, and SHAKE-256 of the key and a label the order."""
    graph = random_graph(1, 40, 90)
    draws = rng(5)
    key = draws.bytes(32)
    # Written out once more: 8 bytes a row, sorted.
    stream = hashlib.shake_256(b"order|1|" + key).digest(8 * 40)
    order = sorted(range(40), key=lambda row: int.from_bytes(stream[8 * row : 8 * row + 8], "little"))
    rows = plain_rows(graph)
    given_to = rng(5)
    assert list(microdata(graph, rng=given_to).rows()) == [rows[user] for user in order]
    # The generator has given the key and nothing else.
    assert given_to.bytes(8) == draws.bytes(8)
