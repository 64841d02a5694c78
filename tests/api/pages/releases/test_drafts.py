"""What has been chosen: it stands in the address, and comes back from there and from a plan."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import MultiDict

from api.pages.releases.drafts import Draft, choice_in, choice_of, decimal, number
from tabular.errors import InvalidParameter

GIVEN = [("table", "people"), ("who", "everybody"), ("k", "7"), ("columns", "age"), ("columns", "income, net"),
         ("useful", "age"), ("job", "a"), ("job", "b"), ("chosen", "mondrian k=7"), ("into", "out")]  # fmt: skip


def test_an_address_carries_every_choice():
    draft = Draft.asked(MultiDict(GIVEN))
    pairs = [(name, str(value)) for name, value in draft.hidden()]
    assert Draft.asked(MultiDict(pairs)) == draft
    assert {name for name, _ in pairs} == {name for name, _ in GIVEN}
    assert ("columns", "income, net") in pairs and ("k", "7") in pairs


def test_a_form_leaves_out_what_it_asks_for():
    names = {name for name, _ in Draft.asked(MultiDict(GIVEN)).hidden("columns", "chosen")}
    assert names == {"table", "who", "k", "useful", "job", "into"}


@pytest.mark.parametrize("what", ["graph:follows", "table:people"])
def test_one_field_says_what_is_released(what):
    draft = Draft.asked(MultiDict([("what", what)]))
    assert f"{draft.kind}:{draft.name}" == what and draft.k == 10


def test_an_audience_brings_its_k_unless_another_is_given():
    assert Draft.asked(MultiDict([("who", "everybody")])).k == 20
    assert Draft.asked(MultiDict([("who", "everybody"), ("k", "3")])).k == 3
    assert Draft.asked(MultiDict([("who", "nobody")])).who == "partners"


def test_earlier_candidates_stay_beside_new_ones():
    draft = Draft.asked(MultiDict(GIVEN))
    assert draft.computing(("c",)).job == ("a", "b", "c") and draft.computing(("c",)).chosen is None
    assert draft.computing(("a",)).job == ("b", "a")
    assert draft.computing(("c", "d", "e")).job == ("b", "c", "d", "e")


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("mondrian", {"k": "5", "cuts": "relaxed"}), ("clustered", {"inner": "rank-swapping percent=10"}), ("pram", {})],
)
def test_a_choice_is_read_as_it_was_written(method, parameters):
    assert choice_in(choice_of(method, parameters)) == (method, parameters)


def test_what_is_no_choice_is_refused():
    with pytest.raises(InvalidParameter):
        choice_in("mondrian 'k=5")
    for text in ("-1", "1.5", "x", "", "9" * 12):
        with pytest.raises(InvalidParameter):
            number("k", text)
    for text in ("-1", "1.5", "x", "nan", ""):
        with pytest.raises(InvalidParameter):
            decimal("suppression", text)
