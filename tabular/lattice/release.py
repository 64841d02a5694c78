"""The release of one node: its generalised and suppressed table, and what each attribute lost for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.dictionary import MOST_VALUES
from tabular.generalisation_loss import general_loss, non_uniform_entropy
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of, write_label
from tabular.lattice.limits import Limits
from tabular.lattice.rechecking import Recounted, recheck
from tabular.protections.full_domain import generalised
from tabular.table import Table


@dataclass(frozen=True, kw_only=True)
class LabelUse:
    """One label as it stands in the release: what the hierarchy calls it, the values under it, and its rows."""

    label: str
    name: str
    values: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class AttributeLoss:
    """What one attribute lost.

    *general_loss* and *precision* go from 0, all kept, to 1; a suppressed cell counts 1 in the first. The entropy is
    in bits a row: what it takes on average to tell the original value from the others of its label.
    """

    name: str
    level: int
    height: int
    values_before: int
    values_after: int
    cells_suppressed: int
    general_loss: float
    precision: float
    non_uniform_entropy: float
    labels: tuple[LabelUse, ...]

    def document(self) -> dict[str, Any]:
        """As plain values; the labels where there are others than values, and no more than are read."""
        listed = self.labels if self.level and len(self.labels) <= MOST_VALUES else ()
        return asdict(self) | {"labels": [asdict(each) for each in listed]}


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedNode:
    """The table of a node, in the order of its original, with what was counted in it and what it lost."""

    table: Table
    node: Mapping[str, int]
    suppressed: NDArray[np.bool_]
    recounted: Recounted
    losses: tuple[AttributeLoss, ...]

    def document(self) -> dict[str, Any]:
        """All but the table, as plain values."""
        return {
            "levels": dict(self.node),
            **asdict(self.recounted),
            "attributes": [loss.document() for loss in self.losses],
        }


def released(
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    node: Sequence[int],
    limits: Limits,
    suppressed: NDArray[np.bool_],
    found: Mapping[str, Any],
    *,
    sensitive: str | None = None,
) -> ReleasedNode:
    """The release of *node*, where *suppressed* says row by row which go; re-checked against what was *found* of it.

    A release that is not what the search says, or that breaks the *limits*, is a bug: nothing is given back.
    """
    fitting = {name: each.over(table.attribute(name).domain) for name, each in hierarchies.items()}
    levels = dict(zip(fitting, map(int, node), strict=True))
    masked = generalised(table, fitting, levels, suppressed=suppressed)
    recounted = recheck(table, masked, tuple(levels), limits, found, sensitive=sensitive)
    return ReleasedNode(
        table=masked,
        node=levels,
        suppressed=suppressed,
        recounted=recounted,
        losses=tuple(_loss(table, masked, fitting[name], level, suppressed) for name, level in levels.items()),
    )


def _loss(
    table: Table, masked: Table, hierarchy: Hierarchy, level: int, suppressed: NDArray[np.bool_]
) -> AttributeLoss:
    name, rows = hierarchy.name, max(len(table), 1)
    labels = _labels(table, hierarchy, level, suppressed)
    return AttributeLoss(
        name=name,
        level=level,
        height=hierarchy.height,
        values_before=len(np.unique(table.columns[name])),
        values_after=len(labels),
        cells_suppressed=int(suppressed.sum()),
        general_loss=general_loss(masked, [name], suppressed=suppressed) / rows,
        precision=level / hierarchy.height if hierarchy.height else 0.0,
        non_uniform_entropy=non_uniform_entropy(table, masked, [name], suppressed=suppressed) / rows,
        labels=labels,
    )


def _labels(table: Table, hierarchy: Hierarchy, level: int, suppressed: NDArray[np.bool_]) -> tuple[LabelUse, ...]:
    """The labels of the rows kept, in the order of their first values."""
    at, attribute = hierarchy.levels[level], table.attribute(hierarchy.name)
    rows = np.bincount(at.groups[table.columns[hierarchy.name]][~suppressed], minlength=len(at.labels))
    return tuple(
        LabelUse(
            label=write_label(attribute, members) if len(members) > 1 else text_of(attribute.domain[members[0]]),
            name=at.labels[group],
            values=len(members),
            rows=int(rows[group]),
        )
        for group, members in enumerate(at.sets)
        if rows[group]
    )
