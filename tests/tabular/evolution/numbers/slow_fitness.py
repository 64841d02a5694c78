"""The measures of a protected file of numbers as `tabular.measures` has them, PRL with held weights."""

from __future__ import annotations

import numpy as np

from tabular.measures import measures
from tabular.measures.contract import Pairs, deviations, numbers_of, paired_columns
from tabular.measures.linkage.nearest import ROUNDING, Labels
from tabular.measures.linkage.one_to_one import TwoFiles
from tabular.measures.linkage.prl import STEPS, ToleranceLinkage


def slow_measures(fitness, units):
    """PIL, ID, DBRL and PRL of a file in percent."""
    original, names, masked = fitness.units.original, fitness.units.attributes, fitness.table_of(units)
    found = [measures[name].method().measure(original, masked, names) for name in ("pil", "id", "dbrl-numbers")]
    return [*(each.percent for each in found), slow_linkage(fitness, original, masked, names)]


def slow_linkage(fitness, original, masked, names):
    """The share of records that the best one-to-one linkage by the held weights links rightly."""
    columns = paired_columns(original, masked, names)
    before, _ = numbers_of(original, masked, names)
    reaches = ToleranceLinkage().tolerance * deviations(before) * (1 + ROUNDING)
    lows, highs = [], []
    for name, reach in zip(names, reaches, strict=True):
        domain = np.array(masked.attribute(name).domain, dtype=np.float64)
        lows.append(np.searchsorted(domain, domain - reach))
        highs.append(np.searchsorted(domain, domain + reach, side="right"))
    labels = Labels.of(columns)
    labels = labels._replace(
        members=np.zeros(0, dtype=np.int32),
        starts=np.zeros_like(labels.starts),
        lows=np.concatenate(lows),
        highs=np.concatenate(highs),
    )
    found = TwoFiles(Pairs.of(columns), labels, STEPS).assigned(fitness.gains)
    return 100 * found.right / len(masked)
