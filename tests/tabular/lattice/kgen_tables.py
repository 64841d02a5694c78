"""The little tables of KGEN: four rows (Table 1 and 3), and the first three of them (Table 8)."""

from __future__ import annotations

import numpy as np

from tabular import Hierarchy, Table
from tabular.hierarchies import build

AGES = ["24", "28", "42", "49"]
#: Table 4: five years, then ten, then all.
AGE = Hierarchy.of(
    "Age",
    AGES,
    [["20-24", "25-29", "40-44", "45-49"], ["20-29", "20-29", "40-49", "40-49"], ["20-49"] * 4, ["*"] * 4],
)
GENDER = Hierarchy.of("Gender", ["F", "M"], [["*", "*"]])

#: With k = 2 of four rows; or of three of which one may go. Age parts 1, 2 from 3, 4 on level 2 and none above; the
#: postcode on levels 1 to 3 and none above; gender parts 1, 3 from 2, 4 on level 0. So gender can stay only where
#: neither of the others parts anything, and has to go elsewhere.
SATISFYING = sorted(
    [(age, code, 0) for age in (3, 4) for code in (4, 5)]
    + [(age, code, 1) for age in (2, 3, 4) for code in range(1, 6)]
)
MINIMAL = [(2, 1, 1), (3, 4, 0)]


def problem(rows):
    """The first *rows* of the table and its hierarchies."""
    columns = {
        "Age": AGES,
        "Postcode": ["80015", "80019", "85073", "85071"],
        "Gender": ["F", "M", "F", "M"],
        "sensitive": ["Assault", "Kidnapping", "Homicide", "Rape"],
        "label": ["a", "b", "a", "b"],
    }
    table = Table.from_columns(columns).rows(np.arange(rows))
    return table, {"Age": AGE, "Postcode": build(table.attribute("Postcode"), "star"), "Gender": GENDER}


def support_map(table, hierarchy):
    """Level by level the rows that have each label, by their positions (KGEN, Table 4)."""
    hierarchy = hierarchy.over(table.attribute(hierarchy.name).domain)
    codes = table.columns[hierarchy.name]
    return [
        {label: np.flatnonzero(level.groups[codes] == group).tolist() for group, label in enumerate(level.labels)}
        for level in hierarchy.levels
    ]
