from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage import agreement
from tabular.measures.linkage.nearest import Labels
from tests.tabular.pairs_of_tables import members_of, pairs_of_tables


def slow_pattern(original, masked, row, masked_row):
    return tuple(
        int(int(original.columns[name][row]) in members_of(masked, name, masked_row)) for name in original.names
    )


def slow_patterns(original, masked):
    records = range(len(original))
    return [[slow_pattern(original, masked, row, other) for other in records] for row in records]


@given(pairs_of_tables())
def test_patterns_are_counted_over_all_pairs_of_records(pair):
    original, masked = pair
    columns = paired_columns(original, masked, original.names)
    pairs = Pairs.of(columns)
    found, counts = agreement.patterns(pairs, Labels.of(columns))
    expected = np.zeros_like(counts)
    for row, line in enumerate(slow_patterns(original, masked)):
        for other, cell in enumerate(line):
            number = sum(bit << place for place, bit in enumerate(cell))
            expected[number] += 1
            assert found[pairs.original.of_row[row], pairs.masked.of_row[other]] == number
    assert counts.tolist() == expected.tolist()


def test_em_finds_the_probabilities_the_patterns_were_made_with():
    together, apart = np.array([0.95, 0.8, 0.9, 0.7]), np.array([0.1, 0.3, 0.02, 0.25])
    agrees = (np.arange(16)[:, None] >> np.arange(4)) & 1
    records = 1000

    def share(probability):
        return np.prod(np.where(agrees, probability, 1 - probability), axis=1)

    counts = 1e9 * (share(together) / records + share(apart) * (1 - 1 / records))
    weights = agreement.pattern_weights(np.rint(counts).astype(np.int64), records)
    gains = np.log(together / apart) - np.log((1 - together) / (1 - apart))
    assert weights[[1, 2, 4, 8]] * agreement.UNIT == pytest.approx(gains, abs=0.01)
    assert weights[0] == 0
    assert weights[13] == weights[1] + weights[4] + weights[8]
