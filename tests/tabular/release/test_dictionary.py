import json

import numpy as np

from tabular.protections import protect, protections
from tabular.release.dictionary import MOST_VALUES, effective_parameters, table_dictionary
from tabular.table import Table

ROWS = MOST_VALUES + 1


def table():
    return Table.from_columns({
        "size": (["S", "M", "L", None] * ROWS)[:ROWS],
        "number": list(range(ROWS)),
    })  # fmt: skip


def dictionary(released, *, k=2, promises_k=True, suppressed=0, shuffled=False):
    findings = {"promises_k": promises_k, "k": k, "suppressed": suppressed}
    return table_dictionary(
        released, ["size"], method="mondrian", parameters={"k": 2}, findings=findings, shuffled=shuffled, titles={}
    )


def test_values_are_counted_and_of_long_columns_only_their_number_is_told():
    size, number = dictionary(table())["fields"]
    assert {each["value"]: each["count"] for each in size["values"]} == {"S": 51, "M": 50, "L": 50}
    assert size["missing"] == 50
    assert number["distinct_values"] == ROWS
    assert "values" not in number


def test_values_that_do_not_stand_in_the_release_are_not_told():
    released = table().rows(np.array([0, 4, 8]))
    size = dictionary(released)["fields"][0]
    assert size["values"] == [{"value": "S", "count": 3}]
    assert '"M"' not in json.dumps(dictionary(released))


def test_what_is_not_protected_is_said():
    order = "Rows stand in the order of the original: whoever has that file can match them."
    assert any(said.startswith(order) for said in dictionary(table())["not_protected"])
    assert not any(said.startswith(order) for said in dictionary(table(), shuffled=True)["not_protected"])
    assert any("no k" in said for said in dictionary(table(), promises_k=False)["not_protected"])
    assert "7 suppressed" in dictionary(table(), suppressed=7)["protected"]
    assert "can stand alone" in dictionary(table(), k=1)["protected"]


def test_labels_of_sets_are_told_as_they_are_written():
    masked = protect(table(), "mondrian", ["size"], rng=np.random.default_rng(1), k=100)
    assert sum(each["count"] for each in dictionary(masked)["fields"][0]["values"]) == ROWS


def test_a_matrix_or_a_folder_is_only_said_to_be_given():
    matrix = np.eye(4)
    protection = protections["pram"].method(matrix=matrix)
    assert effective_parameters(protection, {"matrix": "secret/m.csv"}) == {"invariant": False, "matrix": "given"}
    assert effective_parameters(protections["mondrian"].method(k=7), {"k": 7}) == {"k": 7, "cuts": "strict"}
