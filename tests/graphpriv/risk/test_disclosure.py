"""What a disclosure says, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from graphpriv.risk import AtRisk, Disclosure, most_at_risk


def disclosure(candidates: list[int], true: list[bool] | None) -> Disclosure:
    """A disclosure with these numbers of candidates, nothing left open but the last user."""
    counts = np.array(candidates, dtype=np.int64)
    undecided = np.zeros(len(counts), dtype=bool)
    undecided[-1:] = True
    return Disclosure(counts > 0, undecided, counts, None if true is None else np.array(true, dtype=bool))


def test_shares_of_four_users() -> None:
    found = disclosure([0, 1, 4, 2], [False, True, True, False])
    assert found.risk == 0.75
    assert found.undecided_share == 0.25
    # One is named for certain, one in a quarter of the cases; the last one's candidates do not include it.
    assert found.expected_success == pytest.approx((1 + 1 / 4) / 4)


def test_without_a_mapping_nobody_knows_how_likely_a_user_is_named() -> None:
    found = disclosure([1, 2], None)
    assert found.expected_success is None
    assert most_at_risk(found) == []


def test_every_user_is_in_one_bucket() -> None:
    found = disclosure([0, 1, 2, 4, 5, 10, 11, 20, 21, 1000], None)
    assert found.buckets == {"0": 1, "1": 1, "2-4": 2, "5-10": 2, "11-20": 2, "more": 2}


def test_nobody_is_disclosed_where_nobody_is() -> None:
    found = disclosure([], [])
    assert (found.risk, found.undecided_share, found.expected_success) == (0.0, 0.0, 0.0)


def test_the_most_at_risk_have_the_fewest_candidates_and_are_among_them() -> None:
    found = disclosure([3, 1, 2, 1, 3], [True, False, True, True, True])
    assert most_at_risk(found) == [AtRisk(3, 1, False), AtRisk(2, 2, False), AtRisk(0, 3, False), AtRisk(4, 3, True)]
    assert most_at_risk(found, 1) == [AtRisk(3, 1, False)]
