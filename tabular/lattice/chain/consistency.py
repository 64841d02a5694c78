"""The rule over all releases: nobody's published tuples, side by side, are shared by fewer than k persons.

A person's *trail* is what each release published of that person: a tuple of labels, or nothing, where the person was
not in the table or the row was suppressed and so left out. (A release that shows its suppressed rows as `*` says `*`.)
The rule: each trail with a tuple in it is that of at least k persons.

Whoever holds all releases, knows a target's values at any time and which releases the target is in, and is even told
which published rows of different releases belong to one person, sees trails and no more: those of the same trail cannot
be told apart, so at least k persons fit the target, or nothing was ever published of the target. The decision of D-KGEN
follows, each time because persons of one trail stand or fall together:

- *Rows consistent with all published tuples of a row*: among them are all of its trail, k at least.
- *Rows added to a class* between two releases: those with nothing in the earlier and the class in the later one. That
  is a union of trails, each with a tuple in it: none or at least k rows.
- *Rows removed from a class*, by the same argument: the class in the earlier release and nothing in the later one. And
  so for the rows that moved from one class to another, whichever the releases.

Between two releases the rule is no more than the decision: with two places, a trail is either a pair of tuples, or an
addition, or a removal. Over more it asks for more, as it takes a target's absence for known.

The rule implies k within each release: a class is a union of trails. And it says what can be mended. Who is gone is
gone: where fewer than k of a trail leave the table, only others who leave the release with them, suppressed and left
out, can hide them. So the rows that have to go are settled trail by trail (see `withholding`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabular.errors import NoSolution
from tabular.lattice.chain.history import NOTHING, STARRED, History, keys_of
from tabular.table import Table


@dataclass(frozen=True, eq=False)
class Standing:
    """The rows of a new table by the trails of their persons so far.

    *absent* are the persons of each trail who are not in the table, *silent* the trails on which nothing was published.
    """

    persons: NDArray[np.int64]
    trails: NDArray[np.int64]
    absent: NDArray[np.int64]
    silent: NDArray[np.bool_]

    @classmethod
    def of(cls, history: History, table: Table) -> Standing:
        """The rows of *table*; who is new is as those who stood in no release, though they were in a table."""
        persons, before = history.places_of(keys_of(table, history.key)), history.trails
        known = persons >= 0
        trails = np.full(len(persons), before.unseen)
        trails[known] = before.of[persons[known]]
        absent = before.sizes - np.bincount(trails[known], minlength=len(before.sizes))
        return cls(persons, trails, absent, before.silent)

    @cached_property
    def added(self) -> int:
        """How many persons were in no table before."""
        return int((self.persons < 0).sum())

    @cached_property
    def removed(self) -> int:
        """How many persons are not in the table any more, from whichever release on."""
        return int(self.absent.sum())


def refuse_broken(history: History, k: int) -> None:
    """Refuse a *k* that the earlier releases already break together: what was published cannot be taken back."""
    least = history.k
    if least is not None and least < k:
        raise NoSolution(
            f"No release keeps k={k} with the previous ones: of some persons they say together what only {least} "
            f"share. Ask for k={least} at most."
        )


def already_told(history: History, k: int) -> int:
    """How many persons share all that was published of them with fewer than *k*, counted in a plain way."""
    persons = len(history.persons)
    said = zip(*(each.of(persons).tolist() for each in history.publications), strict=True)
    trails = Counter(
        tuple(
            publication.tuples[place] if place >= 0 else place
            for publication, place in zip(history.publications, places, strict=True)
        )
        for places in said
    )
    return sum(
        count for trail, count in trails.items() if count < k and not all(each in (NOTHING, STARRED) for each in trail)
    )
