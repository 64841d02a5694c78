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
    labels = Labels.of(columns)
    counts = agreement.pattern_counts(pairs, labels)
    edges = pairs.original.of_row.repeat(len(original)), np.tile(pairs.masked.of_row, len(original))
    found = agreement.agreements(pairs, labels, *edges)
    expected = np.zeros_like(counts)
    for row, line in enumerate(slow_patterns(original, masked)):
        for other, cell in enumerate(line):
            number = sum(bit << place for place, bit in enumerate(cell))
            expected[number] += 1
            assert tuple(found[row * len(original) + other]) == cell
    assert counts.tolist() == expected.tolist()
    assert agreement.shares_of_agreement(pairs, labels) == pytest.approx(found.mean(axis=0))


def test_em_finds_the_probabilities_the_patterns_were_made_with():
    together, apart = np.array([0.95, 0.8, 0.9, 0.7]), np.array([0.1, 0.3, 0.02, 0.25])
    agrees = (np.arange(16)[:, None] >> np.arange(4)) & 1
    records = 1000

    def share(probability):
        return np.prod(np.where(agrees, probability, 1 - probability), axis=1)

    counts = 1e9 * (share(together) / records + share(apart) * (1 - 1 / records))
    for held in (False, True):
        found = agreement.by_em(np.rint(counts).astype(np.int64), records, held=held)
        assert np.concatenate(found) == pytest.approx(np.concatenate([together, apart]), abs=0.003)
        gains = np.log(together / apart) - np.log((1 - together) / (1 - apart))
        assert agreement.gains_of(*found) * agreement.UNIT == pytest.approx(gains, abs=0.02)


def test_held_em_takes_as_many_pairs_as_there_are_records_and_no_agreement_speaks_against_a_pair():
    """Two attributes that differ more often in the pairs that belong together: free EM gives them negative weights."""
    counts = np.array([400_000, 300_000, 200_000, 100_000])
    together, apart = agreement.by_em(counts, 1000, held=True)
    assert (together >= apart).all()
    assert apart == pytest.approx([0.4, 0.3], abs=0.002)
