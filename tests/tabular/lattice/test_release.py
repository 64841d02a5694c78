"""The release of a node: what is written, what each attribute lost, and that nothing false goes out."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabular import Table
from tabular.attributes import ANY
from tabular.errors import InvalidHierarchy, InvalidInput, InvalidParameter
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.release import released
from tabular.lattice.space import Limits
from tests.tabular.lattice.class_losses import (
    classification_loss,
    discernibility,
    general_loss,
    non_uniform_entropy,
    normalized_average_class_size,
)
from tests.tabular.lattice.illnesses import AGE, HIERARCHIES, PEOPLE
from tests.tabular.lattice.problems import limits, problems
from tests.tabular.lattice.slow import SlowEvaluator
from tests.tabular.pairs_of_tables import members_of, pairs_of_tables


def released_at(node, sensitive="illness", table=PEOPLE, hierarchies=HIERARCHIES, labels="hierarchy", **given_limits):
    evaluator = SlowEvaluator(table, hierarchies, limits=Limits(**given_limits), sensitive=sensitive)
    found = evaluator.evaluate([node]).document(0)
    out = evaluator.suppressed_rows(node)
    return released(table, hierarchies, node, evaluator.limits, out, found, sensitive=sensitive, labels=labels)


def test_the_table_of_a_node_and_what_each_attribute_lost_by_hand():
    release = released_at((1, 0), k=2, suppression=0.15)
    young, old = "young", "old"
    assert release.table.to_columns() == {
        "age": [young, young, old, old, old, "*", young],
        "sex": ["f", "f", "m", "m", "m", "*", "f"],
        "illness": PEOPLE.values("illness"),
    }
    assert vars(release.recounted) == {"k": 3, "l": 2, "t": pytest.approx(1 / 6), "suppressed": 1}
    age, sex = release.losses
    assert (age.level, age.height, age.precision, sex.precision) == (1, 2, 0.5, 0.0)
    assert (age.values_before, age.values_after, sex.values_before, sex.values_after) == (4, 2, 2, 2)
    assert [(each.label, each.name, each.values, each.rows) for each in age.labels] == [
        (young, "young", 2, 3),
        (old, "old", 2, 3),
    ]
    # Six cells lose one of three other values each, and one all.
    assert age.general_loss == pytest.approx((6 / 3 + 1) / 7)
    assert sex.general_loss == pytest.approx(1 / 7)
    # 17 17 25 among three, 31 47 47 among four (the suppressed row is of 31, one of two), 31 among all seven.
    bits = 2 * log2(3 / 2) + log2(3) + log2(4 / 2) + 2 * log2(4 / 2) + log2(7 / 2)
    assert age.non_uniform_entropy == pytest.approx(bits / 7)
    assert age.cells_suppressed == sex.cells_suppressed == 1


def test_a_document_holds_plain_values():
    document = released_at((1, 1), k=2).document()
    assert document["levels"] == {"age": 1, "sex": 1}
    assert (document["k"], document["suppressed"]) == (3, 0)
    assert document["attributes"][1]["labels"] == [{"label": "*", "name": "*", "values": 2, "rows": 7}]


def test_labels_can_be_the_sets_of_the_values_that_occur():
    release = released_at((1, 1), labels="sets", k=2)
    assert release.table.values("age") == ["<=30"] * 2 + [">=30"] * 4 + ["<=30"]
    assert [(each.label, each.name) for each in release.losses[0].labels] == [("<=30", "young"), (">=30", "old")]
    assert release.document()["labels"] == "sets"
    with pytest.raises(InvalidParameter, match="labels must be one of hierarchy, sets, not 'set'"):
        released_at((1, 1), labels="set", k=2)


def test_the_oldest_person_does_not_show_in_labels_or_in_what_goes_with_the_release():
    years = [*range(20, 100)]
    whole = Hierarchy.of("age", years, [["60+" if age >= 60 else "20-59" for age in years], ["*"] * 80])
    table = Table.from_columns({"age": [60, 97, 61, 25, 25], "illness": ["flu", "cold"] * 2 + ["flu"]})
    release = released_at((1,), table=table, hierarchies={"age": whole}, k=2)
    assert release.table.values("age") == ["60+"] * 3 + ["20-59"] * 2
    assert release.table.attribute("age").domain == ("20-59", "60+")
    (told,) = release.public({"age": whole})
    assert told["labels"] == [{"label": "20-59", "rows": 2}, {"label": "60+", "rows": 3}]
    # Forty values of eighty lie under either label, one or three of which occur here.
    assert told["general_loss"] == pytest.approx(39 / 79)
    assert "97" not in json.dumps([told["labels"], release.document()["attributes"][0]["labels"]])
    fewer = Table.from_columns({"age": [60, 61, 25, 25], "illness": ["flu", "flu", "cold", "flu"]})
    (after,) = released_at((1,), table=fewer, hierarchies={"age": whole}, k=2).public({"age": whole})
    # But for how many rows there are it is the same.
    assert {**after, "labels": told["labels"]} == {**told, "general_loss": pytest.approx(told["general_loss"])}


@pytest.mark.parametrize("labels", ["hierarchy", "sets"])
@given(problems(), limits)
def test_each_node_that_satisfies_is_released_with_what_a_plain_count_finds(labels, problem, given_limits):
    table, hierarchies = problem
    evaluator = SlowEvaluator(table, hierarchies, limits=given_limits, sensitive="sensitive")
    nodes = evaluator.evaluate(evaluator.lattice.everything())
    good = nodes.take(nodes.satisfying)
    assume(len(good))
    for place in {0, len(good) // 2, len(good) - 1}:
        node, found = good.tuples()[place], good.document(place)
        out = evaluator.suppressed_rows(node)
        release = released(table, hierarchies, node, given_limits, out, found, sensitive="sensitive", labels=labels)
        rows = [tuple(row) for row in zip(*(release.table.values(name) for name in hierarchies), strict=True)]
        kept = [row for row, gone in zip(rows, out, strict=True) if not gone]
        values = defaultdict(set)
        for row, value, gone in zip(rows, table.values("sensitive"), out, strict=True):
            if not gone:
                values[row].add(value)
        assert release.recounted.k == min(Counter(kept).values())
        assert release.recounted.l == min(map(len, values.values()))
        assert release.recounted.suppressed == out.sum() <= given_limits.suppressible(len(table))
        for name, level, loss in zip(hierarchies, node, release.losses, strict=True):
            if labels == "hierarchy":
                called = {row[0]: row[level] for row in hierarchies[name].rows()}
                wanted = [ANY if gone else called[value] for value, gone in zip(table.values(name), out, strict=True)]
                assert release.table.values(name) == wanted
            seen = Counter(value for value, gone in zip(release.table.values(name), out, strict=True) if not gone)
            assert {each.label: each.rows for each in loss.labels} == seen
            assert 0 <= loss.general_loss <= 1
        assert sum(loss.general_loss for loss in release.losses) * len(table) == pytest.approx(found["glm"])
        assert sum(loss.precision for loss in release.losses) / len(hierarchies) == pytest.approx(found["precision"])


def test_suppressed_rows_are_told_apart_also_beside_columns_of_one_value():
    table = Table.from_columns({"a": ["x", "x", "y"], "b": ["z"] * 3, "illness": ["flu", "cold", "flu"]})
    hierarchies = {"a": Hierarchy.of("a", ["x", "y"], [["*"] * 2]), "b": Hierarchy.of("b", ["z"], [["*"]])}
    release = released_at((0, 1), table=table, hierarchies=hierarchies, k=2, suppression=0.4)
    assert release.table.values("a") == ["x", "x", ANY]
    assert release.table.values("b") == ["*"] * 3
    release = released_at((0, 0), table=table, hierarchies=hierarchies, k=2, suppression=0.4)
    assert release.table.values("b") == ["z", "z", ANY]
    assert vars(release.recounted) == {"k": 2, "l": 2, "t": 0.0, "suppressed": 1}
    release = released_at((0, 0), table=table, hierarchies=hierarchies, labels="sets", k=2, suppression=0.4)
    # A set of one value is that value.
    assert (release.table.values("a"), release.table.values("b")) == (["x", "x", ANY], ["z"] * 3)
    assert vars(release.recounted) == {"k": 2, "l": 2, "t": 0.0, "suppressed": 1}


def test_the_values_of_a_sensitive_quasi_identifier_are_those_of_the_original():
    illness = Hierarchy.of("illness", ["cold", "flu", "gout"], [["*"] * 3])
    release = released_at((2, 1), hierarchies={"age": AGE, "illness": illness}, k=2, l=2)
    assert release.table.values("illness") == ["*"] * 7
    assert release.recounted.l == 3


def test_rows_that_go_count_as_such_where_those_kept_are_starred_too():
    out = np.isin(np.arange(7), [1, 4])
    found = {"k": 5, "suppressed": 2, "glm": 14.0}
    release = released(PEOPLE, HIERARCHIES, (2, 1), Limits(k=5, suppression=0.3), out, found)
    assert set(zip(release.table.values("age"), release.table.values("sex"), strict=True)) == {("*", "*")}
    assert (release.recounted.k, release.recounted.suppressed) == (5, 2)


def test_a_star_among_the_values_is_refused():
    table = Table.from_columns({"age": ["17", "*", "25"], "illness": ["flu"] * 3})
    hierarchy = Hierarchy.of("age", ["17", "25", "*"], [["*"] * 3])
    with pytest.raises(InvalidInput, match=r"Column 'age', row 2: the value is \*, which means any value"):
        released_at((1,), table=table, hierarchies={"age": hierarchy}, k=1)


def test_a_star_among_other_labels_is_refused_where_rows_are_suppressed():
    table = Table.from_columns({"age": ["17", "17", "25", "25", "9"], "illness": ["flu"] * 5})
    hierarchy = Hierarchy.of("age", ["17", "25", "9"], [["teens", "*", "child"], ["*"] * 3])
    assert released_at((1,), table=table, hierarchies={"age": hierarchy}, k=1).recounted.k == 1
    with pytest.raises(InvalidHierarchy, match=r"Hierarchy of age, level 1: one of its labels is \*"):
        released_at((1,), table=table, hierarchies={"age": hierarchy}, k=2, suppression=0.2)


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
