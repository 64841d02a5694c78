"""Metrics of a node that depend on which rows of a class go, by its table."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.criteria.anonymity import Anonymity
from tabular.hierarchy import Hierarchy
from tabular.lattice.generalisation_loss import classification_loss
from tabular.lattice.space import Node
from tabular.table import Table


def metrics_of_rows(
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    node: Node,
    suppressed: NDArray[np.bool_],
    *,
    sensitive: str | None,
    class_label: str | None,
    recursive: int,
) -> dict[str, Any]:
    """What there is to say of the *sensitive* values and the class labels of the rows that are not *suppressed*.

    The sensitive attribute may be generalised, too; its values count as they were.
    """
    masked, names = table, list(hierarchies)
    for hierarchy, level in zip(hierarchies.values(), node, strict=True):
        masked = hierarchy.generalised(masked, level)
    values: dict[str, Any] = {}
    if sensitive is not None and suppressed.all():
        values.update(l=0, l_entropy=0.0, l_recursive=inf, t=0.0, s_l=0)
    elif sensitive is not None:
        classes = Anonymity.of(masked, names, suppressed=suppressed)
        plain = masked.with_labels(sensitive, table.columns[sensitive], ())
        found = Anonymity(plain, classes.quasi_identifiers, classes.kept, classes.classes)
        spread = found.diversity(sensitive)
        values.update(
            l=spread.distinct,
            l_entropy=spread.entropy,
            l_recursive=spread.recursive(recursive),
            t=spread.closeness,
            s_l=int(found.value_counts(sensitive).sum()),
        )
    if class_label is not None:
        values["cm"] = classification_loss(masked, names, class_label, suppressed=suppressed)
    return values
