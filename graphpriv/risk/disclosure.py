"""What an attacker learns: the users matched, their numbers of candidates, and whether the true one is among them."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

#: Bounds of the buckets of candidate set sizes, and what they are called.
BUCKETS = {"0": (0, 0), "1": (1, 1), "2-4": (2, 4), "5-10": (5, 10), "11-20": (11, 20), "more": (21, None)}


@dataclass(frozen=True, eq=False)
class Disclosure:
    """The result of one attacker in one scenario; arrays go by the position of the original user.

    A user is undecided if the budget ran out before every masked user was ruled in or out. `matched` is certain where
    it is true, for undecided users too.
    """

    matched: NDArray[np.bool_]
    undecided: NDArray[np.bool_]
    candidates: NDArray[np.int64]
    true_found: NDArray[np.bool_] | None

    @property
    def risk(self) -> float:
        """Share of users that are matched (Mares Soler 2013, eq 6.9)."""
        return float(self.matched.mean()) if len(self.matched) else 0.0

    @property
    def undecided_share(self) -> float:
        """Share of users about whom something was left open."""
        return float(self.undecided.mean()) if len(self.undecided) else 0.0

    @property
    def chances(self) -> NDArray[np.float64] | None:
        """For each user how likely drawing one of the candidates names the right one; None without a mapping."""
        if self.true_found is None:
            return None
        chances = np.zeros(len(self.candidates))
        np.divide(1.0, self.candidates, out=chances, where=self.true_found)
        return chances

    def expected_success(self, mapping: NDArray[np.int64] | None) -> float | None:
        """The mean chance of the users whose counterpart is known; None where none is.

        Users left out of the *mapping* must not count as safe.
        """
        if self.chances is None or mapping is None:
            return None
        known = mapping >= 0
        # An exact sum: the figure does not depend on the order of the users.
        return fsum(self.chances[known]) / int(known.sum()) if known.any() else None

    @property
    def buckets(self) -> dict[str, int]:
        """How many users have how many candidates."""
        counts = {}
        for name, (low, high) in BUCKETS.items():
            inside = self.candidates >= low
            if high is not None:
                inside &= self.candidates <= high
            counts[name] = int(inside.sum())
        return counts
