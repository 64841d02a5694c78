"""Conditions on the numbers of a document."""

import pytest

from api.verbs.conditions import check_names, hangs_on, holds, parse
from tabular.errors import InvalidParameter, UnknownName

DOCUMENT = {"k": 5, "loss": {"mean": 0.25, "dbil": None}, "flag": True}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("k < 5", False),
        ("k <= 5", True),
        ("loss.mean > 0.2 and k == 5", True),
        ("loss.mean > 0.3 or k != 5", False),
        ("not k > 5", True),
        ("0 < loss.mean < 0.25", False),
        ("loss.mean > -1", True),
        ("k > loss.mean", True),
    ],
)
def test_a_condition_is_read_as_it_says(expression, expected):
    assert holds(expression, DOCUMENT) is expected


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "k",
        "1",
        "k >",
        "k > 'a'",
        "__import__('os')",
        "k > f(1)",
        "k[0] > 1",
        "k in loss",
        "k is 5",
        "a := 1",
        "k > (1",
    ],
)
def test_what_is_no_comparison_is_refused_before_any_work(expression):
    with pytest.raises(InvalidParameter, match="cannot be read"):
        parse(expression)


def test_an_unknown_number_is_named_with_the_nearest_one():
    with pytest.raises(UnknownName, match="No number of the result under loss is called 'maen'; did you mean 'mean'"):
        holds("loss.maen > 0", DOCUMENT)


def test_an_unknown_number_is_an_error_whatever_stands_before_it():
    with pytest.raises(UnknownName):
        holds("k < 0 and lost > 1", DOCUMENT)


@pytest.mark.parametrize(
    ("expression", "why"), [("loss.dbil > 0", "is not known here"), ("flag > 0", "is not a number")]
)
def test_what_has_no_number_cannot_decide(expression, why):
    with pytest.raises(InvalidParameter, match=why):
        holds(expression, DOCUMENT)


def test_names_are_checked_on_a_sample_before_any_work():
    paths = ["k", "loss.mean", ("loss", "dbil")]
    check_names("loss.dbil > 0 and k < 5", paths)
    with pytest.raises(UnknownName, match="did you mean 'dbil'"):
        check_names("loss.dbli > 0", paths)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        check_names("loss.dbil", paths)


def test_a_number_in_doubt_may_hold_where_one_of_its_ends_does():
    document, doubts = {"risk": {"all": 0.2}, "k": 5}, {"risk.all": (0.2, 0.3)}
    assert holds("risk.all > 0.1", document, doubts)
    assert not holds("risk.all > 0.35", document, doubts)
    assert holds("risk.all > 0.25 or k == 5", document, doubts)
    assert holds("risk.all > 0.25", document, doubts)
    assert hangs_on("risk.all > 0.25", document, doubts) == "risk.all"
    assert hangs_on("risk.all > 0.35", document, doubts) is None
