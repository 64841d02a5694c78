"""Distances and common places of two places, worked out one pair at a time."""

import numpy as np

from graphpriv.places import TOP, UNKNOWN, PlaceTree


def distance(tree: PlaceTree, one: int, other: int) -> float:
    """Eq 6.1: level difference over the highest level on one branch, either direction; else 1."""
    return int(tree.steps(np.array([one]), np.array([other]))[0]) / TOP


def common(tree: PlaceTree, one: int, other: int) -> int:
    """The closest place that lies on the branches of both; unknown only where both are (decision of the spec)."""
    if one == other:
        return one
    if UNKNOWN in (one, other):
        return 0
    while one != other:
        # The later of two nodes is never above the earlier one.
        if one > other:
            one = int(tree.parents[one])
        else:
            other = int(tree.parents[other])
    return one
