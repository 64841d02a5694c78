"""PRL: masked records that one-to-one linkage by agreement assigns to their own originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabular.errors import InvalidInput
from tabular.measures.contract import Measure, Pairs, Reading, deviations, measures, numbers_of, paired_columns
from tabular.measures.linkage.agreement import ATTRIBUTES, pattern_type, pattern_weights, patterns
from tabular.measures.linkage.code_order import first_in_code_order
from tabular.measures.linkage.nearest import ROUNDING, Labels
from tabular.measures.linkage.transport import Problem, optimum
from tabular.registry import option
from tabular.table import Table

#: The memory that the patterns of all pairs of combinations may take, in bytes.
MEMORY = 10**9

#: The edges that the best transports may choose from.
EDGES = 4 * 10**7


@measures.add(
    "prl",
    cites="Mares Soler (2013), section 2.4.2; Domingo-Ferrer and Torra (2002); Fellegi and Sunter (1969)",
    limits="attributes count as independent, and the order of values is ignored; weights are rounded to a millionth; "
    "at most 24 attributes; beyond its memory and steps it gives an upper limit and a bound on the error",
)
@dataclass(frozen=True, kw_only=True)
class ProbabilisticLinkage(Measure):
    """Share of masked records that probabilistic one-to-one linkage assigns to their own originals.

    Records with the same values cannot be told apart: of a combination's records every one is as likely as the
    others to be assigned. The assignment of greatest weight is a transport between the combinations of both files;
    of several the first in code order. It is exact for 5,000 x 5,000 distinct combinations and, where attributes are
    few, for many more.
    """

    steps: int = option(
        10**11, low=1, help="comparisons of two combinations at most; beyond them only a bound is given"
    )

    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """The expected number of records assigned rightly, and their share."""
        columns = paired_columns(original, masked, attributes)
        return linkage(Pairs.of(columns), Labels.of(columns), self.steps)


@measures.add(
    "prl-numbers",
    cites="Domingo-Ferrer and Torra (2001); Fellegi and Sunter (1969)",
    limits="numbers only, otherwise as `prl`",
)
@dataclass(frozen=True, kw_only=True)
class ToleranceLinkage(Measure):
    """Share of masked records that one-to-one linkage assigns rightly, numbers agreeing within a tolerance."""

    tolerance: float = option(0.1, low=0, help="how far numbers that agree may differ, in standard deviations")
    steps: int = option(
        10**11, low=1, help="comparisons of two combinations at most; beyond them only a bound is given"
    )

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
        return linkage(Pairs.of(columns), labels, self.steps)


def linkage(pairs: Pairs, labels: Labels, steps: int) -> Reading:
    """The reading of one-to-one linkage, with a bound if the exact value takes too long."""
    records, attributes = int(pairs.records.sum()), pairs.original.codes.shape[1]
    if attributes > ATTRIBUTES:
        raise InvalidInput(f"PRL compares at most {ATTRIBUTES} attributes, not {attributes}.")
    raw = expected_links(pairs, labels, steps)
    if raw is not None:
        return Reading.share(raw, of=records)
    most = most_links(pairs)
    return Reading(raw=most, percent=100 * most / records, bound=100 * most / records)


def expected_links(pairs: Pairs, labels: Labels, steps: int) -> float | None:
    """The expected number of records that the best assignment links rightly; None if that takes too long."""
    supply, demand = pairs.original.counts, pairs.masked.counts
    attributes = pairs.original.codes.shape[1]
    if len(supply) * len(demand) * pattern_type(attributes).itemsize > MEMORY:
        return None
    found, counts = patterns(pairs, labels)
    weights = pattern_weights(counts, int(supply.sum()))
    problem = Problem(found, weights.max() - weights, supply, demand)
    solution = optimum(problem, steps)
    edges = None if solution is None else first_in_code_order(problem, *solution, EDGES)
    if edges is None:
        return None
    # The share of a flow between two combinations that falls on true pairs if records are drawn at random.
    keys = edges.rows * len(demand) + edges.columns.astype(np.int64)
    true = pairs.origins * len(demand) + pairs.results
    places = np.minimum(np.searchsorted(keys, true), len(keys) - 1)
    flows = np.where(keys[places] == true, edges.flows[places], 0)
    return float(np.sum(flows * pairs.records / (supply[pairs.origins] * demand[pairs.results])))


def most_links(pairs: Pairs) -> float:
    """An upper limit of all assignments: everything possible goes between the combinations of true pairs."""
    larger = np.maximum(pairs.original.counts[pairs.origins], pairs.masked.counts[pairs.results])
    return min(float(np.sum(pairs.records / larger)), float(pairs.records.sum()))
