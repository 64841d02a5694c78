"""What every search of a lattice is, where they are entered, and which questions they refuse."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import ClassVar

import numpy as np

from tabular.errors import InvalidParameter, named
from tabular.lattice.searching import Course, Finds, Question
from tabular.registry import Method, Registry, option

#: Searches that end with the right answer where nodes above one that satisfies need not do so.
_FOR_ANY_LIMITS = ("exhaustive", "optimal")

#: Searches that do not need room for every node.
_FOR_ANY_SIZE = ("kgen", "optimal", "pbg-ea", "random")


@dataclass(frozen=True, kw_only=True)
class Search(Method):
    """A way to go through the lattice."""

    #: Whether it seeks a front of objectives, one node by a metric, or can do both.
    seeks_front: ClassVar[bool] = False
    seeks_one: ClassVar[bool] = True
    #: Whether it counts on all nodes above one that satisfies the limits to satisfy them, too.
    needs_monotone: ClassVar[bool] = False
    #: Whether it draws at random.
    draws: ClassVar[bool] = False
    #: Whether it asks for no node twice, so that none needs to be remembered.
    asks_once: ClassVar[bool] = False

    @abstractmethod
    def course(self, question: Question, finds: Finds, rng: np.random.Generator) -> Course:
        """Go through the lattice, keeping what was found in *finds* so that it is right at every yield.

        Nodes may be asked for again: that costs nothing and does not count. None at all may be yielded, too, to let
        the loop look at the time.
        """

    @property
    def name(self) -> str:
        """The name it is registered under, or the search it goes on from."""
        return next(each.name for each in searches.entries() if isinstance(self, each.method))

    @classmethod
    def refuse_other_aims(cls, name: str, objectives: Sequence[str]) -> None:
        """Refuse a front of *objectives*, or one node where there are none, where the search called *name* cannot."""
        if objectives and not cls.seeks_front:
            able = [each.name for each in searches.entries() if each.method.seeks_front]
            raise InvalidParameter(
                f"{name} finds the best node by one metric, not a front of {named('objectives')}. Use {_one_of(able)} "
                "for that."
            )
        if not objectives and not cls.seeks_one:
            able = [each.name for each in searches.entries() if each.method.seeks_one]
            raise InvalidParameter(
                f"{name} finds a front; name its {named('objectives')}, as in k,glm. For the best node by one metric "
                f"use {_one_of(able)}."
            )

    def check(self, question: Question) -> None:
        """Refuse a question this search cannot answer, naming those that can."""
        self.refuse_other_aims(self.name, question.objectives)
        if self.needs_monotone and not question.limits.are_monotone:
            raise InvalidParameter(
                f"{self.name} takes {named('t')} only where no rows may be suppressed: else a node can satisfy it "
                f"while a coarser one does not. Use {_one_of(_FOR_ANY_LIMITS)}, or a {named('suppression')} of 0."
            )


@dataclass(frozen=True, kw_only=True)
class ListingSearch(Search):
    """A search that goes through the nodes, or keeps something of each."""

    most: int = option(5_000_000, low=1, help="most nodes of a lattice")

    def check(self, question: Question) -> None:
        """Refuse a lattice too large to go through, too."""
        super().check(question)
        if question.lattice.size > self.most:
            raise InvalidParameter(
                f"The lattice has {count_in_words(question.lattice.size)} nodes, and {self.name} goes through "
                f"{count_in_words(self.most)} at most. Use {_one_of(_FOR_ANY_SIZE)}, or raise {named('most')} if time "
                "and memory allow."
            )


searches: Registry[Search] = Registry("algorithm")


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
