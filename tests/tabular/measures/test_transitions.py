from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chi2_contingency

from tabular.errors import InvalidInput
from tabular.measures.transitions import (
    bivariate_difference,
    chi_square,
    chi_square_difference,
    expectation_ratios,
    matrix_measures,
    mean_expectation_ratio,
)
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables

DEGREE = np.array([98, 173, 251, 195, 170, 80])


def test_table_4_8_row_1_and_table_4_10_initial_matrix():
    matrix = np.full((6, 6), 0.08)
    np.fill_diagonal(matrix, 0.6)
    found = expectation_ratios(matrix, DEGREE)
    assert found == pytest.approx([0.846, 1.634, 2.629, 1.894, 1.599, 0.676], abs=0.001)
    assert mean_expectation_ratio(matrix, DEGREE) == pytest.approx(1.780, abs=0.001)


def test_a_matrix_that_keeps_all_gives_no_cover():
    assert expectation_ratios(np.eye(2), np.array([3, 1])).tolist() == [np.inf, np.inf]


def test_categories_that_do_not_occur_have_no_weight():
    matrix = np.array([[0.8, 0.2, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert mean_expectation_ratio(matrix, np.array([10, 20, 0])) == pytest.approx((10 * 0.8 + 20 * 5) / 30)


def people():
    original = Table.from_columns(
        {"degree": ["a", "a", "b", "b", "c", "c"], "school": ["x", "x", "y", "y", "x", "y"], "one": ["p"] * 6}
    )
    return original, original.masked({"degree": ["a", "b", "b", "b", "c", "c"], "school": original.values("school")})


def test_bivariate_counts_worked_by_hand():
    original, masked = people()
    # One of six records moved from (a, x) to (b, x).
    assert bivariate_difference(original, masked, "degree", "school") == pytest.approx(100 / 6)


def test_the_change_of_chi_square_against_another_implementation():
    original, masked = people()
    before = chi2_contingency([[2, 0], [0, 2], [1, 1]], correction=False).statistic
    after = chi2_contingency([[1, 0], [1, 2], [1, 1]], correction=False).statistic
    codes = [original.columns[name] for name in ("degree", "school")]
    assert chi_square(*codes) == pytest.approx(before)
    found = chi_square_difference(original, masked, "degree", "school")
    assert found == pytest.approx(100 * abs(after - before) / before)


@given(pairs_of_tables(sets=False))
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    one, other = original.names[0], original.names[-1]
    if one == other:
        return
    rows, moved, chi = range(len(original)), 0, [0.0, 0.0]
    for cell in product(*(range(len(original.attribute(name).domain)) for name in (one, other))):
        counts = []
        for place, table in enumerate((original, masked)):
            held = [(table.columns[one][row], table.columns[other][row]) for row in rows]
            counts.append(held.count(cell))
            expected = sum(a == cell[0] for a, _ in held) * sum(b == cell[1] for _, b in held) / len(held)
            chi[place] += (counts[place] - expected) ** 2 / expected if expected else 0
        moved += abs(counts[0] - counts[1])
    assert bivariate_difference(original, masked, one, other) == pytest.approx(100 * moved / 2 / len(original))
    if chi[0] > 1e-9:
        found = chi_square_difference(original, masked, one, other)
        assert found == pytest.approx(100 * abs(chi[1] - chi[0]) / chi[0], abs=1e-9)
        assert chi_square_difference(original, original, one, other) == 0
    assert bivariate_difference(original, original, one, other) == 0


def test_attributes_that_are_independent_in_the_original_have_no_chi_square_to_compare():
    original, _ = people()
    assert chi_square_difference(original, original, "degree", "one") is None
    # 3 x 7 records of which 1/3 and 1/7 are no numbers of the machine.
    grid = Table.from_columns({"a": [row % 3 for row in range(21)], "b": [row % 7 for row in range(21)]})
    assert chi_square_difference(grid, grid, "a", "b") is None


def test_what_has_no_chi_square_is_refused():
    original, _ = people()
    with pytest.raises(InvalidInput, match="stand for sets"):
        chi_square_difference(original, original.masked({"degree": ["*"] * 6, "one": ["p"] * 6}), "degree", "one")
    with pytest.raises(InvalidInput, match="must be 6 x 6"):
        expectation_ratios(np.eye(2), DEGREE)


def test_all_that_matrices_do_and_give_away_in_one_document():
    original, masked = people()
    matrices = {"degree": np.full((3, 3), 1 / 3), "school": np.array([[0.8, 0.2], [0.5, 0.5]]), "one": np.ones((1, 1))}
    masked = original.masked({**masked.to_columns(), "one": ["p"] * 6})
    found = matrix_measures(original, masked, matrices)
    assert found["expectation_ratios"]["degree"] == {
        "categories": ["a", "b", "c"],
        "ratios": pytest.approx([0.5] * 3),
        "mean": pytest.approx(0.5),
    }
    school = found["expectation_ratios"]["school"]
    assert school["ratios"] == pytest.approx([0.8 * 3 / 1.5, 0.5 * 3 / 0.6])
    # Nothing comes to the only category from others.
    assert found["expectation_ratios"]["one"] == {"categories": ["p"], "ratios": [None], "mean": None}
    assert [pair["columns"] for pair in found["pairs"]] == [["degree", "school"], ["degree", "one"], ["school", "one"]]
    assert found["pairs"][0]["count_difference"] == pytest.approx(100 / 6)
    assert found["pairs"][0]["chi_square_difference"] > 0
    assert found["pairs"][1]["chi_square_difference"] is None
