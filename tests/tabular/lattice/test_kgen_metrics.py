from __future__ import annotations

import pytest

from benchmarks.kgen_metrics import accuracy, level_of_generalisation, level_of_suppression, path_accuracy, precision
from tabular.errors import InvalidInput
from tabular.lattice.space import Lattice

#: Age, postcode and gender of KGEN's example.
HEIGHTS = (3, 4, 1)
LATTICE = Lattice(("age", "postcode", "gender"), HEIGHTS)


def test_kgen_section_2_4_precision():
    assert precision((1, 0, 0), LATTICE) == pytest.approx(0.11, abs=0.005)
    assert precision((0, 0, 1), LATTICE) == pytest.approx(0.33, abs=0.005)
    assert precision((0, 0, 0), LATTICE) == 0
    assert precision(HEIGHTS, LATTICE) == 1


def test_what_cannot_be_generalised_costs_nothing():
    assert precision((0, 2), Lattice(("age", "sex"), (0, 4))) == 0.25


def test_the_levels_of_solutions():
    assert level_of_generalisation([(1, 1, 1), (0, 0, 1), (3, 0, 0)], LATTICE) == pytest.approx(1 / 3)
    assert level_of_suppression(301, 30162) == pytest.approx(0.00998, abs=1e-5)


def test_kgen_equations_4_and_5():
    assert [path_accuracy(height, 3, 7) for height in (3, 4, 7)] == [1, 0.75, 0]
    # Where the worst is the best, eq 4 has 0 / 0; the solution is the best.
    assert path_accuracy(3, 3, 3) == 1
    assert accuracy([3, 7], [3, 3], [7, 7]) == 0.5
    assert accuracy([3, 7], [3, 3], [7, 7], [3, 1]) == 0.75


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: precision((1,), LATTICE), "there are 1 and 3"),
        (lambda: precision((1, 0, 2), LATTICE), "Level 3 of the node must be from 0 to 1, not 2"),
        (lambda: level_of_generalisation([], LATTICE), "no solutions"),
        (lambda: level_of_suppression(4, 3), "Of 3 rows 4 cannot"),
        (lambda: path_accuracy(2, 3, 7), "lies from 3 to 7; it is 2"),
        (lambda: accuracy([3], [3, 3], [7, 7]), "for each path"),
        (lambda: accuracy([3], [3], [7], [0]), "a weight for each path"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(InvalidInput, match=said):
        call()
