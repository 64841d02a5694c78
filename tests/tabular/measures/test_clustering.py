import numpy as np
import pytest
from hypothesis import given, settings

from tabular.attributes import Attribute
from tabular.grouping.medians import LabelColumn, best_partition
from tabular.grouping.partitions import agreement
from tabular.measures import measures
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair

SIZES = Attribute(name="size", kind="ordinal", domain=tuple(range(10)))


def loss(original, masked, **parameters):
    return measures["clustering"].method(**parameters).measure(original, masked, original.names)


def test_a_case_by_hand():
    original = Table.from_columns({"size": [0, 1, 8, 9]}, [SIZES])
    assert loss(original, original.masked({"size": [1, 0, 9, 9]}), clusters=2).raw == 0
    # {0,1} {2,3} against {0,1,2} {3}: of 6 pairs one is together in both, one and two are in either alone.
    reading = loss(original, original.masked({"size": [0, 1, 2, 9]}), clusters=2)
    both = agreement(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    assert (both.rand, both.jaccard) == (0.5, 0.25)
    assert reading.raw == pytest.approx(both.loss)
    assert reading.percent == pytest.approx(100 * both.loss)


def test_labels_that_stand_for_sets_are_as_far_as_their_members():
    original = Table.from_columns({"size": [0, 1, 8, 9]}, [SIZES])
    assert loss(original, original.masked({"size": ["[0,1]", "[0,1]", "[8,9]", "[8,9]"]}), clusters=2).raw == 0
    # {0,8} is nearer to the cluster at 0 than to that at 8 or 9, or as near: ties go to the first.
    assert loss(original, original.masked({"size": [0, 1, "{0|8}", 9]}), clusters=2).raw > 0


@settings(max_examples=30)
@given(pairs_of_tables(max_rows=12))
def test_a_file_against_itself_loses_nothing(pair):
    original, masked = pair
    assert loss(original, original.masked(original.to_columns())).raw == 0
    assert 0 <= loss(original, masked).raw <= 1


def test_the_partition_of_the_original_is_the_best_of_all_starts():
    original, _ = random_pair(3, 60, (6, 4))
    columns = [
        LabelColumn(original.columns[each.name], len(each.domain), each.is_ordered) for each in original.attributes
    ]
    best = best_partition(columns, 5, range(60))
    alone = [best_partition(columns, 5, [first]).distance for first in range(60)]
    assert best.distance == min(alone)
