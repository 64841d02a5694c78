"""A small table of people, and masked versions of it, for tests of evolution."""

from __future__ import annotations

import numpy as np

from tabular import Table
from tabular.attributes import Attribute

COLUMNS = ("age", "town")
AGES, TOWNS = tuple(range(20, 26)), ("Bonn", "Kiel", "Ulm", "Jena")


def people(rows=40, seed=1):
    """People with an ordinal age, a nominal town, and an illness that is not protected."""
    draw = np.random.default_rng(seed)
    columns = {
        "age": draw.choice(AGES, rows).tolist(),
        "town": draw.choice(TOWNS, rows, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "illness": draw.choice(["flu", "cold"], rows).tolist(),
    }
    known = [
        Attribute(name="age", kind="ordinal", domain=AGES),
        Attribute(name="town", kind="nominal", domain=TOWNS),
        Attribute(name="illness", kind="nominal", domain=("flu", "cold")),
    ]
    return Table.from_columns(columns, known)
