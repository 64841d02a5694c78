"""What clusters of k users or more lose at least of one attribute alone, in the units of `losses.py`.

What a release loses is the sum of what it loses of the place and of each rank of topics, and of none of them it can
lose less than clusters lose that have no other attribute to keep. So the sum of these least losses, each times its
weight, is a lower bound of the loss of every release.

**Place.** Clusters with the same closest common place lose as much as one cluster of all their users, so what counts is
to which place each user goes up; k users or more go to a place, or none. Users who are still on their way at a place
can stand in for each other: what is yet to come costs each of them the same. So all that matters below a place is how
many users go on up from it, and the fewest steps for each such number are found from the bottom up.

Of the clusters with the fewest steps there are some that go up the least, as measured by the places above theirs, from
which fewer than 2k-1 users go on up from any place p, and fewer than k where others stay at p. For let users go on up
from p, and let q be the next place above it at which any users stay. Those of p can stand in for others who stay at q
and go up to q in their place, so either all who go on up from p stay at q, or only users of p do. If only they do, all
of them may as well stay at p. If others do, too, at most k-1 of p's are needed at q beside them; the rest may as well
stay at p, if somebody else does or they are k. Neither takes more steps, and both go up less.

**Topics.** At one rank let a cluster show any topic (or none), so all that Borda's rule elects is allowed. If the
clusters show the topics T, everybody with another topic loses it; and to show a topic that fewer than k users have, a
cluster needs as many others as are lacking, each of whom loses its own. At most n/k topics are shown. For a given
number of them both counts are least for the commonest topics. There are also clusters that lose no more than the larger
count: the lacking users are taken from those who lose their topic anyway, then from topics that more than k have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpriv.places import TOP
from graphpriv.protections.losses import HIGHEST, Losses
from graphpriv.topics import RANKS
from tabular.kernels import compiled

#: More than all users lose together.
FAR = np.iinfo(np.int64).max // 4

#: So many sums are tried, and so many numbers kept; where that is too few, the place counts as if nothing were lost.
SUMS, NUMBERS = 2_000_000_000, 50_000_000


def single_attributes_bound(losses: Losses, k: int) -> int:
    """What clusters of *k* users or more lose at least, each attribute by itself."""
    place, *ranks = losses.terms[: RANKS + 1].tolist()
    lost = place * fewest_steps(losses, k) if place else 0
    for rank, weight in enumerate(ranks):
        lost += weight * TOP * fewest_without(losses.topics[:, rank], k)
    return int(lost)


def fewest_steps(losses: Losses, k: int) -> int:
    """The least sum of steps from the place of each user up to the closest common one of *k* users or more."""
    own = np.bincount(losses.place, minlength=len(losses.parents))
    below = own.copy()
    for node in range(len(below) - 1, 0, -1):
        below[losses.parents[node]] += below[node]
    if 2 * k**2 * int(np.count_nonzero(below >= k)) > SUMS or 2 * k * len(own) > NUMBERS:
        return 0
    return _fewest_steps(own, losses.parents, losses.levels, k, losses.terms[HIGHEST])


@compiled
def _fewest_steps(
    own: NDArray[np.int64], parents: NDArray[np.int32], levels: NDArray[np.int64], k: int, highest: int
) -> int:
    """The fewest steps; *own* users are at each place, and none stay above the *highest* level."""
    # For each place the fewest steps by how many users come up to it; the last number stands for all from there.
    last = 2 * k - 1
    steps = np.full((len(own), last + 1), FAR, dtype=np.int64)
    for node in range(len(own)):
        steps[node, min(own[node], last)] = 0
    both = np.empty(last + 1, dtype=np.int64)
    for node in range(len(own) - 1, -1, -1):
        here = steps[node]
        if levels[node] <= highest:
            # Some stay here: the others are fewer than k.
            least = here[last]
            for leaving in range(k - 1, -1, -1):
                least = min(least, here[leaving + k])
                here[leaving] = min(here[leaving], least)
        if node == 0:
            break
        above, up = steps[parents[node]], levels[parents[node]] - levels[node]
        both[:] = FAR
        for leaving in range(last):
            if here[leaving] == FAR:
                continue
            climbed = here[leaving] + leaving * up
            for others in range(last + 1):
                number = min(leaving + others, last)
                both[number] = min(both[number], above[others] + climbed)
        for number in range(last + 1):
            above[number] = min(both[number], FAR)
    return int(steps[0, 0])


def fewest_without(topics: NDArray[np.int32], k: int) -> int:
    """How many users have other *topics* at a rank than their cluster of *k* or more shows, at least."""
    common = np.sort(np.bincount(topics))[::-1]
    common = common[: max(min(int(np.count_nonzero(common)), len(topics) // k), 1)]
    other = len(topics) - np.cumsum(common)
    lacking = np.cumsum(np.maximum(k - common, 0))
    return int(np.maximum(other, lacking).min())
