"""Several live releases of one original: the trail of each user through them, and clusters that keep k over all.

A user's *trail* is what each release published of that user: a profile, or nothing where the user is not in it. The
worst observer holds all releases and knows, by the links, which rows of them are one user; and knows of each person
which releases that person is in. To this observer the releases side by side are one table with a row for each trail.
**The rule: each trail with a profile in it is that of at least k users.** Who is on a user's trail is consistent with
all that was published of that user, so there are at least k of them; any other observer knows less and finds more.

`kept_clusters` makes the next release keep the rule. It asks that each trail so far is that of k users or more, and
that everybody whom a release published is still in the original. Then:

- Users who share a profile in the *previous* release stay in one cluster, and so do users whom it did not publish but
  who share a trail through the others. Users of one trail therefore get one profile: the new release parts no trail,
  and each trail is still that of the same k users or more.
- Users whom no release published get clusters of k or more among themselves. Their trails are nothing, nothing, …, and
  then a profile; nobody else has such a trail, so it is that of one or more whole clusters: k users or more.

Everything else is refused. A forgotten person is in the earlier release alone: the observer sees which row is missing,
and how the profile of the others changes without that person. Fewer than k added users stand out in the same way.
Where a user's place or topics changed, the profile of the cluster follows, but not who is in it. Changed links are
published as they are; k says nothing of links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.release import NOWHERE
from tabular.errors import NoSolution
from tabular.table import equivalence_classes

#: A user who is in no cluster yet.
FREE = -1


@dataclass(frozen=True, eq=False)
class Published:
    """A live release, and where each user of its original as that is now stands in it; -1 where it is not."""

    name: str
    graph: SocialGraph
    mapping: NDArray[np.int64]

    @property
    def profiles(self) -> NDArray[np.int64]:
        """For each user of the original the number of its profile here; -1 where it has none."""
        numbers = equivalence_classes(list(self.graph.profiles().T)).labels
        return np.append(numbers, NOWHERE)[self.mapping]

    @property
    def forgotten(self) -> int:
        """How many rows are those of persons whom the original has no more."""
        return len(self.graph) - int((self.mapping != NOWHERE).sum())


def kept_clusters(previous: Published, others: Sequence[Published], k: int) -> NDArray[np.int64]:
    """For each user the number of the cluster that it has to stay in, or FREE for those whom no release has published.

    *others* are the live releases beside the *previous* one; `NoSolution` where k cannot hold over all of them.
    """
    live = [previous, *others]
    own, *rest = (each.profiles for each in live)
    trails = equivalence_classes([own, *rest])
    is_new = np.all([column == NOWHERE for column in (own, *rest)], axis=0)
    _refuse_forgotten(live, k)
    _refuse_rare(live, k, np.bincount(trails.labels[~is_new]))
    _refuse_few(live, k, int(is_new.sum()))
    # Whom the previous release has not published stays with those of the same trail.
    elsewhere = (np.where(own == NOWHERE, column, NOWHERE) for column in rest)
    together = [column[~is_new] for column in (own, *elsewhere)]
    clusters = np.full(len(own), FREE, dtype=np.int64)
    clusters[~is_new] = equivalence_classes(together).labels
    return clusters


def _refuse_forgotten(live: Sequence[Published], k: int) -> None:
    """Refuse releases that hold rows of persons who are gone."""
    stale = [each for each in live if each.forgotten]
    if stale:
        has = "it has" if len(stale) == 1 else "each has"
        rows = "a row of a person" if max(each.forgotten for each in stale) == 1 else "rows of persons"
        raise NoSolution(
            f"No release keeps k={k} together with {_names(stale)}: {has} {rows} forgotten since, and comparing the "
            f"releases shows which rows are missing. Delete {_names(stale)}."
        )


def _refuse_rare(live: Sequence[Published], k: int, sizes: NDArray[np.int64]) -> None:
    """Refuse releases whose trails are those of fewer than *k* users; nothing takes that back."""
    least = int(sizes[sizes > 0].min(initial=k))
    if least < k:
        users = "1 user alone has" if least == 1 else f"no more than {least} users share"
        way_out = f"Lower k to {least}, or delete" if least > 1 else "Delete"
        what = "it" if len(live) == 1 else "releases whose clusters differ"
        raise NoSolution(
            f"No release keeps k={k} together with {_names(live)}: {users} the profiles published for them there. "
            f"{way_out} {what}."
        )


def _refuse_few(live: Sequence[Published], k: int, added: int) -> None:
    """Refuse users whom no release has published, if there are some but fewer than *k*."""
    if 0 < added < k:
        users = "1 user was" if added == 1 else f"{added} users were"
        lower = f"Lower k to {added}, add" if added > 1 else "Add"
        raise NoSolution(
            f"No release keeps k={k} together with {_names(live)}: {users} added since, and comparing the "
            f"releases shows which. {lower} more users, or delete {_names(live)}."
        )


def _names(live: Sequence[Published]) -> str:
    """The names of releases in a sentence."""
    *names, last = (repr(each.name) for each in live)
    return f"{', '.join(names)} and {last}" if names else last
