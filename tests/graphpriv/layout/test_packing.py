from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.layout.packing import _cells, _sides, discs_apart, packed
from tests.strategies import seeds

cell_sizes = st.lists(st.integers(1, 400), min_size=1, max_size=60).map(lambda found: np.sort(found)[::-1])


def bounds_of(found: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(found))


def extent(places: np.ndarray) -> float:
    """The longer side of the box around *places*."""
    return float(np.ptp(places, axis=0).max())


@given(cell_sizes)
def test_cells_do_not_overlap_and_leave_little_room(found: np.ndarray) -> None:
    sides = _sides(found)
    corners = _cells(sides)
    ends = corners + sides[:, None]
    apart = (corners[:, None] >= ends[None] - 1e-6).any(axis=2)
    assert (apart | apart.T | np.eye(len(sides), dtype=bool)).all()
    # Two equal cells leave half of a square free.
    assert ends.max() ** 2 <= 2.05 * (sides**2).sum()


@given(cell_sizes, seeds)
def test_all_lie_in_the_unit_square_and_fill_it(found: np.ndarray, seed: int) -> None:
    places = np.random.default_rng(seed).standard_normal((found.sum(), 2))
    packed_places = packed(places, bounds_of(found))
    assert packed_places.min() >= -1e-9 and packed_places.max() <= 1 + 1e-9
    assert extent(packed_places) == pytest.approx(1) or len(places) == 1


def test_nobody_and_one_alone() -> None:
    assert packed(np.zeros((0, 2)), np.array([0])).shape == (0, 2)
    assert packed(np.zeros((1, 2)), np.array([0, 1])).tolist() == [[0.5, 0.5]]


def test_dense_parts_get_more_room() -> None:
    places = np.random.default_rng(1).standard_normal((1000, 2))
    places[:900] = 0.01 * places[:900] - 1
    found = packed(places, bounds_of(np.array([1000])))
    assert extent(places[:900]) < 0.02 * extent(places)
    assert extent(found[:900]) > 0.2


def test_users_without_links_do_not_take_the_picture() -> None:
    places = np.random.default_rng(1).standard_normal((1100, 2))
    found = packed(places, bounds_of(np.array([100] + [1] * 1000)))
    assert extent(found[:100]) > 0.8
    assert len(np.unique(found.round(6), axis=0)) == 1100


def test_outliers_do_not_dwarf_the_others() -> None:
    places = np.random.default_rng(1).standard_normal((1000, 2))
    places[:5] *= 1000
    found = packed(places, bounds_of(np.array([1000])))
    assert extent(found[5:]) > 0.7
    # Who was farther out still is.
    assert np.argmax(np.abs(found - 0.5).max(axis=1)) < 5


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), seeds)
def test_discs_cover_each_other_slightly_at_most(given_sizes: list[int], seed: int) -> None:
    places = np.random.default_rng(seed).random((len(given_sizes), 2))
    # What is too small to be seen is no disc.
    sizes = np.maximum(given_sizes, sum(given_sizes) // 2000)
    centres, radii = discs_apart(places, sizes)
    far = np.sqrt(((centres[:, None] - centres[None]) ** 2).sum(axis=2)) + 9 * np.eye(len(radii))
    assert (far >= 0.98 * (radii[:, None] + radii[None])).all()
    assert (centres - radii[:, None]).min() > -1e-9 and (centres + radii[:, None]).max() < 1 + 1e-9
    assert np.allclose(radii**2 / sizes, radii[0] ** 2 / sizes[0])


def test_discs_that_start_in_one_point_part_too() -> None:
    centres, radii = discs_apart(np.full((30, 2), 0.5), np.full(30, 7))
    far = np.sqrt(((centres[:, None] - centres[None]) ** 2).sum(axis=2)) + 9 * np.eye(30)
    assert far.min() >= 1.96 * radii[0]
    assert radii[0] > 0.05


def test_no_disc_and_one() -> None:
    assert discs_apart(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))[0].shape == (0, 2)
    centres, radii = discs_apart(np.array([[0.1, 0.9]]), np.array([5]))
    assert np.allclose(centres, 0.5) and np.allclose(radii, 0.5)
