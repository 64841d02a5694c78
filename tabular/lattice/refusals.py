"""What a search refuses, in one wording, with the searches that can do it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from tabular.errors import InvalidParameter, named
from tabular.lattice.searching import Question, searches

#: Searches that give the right answer where nodes above one that satisfies the limits need not satisfy them.
_FOR_ANY_LIMITS = ("exhaustive", "optimal")

#: Searches that do not need room for every node.
_FOR_ANY_SIZE = ("kgen", "optimal", "pbg-ea", "random")


def refuse_objectives(name: str, question: Question) -> None:
    """Refuse to seek a front where a search seeks the best node by one metric."""
    if question.objectives:
        raise no_front(name)


def require_objectives(name: str, question: Question) -> None:
    """Refuse to seek one node where a search seeks a front."""
    if not question.objectives:
        raise front_only(name)


def no_front(name: str) -> InvalidParameter:
    """Say that a search seeks the best node by one metric, and which searches seek a front."""
    able = [each for each in searches if searches[each].method.seeks_front]
    return InvalidParameter(
        f"{name} seeks the best node by one metric, not a front of {named('objectives')}. Use {_one_of(able)} for that."
    )


def front_only(name: str) -> InvalidParameter:
    """Say that a search seeks a front, and which searches seek one node."""
    able = [each for each in searches if searches[each].method.seeks_one]
    return InvalidParameter(
        f"{name} seeks a front; name its {named('objectives')}, as in k,glm. For the best node by one metric use "
        f"{_one_of(able)}."
    )


def refuse_unmonotone(name: str, question: Question) -> None:
    """Refuse limits that a node can satisfy while nodes above it do not."""
    if not question.limits.are_monotone:
        raise InvalidParameter(
            f"{name} takes {named('t')} only where no rows may be suppressed: else a node can satisfy it while a "
            f"coarser one does not. Use {_one_of(_FOR_ANY_LIMITS)}, or a {named('suppression')} of 0."
        )


def refuse_larger(name: str, nodes: int, most: int) -> None:
    """Refuse to go through more than *most* of so many *nodes* before the first is looked at."""
    if nodes > most:
        raise InvalidParameter(
            f"The lattice has {count_in_words(nodes)} nodes, and {name} goes through {count_in_words(most)} at most. "
            f"Use {_one_of(_FOR_ANY_SIZE)}, or raise {named('most')} if there is the time and the memory."
        )


def count_in_words(count: int) -> str:
    """A number of nodes as people read it; of a long one only how long it is.

    >>> count_in_words(12960), count_in_words(10**18), count_in_words(2 * 10**12 + 1)
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
