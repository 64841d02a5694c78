"""The base class of measures of a masked table, their registry, and both files as measures read them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, Members
from tabular.errors import InvalidInput
from tabular.matrices.transition import ROUNDING
from tabular.registry import Method, Registry
from tabular.table import Table, equivalence_classes

#: The measures of continuous attributes, which read values as numbers.
NUMERIC = ("pil", "dbrl-numbers", "prl-numbers")

Numbers: TypeAlias = NDArray[np.float64]

#: Up to so many powers of two from 1, fourth powers of numbers and sums of them are neither too great nor too small.
_USUAL = 128


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a measure returns: the paper's formula and, where it has such a scale, a percentage.

    The true percentage lies within *bound* of the one given; where it is 0 the reading is exact.
    """

    raw: float
    percent: float | None = None
    bound: float = 0.0

    @classmethod
    def share(cls, raw: float, of: float) -> Reading:
        """The reading of a formula whose greatest value is *of*."""
        return cls(raw=raw, percent=100 * raw / of)


@dataclass(frozen=True, kw_only=True)
class Measure(Method):
    """A way to compare a masked table with its original."""

    #: More attributes than these it cannot compare.
    most_attributes: ClassVar[int | None] = None

    @abstractmethod
    def measure(self, original: Table, masked: Table, attributes: Sequence[str]) -> Reading:
        """Compare the two by *attributes*; row i of both is the same record."""


measures: Registry[Measure] = Registry("measure")


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of both files: codes below *size* are values of the domain, masked ones from there on sets."""

    name: str
    ordered: bool
    size: int
    sets: Sequence[Members]
    original: NDArray[np.int32]
    masked: NDArray[np.int32]

    def members(self, label: int) -> Members:
        """The values a masked code stands for."""
        return (label,) if label < self.size else self.sets[label - self.size]


def paired_columns(original: Table, masked: Table, attributes: Sequence[str]) -> tuple[Column, ...]:
    """The columns to compare, or an error if the tables are not versions of each other."""
    if isinstance(attributes, str) or not attributes or len(set(attributes)) < len(attributes):
        raise InvalidInput("A measure needs a list of one or more columns, none of them twice.")
    if len(original) != len(masked):
        raise InvalidInput(
            f"Both files have a row for each record: the original has {len(original)}, the masked one {len(masked)}."
        )
    if not len(original):
        raise InvalidInput("The files have no records; there is nothing to measure.")
    return tuple(_column(original, masked, name) for name in attributes)


def _column(original: Table, masked: Table, name: str) -> Column:
    attribute, other = original.attribute(name), masked.attribute(name)
    # Masking a continuous attribute can bring new values; the original's are still among them.
    is_numeric = attribute.kind == CONTINUOUS
    fits = attribute.domain == other.domain or (is_numeric and set(attribute.domain) <= set(other.domain))
    if attribute.kind != other.kind or not fits:
        raise InvalidInput(f"Column {name!r}: the masked table must have the domain of the original (Table.masked).")
    if original.sets[name]:
        raise InvalidInput(f"Column {name!r}: the original holds labels that stand for sets; it must hold values.")
    if attribute.domain == other.domain:
        places = np.arange(len(attribute.domain), dtype=np.int32)
    else:
        places = np.array([other.codes[value] for value in attribute.domain], dtype=np.int32)
    return Column(
        name=name,
        ordered=attribute.is_ordered,
        size=len(other.domain),
        sets=masked.sets[name],
        original=places[original.columns[name]],
        masked=masked.columns[name],
    )


def checked_matrix(column: Column, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """*matrix* as numbers, or an error if it is not a transition matrix of the column's domain."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (column.size, column.size):
        raise InvalidInput(f"The matrix of {column.name!r} must be {column.size} x {column.size}, as the domain is.")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or (np.abs(matrix.sum(axis=1) - 1) > ROUNDING).any():
        raise InvalidInput(f"The matrix of {column.name!r} is not stochastic: each row must sum to 1, none below 0.")
    if len(column.sets):
        raise InvalidInput(f"Column {column.name!r} holds labels that stand for sets; no transition matrix makes them.")
    return matrix


@dataclass(frozen=True, eq=False)
class Combinations:
    """The distinct rows of some columns in the order of their codes, their counts, and the combination of each row."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    of_row: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.int32]]) -> Combinations:
        """The combinations of one file."""
        classes = equivalence_classes(columns)
        return cls(np.stack([column[classes.firsts] for column in columns], axis=1), classes.sizes, classes.labels)

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The combinations of both files, and the number of records for each pair of them that occurs."""

    original: Combinations
    masked: Combinations
    origins: NDArray[np.int64]
    results: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Pairs:
        """The pairs that occur, in the order of the original's combinations, then the masked one's."""
        original = Combinations.of([column.original for column in columns])
        masked = Combinations.of([column.masked for column in columns])
        keys, records = np.unique(original.of_row * len(masked) + masked.of_row, return_counts=True)
        return cls(original, masked, keys // len(masked), keys % len(masked), records)


def numbers_of(original: Table, masked: Table, attributes: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Both files, a row a record and a column an attribute.

    The records stand in the order of their values, so that sums do not depend on the order of the files.
    """
    paired_columns(original, masked, attributes)
    before, after = (np.stack([table.numbers(name) for name in attributes], axis=1) for table in (original, masked))
    order = np.lexsort(np.concatenate([before, after], axis=1).T)
    return before[order], after[order]


def far_from_one(*files: Numbers) -> NDArray[np.int64]:
    """For each column the power of two that brings its numbers near 1, where powers of them leave what floats hold.

    It is 0 for all usual numbers. Statistics of numbers that are divided by it are the same, and neither too great
    nor too small.
    """
    greatest = np.max([np.abs(numbers).max(axis=0, initial=0.0) for numbers in files], axis=0)
    exponents = np.frexp(greatest)[1].astype(np.int64)
    return np.where(np.abs(exponents) > _USUAL, exponents, 0)


def deviations(numbers: Numbers) -> Numbers:
    """The standard deviation of each column; 1 instead of 0, so that it can be divided by."""
    far = far_from_one(numbers)
    found = np.zeros(numbers.shape[1])
    if len(numbers) > 1:
        found = np.ldexp(np.ldexp(numbers, -far).std(axis=0, ddof=1), far)
    constant = numbers.max(axis=0) == numbers.min(axis=0)
    deviation: Numbers = np.where(constant, 1.0, found)
    return deviation
