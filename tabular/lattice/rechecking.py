"""A released node counted once more, from its cells as they are written and by other means than the evaluator's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import numpy as np

from tabular.anonymity import Anonymity, suppressed_rows
from tabular.attributes import Value
from tabular.criteria import criteria
from tabular.generalisation_loss import general_loss
from tabular.labels import text_of
from tabular.lattice.limits import Limits
from tabular.table import Table
from tabular.verification import counted_k

#: Two ways to add up the same numbers may differ by so much of them.
_EXACT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Recounted:
    """What was counted in the release: k, l and t are over the rows kept."""

    k: int
    l: int | None  # noqa: E741
    t: float | None
    suppressed: int


def recheck(
    table: Table,
    masked: Table,
    names: Sequence[str],
    limits: Limits,
    found: Mapping[str, Any],
    *,
    sensitive: str | None = None,
) -> Recounted:
    """Count k, l, t and the suppressed rows of *masked* anew; anything other than was *found* is a bug.

    *found* are the metrics of the node as the evaluator has them.
    """
    _refuse_wrong_cells(table, masked, names)
    counted = counted_k(masked, names)
    recounted = Recounted(
        k=counted.k,
        l=None if sensitive is None else _distinct(table, masked, names, sensitive),
        t=None if sensitive is None else _distance(table, masked, names, sensitive),
        suppressed=counted.suppressed,
    )
    _refuse_another(recounted, masked, names, found)
    _refuse_broken(recounted, limits, len(table))
    return recounted


def _refuse_wrong_cells(table: Table, masked: Table, names: Sequence[str]) -> None:
    """Each cell is the original value or a set that holds it, and the other columns are as they were."""
    if masked.names != table.names or len(masked) != len(table):
        raise RuntimeError("A release does not have the rows and columns of its original.")
    for name in table.names:
        before, after = table.columns[name], masked.columns[name]
        size = len(table.attribute(name).domain)
        for label, value in np.unique(np.stack([after, before]), axis=1).T.tolist():
            members = (label,) if label < size else masked.sets[name][label - size]
            if value not in members or (name not in names and members != (value,)):
                raise RuntimeError(f"A release has a label in column {name!r} that does not hold the original value.")


def _distinct(table: Table, masked: Table, names: Sequence[str], sensitive: str) -> int:
    """The fewest distinct sensitive values, as they were, among rows that are written alike and kept."""
    kept = ~suppressed_rows(masked, names)
    found: defaultdict[tuple[str, ...], set[Value]] = defaultdict(set)
    written = zip(*([text_of(value) for value in masked.values(name)] for name in names), strict=True)
    for row, value, stays in zip(written, table.values(sensitive), kept.tolist(), strict=True):
        if stays:
            found[row].add(value)
    return min(len(values) for values in found.values())


def _distance(table: Table, masked: Table, names: Sequence[str], sensitive: str) -> float:
    """t; the sensitive values are those of the original, also where the attribute is generalised."""
    plain = masked.with_labels(sensitive, table.columns[sensitive], ())
    classes = Anonymity.of(masked, names, suppressed=suppressed_rows(masked, names))
    whole = Anonymity(plain, classes.quasi_identifiers, classes.kept, classes.classes)
    return float(criteria["t"].method().value(whole, sensitive))


def _refuse_another(recounted: Recounted, masked: Table, names: Sequence[str], found: Mapping[str, Any]) -> None:
    """What was counted is what the search was told."""
    loss = general_loss(masked, names, suppressed=suppressed_rows(masked, names))
    for name, value in (*vars(recounted).items(), ("glm", loss)):
        said = found.get(name)
        if said is not None and value is not None and not isclose(said, value, rel_tol=_EXACT, abs_tol=_EXACT):
            raise RuntimeError(f"A release has another {name} than the search found.")


def _refuse_broken(recounted: Recounted, limits: Limits, rows: int) -> None:
    """What was counted keeps the limits."""
    broken = (
        (limits.k is not None and recounted.k < limits.k)
        or (limits.l is not None and (recounted.l is None or recounted.l < limits.l))
        or (limits.t is not None and (recounted.t is None or recounted.t > limits.t + _EXACT))
        or recounted.suppressed > limits.suppressible(rows)
    )
    if broken:
        raise RuntimeError("A release does not keep the limits it was made for.")
