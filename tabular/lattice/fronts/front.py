"""The front of several objectives: its boxes, and how near another front comes to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from tabular.errors import InvalidParameter, named
from tabular.lattice.fronts.dominance import Floats, non_dominated

#: The side of a box of an objective that is a share, where none is given.
_OF_SHARES = 1e-6

#: So many members of an archive are held against the front at once.
_AT_ONCE = 256


def checked_epsilon(epsilon: object, objectives: Sequence[str]) -> Floats:
    """The sides of a box, one for each of the *objectives*: numbers above 0, or text as in `5,100`.

    If None they are 1; but of precision, all of which lies from 0 to 1, a millionth.

    >>> checked_epsilon("5, 100", ("k", "glm")).tolist(), checked_epsilon(None, ("k", "glm")).tolist()
    ([5.0, 100.0], [1.0, 1.0])
    """
    if epsilon is None:
        return np.array([_OF_SHARES if name == "precision" else 1.0 for name in objectives])
    parts = epsilon.split(",") if isinstance(epsilon, str) else epsilon
    try:
        sides = [float(part) for part in parts]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InvalidParameter.wrong("epsilon", must="be numbers, as in '5,100'", was=epsilon) from None
    names = ",".join(objectives)
    if len(sides) != len(objectives):
        raise InvalidParameter.wrong("epsilon", must=f"be one number for each of {names}", was=epsilon)
    for name, side in zip(objectives, sides, strict=True):
        if not (isfinite(side) and side > 0):
            raise InvalidParameter(f"{named('epsilon')} of {name} must be above 0 and finite, not {side:g}.")
    return np.array(sides)


def boxes(values: Floats, epsilon: Floats) -> Floats:
    """The box of each row of *values*, more being better: losses are negative, and so are their boxes.

    >>> boxes(np.array([[7.0, -250.0]]), np.array([5.0, 100.0])).tolist()
    [[1.0, -3.0]]
    """
    return np.floor(np.asarray(values, dtype=np.float64) / epsilon)


def representation_ratio(exact: Floats, found: Floats, epsilon: Floats) -> float:
    """RR: of the boxes of the *exact* front that no other of its boxes dominates, the share that *found* occupies.

    Both are values, more being better (Dewri and others 2010, section 7).
    """
    marked = boxes(exact, epsilon)
    marked = np.unique(marked[non_dominated(-marked)], axis=0)
    occupied = {row.tobytes() for row in boxes(found, epsilon) + 0.0}
    # Added to 0, a negative zero has the bytes of the other one.
    return sum(row.tobytes() in occupied for row in marked + 0.0) / len(marked)


@dataclass(frozen=True)
class ConvergenceError:
    """CE of an archive: how far its members are from the nearest of the exact front, together and on average."""

    total: float
    mean: float


def convergence_error(exact: Floats, found: Floats) -> ConvergenceError:
    """How far *found* is from the *exact* front, each objective divided by its largest absolute value there.

    The formula of Dewri and others (2010, section 7) is a sum over the archive; what they print has the size of a mean.
    """
    scale = np.abs(exact).max(axis=0)
    scale[scale == 0] = 1
    nearest = np.empty(len(found))
    for place in range(0, len(found), _AT_ONCE):
        some = slice(place, place + _AT_ONCE)
        gaps = (exact / scale)[np.newaxis] - (found[some] / scale)[:, np.newaxis]
        nearest[some] = np.sqrt((gaps**2).sum(axis=2)).min(axis=1)
    return ConvergenceError(float(nearest.sum()), float(nearest.mean()))
