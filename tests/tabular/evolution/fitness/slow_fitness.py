"""The measures of a protected file as `tabular.measures` has them, PRL with held weights; nothing is kept."""

from __future__ import annotations

from tabular.evolution.fitness.counts import MEASURES
from tabular.measures import measures, summary
from tabular.measures.contract import Pairs, paired_columns
from tabular.measures.linkage.nearest import Labels
from tabular.measures.linkage.one_to_one import TwoFiles
from tabular.measures.linkage.prl import STEPS


def slow_measures(fitness, codes):
    """The measures of a file in percent, in the order of `MEASURES`."""
    masked = fitness.table_of(codes)
    without = [name for name in measures if name not in MEASURES or name == "prl"]
    found = summary(fitness.original, masked, fitness.attributes, without=without)
    return [*(found.readings[name].percent for name in MEASURES[:-1]), slow_linkage(fitness, masked)]


def slow_linkage(fitness, masked):
    """The share of records that the best one-to-one linkage by the held weights links rightly."""
    columns = paired_columns(fitness.original, masked, fitness.attributes)
    found = TwoFiles(Pairs.of(columns), Labels.of(columns), STEPS).assigned(fitness.gains)
    return 100 * found.right / len(masked)
