"""A made-up file of credits for the tests of matrices, uneven as German Credit is, and the real one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tabular.attributes import Attribute
from tabular.table import Table


def credit(rows=300, seed=3):
    """Three columns of which two depend on each other."""
    rng = np.random.default_rng(seed)
    account = rng.choice(4, rows, p=[0.27, 0.27, 0.07, 0.39])
    savings = np.minimum(rng.choice(5, rows, p=[0.6, 0.1, 0.06, 0.05, 0.19]) + (account == 2), 4)
    employed = rng.choice(5, rows, p=[0.06, 0.17, 0.34, 0.18, 0.25])
    return Table.from_columns(
        {"account": account, "savings": savings, "employed": employed},
        [
            Attribute(name="account", kind="ordinal", domain=tuple(range(4))),
            Attribute(name="savings", kind="ordinal", domain=tuple(range(5))),
            Attribute(name="employed", kind="nominal", domain=tuple(range(5))),
        ],
    )


def german(names):
    """Columns of German Credit, in the order of their codes; the test is skipped where the file is not."""
    shared = os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[5] / "shared" / "data")
    path = Path(shared) / "german_credit" / "german.data"
    if not path.exists():
        pytest.skip("the shared data are not here; name their folder in GRAPHPRIV_SHARED_DATA")
    rows = [line.split() for line in path.read_text().splitlines()]
    columns = {name: [row[place] for row in rows] for name, place in names.items()}
    attributes = [
        Attribute(name=name, kind="ordinal", domain=tuple(sorted(set(values)))) for name, values in columns.items()
    ]
    return Table.from_columns(columns, attributes)


def added(codes, matrix):
    """What knowing *matrix* adds to taking values as they stand or guessing, value by value; not the engine's way."""
    counts = [int((codes == value).sum()) for value in range(len(matrix))]
    evenly = [1 if count else 0 for count in counts]
    found = []
    for weights in (counts, evenly):
        known = unchanged = 0.0
        for masked in range(len(matrix)):
            chances = [weight * matrix[value, masked] for value, weight in enumerate(weights)]
            known, unchanged = known + max(chances), unchanged + chances[masked]
        missed = sum(weights) - max(unchanged, *weights, 0)
        found.append((known - (sum(weights) - missed)) / missed if missed > 1e-9 else 0.0)
    return max(found)
