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


def test_top_coding_joins_the_highest_and_bottom_coding_the_lowest():
    top = protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=2)
    assert top.values("age") == ["[adult,old]", "[adult,old]", "child", "[adult,old]", "young", "[adult,old]"]
    bottom = protect(PEOPLE, "bottom-coding", ["age"], rng=RNG, count=3)
    assert bottom.values("age") == ["old"] + ["[child,adult]"] * 5


def test_the_thesis_has_top_and_bottom_the_other_way_round():
    top = protect(PEOPLE, "top-coding", ["age"], rng=RNG, count=2, order="thesis")
    assert top.values("age") == ["old", "adult", "[child,young]", "adult", "[child,young]", "adult"]
    bottom = protect(PEOPLE, "bottom-coding", ["age"], rng=RNG, count=3, order="thesis")
    assert bottom.values("age") == ["[young,old]", "[young,old]", "child", "[young,old]", "[young,old]", "[young,old]"]


def test_a_category_that_does_not_occur_is_the_rarest():
    table = Table.from_columns({"age": ["old", "old", "adult", "child"]}, [AGE])
    assert protect(table, "global-recoding", ["age"], rng=RNG).values("age") == ["old", "old", "adult", "[child,young]"]


def test_a_missing_value_is_joined_where_it_stands_in_the_order():
    table = Table.from_columns({"age": ["old", None, "adult", "child"]}, [AGE])
    masked = protect(table, "bottom-coding", ["age"], rng=RNG, order="thesis")
    assert masked.values("age") == ["[old,]", "[old,]", "adult", "child"]
    masked = protect(table, "top-coding", ["age"], rng=RNG)
    assert masked.values("age") == ["[adult,old]", None, "[adult,old]", "child"]


NUMBERS = Table.from_columns({"age": [17, 23, 28, 79, 81, 95, None]}, [Attribute(name="age", kind="ordinal")])


def test_joined_numbers_are_open_from_a_round_number_on():
    top = protect(NUMBERS, "top-coding", ["age"], rng=RNG)
    assert top.values("age") == [17, 23, 28, 79, ">=80", ">=80", None]
    bottom = protect(NUMBERS, "bottom-coding", ["age"], rng=RNG)
    assert bottom.values("age") == ["<=25", "<=25", 28, 79, 81, 95, None]
    rarest = protect(NUMBERS, "global-recoding", ["age"], rng=RNG, count=3)
    assert rarest.values("age") == ["<=50"] * 3 + [79, 81, 95, None]


def incomes(values):
    return Table.from_columns({"x": values}, [Attribute(name="x", kind="continuous")])


@pytest.mark.parametrize("order", ["usual", "thesis"])
def test_a_count_of_many_numbers_ends_at_a_round_one_among_enough_records(order):
    values = [float(each) for each in np.random.default_rng(5).lognormal(7, 1, size=300)]
    table = incomes(values)
    for method, is_last in (("top-coding", True), ("bottom-coding", False)):
        masked = protect(table, method, ["x"], rng=RNG, count=5, order=order)
        (label,) = {each for each in masked.values("x") if isinstance(each, str)}
        end = float(label[2:])
        assert label.startswith(">=" if is_last == (order == "usual") else "<=")
        assert end not in values and end == float(f"{end:.2g}")
        assert masked.values("x").count(label) >= 5
        assert min(sum(each < end for each in values), sum(each > end for each in values)) >= 3


def test_a_count_of_numbers_that_have_no_round_one_among_them_joins_all():
    for values in ([1.5, 2.25, 3.75, 9.875], [2134567.0, 2134568.0, 2134569.0]):
        for method in ("top-coding", "bottom-coding"):
            assert protect(incomes(values), method, ["x"], rng=RNG).values("x") == ["*"] * len(values)


def test_numbers_beyond_a_threshold_are_joined_however_few():
    top = protect(NUMBERS, "top-coding", ["age"], rng=RNG, above="90")
    assert top.values("age") == [17, 23, 28, 79, 81, ">=90", None]
    assert NUMBERS.masked(top.to_columns()).to_columns() == top.to_columns()
    assert protect(NUMBERS, "bottom-coding", ["age"], rng=RNG, below=28).values("age")[:4] == ["<=28"] * 3 + [79]
    assert protect(NUMBERS, "top-coding", ["age"], rng=RNG, above=99).values("age") == NUMBERS.values("age")
    incomes = Table.from_columns({"x": [1.5, 2.5, 9.75]}, [Attribute(name="x", kind="continuous")])
    assert protect(incomes, "top-coding", ["x"], rng=RNG, above=2.25).values("x") == [1.5, ">=2.25", ">=2.25"]


def test_a_threshold_is_a_number_for_numbers():
    with pytest.raises(InvalidParameter, match="TopCoding: above must be a number, not 'much'"):
        protect(NUMBERS, "top-coding", ["age"], rng=RNG, above="much")
    with pytest.raises(InvalidParameter, match="Column 'age' holds no numbers: above cannot be used; give count"):
        protect(PEOPLE, "top-coding", ["age"], rng=RNG, above=3)
    with pytest.raises(InvalidParameter, match="all values lie beyond below"):
        protect(Table.from_columns({"x": [1, 2]}), "bottom-coding", ["x"], rng=RNG, below=2)


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
    order = {} if method == "global-recoding" else {"order": "thesis"}
    masked = protect(table, method, ["x"], rng=RNG, count=count, **order)
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


def test_a_threshold_has_no_order_of_the_thesis() -> None:
    with pytest.raises(InvalidParameter, match="is about categories"):
        protect(NUMBERS, "top-coding", ["age"], rng=RNG, above=90, order="thesis")
