"""The least that nodes can cost, told from finer or coarser ones that were looked at, or from their levels alone.

Costs are as in `Readings.costs`: lower is better, and what is wanted large is negative. Of the nodes below and above
only those that satisfy the limits are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.evaluator.readings import Readings
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import ADDITIVE
from tabular.lattice.space import Node, Nodes

if TYPE_CHECKING:
    from tabular.lattice.evaluator.evaluator import Evaluator

Floats = NDArray[np.float64]


def least_by_levels(evaluator: Evaluator, objectives: Sequence[str], nodes: Sequence[Node] | Nodes) -> Floats:
    """What the levels of *nodes* cost when nothing is suppressed; minus infinity where they say nothing."""
    found = np.full((len(nodes), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name in ADDITIVE:
            found[:, place] = evaluator.loss_without_suppression(name, nodes)
    return found


def least_below(
    readings: Readings, objectives: Sequence[str], limits: Limits, rows: int, *, proven: bool = True
) -> Floats:
    """For each of *readings* what the nodes below it cost at least.

    A class of a coarser node is parted on a finer one. So neither the sum of squares of all classes grows, nor that of
    the sensitive values in them; of those that are suppressed, whose squares the readings lack, no class has more rows
    than are suppressed, nor, where k alone decides, than the smallest class that is kept.

    The k of property-based generalisation does not grow: on the finer node no fewer rows lie in classes up to any
    size. With k or l given, the rows of a small class of the coarser node may all be suppressed on the finer one,
    whose smallest class is then another. More rows than may go cannot be: where all classes kept on the coarser node
    are that large, neither k nor l grows. Unless it is to be *proven* they are taken not to grow anywhere, which is
    so but for few nodes.
    """
    gone = readings["suppressed"].astype(np.float64)
    kept_k = readings["k"].astype(np.float64)
    largest = gone if limits.l is not None else np.where(kept_k > 0, np.minimum(gone, kept_k - 1), gone)
    sure = kept_k > limits.suppressible(rows)
    found = np.full((len(readings), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name in ("s_k", "s_l"):
            found[:, place] = -(readings[name] + gone * largest)
        elif name == "k":
            holds = sure | (not proven or not limits.are_fixed)
            found[:, place] = np.where(holds, -kept_k, -np.inf)
        elif name == "l":
            found[:, place] = np.where(sure | (not proven), -readings["l"].astype(np.float64), -np.inf)
    return found


def least_above(readings: Readings, objectives: Sequence[str]) -> Floats:
    """For each of *readings* what the nodes above it cost at least.

    Where classes merge, no fewer rows differ from the commonest label; and a suppressed row counts at least as much as
    it would in its class.
    """
    found = np.full((len(readings), len(objectives)), -np.inf)
    for place, name in enumerate(objectives):
        if name == "cm":
            found[:, place] = readings["cm"] - readings["suppressed"].astype(np.float64)
    return found
