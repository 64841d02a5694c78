"""PRL: masked records that one-to-one linkage by agreement assigns to their own originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.measures.contract import (
    Column,
    Measure,
    Numbers,
    Pairs,
    Reading,
    deviations,
    measures,
    numbers_of,
    paired_columns,
)
from tabular.measures.linkage.agreement import ATTRIBUTES, by_em, gains_of, pattern_counts
from tabular.measures.linkage.estimation import assigned_by, best_estimate, sampled
from tabular.measures.linkage.nearest import ROUNDING, Labels
from tabular.measures.linkage.one_to_one import Assignment, TwoFiles
from tabular.registry import option
from tabular.table import Table

#: Comparisons of two combinations at most: a few minutes.
STEPS = 3 * 10**10

#: Of more pairs of combinations than these only the bound is given if it is so narrow a share of the records.
MANY, NARROW = 2 * 10**9, 0.02


@measures.add(
    "prl",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002); Fellegi and Sunter (1969)",
    limits="attributes count as independent, and the order of values is ignored; weights are rounded to a millionth; "
    "of more than 2,000 records so many are estimated from; beyond its steps, and of very many records where "
    "that is at most 2 %, it gives an upper limit and a bound on the error",
)
@dataclass(frozen=True, kw_only=True)
class ProbabilisticLinkage(Measure):
    """Share of masked records that probabilistic one-to-one linkage assigns to their own originals.

    Records with the same values cannot be told apart: of a combination's records every one is as likely as the
    others to be assigned. The assignment of greatest weight is a transport between the combinations of both files;
    of several the first in code order. How often an attribute agrees in records that belong together is estimated in
    several ways: from the assignment itself, by EM, or taken to be nearly always. The one that links most rightly
    counts, and agreement never counts against a pair.
    """

    steps: int = option(STEPS, low=1, help="comparisons of two combinations at most; beyond them only a bound is given")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records assigned rightly, and their share."""
        columns = paired_columns(original, masked, attributes)
        return linkage(columns, Labels.of(columns), self.steps)


@measures.add(
    "prl-em",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002); Fellegi and Sunter (1969)",
    limits="for comparison with the tables of the thesis: its estimate drifts, and the risk comes out too low; at most "
    "24 attributes; otherwise as `prl`",
)
@dataclass(frozen=True, kw_only=True)
class PlainProbabilisticLinkage(Measure):
    """Share of masked records that one-to-one linkage assigns correctly, with the plain EM of the thesis."""

    most_attributes: ClassVar[int | None] = ATTRIBUTES

    steps: int = option(STEPS, low=1, help="comparisons of two combinations at most; beyond them only a bound is given")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records assigned rightly, and their share."""
        columns = paired_columns(original, masked, attributes)
        if len(columns) > ATTRIBUTES:
            raise InvalidInput(f"EM compares at most {ATTRIBUTES} attributes, not {len(columns)}.")
        pairs, labels = Pairs.of(columns), Labels.of(columns)
        if _is_bound_enough(pairs) or len(pairs.original) * len(pairs.masked) > self.steps:
            return _reading(pairs, None)
        gains = gains_of(*by_em(pattern_counts(pairs, labels), len(original)))
        return _reading(pairs, TwoFiles(pairs, labels, self.steps).assigned(gains))


@measures.add(
    "prl-numbers",
    cites="Domingo-Ferrer and Torra (2001); Fellegi and Sunter (1969)",
    limits="numbers only, otherwise as `prl`",
)
@dataclass(frozen=True, kw_only=True)
class ToleranceLinkage(Measure):
    """Share of masked records that one-to-one linkage assigns correctly, where numbers agree within a tolerance."""

    tolerance: float = option(0.1, low=0, help="how far numbers that agree may differ, in standard deviations")
    steps: int = option(STEPS, low=1, help="comparisons of two combinations at most; beyond them only a bound is given")

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records assigned rightly, and their share."""
        columns = paired_columns(original, masked, attributes)
        before, _ = numbers_of(original, masked, attributes)
        reaches = self.tolerance * deviations(before) * (1 + ROUNDING)
        lows, highs = [], []
        for name, reach in zip(attributes, reaches, strict=True):
            domain = np.array(masked.attribute(name).domain, dtype=np.float64)
            lows.append(np.searchsorted(domain, domain - reach))
            highs.append(np.searchsorted(domain, domain + reach, side="right"))
        labels = Labels.of(columns)
        # Labels without members agree with the values in their window.
        labels = labels._replace(
            members=np.zeros(0, dtype=np.int32),
            starts=np.zeros_like(labels.starts),
            lows=np.concatenate(lows),
            highs=np.concatenate(highs),
        )
        return linkage(columns, labels, self.steps)


def linkage(columns: Sequence[Column], labels: Labels, steps: int) -> Reading:
    """The reading of one-to-one linkage by the best estimate, with a bound if the exact value takes too long."""
    pairs, few = Pairs.of(columns), sampled(columns)
    if _is_bound_enough(pairs):
        return _reading(pairs, None)
    found = best_estimate(TwoFiles(Pairs.of(few), labels, steps))
    if found is None or few is columns:
        return _reading(pairs, found and found[1])
    return _reading(pairs, assigned_by(TwoFiles(pairs, labels, steps), found[0]))


def _is_bound_enough(pairs: Pairs) -> bool:
    """Whether the pairs are so many, and can be linked by so few, that the exact figure is not worth its time."""
    many = len(pairs.original) * len(pairs.masked) > MANY
    return many and most_links(pairs) <= NARROW * float(pairs.records.sum())


def _reading(pairs: Pairs, assignment: Assignment | None) -> Reading:
    records = int(pairs.records.sum())
    if assignment is not None:
        return Reading.share(assignment.right, of=records)
    most = most_links(pairs)
    return Reading(raw=most, percent=100 * most / records, bound=100 * most / records)


def most_links(pairs: Pairs) -> float:
    """An upper limit of all assignments: the flows to the true pairs of each combination are the best it can hold.

    A flow f between a originals and b masked records of which r are true pairs is expected to link f x r / (a x b) of
    them; f is at most the smaller of a and b, and all flows of a combination together are its records.
    """
    supply, demand = pairs.original.counts, pairs.masked.counts
    worth = pairs.records / (supply[pairs.origins] * demand[pairs.results])
    room = np.minimum(supply[pairs.origins], demand[pairs.results])
    return min(
        _most_within(pairs.origins, supply, room, worth),
        _most_within(pairs.results, demand, room, worth),
    )


def _most_within(
    owners: NDArray[np.int64], capacities: NDArray[np.int64], room: NDArray[np.int64], worth: Numbers
) -> float:
    """The most that flows are worth, each up to its *room*, those of one owner together up to its capacity."""
    order = np.lexsort((-worth, owners))
    owner, space = owners[order], room[order]
    ends = np.cumsum(space)
    before = ends - space
    taken = before - before[np.searchsorted(owner, owner)]
    return float(np.sum(np.clip(capacities[owner] - taken, 0, space) * worth[order]))
