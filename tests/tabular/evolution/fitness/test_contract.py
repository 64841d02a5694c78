"""The fitness of protected files, whole and step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.evolution.fitness import Fitness, Segment
from tabular.evolution.fitness.contract import SCORES, gains_over
from tabular.intervals import codes_in
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.evolution.fitness.slow_fitness import slow_measures
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair


@settings(max_examples=100, deadline=None)
@given(pairs_of_tables(sets=False, max_rows=12), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_the_scores_are_those_of_the_measures(pair, gains):
    """Small whole gains make many linkages of equal weight; 0 makes an attribute count for nothing."""
    original, masked = pair
    for fitness in (
        Fitness.of(original, original.names),
        Fitness.of(original, original.names, gains[: len(original.names)]),
    ):
        codes = fitness.codes_of(masked)
        assert list(vars(fitness.full(codes)).values()) == pytest.approx(slow_measures(fitness, codes), abs=1e-9)
    assert fitness.full(codes, linked=False) == replace(fitness.full(codes), prl=0.0)


@pytest.mark.parametrize("seed", range(6))
def test_larger_files_are_linked_as_the_measures_link_them(seed):
    original, masked = random_pair(seed, 150, (4, 5, 5)[: 2 + seed % 2], kept=(0.2, 0.6, 0.9)[seed % 3], sets=0)
    other = random_pair(seed + 50, 150, (4, 5, 5)[: 2 + seed % 2], sets=0)[1]
    fitness = Fitness.of(original, original.names)
    fitness = fitness.held([fitness.codes_of(masked)])
    for codes in (fitness.codes_of(masked), fitness.codes_of(other)):
        assert list(vars(fitness.full(codes)).values()) == pytest.approx(slow_measures(fitness, codes), abs=1e-9)


def test_files_with_many_combinations_are_linked_as_the_measures_link_them():
    original, masked = random_pair(4, 600, (12, 10, 9), sets=0)
    fitness = Fitness.of(original, original.names, [1_000_000, 2_000_000, 2_000_000])
    codes = fitness.codes_of(masked)
    assert list(vars(fitness.full(codes)).values()) == pytest.approx(slow_measures(fitness, codes), abs=1e-9)
    walk(fitness, codes, np.random.default_rng(1), steps=60, checked=3)


def test_many_columns_are_linked_as_the_measures_link_them():
    original, masked = random_pair(5, 40, (2,) * 12, sets=0)
    fitness = Fitness.of(original, original.names)
    codes = fitness.codes_of(masked)
    assert list(vars(fitness.full(codes)).values()) == pytest.approx(slow_measures(fitness, codes), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_steps_end_at_the_bytes_of_the_whole_file(seed):
    original, masked = random_pair(seed, 60, (4, 3, 5), sets=0)
    fitness = Fitness.of(original, original.names)
    fitness = fitness.held([fitness.codes_of(masked)])
    walk(fitness, fitness.codes_of(masked), np.random.default_rng(seed), steps=1500, checked=20)


def walk(fitness, codes, rng, *, steps, checked):
    """Random steps: changes, segments of another file, undoing; some states are *checked* against the whole file."""
    state, other, depth = fitness.state(codes), fitness.state(rng.permutation(codes)), 0
    for number in range(steps):
        kind = rng.integers(4)
        if kind == 0 and depth:
            state.undo()
            depth -= 1
        elif kind == 1:
            first, last = np.sort(rng.integers(0, codes.size, 2))
            state.replaced(other.segment(first, last))
            depth += 1
        else:
            column = rng.integers(codes.shape[1])
            state.changed(rng.integers(len(codes)), column, rng.integers(fitness.tables.labels[column]))
            depth += 1
        if rng.random() < 0.1:
            state.keep()
            depth = 0
        if number % (steps // checked) == 0:
            assert state.scores == fitness.full(state.codes), number
    assert list(vars(state.scores).values()) == pytest.approx(slow_measures(fitness, state.codes), abs=1e-9)


def test_changes_that_are_tried_leave_the_file_as_it_was():
    original, masked = random_pair(8, 40, (4, 3), sets=0)
    fitness = Fitness.of(original, original.names)
    codes = fitness.codes_of(masked)
    state, rng = fitness.state(codes), np.random.default_rng(1)
    changes = np.stack([rng.integers(0, 80, 50), rng.integers(0, 3, 50)], axis=1)
    found = state.tried(changes)
    assert (state.codes == codes).all()
    for (gene, value), percents in zip(changes, found, strict=True):
        assert list(vars(state.changed(gene // 2, gene % 2, value)).values()) == percents.tolist()
        state.undo()
    with pytest.raises(InvalidInput, match="'column 1', row 1: codes are from 0 to 2, not 3"):
        state.tried(np.array([[1, 3]]))


def test_wrong_codes_are_refused():
    fitness = Fitness.of(table(a=["x", "y"], b=["x", "z"]), ["a", "b"])
    with pytest.raises(InvalidInput, match="has 2 rows and 2 columns of codes, not 3 x 2"):
        fitness.full(np.zeros((3, 2), dtype=int))
    with pytest.raises(InvalidInput, match="'b', row 2: codes are from 0 to 2, not 3"):
        fitness.full(np.array([[0, 1], [1, 3]]))
    with pytest.raises(InvalidInput, match="evolve fewer columns"):
        random = random_pair(1, 500, (90, 90, 90), sets=0)[0]
        Fitness.of(random, random.names)


@settings(max_examples=25, deadline=None)
@given(pairs_of_tables(sets=False), st.data())
def test_steps_say_what_the_whole_file_says_and_can_be_undone(pair, data):
    original, masked = pair
    fitness = Fitness.of(original, original.names)
    state, other = fitness.state(fitness.codes_of(masked)), fitness.state(fitness.codes)
    before = [(state.codes, state.scores)]
    for _ in range(data.draw(st.integers(1, 6))):
        if data.draw(st.booleans()):
            row = data.draw(st.integers(0, len(original) - 1))
            column = data.draw(st.integers(0, len(original.names) - 1))
            size = len(original.attributes[column].domain)
            found = state.changed(row, column, data.draw(st.integers(0, size - 1)))
        else:
            first = data.draw(st.integers(0, state.codes.size - 1))
            found = state.replaced(other.segment(first, data.draw(st.integers(first, state.codes.size - 1))))
        assert found == state.scores == fitness.full(state.codes)
        before.append((state.codes, state.scores))
    for codes, scores in before[-2::-1]:
        assert state.undo() == scores
        assert state.codes.tolist() == codes.tolist()
    with pytest.raises(InvalidInput, match="no step to undo"):
        state.undo()


def table(**columns):
    return Table.from_columns(columns, [Attribute(name=name, domain=("x", "y", "z")) for name in columns])


def test_a_segment_goes_record_by_record():
    fitness = Fitness.of(table(a=["x", "y", "x"], b=["x", "x", "y"]), ["a", "b"])
    state = fitness.state(fitness.codes)
    state.replaced(Segment(1, np.array([2, 2, 2])))
    assert state.codes.tolist() == [[0, 2], [2, 2], [0, 1]]
    state.changed(2, 1, 0)
    state.keep()
    assert state.codes.tolist() == [[0, 2], [2, 2], [0, 0]]
    with pytest.raises(InvalidInput, match="no step to undo"):
        state.undo()
    with pytest.raises(InvalidInput, match="the genes 0 to 5; there is no gene 6"):
        state.replaced(Segment(5, np.array([0, 0])))


def test_the_scores_of_a_file_by_hand():
    """Of four records one becomes z: a quarter of each table moves, three values and the links of them stay."""
    original = table(a=["x", "x", "y", "z"])
    found = Fitness.of(original, ["a"]).full(np.array([[0], [0], [1], [0]]))
    assert found.ctbil == found.dbil == 25
    # Of three records with x two were x and one was z.
    assert found.ebil == pytest.approx(100 * (2 * np.log(3 / 2) + np.log(3)) / (4 * np.log(3)))
    # Three of four values; y is linked, and each x with one of two.
    assert (found.id, found.dbrl) == (75, 50)
    # One to one, two of three x are linked with x, one of both with z: 2 x 2 / (2 x 3) and 1 x 1 / (1 x 3).
    assert found.prl == pytest.approx(100 * (1 + 2 * 2 / 6 + 1 * 1 / 3) / 4)
    assert found.score("max") == max(found.information_loss, found.disclosure_risk)
    assert found.score("mean") == (found.information_loss + found.disclosure_risk) / 2
    with pytest.raises(InvalidParameter, match="kind"):
        found.score("least")


def test_weights_are_counted_over_the_population_and_never_negative():
    before = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    swapped = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])
    # The first attribute always agrees, the second never: it would count against a pair.
    gains = gains_over(before, [swapped])
    assert gains[0] == round(1e6 * np.log((1 - 1e-6) / 1e-6))
    assert gains[1] == 0
    assert gains_over(before, [swapped, before])[1] == 0
    assert gains_over(before, [swapped, before, before])[1] == round(1e6 * np.log(2))
    with pytest.raises(InvalidInput, match="there is none"):
        gains_over(before, [])


def with_sets(original, masked):
    """The fitness with all sets of a masked file as labels, and the codes of that file."""
    sets = [[codes_in(members).tolist() for members in masked.sets[name]] for name in original.names]
    fitness = Fitness.of(original, original.names, sets=sets)
    return fitness, fitness.codes_of(masked)


@settings(max_examples=100, deadline=None)
@given(pairs_of_tables(max_rows=12), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_labels_that_stand_for_sets_are_measured_as_the_measures_do(pair, gains):
    original, masked = pair
    fitness, codes = with_sets(original, masked)
    given_gains = Fitness.of(original, original.names, gains[: len(original.names)], sets=fitness.sets)
    for each in (fitness, fitness.held([codes]), given_gains):
        assert list(vars(each.full(codes)).values()) == pytest.approx(slow_measures(each, codes), abs=1e-9)
    assert fitness.table_of(codes).to_columns() == masked.to_columns()


@settings(max_examples=40, deadline=None)
@given(pairs_of_tables(max_rows=12), seeds)
def test_steps_with_sets_say_what_the_whole_file_says(pair, seed):
    original, masked = pair
    fitness, codes = with_sets(original, masked)
    state, rng = fitness.state(codes), np.random.default_rng(seed)
    for _ in range(12):
        column = int(rng.integers(codes.shape[1]))
        state.changed(int(rng.integers(len(codes))), column, int(rng.integers(fitness.tables.labels[column])))
        assert state.scores == fitness.full(state.codes)
    assert list(vars(state.scores).values()) == pytest.approx(slow_measures(fitness, state.codes), abs=1e-9)
    while state._steps:
        state.undo()
    assert (state.codes == codes).all()
    assert state.scores == fitness.full(codes)


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_steps_with_sets_end_at_the_bytes_of_the_whole_file(seed):
    original, masked = random_pair(seed, 60, (4, 3, 5))
    fitness, codes = with_sets(original, masked)
    assert (fitness.tables.labels > fitness.tables.sizes).any()
    walk(fitness.held([codes]), codes, np.random.default_rng(seed), steps=1000, checked=20)


def test_the_scores_of_a_set_by_hand():
    """Of four records two have x or y: half of each is x, and each x and y is as near and as likely."""
    original = table(a=["x", "x", "y", "z"])
    fitness = Fitness.of(original, ["a"], sets=[[(0, 1)]])
    found = fitness.full(fitness.codes_of(original.masked({"a": ["x", "{x|y}", "{x|y}", "z"]})))
    # Each of the two adds half a record to x and half to y: as many have them as before.
    assert found.ctbil == 0
    assert found.dbil == pytest.approx(100 * (0.5 + 0.5) / 4)
    assert found.ebil == pytest.approx(100 * 2 * np.log(2) / (4 * np.log(3)))
    assert found.id == 50
    # x is nearest to two; the label is as near to x as to y, which are three.
    assert found.dbrl == pytest.approx(100 * (1 / 2 + 1 / 3 + 1 / 3 + 1) / 4)


def test_sets_that_are_not_known_are_refused():
    original = table(a=["x", "y"])
    with pytest.raises(InvalidInput, match="'a' holds a label for a set that is none of those that evolve"):
        Fitness.of(original, ["a"]).codes_of(original.masked({"a": ["{x|y}", "y"]}))


@settings(max_examples=50, deadline=None)
@given(pairs_of_tables(max_rows=12), st.sampled_from(SCORES), st.floats(0, 100), seeds)
def test_what_is_better_has_the_scores_of_the_step_and_the_file_stays(pair, kind, than, seed):
    original, masked = pair
    fitness, codes = with_sets(original, masked)
    state, other, rng = fitness.state(codes), fitness.state(fitness.codes), np.random.default_rng(seed)
    for _ in range(5):
        first, last = np.sort(rng.integers(0, codes.size, 2))
        genes = other.segment(first, last)
        expected = state.replaced(genes)
        state.undo()
        assert state.better(genes, kind, than) == (expected if expected.score(kind) < than else None)
        assert state.better(genes, kind, than, lambda _: False) is None
        asked = []
        state.better(genes, kind, 1000, lambda codes, asked=asked: bool(asked.append(codes.copy())))
        assert (asked[0].reshape(-1)[first : last + 1] == genes.values).all()
        assert (state.codes == codes).all()
    assert state.scores == fitness.full(codes)
    assert state.changed(0, 0, 0) == fitness.full(state.codes)
