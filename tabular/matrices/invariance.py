"""Invariant transition matrices, and matrices with a diagonal in bounds (Mares Soler 2013, section 4.1.4).

Of an invariant matrix R the flows are of use here: F[i, j] is the share of the records that go from i to j. R made by
the two stages of Willenborg and de Waal (2000) has symmetric flows, and flows that are symmetric are invariant; so is
every mixture of such. All that is done below keeps the flows symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Attribute, text_of
from tabular.errors import InvalidParameter, NoSolution

#: The lowest and the highest probability to keep a value.
Bounds = tuple[float, float]

#: The least absolute eigenvalue of a matrix that counts as invertible.
SINGULAR = 1e-6

#: The share of the identity that is mixed into a singular matrix.
INVERTIBLE = 0.01


def bounded(
    matrix: NDArray[np.float64], bounds: Bounds, attribute: Attribute, window: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """*matrix* with its diagonal brought within *bounds*, row by row; no row that is within them changes.

    A value below is raised by a mixture with the identity (eq 4.6); of one above, what is too much goes to the other
    categories alike (eq 4.7, divided by the number of others, so that rows still sum to 1), of a *window* to those that
    are in it.
    """
    low, high = check_bounds(bounds)
    size = len(matrix)
    if size < 2:
        if size and high < 1:
            raise NoSolution(
                f"No matrix for {attribute.name!r} with a diagonal up to {high:g} exists: it has one category only. "
                f"A diagonal from {low:g} to 1 works."
            )
        return matrix.copy()
    kept = np.diag(matrix)
    # The others of each row: scaled down where the diagonal rises, scaled down and raised alike where it falls.
    rest = np.where(kept < low, (1 - low) / np.where(kept < 1, 1 - kept, 1), 1.0)
    cut = np.where(kept > high, high / np.where(kept > 0, kept, 1), 1.0)
    others = np.ones((size, size)) if window is None else window.astype(np.float64)
    changed: NDArray[np.float64] = matrix * (rest * cut)[:, None]
    changed += ((1 - cut) / (others.sum(axis=1) - 1))[:, None] * others
    np.fill_diagonal(changed, np.clip(kept, low, high))
    return changed


def invariant(
    matrix: NDArray[np.float64], frequencies: NDArray[np.integer], attribute: Attribute, bounds: Bounds | None = None
) -> NDArray[np.float64]:
    """The invariant matrix made from *matrix*: it keeps the *frequencies* in expectation, and can be inverted.

    R = PQ is mixed with the identity until no diagonal is below the *bounds*, then with flows between all others
    until none is above. Where one category is too frequent for that, `NoSolution` names it and bounds that work. A
    category that does not occur goes to the others by their frequency, as far as it is changed at all.
    """
    counts = np.asarray(frequencies, dtype=np.float64)
    if not counts.any():
        return matrix if bounds is None else bounded(matrix, bounds, attribute)
    found = _invariant(matrix, counts, attribute, bounds)
    if found is None:
        raise _no_solution(matrix, counts, attribute, bounds or (0.0, 1.0))
    return found


def check_bounds(bounds: Bounds) -> Bounds:
    """The *bounds* of a diagonal, or an error if they are not valid."""
    low, high = bounds
    # With an upper bound of 0 a category that does not occur would make every matrix singular.
    if not (0 <= low <= high <= 1 and high > 0):
        raise InvalidParameter.wrong(
            "diagonal", must="be two probabilities, the lower one first", was=f"{low:g},{high:g}", owner="PRAM"
        )
    return float(low), float(high)


def _invariant(
    matrix: NDArray[np.float64], counts: NDArray[np.float64], attribute: Attribute, bounds: Bounds | None
) -> NDArray[np.float64] | None:
    """The matrix that `invariant` describes, or None where the bounds leave none."""
    if bounds is not None:
        matrix = bounded(matrix, bounds, attribute)
    occurring = np.flatnonzero(counts)
    shares = counts[occurring] / counts.sum()
    made = two_stages(matrix[occurring], shares)
    flows: NDArray[np.float64] | None = made
    if bounds is not None:
        flows = _within(made, shares, *bounds)
    elif is_singular(made, shares):
        # R = PQ has no eigenvalue below 0, so the identity lifts all of them.
        flows = (1 - INVERTIBLE) * made + INVERTIBLE * np.diag(shares)
    if flows is None:
        return None
    found = np.zeros_like(matrix)
    found[:, occurring] = shares
    # Nobody has these categories, so any row is invariant; one that never stays could not be inverted.
    kept = np.maximum(np.diag(matrix), INVERTIBLE if bounds is None else min(INVERTIBLE, bounds[1]))
    found *= (1 - kept)[:, None]
    np.fill_diagonal(found, kept)
    found[np.ix_(occurring, occurring)] = flows / shares[:, None]
    return found


def two_stages(matrix: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The flows of R = PQ, where Q leads from the drawn value back to its possible origins, by Bayes."""
    flows = shares[:, None] * matrix
    reached = flows.sum(axis=0)
    both = (flows / np.where(reached > 0, reached, 1)) @ flows.T
    return closed((both + both.T) / 2, shares)


def closed(flows: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """*flows* with a diagonal that makes the rows sum to the shares."""
    between = flows.copy()
    np.fill_diagonal(between, 0)
    return between + np.diag(np.maximum(shares - between.sum(axis=1), 0))


def is_singular(flows: NDArray[np.float64], shares: NDArray[np.float64]) -> bool:
    """Whether the matrix of symmetric *flows* cannot be inverted, or hardly."""
    # Where more stays than goes in each row, no eigenvalue is near 0.
    if (np.diag(flows) > (0.5 + SINGULAR) * shares).all():
        return False
    # The matrix of these flows has the eigenvalues of this symmetric one.
    roots = np.sqrt(shares)
    return bool(np.abs(np.linalg.eigvalsh(flows / np.outer(roots, roots))).min() < SINGULAR)


def _is_possible(share: float, low: float, high: float) -> bool:
    """Whether the other categories can exchange as many records as the most frequent one must give."""
    return share * (1 - high) <= (1 - share) * (1 - low) + 1e-12


def _within(
    flows: NDArray[np.float64], shares: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64] | None:
    """Flows near to *flows* within the bounds whose matrix can be inverted, None if there are none."""
    if not _is_possible(shares.max(), low, high):
        return None
    return next((found for found in _candidates(flows, shares, low, high) if not is_singular(found, shares)), None)


def _candidates(
    flows: NDArray[np.float64], shares: NDArray[np.float64], low: float, high: float
) -> Iterator[NDArray[np.float64]]:
    """Symmetric flows within the bounds, those nearest to *flows* first."""
    leaving = shares - np.diag(flows)
    # a of eq 4.6: the most of R that leaves no diagonal below the bounds.
    allowed = (1 - low) * shares
    over = leaving > allowed
    most = float((allowed[over] / leaving[over]).min(initial=1.0))
    # The first is rarely singular; then a little more of the identity or of the other flows helps.
    for place, pull, share in product((0.5, 0.25, 0.75), (1.0, 0.9, 0.5, 0.0), (1.0, 0.99, 0.9, 0.5)):
        mixed = most * share * flows + (1 - most * share) * np.diag(shares)
        between = _between_all(shares, low, high, low + place * (high - low))
        yield lowered(mixed, between, shares, high, pull)


def lowered(
    flows: NDArray[np.float64], between: NDArray[np.float64], shares: NDArray[np.float64], high: float, pull: float
) -> NDArray[np.float64]:
    """*flows* with as much of *between*, whose diagonal is within the bounds, as brings theirs under *high*.

    At a *pull* below 1 there is more of it than that takes.
    """
    excess = np.diag(flows) / shares - high
    above = excess > 0
    if not above.any():
        return flows
    room = np.maximum(high - np.diag(between) / shares, 0)
    part = pull * float((room[above] / (room[above] + excess[above])).min())
    return closed(part * flows + (1 - part) * between, shares)


def _between_all(shares: NDArray[np.float64], low: float, high: float, kept: float) -> NDArray[np.float64]:
    """Symmetric flows between all categories that keep each with probability *kept*, or as near to it as can be.

    What leaves goes by Brewer's (1963) rule for pairs, which gives each category its share of them. A category with
    half of the records or more exchanges with all others, and they with it alone.
    """
    frequent = int(np.argmax(shares))
    share, others = shares[frequent], 1 - shares[frequent]
    if len(shares) < 2:
        return np.diag(shares)
    if share < 0.5:
        weights = 1 / (1 - 2 * shares)
        pairs = np.outer(shares, shares) * (weights[:, None] + weights) / (1 + (shares * weights).sum())
        return closed((1 - kept) * pairs, shares)
    given = min(share * (1 - kept), (share * (1 - high) + others * (1 - low)) / 2)
    exchanged = shares * given / others
    pairs = np.zeros((len(shares), len(shares)))
    pairs[frequent], pairs[:, frequent] = exchanged, exchanged
    return closed(pairs, shares)


def _no_solution(
    matrix: NDArray[np.float64], counts: NDArray[np.float64], attribute: Attribute, bounds: Bounds
) -> NoSolution:
    """The reason why no invariant matrix lies within the *bounds*, and the nearest bounds that allow one."""
    low, high = bounds
    share = float(counts.max() / counts.sum())
    if _is_possible(share, low, high):
        why, least = "was found that can be inverted", high
    else:
        frequent = text_of(attribute.domain[int(np.argmax(counts))])
        why = f"exists: {100 * share:.4g} % of the records have {frequent!r}, too many for that"
        # The most frequent category gives as much as the others, which keep as little as allowed, can take.
        least = max(ceil((1 - (1 - low) * (1 - share) / share) * 1000 - 1e-9) / 1000, high)
    # What is barely possible can have no inverse; where all may stay, there always is one.
    wider = (min(least + more, 1.0) for more in (0.0, 0.001, 0.01, 0.1, 1.0))
    works = next(each for each in wider if _invariant(matrix, counts, attribute, (low, each)) is not None)
    return NoSolution(
        f"No invariant matrix for {attribute.name!r} with a diagonal from {low:g} to {high:g} {why}. "
        f"A diagonal from {low:g} to {works:g} works."
    )
