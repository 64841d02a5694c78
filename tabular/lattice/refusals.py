"""What a search does not take, said in one wording, with the searches that take it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from tabular.errors import InvalidParameter
from tabular.lattice.searching import Question, searches

#: Searches that end with the right answer where nodes above one that satisfies need not do so.
_FOR_ANY_LIMITS = ("exhaustive", "optimal")

#: Searches that do not need room for every node.
_FOR_ANY_SIZE = ("kgen", "optimal", "pbg-ea", "random")


def refuse_objectives(name: str, question: Question) -> None:
    """Refuse a front where a search seeks nodes by one metric."""
    if question.objectives:
        raise no_front(name)


def require_objectives(name: str, question: Question) -> None:
    """Refuse to seek one node where a search seeks a front."""
    if not question.objectives:
        raise front_only(name)


def no_front(name: str) -> InvalidParameter:
    """Say that a search seeks nodes by one metric, and which seek a front."""
    able = [each for each in searches if searches[each].method.seeks_front]
    return InvalidParameter(
        f"{name} seeks the best node by one metric, not a front of objectives. Use {_one_of(able)} for that."
    )


def front_only(name: str) -> InvalidParameter:
    """Say that a search seeks a front, and which seek one node."""
    able = [each for each in searches if searches[each].method.seeks_one]
    return InvalidParameter(
        f"{name} seeks a front; name its objectives, as in k,glm. For the best node by one metric use {_one_of(able)}."
    )


def refuse_unmonotone(name: str, question: Question) -> None:
    """Refuse limits that a node can satisfy while nodes above it do not."""
    if not question.limits.are_monotone:
        raise InvalidParameter(
            f"{name} takes t only where no rows may be suppressed: else a node can satisfy it while a coarser one does "
            f"not. Use {_one_of(_FOR_ANY_LIMITS)}, or a suppression of 0."
        )


def refuse_larger(name: str, nodes: int, most: int) -> None:
    """Refuse to go through so many *nodes* before the first is looked at."""
    if nodes > most:
        raise InvalidParameter(
            f"The lattice has {written(nodes)} nodes, and {name} goes through {written(most)} at most. "
            f"Use {_one_of(_FOR_ANY_SIZE)}, or raise `most` if there is the time and the memory."
        )


def written(count: int) -> str:
    """A number of nodes as it is read; of a long one only how long it is.

    >>> written(12960), written(10**18), written(2 * 10**12 + 1)
    ('12,960', '10^18', 'about 2.0 x 10^12')
    """
    if count < 10**12:
        return f"{count:,}"
    # Rounded, for the logarithm of a power of ten can fall a little short of a whole number.
    logarithm = round(log10(count), 9)
    exponent = floor(logarithm)
    if count == 10**exponent:
        return f"10^{exponent}"
    return f"about {10 ** (logarithm - exponent):.1f} x 10^{exponent}"


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
