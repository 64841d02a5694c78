"""Formulas through the contract of what evolves: kept and resumed, released by the matrices they make, and refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.evolution import EvolutionRequest, Task, evolutions, evolve
from tabular.evolution.formulas.evolving import EvolvedFormulas
from tabular.matrices.formulas import Formula
from tabular.matrices.transition import WORST_CONDITION
from tabular.protections.pram import PRAM
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.evolution.formulas.people import COLUMNS, TABLE
from tests.tabular.evolution.matrices.credit import added

SMALL = {"size": 12, "tournament": 6, "levels": 4, "terminals": "diagonal"}


def task(**given):
    return Task(table=TABLE, columns=COLUMNS, workers=1, **given)


def begun(seed=1, given=None, **parameters):
    return EvolvedFormulas(**{**SMALL, **parameters}).begin(given or task(), np.random.default_rng(seed))


def bred(population, generations):
    for _ in range(generations):
        population.tell(population.evaluate(population.ask()))
    return population


def bytes_of(population):
    return {name: values.tobytes() for name, values in population.kept().items()}


@pytest.mark.parametrize("replicas", [0, 2])
def test_what_was_kept_goes_on_with_the_same_bytes(replicas):
    whole = bred(begun(replicas=replicas), 6)
    half = bred(begun(replicas=replicas), 3)
    resumed = EvolvedFormulas(**SMALL, replicas=replicas).resume(task(), half.kept())
    assert bytes_of(bred(resumed, 3)) == bytes_of(whole)
    assert resumed.evaluated == whole.evaluated


def test_two_threads_find_what_one_finds():
    tasks = [Task(table=TABLE, columns=COLUMNS, workers=workers) for workers in (1, 2)]
    one, two = (begun(4, each) for each in tasks)
    assert bytes_of(bred(one, 4)) == bytes_of(bred(two, 4))


def test_a_member_is_released_by_the_matrices_of_its_formula():
    population = bred(begun(), 5)
    best = population.individual(0)
    assert best.withheld is None
    assert Formula.read(best.about["formula"]) == population.members[0].formula
    known = PRAM(formula=best.about["formula"]).matrices(TABLE, COLUMNS)
    for name in COLUMNS:
        assert (best.matrices[name] == known[name]).all()
        assert best.matrices[name].sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert np.linalg.cond(best.matrices[name]) < 1e10
    assert best.masked().columns["job"].tolist() == best.masked().columns["job"].tolist()
    assert best.score("max") == population.scores[0]


def test_what_may_not_be_released_is_in_no_figure_of_the_history():
    request = EvolutionRequest(what="formula", columns=COLUMNS, parameters=SMALL, generations=6)
    population = begun(given=task(), added=5.0)
    assert not np.isfinite(population.scores).all()
    history = evolve(request, TABLE, rng=np.random.default_rng(1), workers=1).document["history"]
    # Scores are from 0 to 100.
    assert all(0 <= best <= mean <= worst <= 100 for _, best, mean, worst in history)
    own = np.random.default_rng(1).spawn(2)[0]
    start = EvolvedFormulas(**SMALL).begin(task(), own)
    losses = [each.worth.loss for each in start.members if not each.worth.refused]
    assert history[0][1:] == pytest.approx([min(losses), np.mean(losses), max(losses)])


def test_what_gives_the_original_back_loses_by_construction():
    """The best of a search without a guard may not even take part in one with it."""
    free = bred(begun(given=task(score="mean", accept_unchanged=True)), 40)
    held = bred(begun(given=task(score="mean")), 40)
    assert free.scores[0] < held.scores[0]
    weigher = held._weigher
    assert weigher.worth(free.members[0].formula).refused
    for layer in held.layers.layers:
        assert not min(layer.members, key=lambda each: each.rank).worth.refused
    ranks = [each.worth.refused for each in held.members]
    assert ranks == sorted(ranks)


def test_a_start_without_any_formula_that_may_be_released_says_so():
    request = EvolutionRequest(what="formula", columns=COLUMNS, parameters={**SMALL, "levels": 1, "terminals": "plain"})
    with pytest.raises(NoSolution, match="Nothing may be released"):
        evolve(request, TABLE, rng=np.random.default_rng(1), workers=1)


def test_a_member_too_long_to_be_read_is_withheld_and_can_still_be_drawn():
    population = bred(begun(), 1)
    best = population.members[0]
    long = Formula((*best.formula.elements, *("N", "*", "N", "/") * 3000))
    population._members = [replace(best, formula=long)]
    found = population.individual(0)
    assert "10,000 characters" in found.withheld
    assert len(found.masked()) == len(TABLE)


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=40), seeds)
def test_every_matrix_that_may_be_released_is_one(rows, seed):
    attributes = [Attribute(name=name, kind="ordinal", domain=(0, 1, 2, 3)) for name in ("one", "other")]
    table = Table.from_columns({"one": [row[0] for row in rows], "other": [row[1] for row in rows]}, attributes)
    asked = Task(table=table, columns=("one", "other"), workers=1)
    if not any(len(set(column)) > 1 for column in zip(*rows, strict=True)):
        return
    population = EvolvedFormulas(**SMALL).begin(asked, np.random.default_rng(seed))
    for place in range(len(population.members)):
        member = population.individual(place)
        assert (member.withheld is None) == bool(np.isfinite(population.scores[place]))
        for name, matrix in member.matrices.items():
            assert member.withheld is not None or added(table.columns[name], matrix) <= 0.1 + 1e-6
        for matrix in member.matrices.values():
            assert (matrix >= 0).all()
            assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)
            assert member.withheld is not None or np.linalg.cond(matrix) <= WORST_CONDITION


def test_a_request_gives_a_formula_that_masks_another_file():
    found = evolve(
        EvolutionRequest(what="formula", columns=COLUMNS, parameters=SMALL, generations=8),
        TABLE,
        rng=np.random.default_rng(2),
        workers=1,
    )
    text = found.document["formula"]
    # Whoever knows the formula and the frequencies has the matrices: it is the owner's.
    assert found.release.private["formula"] == text
    assert text not in str(found.release.parameters)
    other = Table.from_columns({"colour": ["red", "red", "blue", "green"] * 9})
    assert len(PRAM(formula=text).protect(other, ["colour"], np.random.default_rng(1))) == 36
    bests = [best for _, best, _, _ in found.document["history"]]
    assert bests == sorted(bests, reverse=True)
    assert found.document["evaluations"] > 30


def test_the_best_can_be_left_out_of_the_start():
    whole, without = begun(), begun(given=task(drop_best=50.0))
    assert len(without.scores) < len(whole.scores)
    assert without.scores.min() >= whole.scores.min()


def test_the_least_that_can_evolve_does():
    population = bred(begun(size=4, tournament=2, levels=2), 3)
    assert 0 < len(population.members) <= 5


def test_normalised_formulas_evolve():
    for member in bred(begun(terminals="normalised"), 3).members:
        values = member.formula.values(np.array([3, 9, 4]))
        assert values.sum(axis=1) == pytest.approx(1, abs=1e-9)


def refused(table, columns, error, text, **given):
    with pytest.raises(error, match=text):
        EvolvedFormulas().check(Task(table=table, columns=columns, **given))


def test_what_cannot_evolve_is_told():
    numbers = Table.from_columns({"age": [1.5, 2.5, 3.5], "sex": ["f", "f", "f"]})
    refused(numbers, ("age",), InvalidParameter, "'age' is continuous; formulas are for categories")
    refused(numbers, ("sex",), NoSolution, "No column has two categories that occur")
    refused(TABLE, COLUMNS, InvalidParameter, "formulas start from random ones", population="folder")
    with pytest.raises(InvalidParameter, match="levels must be from 1 to 8, not 9"):
        EvolvedFormulas(levels=9)


def test_they_are_entered_as_what_evolves():
    assert evolutions["formula"].method is EvolvedFormulas
