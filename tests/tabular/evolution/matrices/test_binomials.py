from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tabular.evolution.matrices.binomials import expected_distance, expected_logarithm

chances = st.one_of(st.floats(1e-12, 1), st.sampled_from([0.0, 1.0, 1e-9, 1e-4, 0.999]))
sums = st.lists(st.tuples(st.integers(0, 60), chances), min_size=1, max_size=5)


def distribution(records, probabilities):
    """The probabilities of a sum of binomial counts, by convolution."""
    found = np.ones(1)
    for count, chance in zip(records, probabilities, strict=True):
        found = np.convolve(found, binom.pmf(np.arange(count + 1), count, chance))
    return found


def slow_distance(records, probabilities, count):
    mass = distribution(records, probabilities)
    return float(mass @ np.abs(np.arange(len(mass)) - count))


def slow_logarithm(records, probabilities):
    mass = distribution(records, probabilities)
    values = np.arange(len(mass))
    return float(mass @ (values * np.log(np.maximum(values, 1))))


def arrays(parts):
    records, probabilities = zip(*parts, strict=True)
    return np.array(records, dtype=np.float64), np.array(probabilities)


def test_one_coin_is_half_a_record_away_from_either_side():
    assert expected_distance(np.ones(1), np.array([0.5]), 0.0) == pytest.approx(0.5)
    assert expected_distance(np.ones(1), np.array([0.5]), 1.0) == pytest.approx(0.5)
    # Of two coins: 2 with probability 1/4, at 2 log 2.
    assert expected_logarithm(np.full(1, 2.0), np.array([0.5])) == pytest.approx(np.log(2) / 2, abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(sums, st.integers(0, 200))
def test_the_distance_is_that_of_the_distribution(parts, count):
    records, probabilities = zip(*parts, strict=True)
    found = expected_distance(*arrays(parts), float(count))
    assert found == pytest.approx(slow_distance(records, probabilities, count), abs=1e-8)


@settings(deadline=None, max_examples=100)
@given(sums)
def test_the_logarithm_is_that_of_the_distribution(parts):
    records, probabilities = zip(*parts, strict=True)
    found = expected_logarithm(*arrays(parts))
    assert found == pytest.approx(slow_logarithm(records, probabilities), abs=1e-8, rel=1e-9)


@pytest.mark.parametrize("chance", [1e-6, 0.001, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("off", [0, 5, 400])
def test_many_records(chance, off):
    records, probabilities = (20_000, 7_000), (chance, chance / 3)
    count = max(round(20_000 * chance + 7_000 * chance / 3) - off, 0)
    parts = list(zip(records, probabilities, strict=True))
    assert expected_distance(*arrays(parts), float(count)) == pytest.approx(
        slow_distance(records, probabilities, count), abs=1e-7
    )
    assert expected_logarithm(*arrays(parts)) == pytest.approx(slow_logarithm(records, probabilities), rel=1e-9)


def test_what_is_certain():
    certain = np.array([3.0, 2.0]), np.array([1.0, 0.0])
    assert expected_distance(*certain, 1.0) == 2.0
    assert expected_logarithm(*certain) == pytest.approx(3 * np.log(3), abs=1e-8)
    assert expected_logarithm(np.full(1, 5.0), np.zeros(1)) == 0
