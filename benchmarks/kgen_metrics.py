"""How far the solutions of a search are from the best ones, as KGEN measures it (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tabular.errors import InvalidInput
from tabular.lattice.space import Lattice, Node


def level_of_generalisation(nodes: Sequence[Node], lattice: Lattice) -> float:
    """LOG of several solutions: the least precision among them."""
    if not nodes:
        raise InvalidInput("There are no solutions to take the level of generalisation of.")
    return min(precision(node, lattice) for node in nodes)


def precision(node: Sequence[int], lattice: Lattice) -> float:
    """The mean share of its height that each attribute is generalised by; 0 keeps all, 1 nothing (KGEN, eq 1, 2).

    Sweeney (2002) calls 1 less this number precision. An attribute that cannot be generalised counts 0.

    >>> round(precision((1, 0, 0), Lattice(("age", "zip", "sex"), (3, 4, 1))), 2)
    0.11
    """
    if len(node) != len(lattice.heights):
        raise InvalidInput(f"A node has a level for each height: there are {len(node)} and {len(lattice.heights)}.")
    for place, (level, height) in enumerate(zip(node, lattice.heights, strict=True)):
        if not 0 <= level <= height:
            raise InvalidInput(f"Level {place + 1} of the node must be from 0 to {height}, not {level}.")
    # As a fraction, so that equal ones have the same digits, whatever the order of the attributes.
    shares = (Fraction(level, height) for level, height in zip(node, lattice.heights, strict=True) if height)
    return float(sum(shares, start=Fraction(0)) / len(node))


def level_of_suppression(suppressed: int, rows: int) -> float:
    """LOS of a solution: the share of the rows that are suppressed."""
    if not 0 <= suppressed <= rows or not rows:
        raise InvalidInput(f"Of {rows} rows {suppressed} cannot be suppressed.")
    return suppressed / rows


def path_accuracy(solution: int, optimum: int, worst: int) -> float:
    """How near the height of a solution is to that of the best on its path, 1, from the worst, 0 (KGEN, eq 4).

    Where the worst is as good as the best, eq 4 divides by 0; a solution there is the best.

    >>> path_accuracy(4, 3, 7), path_accuracy(3, 3, 3)
    (0.75, 1.0)
    """
    if not optimum <= solution <= worst:
        raise InvalidInput(f"The height of a solution lies from {optimum} to {worst}; it is {solution}.")
    return 1.0 if worst == optimum else 1 - (solution - optimum) / (worst - optimum)


def accuracy(
    solutions: Sequence[int], optima: Sequence[int], worsts: Sequence[int], weights: Sequence[float] | None = None
) -> float:
    """The mean accuracy over the paths, all of the same weight unless *weights* are given (KGEN, eq 5)."""
    if not len(solutions) == len(optima) == len(worsts) or not solutions:
        raise InvalidInput("Accuracy needs a solution, a best and a worst height for each path, and one path at least.")
    given = [1.0] * len(solutions) if weights is None else list(weights)
    if len(given) != len(solutions) or min(given) < 0 or not sum(given):
        raise InvalidInput("Accuracy needs a weight for each path, none below 0 and one above it.")
    found = [path_accuracy(*heights) for heights in zip(solutions, optima, worsts, strict=True)]
    return sum(weight * each for weight, each in zip(given, found, strict=True)) / sum(given)
