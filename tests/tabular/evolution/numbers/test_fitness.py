"""The fitness of protected files of numbers, whole and step by step, against the measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.evolution.fitness import Segment
from tabular.evolution.fitness.contract import SCORES
from tabular.evolution.numbers import NumberFitness
from tabular.files.schema import read_schema
from tabular.files.table_files import read_file
from tabular.protections import protect
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.evolution.numbers.slow_fitness import slow_measures


def numbers(columns):
    """A table of continuous columns."""
    names = [f"n{place}" for place in range(len(columns))]
    kinds = [Attribute(name=name, kind="continuous") for name in names]
    return Table.from_columns(dict(zip(names, columns, strict=True)), kinds), names


@st.composite
def files(draw):
    """A small table of numbers with few decimals, and a masked version in units."""
    rows, columns = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    most = draw(st.sampled_from([3, 40, 100_000]))
    cells = st.integers(-most, most)
    row = st.lists(cells, min_size=columns, max_size=columns)
    original = np.array(draw(st.lists(row, min_size=rows, max_size=rows)))
    masked = original.copy()
    for row, column in draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), max_size=12)):
        masked[row, column] = draw(cells)
    decimals = draw(st.integers(0, 3))
    table, names = numbers((original / 10.0**decimals).T.tolist())
    return table, names, decimals, masked


def scores(fitness, units):
    return list(vars(fitness.full(units)).values())


@settings(max_examples=150, deadline=None)
@given(files(), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_the_scores_are_those_of_the_measures(given, gains):
    """Small whole gains make many linkages of equal weight; 0 makes a column count for nothing."""
    table, names, decimals, units = given
    fitness = NumberFitness.of(table, names, decimals=decimals)
    assert scores(fitness, fitness.codes) == pytest.approx(slow_measures(fitness, fitness.codes), abs=1e-9)
    for each in (fitness, NumberFitness.of(table, names, gains[: len(names)], decimals=decimals)):
        assert scores(each, units) == pytest.approx(slow_measures(each, units), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(files(), st.data())
def test_steps_say_what_the_whole_file_says_and_can_be_undone(given, data):
    table, names, decimals, units = given
    fitness = NumberFitness.of(table, names, decimals=decimals)
    state, other = fitness.state(units), fitness.state(fitness.codes)
    before = [(state.codes, state.scores)]
    for _ in range(data.draw(st.integers(1, 6))):
        if data.draw(st.booleans()):
            gene, value = data.draw(st.integers(0, units.size - 1)), data.draw(st.integers(-50, 50))
            found = state.changed(gene // len(names), gene % len(names), value)
        else:
            first = data.draw(st.integers(0, units.size - 1))
            found = state.replaced(other.segment(first, data.draw(st.integers(first, units.size - 1))))
        assert found == state.scores == fitness.full(state.codes)
        before.append((state.codes, state.scores))
    for codes, expected in before[-2::-1]:
        assert state.undo() == expected
        assert state.codes.tolist() == codes.tolist()
    with pytest.raises(InvalidInput, match="no step to undo"):
        state.undo()


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_steps_end_at_the_bytes_of_the_whole_file(seed):
    rng = np.random.default_rng(seed)
    table, names = numbers(rng.normal(50, 20, (3, 60)).round(1).tolist())
    fitness = NumberFitness.of(table, names)
    files = [fitness.codes_of(protect(table, "microaggregation", names, rng=rng, k=k)) for k in (2, 5)]
    fitness = fitness.held([*files, rng.permuted(fitness.codes, axis=0)])
    walk(fitness, files, rng, steps=1500, checked=30)


def walk(fitness, files, rng, *, steps, checked):
    """Random steps: changes, segments of another file, undoing; some states are *checked* against the whole file."""
    state, other, depth = fitness.state(files[0]), fitness.state(files[1]), 0
    lows, highs = fitness.codes.min(axis=0), fitness.codes.max(axis=0)
    for number in range(steps):
        kind = rng.integers(4)
        if kind == 0 and depth:
            state.undo()
            depth -= 1
        elif kind == 1:
            first, last = np.sort(rng.integers(0, files[0].size, 2))
            state.replaced(other.segment(first, last))
            depth += 1
        else:
            column = rng.integers(files[0].shape[1])
            state.changed(int(rng.integers(len(files[0]))), column, int(rng.integers(lows[column], highs[column] + 1)))
            depth += 1
        if rng.random() < 0.1:
            state.keep()
            depth = 0
        if number % (steps // checked) == 0:
            assert state.scores == fitness.full(state.codes), number
    assert list(vars(state.scores).values()) == pytest.approx(slow_measures(fitness, state.codes), abs=1e-9)


def test_one_column_has_neither_covariances_nor_correlations():
    table, names = numbers([[1.5, 2.5, 2.5, 7.0]])
    fitness = NumberFitness.of(table, names)
    units = np.array([[15], [25], [70], [25]])
    assert scores(fitness, units) == pytest.approx(slow_measures(fitness, units), abs=1e-9)


def test_the_scores_of_a_file_by_hand():
    table, names = numbers([[0, 10, 20, 30]])
    fitness = NumberFitness.of(table, names)
    found = fitness.full(np.array([[0], [10], [21], [10]]))
    # Ranks 1, 2 and, of 21, between those of 20 and of 30, 3.5 against 3; a tenth of the records is less than that.
    assert found.id == 50
    # The last record is nearest to another one; the three others to their own.
    assert found.dbrl == 75
    # Only 0 and both 10 agree with an original: of two records with 10 one is linked, as likely as the other.
    assert found.prl >= 100 * (1 + 0.5) / 4
    assert found.disclosure_risk == (found.id + (found.dbrl + found.prl) / 2) / 2
    assert found.score("max") == max(found.pil, found.disclosure_risk)
    assert found.score("mean") == (found.pil + found.disclosure_risk) / 2


def test_numbers_are_counted_in_units_of_their_last_decimal():
    table, names = numbers([[1.25, 2.0, 3.5], [7, 8, 10]])
    fitness = NumberFitness.of(table, names)
    assert fitness.codes.tolist() == [[125, 7], [200, 8], [350, 10]]
    assert NumberFitness.of(table, names, decimals=3).codes.tolist() == [[1250, 7000], [2000, 8000], [3500, 10000]]
    masked = table.masked({"n0": [1.3333333, 2, 3.5], "n1": [7.4, 7.6, 10]})
    assert fitness.codes_of(masked).tolist() == [[133, 7], [200, 8], [350, 10]]
    released = fitness.table_of(np.array([[133, 7], [200, 9], [125, 10]]))
    assert released.values("n0") == [1.33, 2.0, 1.25]
    assert released.values("n1") == [7, 9, 10]
    assert all(isinstance(value, int) for value in released.values("n1"))
    with pytest.raises(InvalidParameter, match="decimals must be 2 or more, as column 'n0' has, not 1"):
        NumberFitness.of(table, names, decimals=1)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([0.1234567891, 2.0], "'n0': evolution takes numbers of at most 9 digits after the point"),
        ([0.123456789, 2e9], "'n0', row 2: evolution takes numbers of up to 9 digits"),
        ([1.0, 9e12], "'n0', row 2: evolution takes numbers of up to 9 digits"),
    ],
)
def test_numbers_of_too_many_digits_are_refused(column, said):
    table, names = numbers([column])
    with pytest.raises(InvalidInput, match=said):
        NumberFitness.of(table, names)


def test_files_that_do_not_fit_are_refused():
    table, names = numbers([[1, 2, 3]])
    fitness = NumberFitness.of(table, names)
    with pytest.raises(InvalidInput, match="has 3 x 1 rows and columns of units, not 2 x 1"):
        fitness.full(np.zeros((2, 1), dtype=int))
    with pytest.raises(InvalidInput, match="the genes 0 to 2; there is no gene 3"):
        fitness.state(fitness.codes).replaced(Segment(2, np.array([1, 1])))
    with pytest.raises(InvalidInput, match="there is none"):
        fitness.held([])
    many, names = numbers([list(range(5001))])
    with pytest.raises(InvalidInput, match="up to 5,000 records, and this one has 5,001"):
        NumberFitness.of(many, names)


@pytest.mark.shared_data
def test_census_is_measured_as_the_measures_do(shared_folder):
    table = read_file(shared_folder / "sdc_census/census.csv", schema=read_schema("census")).table
    rng = np.random.default_rng(1)
    fitness = NumberFitness.of(table, table.names)
    ways = [("rank-swapping", {"percent": 10}), ("microaggregation", {"k": 10})]
    files = [fitness.codes_of(protect(table, name, table.names, rng=rng, **given)) for name, given in ways]
    fitness = fitness.held(files)
    for units in files:
        assert scores(fitness, units) == pytest.approx(slow_measures(fitness, units), abs=1e-9)
    walk(fitness, files, rng, steps=60, checked=6)


@settings(max_examples=30, deadline=None)
@given(files(), st.sampled_from(SCORES), st.floats(0, 100), seeds)
def test_what_is_better_has_the_scores_of_the_step_and_the_file_stays(given, kind, than, seed):
    table, names, decimals, units = given
    fitness = NumberFitness.of(table, names, decimals=decimals)
    state, other, rng = fitness.state(units), fitness.state(fitness.codes), np.random.default_rng(seed)
    for _ in range(5):
        first, last = np.sort(rng.integers(0, units.size, 2))
        genes = other.segment(first, last)
        expected = state.replaced(genes)
        state.undo()
        assert state.better(genes, kind, than) == (expected if expected.score(kind) < than else None)
        assert state.better(genes, kind, than, lambda _: False) is None
        assert (state.codes == units).all()
    assert state.changed(0, 0, 0) == fitness.full(state.codes)
