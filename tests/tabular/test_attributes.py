from __future__ import annotations

import numpy as np
import pytest

from tabular.attributes import distances_to, paired_distances


def test_the_distance_to_many_sets_is_the_mean_over_their_members():
    rng = np.random.default_rng(1)
    size = 30
    sets = [tuple(sorted(rng.choice(size, size=rng.integers(2, 9), replace=False).tolist())) for _ in range(20)]
    values, labels = rng.integers(0, size, 400), rng.integers(0, size + 20, 400)
    found = paired_distances(values, labels, sets, size, ordered=True)
    for value, label, distance in zip(values, labels, found, strict=True):
        members = (label,) if label < size else sets[label - size]
        assert distance == pytest.approx(np.mean([abs(value - member) / size for member in members]))
        assert distances_to(members, size, ordered=True)[value] == pytest.approx(distance)
