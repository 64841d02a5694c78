"""What a disclosure says, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from graphpriv.risk import Disclosure


def disclosure(candidates: list[int], true: list[bool] | None) -> Disclosure:
    """A disclosure with these numbers of candidates, nothing left open but one more candidate of the last user."""
    counts = np.array(candidates, dtype=np.int64)
    possible = counts.copy()
    possible[-1:] += 1
    found = None if true is None else np.array(true, dtype=bool)
    return Disclosure(counts, possible, found, None if found is None else np.where(found, counts, 0))


def test_shares_of_four_users() -> None:
    found = disclosure([0, 1, 4, 2], [False, True, True, False])
    assert found.risk == 0.75
    assert found.undecided_share == 0.25
    # One is named for certain, one in a quarter of the cases; the last one's candidates do not include it.
    assert found.expected_success(np.arange(4)) == pytest.approx((1 + 1 / 4) / 4)
    # Who was left out of the mapping does not count as safe.
    assert found.expected_success(np.array([-1, 1, 2, 3])) == pytest.approx((1 + 1 / 4) / 3)


def test_without_a_mapping_nobody_knows_how_likely_a_user_is_named() -> None:
    found = disclosure([1, 2], None)
    assert found.expected_success(None) is None
    assert found.chances is None


def test_every_user_is_in_one_bucket() -> None:
    found = disclosure([0, 1, 2, 4, 5, 10, 11, 20, 21, 1000], None)
    assert found.buckets == {"0": 1, "1": 1, "2-4": 2, "5-10": 2, "11-20": 2, "more": 2}


def test_nobody_is_disclosed_where_nobody_is() -> None:
    found = disclosure([], [])
    assert (found.risk, found.undecided_share, found.expected_success(np.arange(0))) == (0.0, 0.0, None)


def test_the_chance_of_a_user_is_one_in_its_candidates_if_it_is_among_them() -> None:
    found = disclosure([4, 1, 2, 1, 0], [True, False, True, True, False])
    assert found.chances is not None
    assert found.chances.tolist() == [0.25, 0, 0.5, 1, 0]


def test_what_is_open_is_between_two_bounds_and_never_added_to_what_is_found() -> None:
    # One found alone, one with one to three candidates, one with none or the right one, one with the right one of two.
    candidates, possible = np.array([1, 1, 0, 2]), np.array([1, 3, 1, 2])
    found = Disclosure(candidates, possible, np.array([True, True, False, True]), np.array([1, 1, 1, 2]))
    assert found.risk_bounds == (0.75, 1.0)
    assert found.one_candidate == (0.25, 0.75)
    assert found.undecided_share == 0.5
    assert found.success_bounds(np.arange(4)) == pytest.approx(((1 + 1 / 3 + 1 / 2) / 4, (1 + 1 + 1 + 1 / 2) / 4))
    # A risk must not read too low.
    assert found.expected_success(np.arange(4)) == pytest.approx(3.5 / 4)
    assert found.smallest_sets == (1, 1)
