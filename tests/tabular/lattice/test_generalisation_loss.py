from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidInput, UnknownName
from tabular.lattice.generalisation_loss import classification_loss, general_loss, non_uniform_entropy
from tabular.table import Table
from tests.tabular.lattice.class_losses import discernibility, normalized_average_class_size
from tests.tabular.pairs_of_tables import members_of, pairs_of_tables


def test_a_case_worked_by_hand():
    table = Table.from_columns({"size": [1, 2, 3, 4, 5], "one": ["x"] * 5, "label": ["p", "p", "q", "p", "q"]})
    masked = table.masked(
        {"size": ["[1,3]", "[1,3]", "[1,3]", 4, "*"], "one": ["*"] * 5, "label": table.values("label")}
    )
    last = np.array([False, False, False, False, True])
    assert general_loss(masked, ["size", "one"]) == pytest.approx(3 * 2 / 4 + 0 + 1)
    assert general_loss(masked, ["size", "one"], suppressed=last) == pytest.approx(3 * 2 / 4 + 0 + 1 + 1)
    assert classification_loss(masked, ["size"], "label") == 1
    assert classification_loss(masked, ["size"], "label", suppressed=last) == 2
    assert classification_loss(masked, ["size"], "label", suppressed=~last | last) == 5
    assert general_loss(table, table.names) == 0


@given(pairs_of_tables(max_columns=2), st.data())
def test_the_slow_version_says_the_same(pair, data):
    original, masked = pair
    rows = len(masked)
    suppressed = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    expected = Fraction(0)
    for name in masked.names:
        size = len(masked.attribute(name).domain)
        for row in range(rows):
            expected += 1 if suppressed[row] else Fraction(len(members_of(masked, name, row)) - 1, max(size - 1, 1))
    assert general_loss(masked, masked.names, suppressed=suppressed) == pytest.approx(float(expected))
    assert general_loss(original, original.names) == 0


@given(pairs_of_tables(max_columns=2), st.data())
def test_rows_out_of_the_majority_are_counted(pair, data):
    _, masked = pair
    rows = len(masked)
    labels = data.draw(st.lists(st.sampled_from(["p", "q", "r", None]), min_size=rows, max_size=rows))
    suppressed = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    table = Table.from_columns(masked.to_columns() | {"label": labels})
    keys = list(zip(*(masked.values(name) for name in masked.names), strict=True))
    majority = {}
    for key in set(keys):
        held = Counter(labels[row] for row in range(rows) if keys[row] == key and not suppressed[row])
        majority[key] = max(held, key=held.get, default="nobody")
    expected = sum(suppressed[row] or labels[row] != majority[keys[row]] for row in range(rows))
    assert classification_loss(table, masked.names, "label", suppressed=suppressed) == expected


def test_classes_and_entropy_worked_by_hand():
    original = Table.from_columns({"size": [1, 1, 2, 4, 4], "one": ["x"] * 5})
    masked = original.masked({"size": ["[1,2]", "[1,2]", "[1,2]", 4, "*"], "one": ["x"] * 5})
    last = np.array([False, False, False, False, True])
    assert discernibility(masked, ["size"]) == 9 + 1 + 1
    assert discernibility(masked, ["size"], suppressed=last) == 9 + 1 + 5
    assert discernibility(masked, ["size"], suppressed=last | ~last) == 25
    assert normalized_average_class_size(masked, ["size"]) == pytest.approx(5 / 3)
    assert normalized_average_class_size(masked, ["size"], 2, suppressed=last) == pytest.approx(4 / 2 / 2)
    # 1 is two thirds of [1,2], 2 a third; 4 is alone in its label, and two fifths of everything.
    bits = 2 * log2(3 / 2) + log2(3)
    assert non_uniform_entropy(original, masked, ["size", "one"]) == pytest.approx(bits + log2(5 / 2))
    kept = original.masked({"size": ["[1,2]", "[1,2]", "[1,2]", 4, 4]})
    assert non_uniform_entropy(original, kept, ["size"]) == pytest.approx(bits)
    assert non_uniform_entropy(original, kept, ["size"], suppressed=last) == pytest.approx(bits + log2(5 / 2))


@given(pairs_of_tables(max_columns=2), st.data())
def test_the_slow_entropy_and_discernibility_say_the_same(pair, data):
    original, masked = pair
    rows = range(len(masked))
    suppressed = np.array(data.draw(st.lists(st.booleans(), min_size=len(masked), max_size=len(masked))))
    keys = list(zip(*(masked.values(name) for name in masked.names), strict=True))
    alike = [len(rows) if suppressed[a] else sum(keys[a] == keys[b] and not suppressed[b] for b in rows) for a in rows]
    assert discernibility(masked, masked.names, suppressed=suppressed) == sum(alike)
    bits, holds = 0.0, True
    for name in masked.names:
        codes = original.columns[name].tolist()
        for row in rows:
            everything = range(len(original.attribute(name).domain))
            members = everything if suppressed[row] else members_of(masked, name, row)
            holds = holds and codes[row] in members
            bits -= log2(codes.count(codes[row]) / sum(code in (*members, codes[row]) for code in codes))
    if holds:
        assert non_uniform_entropy(original, masked, masked.names, suppressed=suppressed) == pytest.approx(bits)
    else:
        with pytest.raises(InvalidInput, match="does not hold the original value"):
            non_uniform_entropy(original, masked, masked.names, suppressed=suppressed)
    assert non_uniform_entropy(original, original, original.names) == 0


def test_bad_questions_are_refused():
    table = Table.from_columns({"a": ["x", "y"]})
    with pytest.raises(InvalidInput, match="1 given for 2 rows"):
        general_loss(table, ["a"], suppressed=np.array([True]))
    with pytest.raises(UnknownName):
        general_loss(table, ["b"])
