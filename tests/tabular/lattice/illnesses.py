"""Seven people whose age and sex are generalised."""

from __future__ import annotations

from tabular import Table
from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy

AGE = Hierarchy.of("age", [17, 25, 31, 47], [["young", "young", "old", "old"], ["*"] * 4])
SEX = Hierarchy.of("sex", ["f", "m"], [["*", "*"]])
PEOPLE = Table.from_columns(
    {
        "age": [17, 25, 31, 47, 47, 31, 17],
        "sex": ["f", "f", "m", "m", "m", "f", "f"],
        "illness": ["gout", "cold", "flu", "flu", "cold", "cold", "flu"],
    },
    [Attribute(name="age", kind="ordinal"), Attribute(name="sex"), Attribute(name="illness")],
)
HIERARCHIES = {"age": AGE, "sex": SEX}
