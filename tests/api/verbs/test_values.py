"""The values of options, from JSON and from texts."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.verbs import verbs
from api.verbs.values import made, names_in, options_of, value_in, value_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName

AUDIT = verbs["audit"].method
SEARCH = verbs["table search"].method
PROTECT = verbs["protect"].method


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1), min_size=1))
def test_names_come_back_from_their_text(names):
    plain = tuple(name.strip() or "x" for name in names)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="").writerow(plain)
    assert names_in("columns", text.getvalue()) == plain


@pytest.mark.parametrize("text", ["", "a,,b", '"a', ",", " , "])
def test_texts_that_list_no_names_are_refused(text):
    with pytest.raises(InvalidParameter, match="columns"):
        names_in("columns", text)


def test_a_json_value_becomes_what_the_option_holds():
    known = options_of(SEARCH)
    assert value_of(known["k"], 5.0) == 5 and isinstance(value_of(known["k"], 5.0), int)
    assert value_of(known["k"], None) is None
    assert value_of(known["suppression"], 0) == 0.0
    assert value_of(known["quasi_identifiers"], ["age", "sex"]) == ("age", "sex")
    assert value_of(known["exact"], False) is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", True),
        ("k", 5.5),
        ("k", "5"),
        ("k", float("nan")),
        ("suppression", float("inf")),
        ("suppression", "0.1"),
        ("quasi_identifiers", "age"),
        ("quasi_identifiers", ["age", 1]),
        ("shuffle", 1),
        ("file", 3),
        ("file", None),
    ],
)
def test_a_json_value_of_another_kind_is_refused_and_named(name, value):
    with pytest.raises(InvalidParameter) as refused:
        value_of(options_of(SEARCH)[name], value)
    assert refused.value.parameter == name
    assert refused.value.was is value
    assert refused.value.must.startswith("be ")


def test_texts_are_read_by_the_kind_of_the_option():
    assert value_in(options_of(PROTECT)["k"], "5") == 5
    assert value_in(options_of(AUDIT)["undirected"], "True") is True
    assert value_in(options_of(SEARCH)["objectives"], "k,glm") == ("k", "glm")
    assert value_in(options_of(AUDIT)["scenario"], "topic1+topic2") == ("topic1+topic2",)
    for name, text in (("k", "five"), ("k", "5.0")):
        with pytest.raises(InvalidParameter, match="k must be a whole number"):
            value_in(options_of(PROTECT)[name], text)


def test_what_a_verb_does_not_take_or_lacks_is_said():
    with pytest.raises(UnknownName, match="No option is called 'ks'; did you mean 'k'"):
        made(PROTECT, {"name": "g", "ks": 5, "into": "r"})
    with pytest.raises(InvalidParameter, match="into is missing"):
        made(PROTECT, {"name": "g", "k": 5})
    with pytest.raises(InvalidInput, match="k must be at least 2, not 1"):
        made(PROTECT, {"name": "g", "k": 1, "into": "r"})
    assert made(PROTECT, {"name": "g", "k": 5, "into": "r"}).k == 5
