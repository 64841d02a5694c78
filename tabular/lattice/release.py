"""The release of one node: its generalised and suppressed table, and what each attribute lost for it.

Its labels are those of the hierarchies, whichever values occur under them. A label that names the values which occur,
such as `[60,97]`, would tell of the oldest person, and, from release to release, of who has come and gone. The
hierarchy's own label, `60+`, says what the hierarchy says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY, NOMINAL, Attribute, Value, text_of, write_label
from tabular.errors import InvalidHierarchy, InvalidInput
from tabular.hierarchies.hierarchy import Hierarchy, generalised
from tabular.intervals import Span
from tabular.lattice.rechecking import Recounted, WrittenRelease, recheck
from tabular.lattice.space import Flags, Limits
from tabular.registry import check
from tabular.release import MOST_VALUES
from tabular.table import Table

#: What is written in a cell: what the hierarchy calls it, or the values of the table that lie under it, as a set.
BY_HIERARCHY, BY_SETS = LABELS = ("hierarchy", "sets")


@dataclass(frozen=True, kw_only=True)
class LabelUse:
    """One label as it stands in the release: what the hierarchy calls it, its values in the hierarchy, and its rows."""

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
        return asdict(self) | {"labels": [asdict(each) for each in self._listed]}

    @property
    def _listed(self) -> tuple[LabelUse, ...]:
        return self.labels if self.level and len(self.labels) <= MOST_VALUES else ()

    def public(self, hierarchy: Hierarchy, rows: int) -> dict[str, Any]:
        """What may go with the release of so many *rows*: nothing but what it and the *hierarchy*, whole, say.

        How many values the original has under a label, and how often each, can be reckoned from other figures.
        """
        others = max(len(hierarchy.domain) - 1, 1)
        lost = sum((each.values - 1) * each.rows for each in self.labels) / others + self.cells_suppressed
        return {
            "name": self.name,
            "level": self.level,
            "height": self.height,
            "values_after": self.values_after,
            "cells_suppressed": self.cells_suppressed,
            "general_loss": lost / max(rows, 1),
            "precision": self.precision,
            "labels": [{"label": each.label, "rows": each.rows} for each in self._listed],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedNode:
    """The table of a node, in the order of its original, with what was counted in it and what it lost."""

    table: Table
    node: Mapping[str, int]
    suppressed: Flags
    recounted: Recounted
    losses: tuple[AttributeLoss, ...]
    labels: str = BY_HIERARCHY

    def document(self) -> dict[str, Any]:
        """All but the table, as plain values; some are of the original and for its owner alone."""
        return {
            "levels": dict(self.node),
            "labels": self.labels,
            **asdict(self.recounted),
            "attributes": [loss.document() for loss in self.losses],
        }

    def public(self, hierarchies: Mapping[str, Hierarchy]) -> list[dict[str, Any]]:
        """What each attribute lost, as far as it may go with the release; by the whole *hierarchies*."""
        return [loss.public(hierarchies[loss.name], len(self.table)) for loss in self.losses]


def released(
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    node: Sequence[int],
    limits: Limits,
    suppressed: Flags,
    found: Mapping[str, Any],
    *,
    sensitive: str | None = None,
    labels: str = BY_HIERARCHY,
) -> ReleasedNode:
    """The release of *node*, where *suppressed* says row by row which go; re-checked against what was *found* of it.

    *hierarchies* may have more values than the table. A release that is not what the search says, or that breaks the
    *limits*, is a bug: nothing is given back.
    """
    check("A release", "labels", labels, {"choices": LABELS})
    refuse_starred_values(table, hierarchies)
    fitting = {name: each.over(table.attribute(name).domain) for name, each in hierarchies.items()}
    levels = dict(zip(fitting, map(int, node), strict=True))
    written = (generalised if labels == BY_SETS else labelled)(table, fitting, levels, suppressed=suppressed)
    release = WrittenRelease(table, written, fitting, levels, suppressed, as_sets=labels == BY_SETS)
    recounted = recheck(release, limits, found, sensitive=sensitive)
    losses = tuple(
        _loss(table, hierarchies[name], fitting[name], level, suppressed, labels) for name, level in levels.items()
    )
    return ReleasedNode(
        table=written, node=levels, suppressed=suppressed, recounted=recounted, losses=losses, labels=labels
    )


def _loss(
    table: Table, whole: Hierarchy, hierarchy: Hierarchy, level: int, suppressed: Flags, labels: str
) -> AttributeLoss:
    name, rows = hierarchy.name, max(len(table), 1)
    at, others, gone = hierarchy.levels[level], max(len(hierarchy.domain) - 1, 1), int(suppressed.sum())
    before = np.bincount(table.columns[name], minlength=len(at.groups))
    kept = np.bincount(table.columns[name][~suppressed], minlength=len(at.groups))
    used = _labels(table, whole, hierarchy, level, kept, labels)
    return AttributeLoss(
        name=name,
        level=level,
        height=hierarchy.height,
        values_before=int(np.count_nonzero(before)),
        values_after=len(used),
        cells_suppressed=gone,
        general_loss=(int(np.dot(np.bincount(at.groups)[at.groups] - 1, kept)) / others + gone) / rows,
        precision=level / hierarchy.height if hierarchy.height else 0.0,
        non_uniform_entropy=_entropy(at.groups, before, kept) / rows,
        labels=used,
    )


def _entropy(groups: NDArray[np.integer], before: NDArray[np.integer], kept: NDArray[np.integer]) -> float:
    """Bits that tell each original value from the others of its label, by the rows that have each *before*; summed.

    A suppressed row stands for all values (Gionis and Tassa 2009).
    """
    together, everything = np.bincount(groups, weights=before)[groups], int(before.sum())
    of_values = list(zip(before.tolist(), kept.tolist(), together.tolist(), strict=True))
    bits = [-stay * log2(rows / label) for rows, stay, label in of_values if stay]
    return abs(fsum(bits + [(stay - rows) * log2(rows / everything) for rows, stay, _ in of_values if rows > stay]))


def _labels(
    table: Table, whole: Hierarchy, hierarchy: Hierarchy, level: int, kept: NDArray[np.integer], labels: str
) -> tuple[LabelUse, ...]:
    """The labels of the rows kept, so many of each value, in the order of their first values."""
    at, attribute = hierarchy.levels[level], table.attribute(hierarchy.name)
    rows = np.bincount(at.groups, weights=kept, minlength=len(at.labels))
    leaves = dict(zip(whole.levels[level].labels, whole.levels[level].leaves.tolist(), strict=True))
    found = []
    for group, members in enumerate(at.published(attribute) if level else at.sets):
        if rows[group]:
            name = at.labels[group]
            label = name if labels == BY_HIERARCHY else _set_label(attribute, members)
            values = leaves[name] if level else 1
            found.append(LabelUse(label=label, name=name, values=values, rows=int(rows[group])))
    return tuple(found)


def _set_label(attribute: Attribute, members: Sequence[int]) -> str:
    is_label = len(members) > 1 or isinstance(members, Span)
    return write_label(attribute, members) if is_label else text_of(attribute.domain[members[0]])


def labelled(
    table: Table, hierarchies: Mapping[str, Hierarchy], node: Mapping[str, int], *, suppressed: Flags
) -> Table:
    """*table* with each column of *node* as the labels of its level, and `*` in all of them where *suppressed*.

    Its domains are the labels that stand in it. A column at level 0 of which nothing is suppressed stays as it is.
    """
    columns, attributes = dict(table.columns), {each.name: each for each in table.attributes}
    for name, height in node.items():
        if not height and not suppressed.any():
            continue
        level, attribute = hierarchies[name].levels[height], table.attribute(name)
        words: tuple[Value, ...] = level.labels if height else attribute.domain
        if height and suppressed.any() and ANY in words and len(words) > 1:
            raise InvalidHierarchy(
                f"Hierarchy of {name}, level {height}: one of its labels is {ANY}, and others are not; in a release "
                f"with suppressed rows, which have {ANY}, it would be taken for them. Call the label something else."
            )
        # The place of `*` in a row that goes; at the top it is the label of all, as a rule.
        star = words.index(ANY) if ANY in words else len(words)
        codes = np.where(suppressed, star, level.groups[table.columns[name]])
        used, places = np.unique(codes, return_inverse=True)
        domain = (*words, ANY)
        columns[name] = places.astype(np.int32)
        attributes[name] = Attribute(
            name=name, role=attribute.role, kind=NOMINAL, domain=tuple(domain[code] for code in used.tolist())
        )
    return Table(tuple(attributes.values()), columns)


def refuse_starred_values(table: Table, names: Iterable[str]) -> None:
    """Refuse a `*` among the values of a quasi-identifier: nobody could tell it from one that was suppressed."""
    for name in names:
        code = table.attribute(name).codes.get(ANY)
        rows = [] if code is None else np.flatnonzero(table.columns[name] == code).tolist()
        if rows:
            raise InvalidInput(
                f"Column {name!r}, row {rows[0] + 1}: the value is {ANY}, which means any value, as in a table "
                "that was generalised or suppressed before; search in the original."
            )
