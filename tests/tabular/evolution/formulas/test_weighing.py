"""What a formula is worth, by matrices that are measured elsewhere, and what is not released."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.evolution.fitness.contract import Fitness
from tabular.evolution.formulas.weighing import Guards, Weigher, drawn_measure, frequencies_of
from tabular.evolution.matrices.expectation import Expectation
from tabular.evolution.matrices.guards import Limits
from tabular.matrices.formulas import Formula, is_too_long
from tabular.measures import summary
from tabular.protections import protect
from tests.tabular.evolution.formulas.people import COLUMNS, TABLE

FREQUENCIES = frequencies_of(TABLE, COLUMNS)
OPEN = Guards(frequencies=FREQUENCIES, limits=None)
SHUT = Guards(frequencies=FREQUENCIES, limits=Limits(added=0.1, recovered=0.95))


def weigher(guards=OPEN, kind="max"):
    return Weigher(FREQUENCIES, Expectation.of(TABLE, COLUMNS).measured, guards, kind)


def test_a_worth_is_the_expected_score_of_the_matrices():
    formula = Formula.read("freq_j / N + (i=j)")
    found = weigher().worth(formula)
    known = Expectation.of(TABLE, COLUMNS).measured({name: formula.matrix(FREQUENCIES[name]) for name in COLUMNS})
    assert found[:3] == pytest.approx((known.score("max"), known.information_loss, known.disclosure_risk), abs=1e-9)
    assert not found.refused
    assert weigher(kind="mean").worth(formula).loss == pytest.approx(known.score("mean"), abs=1e-9)


def test_formulas_of_the_same_matrices_are_measured_once():
    measured = []

    def measure(matrices):
        measured.append(matrices)
        return Expectation.of(TABLE, COLUMNS).measured(matrices)

    both = Weigher(FREQUENCIES, measure, OPEN, "max")
    one = both.worth(Formula.read("freq_j / N + (i=j)"))
    assert both.worth(Formula.read("N * (freq_j + N * (i=j)) / freq_max")) == one
    assert len(measured) == 1


def test_drawn_files_are_measured_as_anywhere_else():
    formula = Formula.read("freq_j / N + (i=j)")
    fitness = Fitness.of(TABLE, COLUMNS)
    measure = drawn_measure(fitness, 3, 11)
    found = measure({name: formula.matrix(FREQUENCIES[name]) for name in COLUMNS})
    files = [
        protect(TABLE, "pram", COLUMNS, rng=np.random.default_rng((11, number)), formula=str(formula))
        for number in range(3)
    ]
    known = [summary(TABLE, each, COLUMNS) for each in files]
    assert found.information_loss == pytest.approx(np.mean([each.information_loss for each in known]))
    assert [each.dbrl for each in found.files] == pytest.approx([each.readings["dbrl"].percent for each in known])
    assert found.score("max") == pytest.approx(np.mean([each.score("max") for each in found.files]))


def test_matrices_without_an_inverse_are_refused_whatever_is_asked_for():
    for guards in (OPEN, SHUT):
        assert "without an inverse" in guards(
            {name: Formula.read("freq_j").matrix(FREQUENCIES[name]) for name in COLUMNS}
        )
        assert weigher(guards).worth(Formula.read("freq_j")).refused


@pytest.mark.parametrize(
    ("text", "why"), [("i=j", "is expected to equal the original in 100.0 %"), ("freq_i - freq_min + (i=j)", None)]
)
def test_what_gives_the_original_away_is_refused_unless_asked_for(text, why):
    matrices = {name: Formula.read(text).matrix(FREQUENCIES[name]) for name in COLUMNS}
    assert OPEN(matrices) is None
    assert (SHUT(matrices) or "None").startswith(why or "None")


def test_a_permutation_is_refused():
    swap = {
        "job": np.roll(np.eye(4), 1, axis=1),
        "town": Formula.read("freq_j + freq_i * (i=j)").matrix(FREQUENCIES["town"]),
    }
    assert "knowing the matrix adds 100.0 % of what both miss" in SHUT(swap)
    assert OPEN(swap) is None


def test_a_formula_that_could_not_be_read_again_is_refused():
    short = Formula.read("freq_j / N + (i=j)")
    long = Formula((*short.elements, *("N", "*", "N", "/") * 3000))
    assert is_too_long(long) and not is_too_long(short)
    found = weigher()
    assert not found.worth(short).refused and found.complaint(short) is None
    # It makes the same matrices, which are measured once.
    assert found.worth(long) == found.worth(short)._replace(refused=True)
    assert "has more than 10,000 characters" in found.complaint(long)
