import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.release.fingerprint import fingerprint_of_table
from tabular.table import Table

COLUMNS = {"size": ["S", "M", "S", None], "age": [1, 2, 3, 3]}


def table(**changes):
    return Table.from_columns({**COLUMNS, **changes})


def test_equal_tables_have_one_fingerprint():
    assert fingerprint_of_table(table()) == fingerprint_of_table(table())
    assert fingerprint_of_table(table()).startswith("sha256:")


@pytest.mark.parametrize(
    "other",
    [
        table(size=["M", "S", "S", None]),
        table(size=["S", "M", "S", ""]),
        table(age=[1, 2, 3, 4]),
        table(more=[1, 1, 1, 1]),
        Table.from_columns(COLUMNS, [Attribute(name="age", kind="nominal")]),
        table().with_labels("age", np.array([0, 1, 2, 3]), [(1, 2)]),
    ],
)
def test_whatever_differs_makes_another_fingerprint(other):
    assert fingerprint_of_table(other) != fingerprint_of_table(table())
