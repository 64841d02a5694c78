from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from tabular.evolution.fitness.contract import Fitness
from tabular.evolution.matrices.expectation import Expectation
from tabular.evolution.matrices.objectives import (
    CHI_SQUARE,
    COUNTS,
    WORST,
    DrawnDifference,
    DrawnScore,
    ExpectationRatio,
    ExpectedChiSquare,
    ExpectedCounts,
    ExpectedScore,
    chi_square_of,
)
from tabular.measures.transitions import bivariate_difference
from tabular.protections.pram import PRAM
from tests.tabular.evolution.matrices.credit import credit

TABLE = credit()
MATRICES = PRAM(retain=0.6).matrices(TABLE, TABLE.names)


def test_the_expected_difference_of_counts_is_the_mean_of_drawn_files():
    expected = ExpectedCounts.of(TABLE, "savings", "account").loss(MATRICES)
    drawn = [DrawnDifference(TABLE, "savings", "account", COUNTS, 1).loss(MATRICES, seed) for seed in range(200)]
    assert abs(expected - np.mean(drawn)) <= 3 * np.std(drawn, ddof=1) / np.sqrt(len(drawn))
    assert ExpectedCounts.of(TABLE, "savings", "account").loss({"savings": np.eye(5)}) == pytest.approx(0, abs=1e-9)
    assert bivariate_difference(TABLE, TABLE, "savings", "account") == 0


def test_the_chi_square_of_expected_counts():
    table = credit(5000)
    objective = ExpectedChiSquare.of(table, "savings", "account")
    counts = np.zeros((5, 4))
    np.add.at(counts, (table.columns["savings"], table.columns["account"]), 1)
    before = chi2_contingency(counts, correction=False).statistic
    after = chi2_contingency(MATRICES["savings"].T @ counts, correction=False).statistic
    assert chi_square_of(counts) == pytest.approx(before)
    assert objective.loss(MATRICES) == pytest.approx(100 * (before - after) / before)
    # What chance adds is about the 12 degrees of freedom.
    drawn = DrawnDifference(table, "savings", "account", CHI_SQUARE, 30).loss(MATRICES, 1)
    assert drawn == pytest.approx(objective.loss(MATRICES) - 100 * 12 / before, abs=2)


def test_table_4_10_as_an_objective():
    matrix = np.full((6, 6), 0.08)
    np.fill_diagonal(matrix, 0.6)
    objective = ExpectationRatio({"degree": np.array([98, 173, 251, 195, 170, 80])})
    assert objective.loss({"degree": matrix}) == pytest.approx(1.780, abs=0.001)
    assert objective.loss({"degree": np.eye(6)}) == WORST


def test_drawn_scores_follow_from_the_seed_and_come_near_the_expected_one():
    fitness = Fitness.of(TABLE, TABLE.names)
    drawn, expected = DrawnScore(fitness, "mean", 5), ExpectedScore(Expectation.of(TABLE, TABLE.names), "mean")
    assert drawn.is_drawn and not expected.is_drawn
    assert drawn.loss(MATRICES, 7) == drawn.loss(MATRICES, 7) != drawn.loss(MATRICES, 8)
    assert drawn.loss(MATRICES, 7) == pytest.approx(expected.loss(MATRICES), abs=3)
