"""What somebody writes who checks types: it is never run, and mypy reads it in `test_python_guide.py`."""

from __future__ import annotations

from typing import assert_type

import numpy as np

from graphpriv import Audit, Release, SocialGraph, audit, open_store, protect
from tabular import Hierarchy, Masked, Masking, Table, lattice, measures
from tabular.criteria import Check, check
from tabular.hierarchies import build


def mask(table: Table, rng: np.random.Generator) -> measures.Summary | None:
    masked = Masking(method="rank-swapping", columns=("age",)).run(table, rng=rng)
    assert_type(masked, Masked)
    assert_type(masked.table.rows(np.arange(3)), Table)
    return masked.measures


def search(table: Table, rng: np.random.Generator) -> lattice.SearchOutcome:
    hierarchy = build(table.attribute("age"), "range")
    assert_type(hierarchy, Hierarchy)
    request = lattice.SearchRequest(quasi_identifiers=("age",), limits=lattice.Limits(k=5))
    assert_type(check(table, ["age"]), Check)
    return lattice.find_generalisation(request, table, {"age": hierarchy}, rng=rng)


def release(graph: SocialGraph, rng: np.random.Generator) -> Audit:
    made = protect(graph, 5, rng=rng)
    assert_type(made, Release)
    with open_store("file:graphs.db", create=False) as store:
        store.graphs()
    return audit(graph, made.graph, made.mapping)


def misspelled() -> None:
    # Ignored, and mypy says so if there is nothing to ignore: a wrong name must not pass as anything.
    from graphpriv import protectt  # type: ignore[attr-defined] # noqa: F401
    from tabular import Tabel  # type: ignore[attr-defined] # noqa: F401
    from tabular.lattice import Limit  # type: ignore[attr-defined] # noqa: F401
