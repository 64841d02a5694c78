"""Numbers as whole units of their last decimal, in which they evolve and are counted exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import widened
from tabular.errors import InvalidInput, InvalidParameter
from tabular.table import Table

#: The most digits after the point.
DECIMALS = 9

#: Units farther than this from the middle of their column cannot be counted exactly.
REACH = 1 << 31


@dataclass(frozen=True, eq=False)
class Units:
    """What one unit of each column is: one over a power of ten. *middles* are near the means, in units."""

    original: Table
    attributes: tuple[str, ...]
    tens: NDArray[np.float64]
    middles: NDArray[np.int64]

    @classmethod
    def of(cls, original: Table, attributes: Sequence[str], decimals: int | None = None) -> Units:
        """Units as fine as the numbers of the original have *decimals*, or as many of them as are given."""
        tens = np.array([_tens(name, original.numbers(name), decimals) for name in attributes])
        units = cls(original, tuple(attributes), tens, np.zeros(len(tens), dtype=np.int64))
        middles = np.rint(units.of_table(original).mean(axis=0)).astype(np.int64)
        return replace(units, middles=middles)

    def of_table(self, table: Table) -> NDArray[np.int64]:
        """The numbers of a *table* in units, rounded to whole ones, a row a record."""
        numbers = np.stack([table.numbers(name) for name in self.attributes], axis=1)
        units = np.rint(numbers * self.tens)
        far = np.argwhere(np.abs(units - getattr(self, "middles", 0)) >= REACH)
        if len(far):
            row, column = far[0]
            raise InvalidInput(
                f"Column {self.attributes[column]!r}, row {row + 1}: evolution takes numbers of up to 9 digits, those "
                "after the point included; round them, or give them in greater units."
            )
        return units.astype(np.int64)

    def numbers(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """What *units* stand for."""
        return units / self.tens

    def table_of(self, units: NDArray[np.int64]) -> Table:
        """The protected file with these *units*: the original with other numbers."""
        described = {each.name: each for each in self.original.attributes}
        columns = dict(self.original.columns)
        for place, name in enumerate(self.attributes):
            whole, ten = units[:, place].tolist(), self.tens[place]
            values = whole if ten == 1 else [each / ten for each in map(float, whole)]
            described[name] = widened(described[name], values)
            codes = described[name].codes
            columns[name] = np.array([codes[value] for value in values], dtype=np.int32)
        return Table(tuple(described.values()), columns)


def _tens(name: str, numbers: NDArray[np.float64], decimals: int | None) -> float:
    """The power of ten for a column."""
    needed = next(
        (each for each in range(DECIMALS + 1) if (np.rint(numbers * 10.0**each) / 10.0**each == numbers).all()), None
    )
    if needed is None:
        raise InvalidInput(
            f"Column {name!r}: evolution takes numbers of at most {DECIMALS} digits after the point; round them."
        )
    if decimals is not None and decimals < needed:
        raise InvalidParameter.wrong(
            "decimals", must=f"be {needed} or more, as column {name!r} has", was=decimals, owner="Records"
        )
    return 10.0 ** (needed if decimals is None else decimals)
