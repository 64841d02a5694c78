"""Guards: matrices that give the original back, to all or to whoever knows them, are not released unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The share of values beyond the unchanged ones, and beyond blind guessing, that are read back without a remark.
UNSEEN = 0.1


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What somebody reads back of one column who knows its matrix and the frequencies of the original.

    Each masked value is taken for the category that most probably became it. All are shares of the values: those that
    are right so, those of them that stand under another category, and those that are right by guessing the most
    frequent category each time, without the masked file; and those that stand in it unchanged.
    """

    recovered: float
    renamed: float
    blind: float
    unchanged: float

    @classmethod
    def of(cls, matrix: NDArray[np.float64], frequencies: NDArray[np.integer]) -> Recovery:
        """That of a column with these *frequencies*, expected over all files that *matrix* can make.

        >>> Recovery.of(np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([50, 50]))
        Recovery(recovered=0.875, renamed=0.875, blind=0.5, unchanged=0.125)
        """
        joint = np.asarray(frequencies)[:, None] / np.sum(frequencies) * matrix
        best = joint.max(axis=0)
        # Of equally probable categories the one that stayed is taken.
        moved = best > np.diag(joint)
        return cls(
            recovered=float(best.sum()),
            renamed=float(best[moved].sum()),
            blind=float(joint.sum(axis=1).max()),
            unchanged=float(np.trace(joint)),
        )

    @property
    def share(self) -> float:
        """The share read back of the values that nobody guesses blindly; 0 where there are none."""
        left = 1 - self.blind
        return (self.recovered - self.blind) / left if left > 1e-12 else 0.0

    @property
    def percents(self) -> dict[str, float]:
        """What percent of the values is read back, how much of that blindly, and the share of the rest."""
        return {"percent": 100 * self.recovered, "blind": 100 * self.blind, "share": 100 * self.share}


def remark(name: str, found: Recovery) -> str | None:
    """What the owner should know of the column *name*: that far more is read back than stands in the file unchanged."""
    if found.recovered <= max(found.unchanged, found.blind) + UNSEEN:
        return None
    return (
        f"Whoever knows the matrix of {name!r} reads back {100 * found.recovered:.1f} % of its values, though "
        f"only {100 * found.unchanged:.1f} % stand in the file unchanged: a risk that the score does not count."
    )


def complaint(
    matrices: Mapping[str, NDArray[np.float64]], frequencies: Mapping[str, NDArray[np.integer]], most: float
) -> str | None:
    """Why *matrices* should not be used for a release, in words that go on after "it"; None where nothing is wrong.

    No column may give back more than the share *most* of the values that nobody guesses blindly.
    """
    for name, matrix in matrices.items():
        found = Recovery.of(matrix, frequencies[name])
        if found.share > most:
            where = "in their own place"
            if found.renamed > found.recovered / 2:
                renamed = 100 * found.renamed / found.recovered
                where = f"{renamed:.0f} % of them under another category: nearly a permutation"
            return (
                f"lets whoever knows the matrix of {name!r} read back {100 * found.recovered:.1f} % of its values, "
                f"{where} (blind guessing finds {100 * found.blind:.1f} %; the limit is {100 * most:g} % of the rest)"
            )
    return None
