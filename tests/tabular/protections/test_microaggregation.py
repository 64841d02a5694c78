import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tabular.grouping.group_sizes import loss_of
from tabular.grouping.mdav import mdav
from tabular.grouping.points import points_of
from tabular.protections import protect
from tabular.protections.microaggregation import Microaggregation
from tabular.table import Table, smallest_class
from tests.tabular.mixed_tables import mixed_tables, random_table

DATA = Path(os.environ.get("GRAPHPRIV_SHARED_DATA", "../shared/data"))
RNG = np.random.default_rng(0)
PEOPLE = Table.from_columns(
    {
        "size": ["S", "M", "XL", "S", "L", "M"],
        "colour": ["red", "blue", "red", "red", "blue", "green"],
        "income": [1.0, 2.0, 8.0, None, 6.0, 2.5],
    },
    [
        Attribute(name="size", kind="ordinal", domain=("S", "M", "L", "XL")),
        Attribute(name="colour"),
        Attribute(name="income", kind="continuous"),
    ],
)


def masked(table, **parameters):
    return protect(table, "microaggregation", table.names, rng=np.random.default_rng(0), **parameters)


def numbers_of(path):
    rows = list(csv.reader(path.open()))
    columns = dict(zip(rows[0], zip(*(map(float, row) for row in rows[1:]), strict=True), strict=True))
    return Table.from_columns(columns, [Attribute(name=name, kind="continuous") for name in columns])


def test_each_kind_has_its_own_middle():
    one = masked(PEOPLE, k=6)
    # S S M | M L XL: the lower median; red three times; the mean of the five numbers there are.
    assert one.to_columns() == {"size": ["M"] * 6, "colour": ["red"] * 6, "income": [3.9] * 6}


def test_ties_of_modes_and_medians_go_to_the_lower_category():
    table = Table.from_columns(
        {"size": ["L", "S", "XL", "M"], "colour": ["red", "blue", "blue", "red"]},
        [PEOPLE.attribute("size"), Attribute(name="colour", domain=("red", "green", "blue"))],
    )
    assert masked(table, k=4).to_columns() == {"size": ["M"] * 4, "colour": ["red"] * 4}


def test_a_middle_is_missing_where_more_than_half_of_a_group_is():
    attribute = Attribute(name="x", kind="continuous")
    assert masked(Table.from_columns({"x": [1, None, None]}, [attribute]), k=3).values("x") == [None] * 3
    assert masked(Table.from_columns({"x": [1, 2, None, None]}, [attribute]), k=4).values("x") == [1.5] * 4


def test_the_mean_of_equal_numbers_is_their_number():
    table = Table.from_columns({"x": [0.1] * 3 + [0.7] * 3}, [Attribute(name="x", kind="continuous")])
    assert masked(table, k=3).values("x") == [0.1] * 3 + [0.7] * 3
    assert masked(table, k=3).attribute("x") == table.attribute("x")


def test_columns_are_protected_together_alone_or_in_groups():
    names = ("a", "b", "c")
    assert Microaggregation().k_holds_over(names) == (names,)
    assert Microaggregation(univariate=True).k_holds_over(names) == (("a",), ("b",), ("c",))
    assert Microaggregation(groups=2).k_holds_over(names) == (("a", "b"), ("c",))
    assert Microaggregation(groups="2").k_holds_over(names) == (("a", "b"), ("c",))
    assert Microaggregation(groups="c,a; b").k_holds_over(names) == (("c", "a"), ("b",))
    assert Microaggregation(groups=[["b"], ["a", "c"]]).k_holds_over(names) == (("b",), ("a", "c"))


def test_a_group_of_columns_is_masked_as_if_it_were_alone():
    apart = masked(PEOPLE, k=2, groups="size,income;colour")
    both = protect(PEOPLE, "microaggregation", ["size", "income"], rng=RNG, k=2)
    assert apart.values("size") == both.values("size") and apart.values("income") == both.values("income")
    assert apart.values("colour") == protect(PEOPLE, "microaggregation", ["colour"], rng=RNG, k=2).values("colour")


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"k": 7}, NoSolution, "No release with k=7 exists: the table has 6 records"),
        ({"k": 0}, InvalidParameter, "k must be at least 1"),
        ({"sizes": "some"}, InvalidParameter, "sizes must be one of fixed, variable"),
        ({"groups": 0}, InvalidParameter, "groups must have at least 1 column"),
        ({"groups": "size;colour"}, InvalidParameter, "must name 'income' once, not"),
        ({"groups": "size,income;colour,size"}, InvalidParameter, "must name 'size' once, not"),
        ({"groups": "size;color;income"}, UnknownName, "did you mean 'colour'"),
        ({"groups": 2, "univariate": True}, InvalidParameter, "groups or univariate, not both"),
    ],
)
def test_what_cannot_be_done_is_said(parameters, error, text):
    with pytest.raises(error) as raised:
        masked(PEOPLE, **parameters)
    assert text in str(raised.value)


@given(mixed_tables(), st.data(), st.sampled_from(["fixed", "variable"]), st.sampled_from([None, 1, 2]))
def test_k_holds_over_each_group_and_no_domain_is_left(table, data, sizes, groups):
    k = data.draw(st.sampled_from([1, 2, 3, 5, max(len(table) // 2, 1), len(table)]).filter(lambda k: k <= len(table)))
    before = table.to_columns()
    result = masked(table, k=k, sizes=sizes, groups=groups)
    assert table.to_columns() == before
    for names in Microaggregation(k=k, groups=groups).k_holds_over(table.names):
        assert smallest_class([result.columns[name] for name in names]) >= k
    for name in table.names:
        attribute, other = table.attribute(name), result.attribute(name)
        if attribute.kind == "continuous":
            present = [value for value in before[name] if value is not None]
            for value in result.values(name):
                assert value is None or min(present) <= value <= max(present)
        else:
            assert other == attribute
    again = masked(table, k=k, sizes=sizes, groups=groups)
    assert again.to_columns() == result.to_columns()


def test_the_order_of_rows_matters_for_ties_only():
    table = random_table(5, 200, ("continuous", "continuous"))
    order = np.random.default_rng(1).permutation(200)
    shuffled = masked(table.rows(order), k=4, sizes="variable").to_columns()
    straight = masked(table, k=4, sizes="variable").to_columns()
    assert shuffled == {name: [column[row] for row in order] for name, column in straight.items()}


#: 100 x SSE / SST of MDAV with groups of k on standardised columns.
PUBLISHED = [
    ("sdc_census/census.csv", {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
    ("sdc_tarragona/tarragona.csv", {3: 16.9326, 4: 19.5460, 5: 22.4619, 10: 33.1929}),
]


@pytest.mark.shared_data
@pytest.mark.parametrize(("path", "losses"), PUBLISHED)
def test_the_published_losses_of_mdav_come_out(path, losses):
    if not (DATA / path).exists():
        pytest.skip("the shared data are not here")
    table = numbers_of(DATA / path)
    original = np.stack([table.numbers(name) for name in table.names], axis=1)
    standard = (original - original.mean(axis=0)) / original.std(axis=0)
    for k, loss in losses.items():
        result = masked(table, k=k)
        released = np.stack([result.numbers(name) for name in table.names], axis=1)
        off = (released - original) / original.std(axis=0)
        assert round(100 * (off**2).sum() / (standard**2).sum(), 4) == loss
        varied = masked(table, k=k, sizes="variable")
        after = np.stack([varied.numbers(name) for name in table.names], axis=1)
        assert (((after - original) / original.std(axis=0)) ** 2).sum() < (off**2).sum()


def test_a_made_case_loses_what_its_groups_do():
    table = random_table(1, 60, ("continuous",) * 4)
    points = points_of(table, table.names)
    original = np.stack([table.numbers(name) for name in table.names], axis=1)
    released = np.stack([masked(table, k=3).numbers(name) for name in table.names], axis=1)
    # One distance unit is four standard deviations.
    loss = (((released - original) / original.std(axis=0, ddof=1) / 4) ** 2).sum()
    assert loss == pytest.approx(loss_of(points, mdav(points, 3)))


@pytest.mark.parametrize("factor", [1.0, 1e308])
def test_the_mean_of_numbers_near_the_greatest_is_their_mean(factor):
    table = Table.from_columns(
        {"turnover": [1.0 * factor, 1.2 * factor, 1.7 * factor]}, [Attribute(name="turnover", kind="continuous")]
    )
    assert masked(table, k=3).to_columns()["turnover"] == pytest.approx([1.3 * factor] * 3)
