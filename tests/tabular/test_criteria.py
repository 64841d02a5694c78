from __future__ import annotations

import json
from math import floor, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.criteria import HIGHER, LOWER, Check, check, criteria, key_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.table import Table
from tests.tabular.adult import adult_columns, generalised

pandas = pytest.importorskip("pandas")
pycanon = pytest.importorskip("pycanon.anonymity")
NODES = (
    {"sex": 0, "age": 2, "race": 1, "education": 2, "marital-status": 1},
    {"sex": 1, "age": 3, "race": 0, "workclass": 1, "native-country": 1},
    {"age": 1, "education": 3, "salary-class": 0},
)
SENSITIVE = ("occupation", "years")


@st.composite
def tables(draw):
    """A table with two quasi-identifiers and two sensitive columns, with missing values."""
    rows = draw(st.integers(1, 10))
    columns = {
        name: draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        for name, values in (("a", ["x", "y", None]), ("b", ["p"]), ("s", ["u", "v", None]), ("n", [1, 2, 5, None]))
    }
    return Table.from_columns(columns, [Attribute(name="n", kind="ordinal")])


def document(table):
    return check(table, ["a", "b"], ["s", "n"]).document()


def test_the_criteria_of_the_literature_are_there():
    assert set(criteria) >= {"k", "l", "entropy-l", "recursive-c", "t", "beta", "enhanced-beta", "delta", "alpha"}
    assert set(criteria) >= {"prosecutor-risk", "journalist-risk", "marketer-risk", "uniqueness", "s-k", "s-l"}
    for entry in criteria.entries():
        assert entry.summary.endswith(".")
        assert entry.cites
        assert entry.limits
        assert entry.method.safer in (HIGHER, LOWER)


@given(tables(), st.data())
def test_the_order_of_the_rows_changes_no_byte(table, data):
    order = np.array(data.draw(st.permutations(range(len(table)))))
    assert json.dumps(document(table.rows(order))) == json.dumps(document(table))


@given(tables())
def test_several_sensitive_attributes_give_the_least_safe_value(table):
    both = check(table, ["a", "b"], ["s", "n"])
    alone = [check(table, ["a", "b"], [name]) for name in ("s", "n")]
    for name, entry in ((entry.name, entry) for entry in criteria.entries()):
        pick = min if entry.method.safer == HIGHER else max
        assert both.worst(name) == pick(each.worst(name) for each in alone)
        expected = [each.document()[key_of(name)] for each in alone]
        assert None in expected or both.document()[key_of(name)] in expected


def test_a_document_worked_by_hand():
    table = Table.from_columns({"a": ["x", "x", "x", "y", "y", "*"], "s": ["p", "p", "q", "q", "q", "p"]})
    out = np.array([False] * 5 + [True])
    found = check(table, ["a"], ["s"], suppressed=out).document()
    assert (found["rows"], found["suppressed"], found["classes"], found["k"]) == (6, 1, 2, 2)
    assert found["class_sizes"] == [[2, 1], [3, 1]]
    assert (found["s_k"], found["s_l"]) == (9 + 4, 2 + 2 + 1 + 2 + 2)
    assert (found["l"], found["recursive_c"], found["alpha"]) == (1, 1, 1)
    assert found["average_class_size"] == 2.5
    assert found["prosecutor_risk"] == found["journalist_risk"] == 0.5
    assert found["marketer_risk"] == pytest.approx(2 / 5)
    assert found["by_attribute"]["s"]["t"] == found["t"] == pytest.approx(1 - 3 / 5)


def test_without_a_sensitive_attribute_its_criteria_are_unknown():
    found = check(Table.from_columns({"a": ["x", "x"]}), ["a"]).document()
    assert (found["k"], found["l"], found["t"], found["by_attribute"]) == (2, None, None, {})
    assert set(map(key_of, criteria)) < set(found)


def test_a_population_lowers_the_risks_that_know_only_it():
    population = Table.from_columns({"a": ["x"] * 4 + ["y"] * 2})
    table = population.rows(np.array([0, 4]))
    found = check(table, ["a"], population=population).document()
    assert (found["prosecutor_risk"], found["journalist_risk"]) == (1, 1 / 2)
    assert found["marketer_risk"] == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_recursive_diversity_takes_the_l_that_is_asked_for():
    table = Table.from_columns({"a": ["x"] * 4, "s": ["p", "p", "q", "r"]})
    classes = check(table, ["a"]).anonymity
    method = criteria["recursive-c"].method
    assert [method(l=number).value(classes, "s") for number in (1, 2, 3)] == [pytest.approx(1 / 2), 1, 2]
    assert method().value(classes, "s") == 2
    with pytest.raises(InvalidParameter, match="l must be at least 1"):
        method(l=0)


def test_bad_questions_are_refused():
    table = Table.from_columns({"a": ["x"], "s": ["p"]})
    with pytest.raises(UnknownName, match="No column is called 'ss'; did you mean 's'"):
        check(table, ["a"], ["ss"])
    with pytest.raises(InvalidInput, match="'s' cannot be a quasi-identifier and sensitive"):
        check(table, ["a", "s"], ["s"])
    with pytest.raises(InvalidInput, match="sensitive attributes are a list"):
        check(table, ["a"], ["s", "s"])
    with pytest.raises(InvalidInput, match="quasi-identifiers are a list"):
        check(table, ["a", "a"], ["s"])


def numbers_in(found, above=()):
    """The paths of the numbers, and of what could be one, in a document."""
    for key, value in found.items():
        if isinstance(value, dict):
            yield from numbers_in(value, (*above, key))
        elif value is None or isinstance(value, int | float):
            yield (*above, key)


@pytest.mark.parametrize("sensitive", [[], ["s"], ["s", "n"]])
def test_where_the_numbers_stand_is_known_before_the_table_is(sensitive):
    table = Table.from_columns({"a": ["x", "x"], "s": ["u", "v"], "n": [1, 2]})
    assert set(Check.paths(sensitive)) == set(numbers_in(check(table, ["a"], sensitive).document()))


def test_rows_that_say_nothing_are_left_out_unless_it_is_said_which_are():
    table = Table.from_columns({"a": ["x", "x", "*"], "b": ["y", "y", "*"]})
    assert [check(table, names).anonymity.k for names in (["a", "b"], ["a"])] == [2, 2]
    assert check(table, ["a"], suppressed=np.zeros(3, dtype=bool)).anonymity.k == 1


def test_a_population_is_compared_by_what_is_written():
    table = Table.from_columns({"size": [1, 2, 3], "s": ["p", "q", "q"]})
    masked = table.masked({"size": ["[1,2]", "[1,2]", 3], "s": ["p", "q", "q"]})
    population = Table.from_columns({"size": ["[1,2]"] * 6 + ["3"] * 2})
    found = check(masked, ["size"], ["s"], population=population).document()
    assert (found["k"], found["journalist_risk"], found["l"]) == (1, 1 / 2, 1)


@pytest.fixture(scope="module", params=range(len(NODES)))
def adult(request):
    """Quasi-identifiers at one node, with a text and a number that are sensitive; and the same as a data frame."""
    columns, node = adult_columns(), NODES[request.param]
    # Adult as ARX has it holds no number but the age; it is one quasi-identifier and, unchanged, sensitive here.
    both = generalised(columns, node) | {
        "occupation": list(columns["occupation"]),
        "years": [int(age) for age in columns["age"]],
    }
    return list(node), both


def ours(names, columns, sensitive):
    return check(Table.from_columns(columns), names, [sensitive]).document()


@pytest.mark.shared_data
@pytest.mark.parametrize("sensitive", SENSITIVE)
def test_what_is_defined_alike_is_equal(adult, sensitive):
    names, columns = adult
    found, frame = ours(names, columns, sensitive), pandas.DataFrame(columns)
    assert found["k"] == pycanon.k_anonymity(frame, names)
    assert found["l"] == pycanon.l_diversity(frame, names, [sensitive])
    assert found["t"] == pytest.approx(pycanon.t_closeness(frame, names, [sensitive]))
    assert found["beta"] == pytest.approx(pycanon.basic_beta_likeness(frame, names, [sensitive]))
    assert found["delta"] == pytest.approx(pycanon.delta_disclosure(frame, names, [sensitive]))
    assert (found["alpha"], found["k"]) == pytest.approx(pycanon.alpha_k_anonymity(frame, names, [sensitive]))
    # There it is rounded down to a whole number.
    assert floor(found["entropy_l"] + 1e-9) == pycanon.entropy_l_diversity(frame, names, [sensitive])
    sizes = frame.groupby(names).size()
    assert found["prosecutor_risk"] == found["journalist_risk"] == 1 / sizes.min()
    assert found["marketer_risk"] == pytest.approx(len(sizes) / len(frame))
    assert found["uniqueness"] == pytest.approx((sizes == 1).sum() / len(frame))


@pytest.mark.shared_data
def test_rows_and_index_of_adult_change_nothing_of_ours(adult):
    names, columns = adult
    expected = ours(names, columns, "occupation")
    frame = pandas.DataFrame(columns).sample(frac=1, random_state=1)
    frame.index = np.zeros(len(frame), dtype=int)
    assert check(Table.from_frame(frame), names, ["occupation"]).document() == expected


def two_classes():
    """The class x has p three times and q once, the class y both twice."""
    columns = {"a": ["x"] * 4 + ["y"] * 4, "s": ["p", "p", "p", "q", "p", "p", "q", "q"]}
    return columns, pandas.DataFrame(columns)


def test_pycanon_takes_labels_of_the_index_for_positions():
    columns, frame = two_classes()
    assert pycanon.l_diversity(frame, ["a"], ["s"]) == 2
    # The same rows, each with its label, in another order: it looks at other rows than it means.
    order = [0, 4, 1, 5, 2, 6, 3, 7]
    moved = frame.iloc[order]
    assert ours(["a"], {name: list(moved[name]) for name in moved}, "s") == ours(["a"], columns, "s")
    assert pycanon.t_closeness(moved, ["a"], ["s"]) != pytest.approx(pycanon.t_closeness(frame, ["a"], ["s"]))
    # An index that is no position at all.
    with pytest.raises(IndexError):
        pycanon.l_diversity(frame.set_index(frame.index + 100), ["a"], ["s"])


def test_pycanon_leaves_out_rows_with_missing_values():
    columns = {"a": ["x", "x", "x", None], "s": ["p", "q", "q", "p"]}
    assert pycanon.k_anonymity(pandas.DataFrame(columns), ["a"]) == 3
    found = ours(["a"], columns, "s")
    assert (found["k"], found["l"], found["uniqueness"]) == (1, 1, 1 / 4)
    # A missing sensitive value is one of the values.
    assert ours(["a"], {"a": ["x", "x"], "s": ["p", None]}, "s")["l"] == 2


def test_recursive_c_divides_the_commonest_value_and_pycanon_the_rarest():
    columns, frame = two_classes()
    # By definition r_1 < c (r_2 + ... ) for all classes: 3 < c in x, 2 < 2 c in y.
    assert ours(["a"], columns, "s")["recursive_c"] == 3
    # pycanon sorts from the rarest on and says c = 2, with which x has 3 < 2.
    assert pycanon.recursive_c_l_diversity(frame, ["a"], ["s"]) == (2, 2)
    # Where the values of each class are equally frequent, its number is the first whole one above ours.
    alike = {"a": ["x"] * 4 + ["y"] * 3, "s": ["p", "p", "q", "q", "p", "q", "r"]}
    c, values = pycanon.recursive_c_l_diversity(pandas.DataFrame(alike), ["a"], ["s"])
    assert (values, c) == (2, floor(ours(["a"], alike, "s")["recursive_c"]) + 1)


def test_enhanced_beta_is_a_beta_that_holds_or_none():
    # Half of the rows have p, and all of the class x: a gain of 1, above -log(1/2). No beta makes that sound.
    frame = {"a": ["x", "x", "y", "y"], "s": ["p", "p", "q", "q"]}
    assert ours(["a"], frame, "s")["enhanced_beta"] is None
    assert criteria["enhanced-beta"].method().value(check(Table.from_columns(frame), ["a"]).anonymity, "s") == inf
    assert pycanon.enhanced_beta_likeness(pandas.DataFrame(frame), ["a"], ["s"]) == pytest.approx(0.693, abs=0.001)
    # Where one holds, both say the same.
    frame = {"a": ["x"] * 3 + ["y"] * 3, "s": ["p", "p", "q", "p", "q", "r"]}
    found = ours(["a"], frame, "s")
    assert found["enhanced_beta"] == found["beta"]
    assert found["beta"] == pytest.approx(pycanon.enhanced_beta_likeness(pandas.DataFrame(frame), ["a"], ["s"]))


def test_t_of_ordered_values_counts_the_steps_of_the_domain():
    columns = {"a": ["x", "x", "y", "y"], "s": [1, 2, 2, 4]}
    schema = [Attribute(name="s", kind="ordinal", domain=(1, 2, 3, 4))]
    # Among 1, 2, 4 the shares differ by 1/4 and 1/4 on the way, over two steps; in 1, 2, 3, 4 there are three.
    assert pycanon.t_closeness(pandas.DataFrame(columns), ["a"], ["s"]) == pytest.approx((1 / 4 + 1 / 4) / 2)
    assert ours(["a"], columns, "s")["t"] == pytest.approx((1 / 4 + 1 / 4) / 2)
    found = check(Table.from_columns(columns, schema), ["a"], ["s"]).document()
    assert found["t"] == pytest.approx((1 / 4 + 1 / 4 + 1 / 4) / 3)
