from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import NoSolution
from tabular.evolution.matrices.expectation import Expectation, TableExpectation
from tabular.measures import measures
from tabular.protections.pram import PRAM, drawn
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.evolution.matrices.credit import credit

MEASURES = ("ctbil", "dbil", "ebil", "id", "dbrl")


@st.composite
def masked_tables(draw, max_rows=4, max_values=3):
    """A small table and a matrix for each column, some of whose probabilities are 0."""
    rows, columns, matrices, attributes = draw(st.integers(1, max_rows)), {}, {}, []
    for number in range(draw(st.integers(1, 2))):
        name, size = f"column {number}", draw(st.integers(1, max_values))
        kind = draw(st.sampled_from(["nominal", "ordinal"]))
        attributes.append(Attribute(name=name, kind=kind, domain=tuple(range(size))))
        columns[name] = draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows))
        weights = draw(st.lists(st.integers(0, 3), min_size=size * size, max_size=size * size))
        matrix = np.array(weights, dtype=np.float64).reshape(size, size)
        matrix[matrix.sum(axis=1) == 0] = 1
        matrices[name] = matrix / matrix.sum(axis=1, keepdims=True)
    return Table.from_columns(columns, attributes), matrices


def measured(original, masked):
    return np.array([measures[name].method().measure(original, masked, original.names).percent for name in MEASURES])


def enumerated(table, matrices):
    """The expected measures as the sum over every file that can come out, times its probability."""
    cells = [(name, row) for name in table.names for row in range(len(table))]
    domains = [range(len(table.attribute(name).domain)) for name, _ in cells]
    total = np.zeros(len(MEASURES))
    for values in product(*domains):
        chance = np.prod(
            [matrices[name][table.columns[name][row], value] for (name, row), value in zip(cells, values, strict=True)]
        )
        if chance:
            codes = np.array(values, dtype=np.int32).reshape(len(table.names), len(table))
            total += chance * measured(table, table.with_codes(**dict(zip(table.names, codes, strict=True))))
    return total


def expected(table, matrices):
    found = Expectation.of(table, table.names).measured(matrices)
    return np.array([getattr(found, name) for name in MEASURES])


@settings(deadline=None, max_examples=20)
@given(masked_tables())
def test_the_expectation_is_that_over_every_file_that_can_come_out(case):
    table, matrices = case
    assert expected(table, matrices) == pytest.approx(enumerated(table, matrices), abs=1e-6)


def replicas(table, matrices, count, rng):
    for _ in range(count):
        codes = {name: drawn(table.columns[name], matrices[name], rng) for name in table.names}
        yield measured(table, table.with_codes(**codes))


def check_replicas(count, seed):
    table = credit()
    matrices = PRAM(retain=0.6).matrices(table, table.names)
    found = np.array(list(replicas(table, matrices, count, np.random.default_rng(seed))))
    error = found.std(axis=0, ddof=1) / np.sqrt(count)
    assert (np.abs(expected(table, matrices) - found.mean(axis=0)) <= 3 * error).all()


def test_the_expectation_is_the_mean_of_replicas():
    check_replicas(300, seed=1)


@pytest.mark.heavy
def test_the_expectation_is_the_mean_of_ten_thousand_replicas():
    check_replicas(10_000, seed=2)


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_measures_of_a_table_that_is_not_changed(seed):
    table = credit(40, seed)
    found = Expectation.of(table, table.names).measured(
        {name: np.eye(len(table.attribute(name).domain)) for name in table.names}
    )
    assert (found.ctbil, found.dbil, found.id, found.dbrl) == pytest.approx((0, 0, 100, measured(table, table)[4]))
    assert found.ebil == pytest.approx(0, abs=1e-6)
    assert found.information_loss == pytest.approx(0, abs=1e-6)
    assert found.score("max") == pytest.approx(found.disclosure_risk) and found.score("mean") < found.score("max")


def test_expected_counts():
    table = credit()
    matrices = PRAM(retain=0.6).matrices(table, table.names)
    names = ("savings", "account")
    cross = TableExpectation.of(table, names)
    slow = matrices["savings"].T @ cross.counts @ matrices["account"]
    assert cross.expected_counts([matrices[name] for name in names]) == pytest.approx(slow)


def test_without_linkage_many_attributes_are_measured():
    wide = Table.from_columns({f"column {number}": [row % 9 for row in range(50)] for number in range(12)})
    with pytest.raises(NoSolution, match="Measure replicas instead"):
        Expectation.of(wide, wide.names)
    matrices = PRAM(retain=0.5).matrices(wide, wide.names)
    found = Expectation.of(wide, wide.names, linkage=False).measured(matrices)
    assert found.dbrl == 0 and found.dbil > 0
