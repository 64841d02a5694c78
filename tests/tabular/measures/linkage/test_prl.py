from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linear_sum_assignment

from tabular.errors import InvalidInput
from tabular.measures import measures
from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage import agreement, estimation, one_to_one, prl
from tabular.measures.linkage.nearest import Labels
from tabular.table import Table
from tests.tabular.measures.linkage.slow_linkage import slow_assignment, slow_right
from tests.tabular.measures.linkage.test_agreement import slow_patterns
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

PRL = measures["prl"].method
EM = measures["prl-em"].method


def em_of(original, masked):
    columns = paired_columns(original, masked, original.names)
    counts = agreement.pattern_counts(Pairs.of(columns), Labels.of(columns))
    return agreement.by_em(counts, len(original))


def written_out(original, masked):
    """Which records agree in which attributes, and the records of both files."""
    records = [
        list(zip(*(table.columns[name].tolist() for name in original.names), strict=True))
        for table in (original, masked)
    ]
    return np.array(slow_patterns(original, masked)), *records


@settings(max_examples=30, deadline=None)
@given(pairs_of_tables(max_rows=5))
def test_plain_em_says_what_its_slow_version_says(pair):
    original, masked = pair
    reading = EM().measure(original, masked, original.names)
    right, _ = slow_assignment(*written_out(original, masked), agreement.gains_of(*em_of(original, masked)))
    assert reading.raw == pytest.approx(right)
    assert reading.bound == 0


@settings(max_examples=40, deadline=None)
@given(pairs_of_tables(max_rows=5))
def test_the_slow_version_says_the_same(pair):
    original, masked = pair
    reading = PRL().measure(original, masked, original.names)
    assert reading.raw == pytest.approx(slow_right(*written_out(original, masked)))
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
    with monkeypatch.context() as patch:
        patch.setattr(one_to_one, "EDGES", 3)
        rough = PRL().measure(original, masked, original.names)
    assert rough.bound > 0
    assert abs(rough.percent - exact.percent) <= rough.bound
    assert PRL(steps=1).measure(original, masked, original.names) == rough


def test_the_upper_limit_is_one_for_any_assignment():
    for seed in range(30):
        original, masked = random_pair(seed, 60, (3, 2, 2), kept=0.8)
        pairs = Pairs.of(paired_columns(original, masked, original.names))
        supply, demand = pairs.original.counts, pairs.masked.counts
        most = prl.most_links(pairs)
        assert PRL().measure(original, masked, original.names).raw <= most + 1e-9
        worth = np.zeros((len(supply), len(demand)))
        worth[pairs.origins, pairs.results] = pairs.records / (supply[pairs.origins] * demand[pairs.results])
        each = worth[np.ix_(pairs.original.of_row, pairs.masked.of_row)]
        best = each[linear_sum_assignment(-each)].sum()
        assert best <= most + 1e-9
        assert most <= np.sum(pairs.records / np.maximum(supply[pairs.origins], demand[pairs.results])) + 1e-9


def test_very_many_records_that_hardly_anybody_can_link_are_given_a_bound_at_once(monkeypatch):
    original, masked = random_pair(3, 3000, (3, 4))
    exact = PRL().measure(original, masked, original.names)
    monkeypatch.setattr(prl, "MANY", 10)
    rough = PRL(steps=1).measure(original, masked, original.names)
    assert 0 < rough.bound <= 2
    assert EM(steps=1).measure(original, masked, original.names) == rough
    assert abs(rough.percent - exact.percent) <= rough.bound


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(20))
def test_the_bound_contains_the_figure_of_the_whole_file(seed):
    rows = 5000 + 790 * seed
    original, masked = random_pair(seed, rows, (74, 2, 5, 7, 16, 9), kept=0.4 + 0.03 * seed, sets=0.01)
    exact = PRL().measure(original, masked, original.names)
    rough = PRL(steps=1).measure(original, masked, original.names)
    assert exact.bound == 0
    assert abs(rough.percent - exact.percent) <= rough.bound


def test_any_number_of_attributes_is_linked():
    original, masked = random_pair(3, 200, (3,) * 70, kept=0.5)
    assert PRL().measure(original, masked, original.names).percent == 100
    few = original.names[:24]
    assert EM().measure(original, masked, few).percent > 50
    with pytest.raises(InvalidInput, match="at most 24 attributes, not 25"):
        EM().measure(original, masked, original.names[:25])


def masked_by_noise(kept, rows=600, seed=2):
    """Three attributes of few values that stay with probability *kept*, else are drawn from the column."""
    rng = np.random.default_rng(seed)
    shares = ([0.5, 0.3, 0.1, 0.1], [0.6, 0.2, 0.1, 0.05, 0.05], [0.4, 0.3, 0.2, 0.1], [0.2] * 5, [0.1] * 10)
    columns = {f"a{place}": rng.choice(len(each), rows, p=each) for place, each in enumerate(shares)}
    original = Table.from_columns({name: values.tolist() for name, values in columns.items()})
    codes = {
        name: np.where(rng.random(rows) < kept, values, rng.permutation(values))
        for name, values in original.columns.items()
    }
    return original, original.with_codes(**codes)


def test_no_estimate_that_drifts_makes_the_risk_too_low():
    """Plain EM loses its way under noise: it links less than its own start does, and its weights turn negative."""
    original, masked = masked_by_noise(0.5, seed=3)
    gains = agreement.gains_of(*em_of(original, masked))
    reading, plain = (each().measure(original, masked, original.names).percent for each in (PRL, EM))
    assert gains.min() < 0
    assert reading > 3 * plain


def test_more_noise_never_links_more():
    found = []
    for kept in (1, 0.9, 0.7, 0.5, 0.3, 0):
        original, masked = masked_by_noise(kept)
        found.append(PRL().measure(original, masked, original.names).percent)
    assert found == sorted(found, reverse=True)


def test_of_many_records_some_are_estimated_from_and_all_are_linked(monkeypatch):
    original, masked = random_pair(4, 900, (9, 8, 7, 6, 5))
    exact = PRL().measure(original, masked, original.names)
    monkeypatch.setattr(estimation, "SAMPLE", 300)
    found = PRL().measure(original, masked, original.names)
    assert found.bound == 0
    assert found.percent == pytest.approx(exact.percent, abs=1.5)
    order = np.random.default_rng(1).permutation(900)
    assert PRL().measure(original.rows(order), masked.rows(order), original.names) == found


@pytest.mark.heavy
@pytest.mark.parametrize("kept", [0.9, 0.5])
def test_five_thousand_distinct_records_are_linked_exactly(kept):
    original, masked = random_pair(9, 5000, (100, 90, 80, 70, 6, 5, 4, 3), kept=kept, sets=0.01)
    assert len(Pairs.of(paired_columns(original, masked, original.names)).original) > 4990
    assert PRL().measure(original, masked, original.names).bound == 0
