"""What an attacker learns: the users matched, their numbers of candidates, and whether the true one is among them."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from tabular.loop import Values

#: Bounds of the buckets of candidate set sizes, and what they are called.
BUCKETS = {"0": (0, 0), "1": (1, 1), "2-4": (2, 4), "5-10": (5, 10), "11-20": (11, 20), "more": (21, None)}


@dataclass(frozen=True, eq=False)
class Disclosure:
    """The result of one attacker in one scenario; arrays go by the position of the original user.

    `candidates` counts the masked users that are certain candidates, `possible` those as well that the steps left
    open. `true_found` says whether the right one is a certain candidate, `true_least` of how many candidates at least
    it is one, 0 where it is none; both are None without a mapping.
    """

    candidates: NDArray[np.int64]
    possible: NDArray[np.int64]
    true_found: NDArray[np.bool_] | None
    true_least: NDArray[np.int64] | None
    #: How many steps it took, where they are counted.
    steps: int | None = None

    @classmethod
    def of_values(cls, values: Values) -> Disclosure:
        """The disclosure that `values` gave."""
        steps = int(values["steps"][0]) if "steps" in values else None
        found, least = values.get("true_found"), values.get("true_least")
        return cls(values["candidates"], values["possible"], found, least, steps)

    @property
    def values(self) -> Values:
        """All of it as arrays."""
        steps = None if self.steps is None else np.array([self.steps])
        found = {name: getattr(self, name) for name in ("candidates", "possible", "true_found", "true_least")}
        return {name: array for name, array in {**found, "steps": steps}.items() if array is not None}

    @property
    def matched(self) -> NDArray[np.bool_]:
        """The users who certainly have a candidate."""
        return self.candidates > 0

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """The users about whom something was left open."""
        return self.possible > self.candidates

    @property
    def risk(self) -> float:
        """Share of users that are certainly matched (Mares Soler 2013, eq 6.9)."""
        return _share(self.matched)

    @property
    def risk_bounds(self) -> tuple[float, float]:
        """The least and the most that the share of matched users can be."""
        return self.risk, _share(self.possible > 0)

    @property
    def undecided_share(self) -> float:
        """Share of users about whom something was left open."""
        return _share(self.undecided)

    @property
    def one_candidate(self) -> tuple[float, float]:
        """The least and the most that the share of users with exactly one candidate can be."""
        sure = (self.candidates == 1) & (self.possible == 1)
        return _share(sure), _share((self.candidates <= 1) & (self.possible >= 1))

    @property
    def chances(self) -> NDArray[np.float64] | None:
        """For each user how likely at most drawing one of the candidates names the right one; None without a mapping.

        At most, as a risk must not read too low.
        """
        if self.true_least is None:
            return None
        return _one_in(self.true_least, self.true_least > 0)

    def expected_success(self, mapping: NDArray[np.int64] | None) -> float | None:
        """The most that the mean chance of the users whose counterpart is known can be; None where none is."""
        bounds = self.success_bounds(mapping)
        return None if bounds is None else bounds[1]

    def success_bounds(self, mapping: NDArray[np.int64] | None) -> tuple[float, float] | None:
        """The least and the most that the mean chance can be.

        Users left out of the *mapping* must not count as safe.
        """
        if self.true_found is None or self.chances is None or mapping is None or not (mapping >= 0).any():
            return None
        known = mapping >= 0
        # Exact sums: the figures do not depend on the order of the users.
        low, high = (
            fsum(each[known]) / int(known.sum()) for each in (_one_in(self.possible, self.true_found), self.chances)
        )
        return low, high

    @property
    def smallest_sets(self) -> tuple[int | None, int | None]:
        """Between what the least number of candidates is that the right user is among; None where it is among none."""
        if self.true_least is None or self.true_found is None:
            return None, None
        least, most = self.true_least[self.true_least > 0], self.possible[self.true_found]
        return (int(least.min()) if len(least) else None), (int(most.min()) if len(most) else None)

    @property
    def buckets(self) -> dict[str, int]:
        """How many users have how many certain candidates."""
        counts = {}
        for name, (low, high) in BUCKETS.items():
            inside = self.candidates >= low
            if high is not None:
                inside &= self.candidates <= high
            counts[name] = int(inside.sum())
        return counts


def _share(users: NDArray[np.bool_]) -> float:
    return float(users.mean()) if len(users) else 0.0


def _one_in(counts: NDArray[np.int64], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    chances = np.zeros(len(counts))
    np.divide(1.0, counts, out=chances, where=where)
    return chances
