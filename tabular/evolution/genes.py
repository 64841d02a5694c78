"""What the genes of protected files are, and what these mutate to: categories, or numbers, by their bits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.genome import from_gray_code, gray_code
from tabular.evolution.operators import another_value, mutable_columns
from tabular.evolution.renaming import added_by_labels
from tabular.loop import Values


class Join(NamedTuple):
    """A set of values that can take the place of the labels *within* it in one column."""

    column: int
    label: int
    within: NDArray[np.intp]

    def made(self, codes: NDArray[Any]) -> NDArray[Any]:
        """A copy of *codes*, a row a record, in which it has."""
        found = codes.copy()
        found[np.isin(codes[:, self.column], self.within), self.column] = self.label
        return found


class Genes(ABC):
    """The genes of files, values record by record; a file of them has *columns*."""

    columns: int

    @property
    @abstractmethod
    def mutable(self) -> NDArray[np.intp]:
        """The columns in which a value can change."""

    @abstractmethod
    def other(self, gene: int, value: int, rng: np.random.Generator) -> int:
        """What the *value* of a gene mutates to."""

    @abstractmethod
    def others(
        self, genes: NDArray[np.integer], values: NDArray[Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:  # fmt: skip
        """What the *values* of many genes mutate to."""

    #: Whether sets of values can take the place of others.
    can_join: bool = False

    def joins(self, codes: NDArray[Any]) -> list[Join]:
        """The joins that change a file with these *codes*."""
        return []

    def added(self, original: NDArray[Any], codes: NDArray[Any]) -> float:
        """What knowing how labels came about adds to reading a file as it stands, as a share; see `added_by_labels`."""
        return 0.0

    @abstractmethod
    def packed(self, files: NDArray[Any]) -> NDArray[Any]:
        """Files as small as they can be kept."""

    @abstractmethod
    def unpacked(self, files: NDArray[Any]) -> NDArray[Any]:
        """Kept files as they evolve."""

    def kept(self) -> Values:
        """What must be kept of the genes beside the files, as arrays."""
        return {}

    def document(self) -> dict[str, Any]:
        """The same as plain values."""
        return {}


@dataclass(frozen=True)
class Categories(Genes):
    """Codes of as many labels as each column has, the last of them its *sets*: a mutation draws another one."""

    sizes: Sequence[int]
    sets: Sequence[Sequence[Sequence[int]]] = ()

    @property
    def columns(self) -> int:  # type: ignore[override]
        return len(self.sizes)

    @property
    def mutable(self) -> NDArray[np.intp]:
        return mutable_columns(self.sizes)

    @property
    def can_join(self) -> bool:  # type: ignore[override]
        return any(len(own) > 0 for own in self.sets)

    def other(self, gene: int, value: int, rng: np.random.Generator) -> int:
        return another_value(value, self.sizes[gene % len(self.sizes)], rng)

    def others(
        self, genes: NDArray[np.integer], values: NDArray[Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:  # fmt: skip
        drawn = rng.integers(np.asarray(self.sizes)[genes % len(self.sizes)] - 1)
        return np.asarray(drawn + (drawn >= values), dtype=np.int64)

    def joins(self, codes: NDArray[Any]) -> list[Join]:
        held = [np.bincount(codes[:, column], minlength=size) for column, size in enumerate(self.sizes)]
        every = (Join(each.column, each.label, each.within[held[each.column][each.within] > 0]) for each in self._joins)
        return [each for each in every if len(each.within)]

    @cached_property
    def _joins(self) -> list[Join]:
        """A join for each set: of its values, and of the sets that it holds and that hold fewer."""
        found = []
        for column, sets in enumerate(self.sets):
            values = self.sizes[column] - len(sets)
            for place, members in enumerate(sets):
                smaller = [values + other for other, each in enumerate(sets) if set(each) < set(members)]
                found.append(Join(column, values + place, np.array([*members, *smaller], dtype=np.intp)))
        return found

    def added(self, original: NDArray[Any], codes: NDArray[Any]) -> float:
        sets = self.sets or [()] * len(self.sizes)
        return max(
            added_by_labels(original[:, place], codes[:, place], size - len(own), own)
            for place, (size, own) in enumerate(zip(self.sizes, sets, strict=True))
        )

    def packed(self, files: NDArray[Any]) -> NDArray[Any]:
        return files.astype(np.min_scalar_type(max(self.sizes)))

    def unpacked(self, files: NDArray[Any]) -> NDArray[Any]:
        return files.astype(np.int32)

    def document(self) -> dict[str, Any]:
        return {"sets": self.sets or [() for _ in self.sizes]}


@dataclass(frozen=True, eq=False)
class WholeNumbers(Genes):
    """Numbers in units: a mutation turns one bit of the genome, which says where a number differs from its original.

    The bit is one up to the highest that is set, so that a mutation keeps a change as far as it reaches or makes it
    smaller; of a number that is its original the lowest. Columns with numbers below 0 are shifted to begin at 0. A
    number beyond the ends of its column, *lows* and *highs*, becomes that end.
    """

    original: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    @classmethod
    def over(cls, original: NDArray[np.int64], files: Sequence[NDArray[np.int64]]) -> WholeNumbers:
        """The genes of files that begin as these."""
        lows = np.min([each.min(axis=0) for each in (original, *files)], axis=0)
        return cls(original, lows, np.max([each.max(axis=0) for each in (original, *files)], axis=0))

    @property
    def columns(self) -> int:  # type: ignore[override]
        return int(self.original.shape[1])

    @property
    def mutable(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.lows < self.highs)

    def other(self, gene: int, value: int, rng: np.random.Generator) -> int:
        return int(self.others(np.array([gene]), np.array([value], dtype=np.int64), rng)[0])

    def others(
        self, genes: NDArray[np.integer], values: NDArray[Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:  # fmt: skip
        columns = genes % self.columns
        shifts = np.minimum(self.lows[columns], 0)
        own = gray_code(self.original.reshape(-1)[genes] - shifts)
        changed = gray_code(values - shifts) ^ own
        lengths = np.frexp(changed.astype(np.float64))[1]
        bits = rng.integers(np.maximum(lengths, 1))
        found = from_gray_code(changed ^ (np.int64(1) << bits) ^ own) + shifts
        clipped: NDArray[np.int64] = np.clip(found, self.lows[columns], self.highs[columns])
        return clipped

    def packed(self, files: NDArray[Any]) -> NDArray[Any]:
        return files

    def unpacked(self, files: NDArray[Any]) -> NDArray[Any]:
        return files

    def kept(self) -> Values:
        return {"lows": self.lows, "highs": self.highs}
