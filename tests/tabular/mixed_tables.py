"""Tables of all kinds of attributes for tests: ties, missing values, domains of one value, values that do not occur."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tabular.attributes import KINDS, Attribute
from tabular.table import Table

NUMBERS = (0, 1, 2, 3, 0.5, -1.25, 1e6, 1 / 3)


@st.composite
def mixed_tables(draw, kinds=KINDS, min_rows=1, max_rows=14, max_columns=3, max_values=4, missing=True):
    """A table whose columns are of the given *kinds*."""
    rows = draw(st.integers(min_rows, max_rows))
    columns, attributes = {}, []
    for number in range(draw(st.integers(1, max_columns))):
        name, kind = f"column {number}", draw(st.sampled_from(kinds))
        if kind == "continuous":
            values = st.sampled_from(NUMBERS[: draw(st.integers(1, len(NUMBERS)))])
            attributes.append(Attribute(name=name, kind=kind))
        else:
            domain = tuple(f"v{value}" for value in range(draw(st.integers(1, max_values))))
            values = st.sampled_from(domain)
            attributes.append(Attribute(name=name, kind=kind, domain=domain))
        cells = st.one_of(values, st.none()) if missing and draw(st.booleans()) else values
        columns[name] = draw(st.lists(cells, min_size=rows, max_size=rows))
    return Table.from_columns(columns, attributes)


def random_table(seed, rows, kinds, *, values=5, missing=0.0):
    """A seeded table for comparisons at a size where Hypothesis would be too slow; half the numbers are whole."""
    rng = np.random.default_rng(seed)
    columns, attributes = {}, []
    for number, kind in enumerate(kinds):
        name = f"column {number}"
        column = rng.normal(size=rows) * values if kind == "continuous" else rng.integers(0, values, rows)
        cells = [
            None if rng.random() < missing else round(value) if rng.random() < 0.5 else value
            for value in column.tolist()
        ]
        columns[name] = cells
        domain = () if kind == "continuous" else tuple(range(values))
        attributes.append(Attribute(name=name, kind=kind, domain=domain))
    return Table.from_columns(columns, attributes)
