"""A small table of two ordered columns that the tests of this folder share."""

from __future__ import annotations

import numpy as np

from tabular.attributes import Attribute
from tabular.table import Table

COLUMNS = ("job", "town")


def people(rows=120, seed=3):
    rng = np.random.default_rng(seed)
    domains = {"job": ("a", "b", "c", "d"), "town": ("x", "y", "z")}
    columns = {name: rng.choice(domain, rows, p=np.arange(1, len(domain) + 1) / sum(range(len(domain) + 1)))
               for name, domain in domains.items()}  # fmt: skip
    return Table.from_columns(
        {name: cells.tolist() for name, cells in columns.items()},
        [Attribute(name=name, kind="ordinal", domain=domain) for name, domain in domains.items()],
    )


TABLE = people()
