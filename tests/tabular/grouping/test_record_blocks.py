from __future__ import annotations

import numpy as np
import pytest

from tabular.grouping.points import points_of
from tabular.grouping.record_blocks import FARTHEST, NEAREST, RecordBlocks, find, take
from tests.tabular.mixed_tables import random_table


def squared(points, target):
    """The squared distance of each point, added up coordinate by coordinate."""
    total = np.zeros(len(points.values))
    for column, at in enumerate(target):
        apart = points.values[:, column] - at
        apart = apart if column < points.ordered else (apart != 0).astype(float)
        total += points.weights[column] * (apart * apart)
    return total


@pytest.mark.parametrize("sign", [NEAREST, FARTHEST])
@pytest.mark.parametrize("kinds", [("continuous", "ordinal"), ("nominal", "ordinal", "nominal")])
def test_what_is_found_is_what_a_look_at_all_points_left_finds(kinds, sign):
    table = random_table(4, 300, kinds, values=5)
    points = points_of(table, table.names)
    blocks, left = RecordBlocks.of(points), list(range(300))
    rows, keys = np.zeros(7, dtype=np.int64), np.zeros(7)
    while len(left) >= 7:
        target = points.values[left[len(left) // 2]].copy()
        distances = sign * squared(points, target)
        find(blocks, target, sign, rows, keys)
        expected = sorted(left, key=lambda row: (distances[row], row))[:7]
        assert rows.tolist() == expected
        assert keys.tolist() == distances[expected].tolist()
        for row in expected:
            take(blocks, row)
            left.remove(row)
