"""Prices, estimates and the ledger, in whole tenths of a cent."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.crawling.ledger import Ledger
from crawler.crawling.limits import Limits
from crawler.crawling.prices import Prices, dollars, tenths
from tabular.errors import InvalidInput, InvalidParameter

X = Prices.read("x")


def test_the_published_example() -> None:
    # 1,638 users who follow 400 each: 655,200 followed accounts at a cent.
    assert dollars(X.cost(followed=1638 * 400)) == "$6,552.00"
    assert X.of == {"user": 10, "followed": 10, "post": 5}


def test_an_estimate_has_three_figures_within_the_budget() -> None:
    limits = Limits(users=100, posts=10)
    found = X.estimate(limits)
    # A user and 50, 400 or 5,000 followed accounts; ten posts but for the low figure.
    assert (found.low, found.likely, found.high) == (100 * 510, 100 * 4060, 100 * 50_060)
    assert X.estimate(Limits(users=100, posts=10, budget=77)).likely == 77
    capped = X.estimate(Limits(users=100, posts=0, follows=20))
    assert (capped.low, capped.high) == (100 * 210, 100 * 210)


@pytest.mark.parametrize("wrong", ["0.0001", "-1", "nan", "many", "inf", "", None])
def test_money_is_no_finer_than_a_tenth_of_a_cent(wrong) -> None:
    with pytest.raises(InvalidParameter, match="tenth of a cent"):
        tenths(wrong, "budget")


@given(st.integers(0, 10**9))
def test_money_comes_back_as_it_was(amount: int) -> None:
    assert tenths(dollars(amount).replace("$", "").replace(",", ""), "budget") == amount
    assert tenths(float(Fraction(amount, 1000)), "budget") == amount


@pytest.mark.parametrize(
    "text",
    ["", "date = 1", '[x]\nuser = "1"', 'date = "2026"\n[following]\nlow = 1\nlikely = 2\nhigh = 3\n[x]\nuser = "1"\n'],
)
def test_a_table_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="prices"):
        Prices.parsed("x", text, "prices.toml")


def test_a_network_without_a_row_costs_nothing() -> None:
    free = Prices.read("bluesky")
    assert (free.of, free.cost(user=5), free.estimate(Limits(users=9, posts=9)).high) == ({}, 0, 0)
    assert Ledger(free, b"secret").affordable("user", 0, 1, 100) == 100


THINGS = st.lists(st.tuples(st.sampled_from(["user", "followed", "post"]), st.sampled_from("abcd")), max_size=12)


@given(st.lists(st.tuples(st.integers(0, 3), THINGS), max_size=8))
def test_each_thing_is_paid_for_once_a_day_also_after_a_restart(answers) -> None:
    ledger, kept, total = Ledger(X, b"secret"), {}, 0
    paid: set = set()
    for number, (day, things) in enumerate(sorted(answers, key=lambda each: each[0]), 1):
        for id in ledger.close(day + 1):
            del kept[id]
        charge = ledger.charge(things, (day + 1,))
        kept.update((record.id, record) for record in ledger.records(number, charge))
        total += charge.amount
        assert charge.doubt == 0
        paid.update((day, *thing) for thing in things)
        ledger = Ledger(X, b"secret")
        ledger.load(kept.values())
    assert total == sum(X.of[kind] for _, kind, _ in paid)


DOUBTS = st.sampled_from([(0,), (0, 1), (-1, 0)])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), DOUBTS, THINGS), max_size=8))
def test_where_the_day_is_in_doubt_the_bill_lies_between_what_was_and_what_may_have_been_spent(answers) -> None:
    ledger, kept, spent, doubt = Ledger(X, b"secret"), {}, 0, 0
    billed: set = set()
    for number, (day, doubts, things) in enumerate(sorted(answers, key=lambda each: each[0]), 1):
        days = tuple(day + each for each in doubts)
        for id in ledger.close(days[0]):
            del kept[id]
        charge = ledger.charge(things, days)
        kept.update((record.id, record) for record in ledger.records(number, charge))
        billed.update((day, *thing) for thing in things)
        spent, doubt = spent + charge.amount, doubt + charge.doubt
        assert spent <= sum(X.of[kind] for _, kind, _ in billed) <= spent + doubt
        ledger = Ledger(X, b"secret")
        ledger.load(kept.values())


@given(st.integers(-5, 10_000), st.integers(1, 10), st.integers(10, 1000))
def test_what_is_affordable_never_costs_more_than_is_left(left: int, least: int, most: int) -> None:
    size = Ledger(X, b"").affordable("followed", left, least, most)
    assert size == 0 or (least <= size <= most and size * 10 <= left)
    assert size == most or (size + 1) * 10 > left or size + 1 < least or left < least * 10
