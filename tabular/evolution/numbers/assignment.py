"""The one-to-one linkage of greatest weight between two files of numbers, kept while the masked one changes.

An assignment with prices of the originals: each masked record that has an original has one that costs least, price
included (`origins`, `owners`, `prices`). Where records change, they lose theirs, bid for others, and those that are
still without one find the shortest way (Jonker and Volgenant 1987). The optimum that counts is the first in code
order, which is one and the same wherever the search began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import lean

#: Farther than any distance.
FAR = 1 << 60

#: So many bids for each record that has no original, and in so many rounds; ways are found for the rest.
BIDS, ROUNDS = 8, 2


class Assignment(NamedTuple):
    """The original of each masked record and the other way round (-1: none), and the originals' prices."""

    origins: NDArray[np.int64]
    owners: NDArray[np.int64]
    prices: NDArray[np.int64]


class Search(NamedTuple):
    """Scratch of a search: distances of the originals, those of the ones that wait, from where they were reached.

    `seen` has the number of the search that last looked from a combination of masked numbers, `searches` how many
    there were.
    """

    distances: NDArray[np.int64]
    waiting: NDArray[np.int64]
    before: NDArray[np.int64]
    listed: NDArray[np.int64]
    free: NDArray[np.int64]
    seen: NDArray[np.int64]
    searches: NDArray[np.int64]


def first_assignment(records: int) -> Assignment:
    """Nobody has an original yet."""
    none = np.full(records, -1, dtype=np.int64)
    return Assignment(none, none.copy(), np.zeros(records, dtype=np.int64))


def search_of(records: int) -> Search:
    """Scratch for files of so many *records*."""
    return Search(*(np.zeros(size, dtype=np.int64) for size in (*(records,) * 6, 1)))


@lean
def assign(weights: NDArray[np.int32], combinations: NDArray[np.int64], assignment: Assignment, search: Search) -> None:
    """Give all records that have no original one, so that the sum of the weights is the greatest.

    Records of one of the *combinations* have the same weights.
    """
    count = 0
    for record in range(len(weights)):
        if assignment.origins[record] < 0:
            search.free[count] = record
            count += 1
    for _ in range(ROUNDS):
        count = _bid(weights, assignment, search.free, count)
    for place in range(count):
        _reach(weights, combinations, assignment, search, search.free[place])


@lean
def _bid(weights: NDArray[np.int32], assignment: Assignment, free: NDArray[np.int64], count: int) -> int:
    """Each free record takes the best original and pays what makes it equal to the second best; how many are left."""
    left, place, bids = 0, 0, BIDS * count
    while place < count:
        record = free[place]
        place += 1
        first, second, best, next_best = -1, -1, FAR, FAR
        row = weights[record]
        for original in range(len(row)):
            cost = -np.int64(row[original]) - assignment.prices[original]
            if cost < next_best:
                if cost < best:
                    first, second, best, next_best = original, first, cost, best
                else:
                    second, next_best = original, cost
        owner = assignment.owners[first]
        if best < next_best < FAR:
            assignment.prices[first] -= next_best - best
        elif owner >= 0 and second >= 0:
            first = second
            owner = assignment.owners[first]
        assignment.origins[record], assignment.owners[first] = first, record
        if owner >= 0:
            assignment.origins[owner] = -1
            bids -= 1
            if best < next_best and bids > 0:
                place -= 1
                free[place] = owner
            else:
                free[left] = owner
                left += 1
    return left


@lean
def _reach(
    weights: NDArray[np.int32], combinations: NDArray[np.int64], assignment: Assignment, search: Search, record: int
) -> None:
    """Find the shortest way from a free *record* to a free original, and let all on it move on."""
    size = len(weights)
    search.searches[0] += 1
    search.seen[combinations[record]] = search.searches[0]
    distances, waiting, before, listed = search.distances, search.waiting, search.before, search.listed
    for original in range(size):
        distances[original] = -np.int64(weights[record, original]) - assignment.prices[original]
        waiting[original], before[original] = distances[original], record
    done, end, least, found = 0, 0, 0, -1
    while found < 0:
        least = FAR
        for original in range(size):
            least = min(least, waiting[original])
        for original in range(size):
            if waiting[original] == least:
                if assignment.owners[original] < 0:
                    found = original
                    break
                listed[end] = original
                end += 1
        if found >= 0:
            break
        while done < end:
            here = listed[done]
            waiting[here] = FAR
            done += 1
            owner = assignment.owners[here]
            # From a record like this one it is no farther.
            if search.seen[combinations[owner]] != search.searches[0]:
                search.seen[combinations[owner]] = search.searches[0]
                row = weights[owner]
                slack = -np.int64(row[here]) - assignment.prices[here] - least
                for original in range(size):
                    distance = -np.int64(row[original]) - assignment.prices[original] - slack
                    nearer = distance < distances[original]
                    distances[original] = distance if nearer else distances[original]
                    waiting[original] = distance if nearer else waiting[original]
                    before[original] = owner if nearer else before[original]
    for place in range(done):
        original = listed[place]
        assignment.prices[original] += distances[original] - least
    while True:
        owner = before[found]
        assignment.owners[found] = owner
        found, assignment.origins[owner] = assignment.origins[owner], found
        if owner == record:
            return


@lean
def collect_tight(
    weights: NDArray[np.int32], assignment: Assignment, order: NDArray[np.int64], ends: NDArray[np.int64],
    rows: NDArray[np.int64], results: NDArray[np.int64],
) -> int:  # fmt: skip
    """Write the pairs of an original and a masked record that an optimum may link; how many, or -1 if without room.

    One record for each combination is enough: the masked ones of a combination stand in *order* up to its end.
    """
    count, begin = 0, 0
    for result in range(len(ends)):
        record = order[begin]
        begin = ends[result]
        row, own = weights[record], assignment.origins[record]
        least = -np.int64(row[own]) - assignment.prices[own]
        for original in range(len(row)):
            if -np.int64(row[original]) - assignment.prices[original] == least:
                if count == len(rows):
                    return -1
                rows[count], results[count] = original, result
                count += 1
    return count
