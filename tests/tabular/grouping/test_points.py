import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.grouping.points import points_of, whole_numbers
from tabular.table import Table


def test_equal_differences_of_decimals_are_equal():
    assert whole_numbers(np.array([0.1, 0.2, 0.3, -1.5]), 4).tolist() == [1, 2, 3, -15]
    assert whole_numbers(np.array([3.0, 4e15]), 10).tolist() == [3, 4e15]


def test_numbers_without_a_last_decimal_keep_their_leading_digits():
    numbers = np.array([np.pi, -1 / 3, 0.0])
    whole = whole_numbers(numbers, 1000)
    assert np.abs(whole).max() * 1000 < 2**62
    assert np.allclose(whole / whole[0] * np.pi, numbers, rtol=1e-14)
    assert np.array_equal(whole, np.rint(whole))


@pytest.mark.parametrize("numbers", [[1e300, -1e300, 1.5], [5e-324, 0.0], [1e-200, 3e-200], [0.0, 0.0]])
def test_numbers_far_from_one_stay_finite_and_in_order(numbers):
    whole = whole_numbers(np.array(numbers), 3)
    assert np.isfinite(whole).all()
    assert np.array_equal(np.argsort(whole, kind="stable"), np.argsort(numbers, kind="stable"))


def test_a_missing_number_is_one_away_from_any_number():
    table = Table.from_columns({"x": [1.5, None, 2.5, None]}, [Attribute(name="x", kind="continuous")])
    points = points_of(table, ["x"])
    assert points.values[:, 1].tolist() == [0, 1, 0, 1]
    assert points.weights[1] == 1


def test_infinite_numbers_are_refused():
    table = Table.from_columns({"x": [1.0, float("inf")]}, [Attribute(name="x", kind="continuous")])
    with pytest.raises(InvalidInput, match=r"'x' holds an infinite number"):
        points_of(table, ["x"])
