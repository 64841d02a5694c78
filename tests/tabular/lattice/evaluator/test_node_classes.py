"""The classes of nodes that are kept: which is the nearest, and what is forgotten first."""

from __future__ import annotations

import numpy as np
import pytest

from tabular.lattice.evaluator import node_classes
from tabular.lattice.evaluator.node_classes import ClassCache
from tabular.lattice.evaluator.rollup import KeyedClasses


def classes_of(number):
    """So many classes."""
    nothing = np.zeros((0, 3), dtype=np.int32)
    many = np.zeros(number, dtype=np.int64)
    return KeyedClasses(many[:, None], many, many.astype(np.int32), many[:0], nothing, nothing)


def node(*levels):
    return np.array(levels, dtype=np.int16)


@pytest.fixture
def cache():
    """A cache over a thousand distinct rows of two attributes."""
    return ClassCache(classes_of(1000), 2, [0])


def test_the_nearest_node_is_a_finer_one_of_the_fewest_classes(cache):
    for levels, number in (((1, 0), 500), ((0, 1), 300), ((2, 0), 100)):
        cache.keep(node(*levels), classes_of(number))
    for levels, nearest in (((1, 1), [0, 1]), ((1, 0), [1, 0]), ((2, 5), [2, 0]), ((0, 0), [0, 0])):
        fine, classes = cache.nearest(node(*levels))
        assert fine.tolist() == nearest
        assert len(classes.sizes) == {(0, 1): 300, (1, 0): 500, (2, 0): 100, (0, 0): 1000}[tuple(nearest)]


def test_a_node_of_nearly_as_many_classes_as_rows_is_not_kept(cache):
    cache.keep(node(1, 1), classes_of(900))
    assert cache.nearest(node(1, 1))[0].tolist() == [0, 0]


def test_the_oldest_is_forgotten_first(monkeypatch):
    monkeypatch.setattr(node_classes, "_BYTES", 0)
    # Room for four times the distinct rows: six nodes of two thirds of them.
    cache = ClassCache(classes_of(1000), 1, [0])
    for level in range(1, 8):
        cache.keep(node(level), classes_of(660))
    assert cache.nearest(node(1))[0].tolist() == [0]
    assert [cache.nearest(node(level))[0].tolist() for level in (2, 7)] == [[2], [2]]


def test_a_node_half_the_way_has_the_levels_of_the_first_attributes(monkeypatch):
    monkeypatch.setattr(node_classes, "_FAR", 100)
    far = classes_of(1000)
    cache = ClassCache(far, 2, [0])
    assert cache.halfway(node(0, 0), far, node(2, 3)).tolist() == [2, 0]
    # There is none where the way is short, or ends at once.
    assert cache.halfway(node(0, 0), classes_of(500), node(2, 3)) is None
    assert cache.halfway(node(0, 0), far, node(2, 0)) is None
    assert cache.halfway(node(0, 0), far, node(0, 3)) is None
