"""The measures of continuous attributes: PIL, ID, and both linkages."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde, norm

from tabular.attributes import Attribute
from tabular.errors import InvalidInput
from tabular.measures import NUMERIC, measures, summary
from tabular.table import Table
from tests.tabular.measures.linkage.slow_linkage import slow_right

PIL = measures["pil"].method
DBRL = measures["dbrl-numbers"].method
PRL = measures["prl-numbers"].method
ID = measures["id"].method


def incomes(seed=0, people=150, noise=0.2):
    """Three columns of numbers that go together, and the same with noise."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=people)
    columns = {
        "income": np.exp(base + rng.normal(size=people) / 2),
        "age": 40 + 8 * base + rng.normal(size=people) * 5 + 0.5,
        "size": np.round(rng.gamma(3, size=people), 1) + 0.05,
    }
    original = Table.from_columns(columns)
    masked = {name: column + noise * column.std() * rng.normal(size=people) for name, column in columns.items()}
    return original, original.masked(masked)


def slow_pil(original, masked):
    """The groups one statistic after the other."""
    n = len(original)
    x = [original.numbers(name) for name in original.names]
    y = [masked.numbers(name) for name in original.names]

    def loss(difference, error):
        return 100 * (2 * norm.cdf(abs(difference) / error) - 1)

    def moment(columns):
        return np.mean(np.prod([column - column.mean() for column in columns], axis=0))

    means = [loss(a.mean() - b.mean(), a.std(ddof=1) / math.sqrt(n)) for a, b in zip(x, y, strict=True)]
    variances = [
        loss(a.var(ddof=1) - b.var(ddof=1), math.sqrt((moment([a] * 4) - moment([a] * 2) ** 2) / n))
        for a, b in zip(x, y, strict=True)
    ]
    covariances, correlations, quantiles = [], [], []
    for i, j in combinations(range(len(x)), 2):
        error = math.sqrt((moment([x[i], x[i], x[j], x[j]]) - moment([x[i], x[j]]) ** 2) / n)
        covariances.append(loss(np.cov(x[i], x[j])[0, 1] - np.cov(y[i], y[j])[0, 1], error))
        found = np.corrcoef(x[i], x[j])[0, 1]
        correlations.append(loss(found - np.corrcoef(y[i], y[j])[0, 1], (1 - found**2) / math.sqrt(n)))
    for a, b in zip(x, y, strict=True):
        density = gaussian_kde(a, bw_method="silverman")
        for share in range(5, 100, 5):
            q = share / 100
            place = np.quantile(a, q)
            quantiles.append(loss(place - np.quantile(b, q), math.sqrt(q * (1 - q) / n) / density(place)[0]))
    groups = [means, variances, quantiles, *([covariances, correlations] if covariances else [])]
    return np.mean([np.mean(group) for group in groups])


@pytest.mark.parametrize("columns", [3, 2, 1])
def test_pil_is_the_mean_of_its_groups(columns):
    original, masked = incomes()
    names = original.names[:columns]
    reading = PIL().measure(original, masked, names)
    few = Table.from_columns({name: original.numbers(name) for name in names})
    assert reading.percent == pytest.approx(slow_pil(few, few.masked({name: masked.numbers(name) for name in names})))
    assert 0 < reading.percent < 100


def test_pil_without_spread_is_all_or_nothing():
    original = Table.from_columns({"a": [1.5] * 4, "b": [1.5, 2.5, 3.5, 4.5]})
    moved = original.masked({"a": [2.5] * 4, "b": [1.5, 2.5, 3.5, 4.5]})
    assert PIL().measure(original, original, ["a", "b"]).percent == 0
    # Of the constant column the mean and the quantiles moved for sure, its variance did not.
    assert PIL().measure(original, moved, ["a"]).percent == pytest.approx(100 * 2 / 3)


def test_pil_of_columns_that_depend_on_each_other_is_all_or_nothing():
    original = Table.from_columns({"a": [0.1, 0.2, 0.3, 0.7], "b": [0.3, 0.6, 0.9, 2.1]})
    assert PIL().measure(original, original, ["a", "b"]).percent == 0
    masked = original.masked({"a": [0.1, 0.2, 0.3, 0.7], "b": [0.3, 0.9, 0.6, 2.1]})
    assert PIL().measure(original, masked, ["a", "b"]).percent >= 100 / 5


def test_linkage_by_distance_looks_at_standardised_numbers():
    original, masked = incomes(people=60)
    x, y = (np.stack([table.numbers(name) for name in original.names], axis=1) for table in (original, masked))
    apart = (((x[None, :, :] - y[:, None, :]) / x.std(axis=0)) ** 2).sum(axis=2)
    assert DBRL().measure(original, masked, original.names).raw == (apart.argmin(axis=1) == np.arange(60)).sum()


def test_equally_near_originals_share():
    original = Table.from_columns({"a": [1.5, 1.5, 3.5, 5.5, 5.5]})
    masked = original.masked({"a": [1.5, 2.5, 3.5, 5.0, 1.0]})
    # Half; a third of 1.5, 1.5, 3.5; its own; half; none.
    assert DBRL().measure(original, masked, ["a"]).raw == pytest.approx(1 / 2 + 1 / 3 + 1 + 1 / 2)


def test_numbers_agree_within_the_tolerance():
    original = Table.from_columns({"a": [0.5, 10.5, 20.5, 30.5], "b": [1.5, 2.5, 1.5, 2.5]})
    masked = original.masked({"a": [1.5, 10.0, 21.0, 30.5], "b": [1.5, 2.5, 1.5, 2.5]})
    # One standard deviation of a is 12.9, a tenth of it 1.3.
    assert PRL().measure(original, masked, ["a", "b"]).percent == 100
    # Where nothing agrees, or everything, all assignments are alike, and the first in order takes rank for rank.
    crossed = original.masked({"a": [10.0, 1.5, 30.0, 21.0]})
    for tolerance in (0, 10):
        assert PRL(tolerance=tolerance).measure(original, crossed, ["a"]).raw == 0


def test_interval_disclosure_ranks_new_values_among_the_originals():
    original = Table.from_columns({"a": [float(value) + 0.5 for value in range(10)]})
    masked = original.masked({"a": [0.75, 3.0, 2.5, 3.5, 9.9, 5.5, 6.5, 7.5, 8.5, 9.5]})
    # 10 % is one rank: 0.75 stands at 1.5, 3.0 at 3.5 against 2, 9.9 at 10.5 against 5.
    assert ID().measure(original, masked, ["a"]).raw == 8


@pytest.mark.parametrize("name", ["id", "clustering", *NUMERIC])
def test_the_order_of_the_rows_changes_nothing(name):
    original, masked = incomes()
    order = np.random.default_rng(1).permutation(len(original))
    reading = measures[name].method().measure(original.rows(order), masked.rows(order), original.names)
    assert reading == measures[name].method().measure(original, masked, original.names)


def test_the_summary_of_numbers_has_their_measures():
    original, masked = incomes(people=80)
    found = summary(original, masked, original.names)
    percent = {name: reading.percent for name, reading in found.readings.items()}
    assert set(percent) == {"id", "clustering", *NUMERIC}
    assert found.information_loss == percent["pil"]
    linkage = (percent["dbrl-numbers"] + percent["prl-numbers"]) / 2
    assert found.disclosure_risk == pytest.approx((percent["id"] + linkage) / 2)
    assert found.disclosure_risk_bound == 0
    mixed = summary(
        Table.from_columns({"a": [1.5, 2.5], "b": ["x", "y"]}),
        Table.from_columns({"a": [1.5, 2.5], "b": ["x", "y"]}),
        ["a", "b"],
    )
    assert "pil" not in mixed.readings


@pytest.mark.parametrize("name", NUMERIC)
def test_what_is_no_number_is_refused(name):
    original = Table.from_columns({"a": [1.5, 2.5, None], "b": [1.5, 2.5, 3.5]})
    with pytest.raises(InvalidInput, match="Column 'a', row 3: a number is needed"):
        measures[name].method().measure(original, original, ["a"])
    with pytest.raises(InvalidInput, match="Column 'b', row 2: a number is needed"):
        measures[name].method().measure(original, original.masked({"b": [1.5, "*", 3.5]}), ["b"])


def test_one_record_has_no_spread():
    original = Table.from_columns({"a": [1.5]})
    with pytest.raises(InvalidInput, match="two records or more"):
        PIL().measure(original, original, ["a"])
    assert DBRL().measure(original, original, ["a"]).percent == 100
    assert PRL().measure(original, original, ["a"]).percent == 100


@st.composite
def pairs_of_numbers(draw):
    """Few numbers of few values: ties, constant columns, records that did not change."""
    rows = draw(st.integers(1, 6))
    columns, masked = {}, {}
    for number in range(draw(st.integers(1, 3))):
        cells = st.lists(st.sampled_from([0.5, 1.0, 1.25, 4.0]), min_size=rows, max_size=rows)
        columns[f"n{number}"], masked[f"n{number}"] = draw(cells), draw(cells)
    kinds = [Attribute(name=name, kind="continuous") for name in columns]
    original = Table.from_columns(columns, kinds)
    return original, original.masked(masked)


def scaled(original, masked):
    """Both files as rows, in standard deviations of the original; a constant column as it is."""
    both = [np.stack([table.numbers(name) for name in original.names], axis=1) for table in (original, masked)]
    spread = both[0].std(axis=0, ddof=1) if len(original) > 1 else np.zeros(len(original.names))
    return [each / np.where(spread > 0, spread, 1) for each in both]


@given(pairs_of_numbers())
def test_the_slow_linkage_by_distance_says_the_same(pair):
    before, after = scaled(*pair)
    right = 0.0
    for row, record in enumerate(after):
        apart = [math.dist(record, other) for other in before]
        tied = [other for other, distance in enumerate(apart) if distance <= min(apart) + 1e-9]
        right += (row in tied) / len(tied)
    assert DBRL().measure(*pair, pair[0].names).raw == pytest.approx(right)


@settings(max_examples=40)
@given(pairs_of_numbers(), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_slow_one_to_one_linkage_says_the_same(pair, tolerance):
    original, masked = pair
    before, after = scaled(original, masked)
    agrees = np.abs(before[:, None, :] - after[None, :, :]) <= tolerance + 1e-9
    right = slow_right(agrees, [*map(tuple, before)], [*map(tuple, after)])
    assert PRL(tolerance=tolerance).measure(original, masked, original.names).raw == pytest.approx(right)


@pytest.mark.parametrize("power", [-900, -300, 300, 520, 900])
def test_no_figure_depends_on_how_great_or_small_the_numbers_are(power: int) -> None:
    original, masked = incomes()
    names = ("income", "age")
    there = Table.from_columns({name: np.ldexp(original.numbers(name), power) for name in names})
    moved = there.masked({name: np.ldexp(masked.numbers(name), power) for name in names})
    for measure in (PIL(), DBRL(), PRL()):
        expected = measure.measure(original, masked, names).raw
        assert measure.measure(there, moved, names).raw == pytest.approx(expected, abs=1e-9)
