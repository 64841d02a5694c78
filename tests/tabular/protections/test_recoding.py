"""Global recoding, top coding and bottom coding, which all join categories."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter
from tabular.protections import protect
from tabular.table import Table

RNG = np.random.default_rng(1)
AGE = Attribute(name="age", kind="ordinal", domain=("child", "young", "adult", "old"))
PEOPLE = Table.from_columns(
    {"age": ["old", "adult", "child", "adult", "young", "adult"], "town": ["A", "B", "B", "C", "A", "D"]}, [AGE]
)


def slow_rarest(values, domain, count):
    frequencies = Counter(values)
    joined = []
    for _ in range(count):
        # min() takes the first of equally rare ones, which is the order of the domain.
        joined.append(min((each for each in domain if each not in joined), key=lambda each: frequencies[each]))
    return joined


def test_global_recoding_joins_the_rarest():
    masked = protect(PEOPLE, "global-recoding", ["age", "town"], rng=RNG, count=2)
    # child, young and old occur once: the first two of the order are joined. C and D of the towns are.
    assert masked.values("age") == ["old", "adult", "[child,young]", "adult", "[child,young]", "adult"]
    assert masked.values("town") == ["A", "B", "B", "{C|D}", "A", "{C|D}"]


def test_top_coding_joins_the_first_and_bottom_coding_the_last_of_the_order():
    top = protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=2)
    assert top.values("age") == ["old", "adult", "[child,young]", "adult", "[child,young]", "adult"]
    bottom = protect(PEOPLE, "bottom-coding", ["age"], rng=RNG, count=3)
    assert bottom.values("age") == ["[young,old]", "[young,old]", "child", "[young,old]", "[young,old]", "[young,old]"]


def test_a_category_that_does_not_occur_is_the_rarest():
    table = Table.from_columns({"age": ["old", "old", "adult", "child"]}, [AGE])
    assert protect(table, "global-recoding", ["age"], rng=RNG).values("age") == ["old", "old", "adult", "[child,young]"]


def test_a_missing_value_is_joined_where_it_stands_in_the_order():
    table = Table.from_columns({"age": ["old", None, "adult", "child"]}, [AGE])
    assert protect(table, "bottom-coding", ["age"], rng=RNG).values("age") == ["[old,]", "[old,]", "adult", "child"]


@pytest.mark.parametrize("method", ["global-recoding", "top-coding", "bottom-coding"])
@given(st.data())
def test_joining_against_the_plain_way(method, data):
    domain = tuple(range(data.draw(st.integers(3, 7))))
    values = data.draw(st.lists(st.sampled_from((*domain, None)), min_size=1, max_size=30))
    table = Table.from_columns({"x": values}, [Attribute(name="x", kind="ordinal", domain=domain)])
    known = table.attribute("x").domain
    count = data.draw(st.integers(2, len(known) - 1))
    joined = {
        "global-recoding": slow_rarest(values, known, count),
        "top-coding": list(known[:count]),
        "bottom-coding": list(known[len(known) - count :]),
    }[method]
    masked = protect(table, method, ["x"], rng=RNG, count=count)
    assert masked.attributes == table.attributes
    for before, after in zip(values, masked.columns["x"].tolist(), strict=True):
        if before in joined:
            assert {known[code] for code in masked.sets["x"][after - len(known)]} == set(joined)
        else:
            assert known[after] == before


@given(st.integers(1, 5), st.integers(2, 9))
def test_more_than_all_but_one_cannot_be_joined(size, count):
    assume(count >= size)
    table = Table.from_columns({"x": [0]}, [Attribute(name="x", kind="ordinal", domain=tuple(range(size)))])
    with pytest.raises(
        InvalidParameter, match="joining two would leave nothing" if size < 3 else "count must be from 2"
    ):
        protect(table, "global-recoding", ["x"], rng=RNG, count=count)


def test_the_limits_are_told():
    with pytest.raises(InvalidParameter) as error:
        protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=4)
    assert str(error.value) == "Column 'age' has 4 categories: count must be from 2 to 3, not 4."
    with pytest.raises(InvalidParameter, match="TopCoding: count must be at least 2, not 1"):
        protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=1)
    with pytest.raises(InvalidParameter, match=r"TopCoding: count must be a whole number, not 2\.5"):
        protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=2.5)
