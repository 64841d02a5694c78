"""Which rows have to go so that all trails keep k: as few as can be, settled trail by trail.

The persons of one trail so far, n of them, come to some classes of a new release; those of one class are a *bucket*.
What may be left of a bucket is nothing, or at least k rows with l sensitive values: `need` = max(k, l) rows suffice for
both if the bucket has l values. Buckets that have less go. Those who are not in the table any more, and those who go,
are the *gone* of the trail; unless nothing was ever published of it, they must be 0 or at least k. Where they are not:

- the buckets that stay can spare the rows above their need; if that is enough, so many go as are lacking, no more;
- else no bucket can stay as it is and the gone be enough: one goes as a whole, the smallest. It alone is enough, for it
  has at least k rows. Where no bucket is left, all n are gone, and n is at least k by the rule for the releases before.

Each step is forced or the least that does, and trails do not touch each other: no release at this node suppresses
fewer rows. The number never rises with the levels: what goes at a node may go at any coarser one, where buckets of a
trail only merge, so that what is left of each is still nothing or enough, and the gone of each trail are the same. So
the nodes that keep the rule with a given number of suppressed rows are closed upwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled

Numbers = NDArray[np.int64]


@compiled
def withheld(
    keys: Numbers,
    sizes: Numbers,
    distinct: Numbers,
    trails: Numbers,
    absent: Numbers,
    silent: NDArray[np.bool_],
    k: int,
    l: int,  # noqa: E741
    goes: Numbers,
) -> int:
    """Write into *goes* how many rows of each bucket have to go; how many in all is given back.

    `distinct` are the sensitive values of each bucket, if there is an l; `keys` put buckets of one size in order.
    """
    gone, spare = absent.copy(), np.zeros(len(absent), dtype=np.int64)
    need, total = max(k, l), 0
    for row in range(len(sizes)):
        trail = trails[row]
        goes[row] = 0
        if sizes[row] < k or (l and distinct[row] < l):
            goes[row] = sizes[row]
            gone[trail] += sizes[row]
            total += sizes[row]
        else:
            spare[trail] += sizes[row] - need
    owing = 0
    lacks = np.zeros(len(absent), dtype=np.int64)
    for trail in range(len(absent)):
        if not silent[trail] and 0 < gone[trail] < k:
            lacks[trail] = k - gone[trail]
            owing += 1
    if not owing:
        return total
    # The buckets that stay, of each trail that owes some: one after the other.
    first, following = np.full(len(absent), -1, dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    for row in range(len(sizes)):
        if lacks[trails[row]] and not goes[row]:
            following[row] = first[trails[row]]
            first[trails[row]] = row
    for trail in range(len(absent)):
        if lacks[trail] and spare[trail] >= lacks[trail]:
            total += lacks[trail]
            _spare(keys, sizes, first[trail], following, need, lacks[trail], goes)
        elif lacks[trail] and first[trail] >= 0:
            least = _extreme(keys, sizes, first[trail], following, goes, False)
            goes[least] = sizes[least]
            total += sizes[least]
    return total


@compiled
def _spare(
    keys: Numbers,
    sizes: Numbers,
    first: int,
    following: Numbers,
    need: int,
    lacking: int,
    goes: Numbers,
) -> None:
    """Take the rows that lack from the largest buckets of a trail, as far as they can spare them."""
    while lacking:
        largest = _extreme(keys, sizes, first, following, goes, True)
        goes[largest] = min(sizes[largest] - need, lacking)
        lacking -= goes[largest]


@compiled
def _extreme(keys: Numbers, sizes: Numbers, first: int, following: Numbers, goes: Numbers, largest: bool) -> int:
    """The largest or the smallest bucket of a trail of which nothing goes yet; of several that with the lowest key."""
    found, row = -1, first
    while row >= 0:
        if not goes[row]:
            if found < 0:
                found = row
            elif sizes[row] == sizes[found]:
                for word in range(keys.shape[1]):
                    if keys[row, word] != keys[found, word]:
                        if keys[row, word] < keys[found, word]:
                            found = row
                        break
            elif (sizes[row] > sizes[found]) == largest:
                found = row
        row = following[row]
    return found
