from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings

from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage import agreement, prl
from tabular.measures.linkage.nearest import Labels
from tabular.table import Table
from tests.tabular.measures.linkage.test_agreement import slow_patterns
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

PRL = measures["prl"].method


def weights_of(original, masked):
    columns = paired_columns(original, masked, original.names)
    _, counts = agreement.patterns(Pairs.of(columns), Labels.of(columns))
    return agreement.pattern_weights(counts, len(original))


def slow_prl(original, masked):
    """All assignments of records are tried; the transports they make are compared in code order."""
    records = range(len(original))
    weights = weights_of(original, masked)
    found = slow_patterns(original, masked)
    weight = [[int(weights[sum(bit << place for place, bit in enumerate(cell))]) for cell in line] for line in found]
    before = list(zip(*(original.columns[name].tolist() for name in original.names), strict=True))
    after = list(zip(*(masked.columns[name].tolist() for name in original.names), strict=True))
    edges = [(a, b) for a in sorted(set(before)) for b in sorted(set(after))]
    totals = {choice: sum(weight[row][choice[row]] for row in records) for choice in permutations(records)}
    most = max(totals.values())
    best = [choice for choice, total in totals.items() if total == most]
    transports = (Counter((before[row], after[choice[row]]) for row in records) for choice in best)
    flows = max({tuple(sent[edge] for edge in edges) for sent in transports})
    true = list(zip(before, after, strict=True))
    return sum(
        flow * true.count((a, b)) / (before.count(a) * after.count(b))
        for (a, b), flow in zip(edges, flows, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(pairs_of_tables(max_rows=5))
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    reading = PRL().measure(original, masked, original.names)
    assert reading.raw == pytest.approx(slow_prl(original, masked))
    assert reading.percent == pytest.approx(100 * reading.raw / len(original))
    assert reading.bound == 0


def test_a_constant_column_gives_one_record_in_n():
    original = Table.from_columns({"a": ["x", "y", "y", "z"]})
    for label in ("y", "*"):
        assert PRL().measure(original, original.masked({"a": [label] * 4}), ["a"]).percent == pytest.approx(25)
    constant = Table.from_columns({"a": ["x"] * 5})
    assert PRL().measure(constant, constant, ["a"]).percent == pytest.approx(20)


def test_distinct_records_that_did_not_change_are_all_linked():
    original = Table.from_columns({"a": list(range(20)), "b": [row % 7 for row in range(20)]})
    assert PRL().measure(original, original, ["a", "b"]).percent == 100


def test_what_cannot_be_solved_is_given_with_a_bound(monkeypatch):
    original, masked = random_pair(6, 80, (4, 3))
    exact = PRL().measure(original, masked, original.names)
    for name, value in (("MEMORY", 10), ("EDGES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(prl, name, value)
            rough = PRL().measure(original, masked, original.names)
        assert rough.bound > 0
        assert abs(rough.percent - exact.percent) <= rough.bound
    assert PRL(steps=1).measure(original, masked, original.names) == rough


def test_more_attributes_than_patterns_have_bits_are_refused():
    table = Table.from_columns({f"a{number}": ["x", "y"] for number in range(25)})
    with pytest.raises(InvalidInput, match="at most 24 attributes, not 25"):
        PRL().measure(table, table, table.names)


@pytest.mark.heavy
@pytest.mark.parametrize("kept", [0.9, 0.5])
def test_five_thousand_distinct_records_are_linked_exactly(kept):
    original, masked = random_pair(9, 5000, (100, 90, 80, 70, 6, 5, 4, 3), kept=kept, sets=0.01)
    assert len(Pairs.of(paired_columns(original, masked, original.names)).original) > 4990
    assert PRL().measure(original, masked, original.names).bound == 0
