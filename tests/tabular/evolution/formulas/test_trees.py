"""Trees of formulas: grown, mutated and crossed within their levels, of one kind throughout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.evolution.formulas.grammar import GRAMMARS, NORMALISED, PLAIN
from tabular.evolution.formulas.trees import crossed, grown, half_and_half, levels_of, mutated, nodes
from tabular.matrices.formulas import FUNCTIONS, SAME, TERMINALS
from tests.strategies import generators

grammars = st.sampled_from(list(GRAMMARS.values()))


def slow_levels(grammar, tree):
    """Levels and kind of a tree, by recursion from its end; what is left over in front is returned too."""
    *rest, name = tree
    symbol, deepest = grammar.by_name[name], 0
    for kind in reversed(symbol.takes):
        levels, found, rest = slow_levels(grammar, rest)
        assert found == kind
        deepest = max(deepest, levels)
    return 1 + deepest, symbol.gives, rest


def check(grammar, tree, most):
    levels, kind, rest = slow_levels(grammar, tree)
    assert rest == []
    assert kind == grammar.root
    assert levels == levels_of(grammar, tree) <= most


@settings(deadline=None, max_examples=60)
@given(grammars, st.integers(1, 6), generators)
def test_every_tree_that_is_bred_is_sound_and_within_its_levels(grammar, levels, rng):
    trees = half_and_half(grammar, levels, 12, rng)
    for _ in range(10):
        one, other = (trees[int(place)] for place in rng.integers(len(trees), size=2))
        trees += [mutated(grammar, one, levels, rng), *crossed(grammar, one, other, levels, rng)]
    for tree in trees:
        check(grammar, tree, levels)


@given(grammars, st.integers(1, 5), generators)
def test_nodes_are_subtrees_in_postorder(grammar, levels, rng):
    tree = grown(grammar, grammar.root, levels, rng, full=False, is_root=True)
    for node in nodes(grammar, tree):
        height, kind, rest = slow_levels(grammar, node.part_of(tree))
        assert (height, kind, rest) == (node.levels, node.kind, [])
        assert node.replaced(tree, node.part_of(tree)) == tree
        holding = [other for other in nodes(grammar, tree) if other.begin <= node.begin and node.end <= other.end]
        assert len(holding) == node.level


def test_a_full_tree_has_all_its_levels_in_each_branch():
    tree = grown(PLAIN, PLAIN.root, 4, np.random.default_rng(3), full=True, is_root=True)
    assert len(tree) == 15
    assert {node.level for node in nodes(PLAIN, tree) if node.levels == 1} == {4}


def test_half_of_the_trees_are_full_and_all_depths_are_there():
    trees = half_and_half(PLAIN, 5, 60, np.random.default_rng(4))
    assert len(set(trees)) == len(trees) == 60
    assert {levels_of(PLAIN, tree) for tree in trees} == {1, 2, 3, 4, 5}
    assert sum(len(tree) == 2 ** levels_of(PLAIN, tree) - 1 for tree in trees) >= 30


def test_few_levels_have_few_trees():
    assert sorted(half_and_half(PLAIN, 1, 60, np.random.default_rng(4))) == sorted((name,) for name in TERMINALS)


def test_crossing_exchanges_two_subtrees():
    one, other = ("N", "freq_i", "+"), ("freq_j", "freq_max", "*")
    made = {crossed(PLAIN, one, other, 2, np.random.default_rng(seed)) for seed in range(40)}
    assert (("freq_j", "freq_i", "+"), ("N", "freq_max", "*")) in made
    assert (other, one) in made
    # A root cannot become a leaf of the other where two levels are all.
    assert all(sorted(first + second) == sorted(one + other) for first, second in made)
    assert all(len(first) == len(second) == 3 for first, second in made)


def test_mutation_can_leave_any_shape():
    tree = ("N", "freq_i", "+")
    shapes = {len(mutated(PLAIN, tree, 3, np.random.default_rng(seed))) for seed in range(300)}
    assert shapes == {1, 3, 5, 7}


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_every_symbol_is_used(grammar):
    rng = np.random.default_rng(1)
    used = {name for tree in half_and_half(grammar, 5, 60, rng) for name in tree}
    assert used == set(grammar.by_name)


def test_the_plain_grammar_is_that_of_the_thesis():
    assert set(PLAIN.by_name) == {*TERMINALS, *FUNCTIONS}
    assert SAME not in PLAIN.by_name


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6).map(np.array), st.integers(1, 5), generators)
def test_normalised_formulas_need_no_normalising(counts, levels, rng):
    tree = grown(NORMALISED, NORMALISED.root, levels, rng, full=False, is_root=levels > 1)
    values = NORMALISED.formula(tree).values(counts)
    assert (values >= 0).all()
    assert values.sum(axis=1) == pytest.approx(1, abs=1e-9)
