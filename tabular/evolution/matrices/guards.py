"""Guards: matrices that give the original back, to all or to whoever knows them, lose against all others.

A matrix that swaps names hides nothing from whoever knows it, and the scores do not see that: what they count is what
stands where it was. So the search itself is held to limits, and not only the release at its end.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.contract import MOST_EQUAL, Evolution, Task
from tabular.evolution.renaming import ROUNDED, UNSEEN, added, share_of
from tabular.registry import option

#: Transition matrices by column.
Matrices: TypeAlias = "Mapping[str, NDArray[np.float64]]"

#: How often each category of a column occurs, by column.
Frequencies: TypeAlias = "Mapping[str, NDArray[np.integer]]"


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What somebody reads back of one column who knows its matrix and the frequencies of the original.

    Each masked value is taken for the category that most probably became it. All are shares of the values: those that
    are right so, those of them that stand under another category, and those that are right by guessing the most
    frequent category each time, without the masked file; and those that stand in it unchanged.

    Who does not know the matrix takes values as they stand, or guesses blindly. *added* is what the matrix adds to
    the better of both: the share that it finds of the values that they miss. It is the greater of two shares, of which
    one counts every record alike and the other every category that occurs, so that rare ones count as well.
    """

    recovered: float
    renamed: float
    blind: float
    unchanged: float
    added: float

    @classmethod
    def of(cls, matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> Recovery:
        """That of a column with these *frequencies*, expected over all files that *matrix* can make.

        >>> Recovery.of(np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([50, 50]))
        Recovery(recovered=0.875, renamed=0.875, blind=0.5, unchanged=0.125, added=0.75)
        """
        counts = np.asarray(frequencies)
        joint = (counts / counts.sum())[:, None] * matrix
        best = joint.max(axis=0)
        # Of equally probable categories the one that stayed is taken.
        moved = best > np.diag(joint)
        evenly = ((counts > 0) / np.count_nonzero(counts))[:, None] * matrix
        return cls(
            recovered=float(best.sum()),
            renamed=float(best[moved].sum()),
            blind=float(joint.sum(axis=1).max()),
            unchanged=float(np.trace(joint)),
            added=max(added(each, np.trace(each)) for each in (joint, evenly)),
        )

    @property
    def share(self) -> float:
        """The share read back of the values that nobody guesses blindly; 0 where there are none."""
        return share_of(self.recovered, self.blind)

    @property
    def percents(self) -> dict[str, float]:
        """What percent of the values is read back, blindly, or unchanged; the share of the rest, and what is added."""
        return {
            "percent": 100 * self.recovered,
            "blind": 100 * self.blind,
            "unchanged": 100 * self.unchanged,
            "share": 100 * self.share,
            "added": 100 * self.added,
        }


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much may be read back of a column by whoever knows its matrix, as shares."""

    added: float
    recovered: float

    @property
    def percents(self) -> dict[str, float]:
        """The limits in percent."""
        return {"added": 100 * self.added, "recovered": 100 * self.recovered}


@dataclass(frozen=True, kw_only=True)
class GuardedEvolution(Evolution, ABC):
    """What evolves by matrices, whose knowledge must not give the original back."""

    added: float = option(10.0, low=0, high=100, help="the most that knowing a matrix may add, in percent of the "
    "values that neither stand unchanged nor are guessed blindly; what adds more loses against all else")  # fmt: skip
    recovered: float = option(95.0, low=0, high=100, help="the most that whoever knows a matrix may read back, in "
    "percent of the values that blind guessing does not find")  # fmt: skip

    def limits(self, task: Task) -> Limits | None:
        """The limits of what is read back; None where it shall evolve without any."""
        if task.accept_unchanged:
            return None
        return Limits(added=self.added / 100, recovered=self.recovered / 100)


def excess(matrices: Matrices, frequencies: Frequencies, limits: Limits) -> float:
    """How far *matrices* are beyond what may be released, all that is wrong together; 0 where nothing is."""
    beyond = [_kept(matrices, frequencies) - MOST_EQUAL]
    for name, matrix in matrices.items():
        found = Recovery.of(matrix, frequencies[name])
        beyond += [found.added - limits.added, found.share - limits.recovered]
    return float(sum(each for each in beyond if each > ROUNDED))


def _kept(matrices: Matrices, frequencies: Frequencies) -> float:
    """The share of the protected cells that are expected to stay."""
    kept = [frequencies[name] @ np.diag(each) / frequencies[name].sum() for name, each in matrices.items()]
    return float(np.mean(kept))


def complaint(matrices: Matrices, frequencies: Frequencies, limits: Limits) -> str | None:
    """Why *matrices* should not be used for a release, in words that go on after "it"; None where nothing is wrong."""
    kept = _kept(matrices, frequencies)
    if kept > MOST_EQUAL + ROUNDED:
        return (
            f"is expected to equal the original in {100 * kept:.1f} % of the protected cells; "
            f"{100 * MOST_EQUAL:g} % are the most"
        )
    found = ((name, Recovery.of(matrix, frequencies[name])) for name, matrix in matrices.items())
    return next(filter(None, (_beyond(name, each, limits) for name, each in found)), None)


def _beyond(name: str, found: Recovery, limits: Limits) -> str | None:
    """What is read back of the column *name* beyond the *limits*, in words."""
    read = f"lets whoever knows the matrix of {name!r} read back {100 * found.recovered:.1f} % of its values"
    if found.added > limits.added + ROUNDED:
        return (
            f"{read}, while {100 * found.unchanged:.1f} % stand unchanged and blind guessing finds "
            f"{100 * found.blind:.1f} %: knowing the matrix adds {100 * found.added:.1f} % of what both miss, rare "
            f"categories counted as well; {100 * limits.added:g} % are the most"
        )
    if found.share > limits.recovered + ROUNDED:
        return (
            f"{read} (blind guessing finds {100 * found.blind:.1f} %; the limit is {100 * limits.recovered:g} % of "
            "the rest)"
        )
    return None


def remark(name: str, found: Recovery) -> str | None:
    """What the owner should know of the column *name*: that far more is read back than stands in the file unchanged."""
    if found.added <= UNSEEN + ROUNDED:
        return None
    return (
        f"Whoever knows the matrix of {name!r} reads back {100 * found.recovered:.1f} % of its values, though "
        f"only {100 * found.unchanged:.1f} % stand in the file unchanged; of the values that neither stand nor are "
        f"guessed blindly it adds {100 * found.added:.1f} %: a risk that the score does not count."
    )


@dataclass(frozen=True)
class ReadBack:
    """What whoever knows the matrices of a release reads back, and what is said of that."""

    matrices: Matrices
    frequencies: Frequencies
    limits: Limits | None

    @property
    def found(self) -> dict[str, Recovery]:
        """What is read back of each column."""
        return {name: Recovery.of(each, self.frequencies[name]) for name, each in self.matrices.items()}

    @property
    def about(self) -> dict[str, Any]:
        """The figures in percent, and the limits that they were held to."""
        return {
            "read_back": {name: each.percents for name, each in self.found.items()},
            "limits": None if self.limits is None else self.limits.percents,
        }

    @property
    def remarks(self) -> Sequence[str]:
        """What the owner should know, in words."""
        return [said for said in (remark(*each) for each in self.found.items()) if said is not None]
