"""Algorithm 7 in layers: never worse, never asked twice, the same again from a seed or from what was kept."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.evolution.formulas.grammar import EXTENDED, GRAMMARS, PLAIN
from tabular.evolution.formulas.layer import Breeding, Layer, Member, Worth
from tabular.evolution.formulas.layers import Layers
from tabular.evolution.formulas.trees import levels_of
from tabular.matrices.formulas import Formula
from tabular.matrices.transition import by_frequency
from tests.strategies import seeds

COUNTS = np.array([98, 173, 251, 195])
TARGET = by_frequency(COUNTS, 0.4)
SMALL = Breeding(size=14, tournament=6)


def worth(formula):
    """How far the matrix is from one that no short formula gives."""
    apart = float(np.abs(formula.matrix(COUNTS) - TARGET).sum())
    return Worth(apart, apart, len(formula.elements))


def guarded_worth(formula):
    """The same, but most formulas may not be released, as under a strict limit."""
    found = worth(formula)
    return found._replace(refused=len(formula.canonical) % 3 > 0)


def evolved(layers, generations, asked=None, guarded=False):
    for _ in range(generations):
        formulas = layers.ask()
        if asked is not None:
            asked += [formula.canonical for formula in formulas]
        layers.tell([(guarded_worth if guarded else worth)(formula) for formula in formulas])
    return layers


def begun(seed, levels=4, grammar=PLAIN, breeding=SMALL):
    return Layers.of(grammar, levels, breeding, np.random.default_rng(seed))


def test_no_formula_is_asked_for_twice():
    asked = []
    layers = evolved(begun(1), 40, asked)
    assert len(asked) == len(set(asked)) == layers.evaluated > 100


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_the_same_seed_gives_the_same_bytes(grammar):
    one, other = (evolved(begun(5, grammar=grammar), 25) for _ in range(2))
    assert json.dumps(one.document()) == json.dumps(other.document())
    assert json.dumps(evolved(begun(6, grammar=grammar), 25).document()) != json.dumps(one.document())


@settings(deadline=None, max_examples=5)
@given(seeds, st.integers(1, 12))
def test_what_was_kept_goes_on_as_if_it_had_not_stopped(seed, stopped):
    kept = json.dumps(evolved(begun(seed), stopped).document())
    resumed = Layers.of_document(json.loads(kept), PLAIN, SMALL)
    assert json.dumps(resumed.document()) == kept
    assert json.dumps(evolved(resumed, 8).document()) == json.dumps(evolved(begun(seed), stopped + 8).document())


@settings(deadline=None, max_examples=8)
@given(seeds)
def test_the_best_of_each_layer_never_gets_worse_and_stays_within_its_levels(seed):
    layers, before = begun(seed), [np.inf] * 2
    for _ in range(15):
        evolved(layers, 1)
        now = [min(member.worth.loss for member in layer.members) for layer in layers.layers]
        assert all(new <= old for new, old in zip(now, before, strict=True))
        assert all(levels_of(PLAIN, member.tree) <= layer.levels for layer in layers.layers for member in layer.members)
        before = now


@settings(deadline=None, max_examples=5)
@given(seeds, st.booleans())
def test_deeper_trees_hold_the_run_of_the_shallower_ones_and_end_no_worse(seed, guarded):
    runs = {levels: evolved(begun(seed, levels), 20, guarded=guarded) for levels in (3, 4, 5)}
    for levels in (3, 4):
        shallow, deep = runs[levels], runs[levels + 1]
        assert deep.document()["layers"][:-1] == shallow.document()["layers"]
        assert deep.members[0].rank <= shallow.members[0].rank


def test_evolution_finds_better_formulas_than_chance():
    layers = begun(3, 5, EXTENDED, Breeding())
    begin = evolved(layers, 1).members[0].worth.loss
    assert evolved(layers, 100).members[0].worth.loss < 0.4 * begin


def test_of_formulas_that_are_worth_the_same_the_shortest_is_shown():
    layers = begun(1)
    layers.layers[0].members = [member("N + N", 2), member("N", 2), member("freq_i", 1)]
    assert [str(each.formula) for each in layers.members] == ["freq_i", "N"]


def test_a_formula_that_may_not_be_released_loses_against_any_that_may():
    layers = evolved(begun(2), 20, guarded=True)
    refused = [each.worth.refused for each in layers.members]
    assert refused == sorted(refused) and not refused[0] and refused[-1]
    free, held = Worth(90.0, 90.0, 90.0), Worth(1.0, 1.0, 1.0, refused=True)
    formula = Formula.read("N")
    assert Member(formula.elements, formula, free).rank < Member(formula.elements, formula, held).rank


def test_a_shallow_run_has_one_layer():
    assert [layer.levels for layer in begun(1, 2).layers] == [2]
    assert [layer.levels for layer in begun(1, 5).layers] == [3, 4, 5]


def member(text, loss):
    formula = Formula.read(text)
    return Member(formula.elements, formula, Worth(loss, loss, 0.0))


def layer_of(*members):
    return Layer(PLAIN, 3, SMALL, np.random.default_rng(1), list(members))


def test_the_best_child_replaces_the_worst_loser():
    layer = layer_of(member("N", 1), member("freq_i", 4), member("freq_j", 3))
    layer.replace([1, 2], [member("N * N", 2.5), member("N + N", 2)])
    assert [str(each.formula) for each in layer.members] == ["N", "N + N", "N * N"]


def test_a_child_that_is_no_better_than_the_loser_is_dropped():
    layer = layer_of(member("N", 1), member("freq_i", 4), member("freq_j", 3))
    layer.replace([1, 2], [member("N * N", 3.5), member("N + N", 5)])
    assert [str(each.formula) for each in layer.members] == ["N", "N * N", "freq_j"]


def test_a_child_worth_the_same_as_a_member_replaces_it_only_if_it_is_shorter():
    layer = layer_of(member("N + N + N", 1), member("freq_i", 4))
    layer.replace([1], [member("N + N + N + N", 1)])
    assert [str(each.formula) for each in layer.members] == ["N + N + N", "freq_i"]
    layer.replace([1], [member("N", 1)])
    assert [str(each.formula) for each in layer.members] == ["N", "freq_i"]
