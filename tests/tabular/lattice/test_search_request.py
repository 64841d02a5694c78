"""What a search is asked for: what is taken where nothing is said, and what is refused before a table is read."""

from __future__ import annotations

import pytest

from tabular import Table
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tabular.lattice import Limits, ReleaseRequest, SearchRequest
from tabular.lattice.chain.search import DynamicKgen
from tabular.lattice.searches import searches
from tests.tabular.lattice.people import NAMES, people, table_of

THREE = Limits(k=3)
FRONT = {"objectives": ("k", "glm")}


def request(**options):
    return SearchRequest(**{"quasi_identifiers": NAMES, "limits": THREE} | options)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "optimal"),
        (FRONT, "pareto"),
        ({"previous": "one.csv"}, "kgen"),
        ({"algorithm": "ola", "previous": "one.csv"}, "ola"),
    ],
)
def test_the_algorithm_follows_from_what_is_sought(options, name):
    asked = request(**options)
    asked.check()
    assert asked.entry is searches[name]


def test_kgen_goes_on_from_an_earlier_release():
    assert isinstance(request(previous="one.csv").search(), DynamicKgen)
    assert not isinstance(request(algorithm="kgen").search(), DynamicKgen)


def test_options_of_some_algorithms_are_their_parameters():
    front = request(algorithm="pbg-ea", **FRONT, epsilon="5,100", generator="paper", evaluations=7)
    front.check()
    assert front.algorithm_parameters == {"epsilon": "5,100", "generator": "paper"}
    assert front.budget == 7 and front.search().generator == "paper"
    random = request(algorithm="random", evaluations=7)
    random.check()
    assert (random.algorithm_parameters, random.budget) == ({"evaluations": 7}, None)


def release(**options):
    return {"release": ReleaseRequest(**options)}


#: What is asked, the error, what it says and the parameters that it names.
REFUSED = {
    "an unknown algorithm": ({"algorithm": "exhaustiv"}, UnknownName, "did you mean 'exhaustive'?", ()),
    "an unknown metric": ({"metric": "gml"}, UnknownName, "No metric is called 'gml'; did you mean 'glm'?", ()),
    "an unknown objective": ({"objectives": ("k", "gml")}, UnknownName, "No objective is called 'gml'", ()),
    "an objective twice": ({"objectives": ("k", "k")}, InvalidParameter, "none of them twice", None),
    "one objective": ({"objectives": ("k",)}, InvalidParameter, "a front needs two or more", ("objectives", "metric")),
    "a metric beside objectives": (
        {"metric": "glm", **FRONT},
        InvalidParameter,
        "metric has no effect with objectives",
        ("metric", "objectives"),
    ),
    "a front without objectives": ({"algorithm": "pareto"}, InvalidParameter, "pareto finds a front", None),
    "objectives of a search of one node": ({"algorithm": "ola", **FRONT}, InvalidParameter, "not a front", None),
    "no quasi-identifiers": (
        {"quasi_identifiers": ()},
        InvalidParameter,
        "name one or more columns",
        ("quasi_identifiers",),
    ),
    "a quasi-identifier twice": (
        {"quasi_identifiers": ("age", "age")},
        InvalidParameter,
        "'age' appears twice",
        ("quasi_identifiers",),
    ),
    "l without a sensitive column": ({"limits": Limits(l=2)}, InvalidParameter, "sensitive", ("l", "sensitive")),
    "t without a sensitive column": ({"limits": Limits(t=0.2)}, InvalidParameter, "sensitive", ("t", "sensitive")),
    "an objective of values": ({"objectives": ("l", "glm")}, InvalidParameter, "l needs a sensitive", ("sensitive",)),
    "cm without a class label": ({"metric": "cm"}, InvalidParameter, "cm needs a class label", ("class_label",)),
    "a class label that is sensitive": (
        {"sensitive": "illness", "class_label": "illness"},
        InvalidParameter,
        "this column is sensitive; it cannot be both",
        ("class_label",),
    ),
    "a class label among the quasi-identifiers": (
        {"class_label": "sex"},
        InvalidParameter,
        "this column is a quasi-identifier; it cannot be both",
        ("class_label",),
    ),
    "epsilon without objectives": (
        {"epsilon": "5,100"},
        InvalidParameter,
        "epsilon is for the objectives of a front",
        ("epsilon", "objectives"),
    ),
    "epsilon of the wrong length": ({"epsilon": "5", **FRONT}, InvalidParameter, "one number for each of k,glm", None),
    "epsilon of another search": (
        {"algorithm": "exhaustive", "epsilon": "5,100", **FRONT},
        InvalidParameter,
        "exhaustive does not take epsilon; it is for pbg-ea.",
        ("epsilon",),
    ),
    "a generator of another search": (
        {"generator": "paper"},
        InvalidParameter,
        "optimal does not take",
        ("generator",),
    ),
    "an unknown parameter": (
        {"algorithm": "exhaustive", "parameters": {"mot": 3}},
        UnknownName,
        "No parameter of exhaustive is called 'mot'; did you mean 'most'?",
        (),
    ),
    "a parameter twice": (
        {"algorithm": "random", "evaluations": 3, "parameters": {"evaluations": 4}},
        InvalidParameter,
        "evaluations is given twice",
        ("evaluations",),
    ),
    "a parameter that is too small": (
        {"algorithm": "random", "evaluations": 0},
        InvalidParameter,
        "evaluations must be at least 1, not 0",
        ("evaluations",),
    ),
    "a time that is none": ({"seconds": float("nan")}, InvalidParameter, "at least 0, not nan", ("seconds",)),
    "a time without end": ({"seconds": float("inf")}, InvalidParameter, "at least 0, not inf", ("seconds",)),
    "a time before now": ({"seconds": -1.0}, InvalidParameter, "at least 0, not -1", ("seconds",)),
    "an exact front of one node": ({"exact": True}, InvalidParameter, "exact compares fronts", ("exact", "objectives")),
    "an earlier release without k": (
        {"previous": "one.csv", "limits": Limits(suppression=0.1)},
        InvalidParameter,
        "previous needs k",
        ("previous", "k"),
    ),
    "a key without a chain": ({"key": "name"}, InvalidParameter, "key has no effect", ("key", "previous", "private")),
    "a key of a release without record": ({"key": "name", **release()}, InvalidParameter, "key has no effect", None),
    "stars beside an earlier release": (
        {"previous": "one.csv", **release(suppressed="star")},
        InvalidParameter,
        "a row of * can reveal whose it is",
        ("suppressed", "previous"),
    ),
    "sets beside an earlier release": (
        {"previous": "one.csv", **release(labels="sets")},
        InvalidParameter,
        "two releases show who came and went",
        ("labels", "previous", "key"),
    ),
    "sets of a table with a key": (
        {"key": "name", **release(labels="sets", record=True)},
        InvalidParameter,
        "two releases show who came and went",
        ("labels", "previous", "key"),
    ),
    "a release of a front": ({**FRONT, **release()}, InvalidParameter, "A release needs one node", ("choose",)),
    "a release without a limit": (
        {"limits": Limits(), **release()},
        InvalidParameter,
        "the table would be released unchanged",
        ("k", "l", "t", "choose"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_before_a_table_is_read(name):
    options, kind, said, parameters = REFUSED[name]
    with pytest.raises(kind) as caught:
        request(**options).check()
    assert said in str(caught.value)
    if parameters is not None:
        assert caught.value.named == parameters


def test_a_release_can_be_had_with_a_choice_or_a_key_and_a_record():
    request(limits=Limits(), **release(choose="1")).check()
    request(key="name", **release(record=True)).check()
    request(key="name", previous="one.json", **release()).check()


@pytest.mark.parametrize(("name", "value"), [("labels", "set"), ("suppressed", "stars")])
def test_a_release_is_made_in_one_of_the_ways_there_are(name, value):
    with pytest.raises(InvalidParameter, match=f"{name} must be one of") as caught:
        ReleaseRequest(**{name: value})
    assert (caught.value.parameter, caught.value.was) == (name, value)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"sensitive": "illnes"}, UnknownName, "people.csv: No column is called 'illnes'; did you mean 'illness'?"),
        ({"quasi_identifiers": ("agee",)}, UnknownName, "people.csv: No column is called 'agee'"),
        ({"quasi_identifiers": ("name", "age")}, InvalidParameter, "'name' is an identifier"),
        ({"key": "illness"}, InvalidInput, "key: Column 'illness': rows 1 and "),
        ({"limits": Limits(k=61)}, NoSolution, "No release with k=61 exists: the table has 60 records."),
        ({"limits": Limits(l=4), "sensitive": "illness"}, NoSolution, "column 'illness' has 3 distinct values"),
    ],
)
def test_a_table_that_cannot_be_searched_is_refused(options, kind, said):
    with pytest.raises(kind) as caught:
        request(**options).fitted(table_of(people()), file="people.csv")
    assert str(caught.value).startswith(said) or said in str(caught.value)


def test_a_star_among_the_values_is_refused():
    starred = Table.from_columns({"age": ["18", "*"]})
    with pytest.raises(InvalidInput, match="row 2: the value is"):
        request(quasi_identifiers=("age",), limits=Limits(k=1)).fitted(starred)


def test_quasi_identifiers_have_that_role_unless_they_were_given_one():
    table = request(quasi_identifiers=("age", "sex")).fitted(table_of(people()))
    roles = {each.name: each.role for each in table.attributes}
    assert roles.pop("name") == "identifier"
    assert roles.pop("age") == roles.pop("sex") == "quasi-identifier"
    assert set(roles.values()) == {None}
