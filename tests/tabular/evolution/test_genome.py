"""Gray codes and genomes of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidInput
from tabular.evolution import from_genome, from_gray_code, genome, gray_code


@pytest.mark.parametrize(("number", "code"), [(1000, "1000011100"), (1500, "11100110010"), (1900, "10011011010")])
def test_table_3_1_gray_codes(number, code):
    assert f"{gray_code(np.array([number]))[0]:b}" == code


@pytest.mark.parametrize(("masked", "original", "genes"), [(1500, 1000, "10100101110"), (1500, 1900, "1111101000")])
def test_table_3_1_genomes(masked, original, genes):
    assert f"{genome(np.array([masked]), np.array([original]))[0]:b}" == genes


@given(st.integers(0, 2**60))
def test_a_code_leads_back_and_neighbours_differ_in_one_bit(number):
    both = gray_code(np.array([number, number + 1]))
    assert from_gray_code(both).tolist() == [number, number + 1]
    assert int(both[0] ^ both[1]).bit_count() == 1


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1), st.integers(0, 4))
def test_a_genome_leads_back_to_the_masked_numbers(pairs, decimals):
    masked, original = np.array(pairs).T / 10.0**decimals
    genes = genome(masked, original, decimals=decimals)
    assert from_genome(genes, original, decimals=decimals).tolist() == masked.tolist()
    assert genome(original, original, decimals=decimals).tolist() == [0] * len(pairs)


def test_numbers_below_0_and_too_large_ones_are_refused():
    with pytest.raises(InvalidInput, match="from 0 on"):
        gray_code(np.array([3, -1]))
    with pytest.raises(InvalidInput, match="fewer decimals"):
        genome(np.array([1e18]), np.array([1.0]), decimals=4)
