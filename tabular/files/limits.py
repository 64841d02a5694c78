"""Limits on what is read, so that a small file cannot take all memory.

GRAPHPRIV_MOST_COLUMNS, GRAPHPRIV_MOST_CELLS and GRAPHPRIV_LONGEST_FIELD set them; the service does so for itself and
its workers, with lower ones.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from tabular.errors import InvalidInput, InvalidParameter

#: For each cell that a table may have, its texts may have so many characters together.
_TEXT = 10

#: No limit has more digits: the reader of CSV takes numbers of 63 bits.
_DIGITS = 18

#: Where nothing else is said: 12 MB can hold a million columns, and 400 kB of Parquet fifty million rows.
MOST_COLUMNS, MOST_CELLS = 100_000, 2_000_000_000


class TooMuch(InvalidInput):
    """A file holds more than may be read."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that a table file may hold; None is no limit."""

    columns: int | None = None
    cells: int | None = None
    field: int | None = None

    @classmethod
    def of_environment(cls) -> Self:
        """The limits of this process."""
        return cls(
            columns=_number("GRAPHPRIV_MOST_COLUMNS") or MOST_COLUMNS,
            cells=_number("GRAPHPRIV_MOST_CELLS") or MOST_CELLS,
            field=_number("GRAPHPRIV_LONGEST_FIELD"),
        )

    def check(self, name: str, *, columns: int, rows: int = 0) -> None:
        """Refuse a table of so many columns and rows."""
        if self.columns is not None and columns > self.columns:
            raise TooMuch(f"{name}: the table has {columns:,} columns; here it may have {self.columns:,} "
                          "(GRAPHPRIV_MOST_COLUMNS).")  # fmt: skip
        if self.cells is not None and columns * rows > self.cells:
            raise TooMuch(f"{name}: the table has {columns * rows:,} cells; here it may have {self.cells:,} "
                          "(GRAPHPRIV_MOST_CELLS).")  # fmt: skip

    def check_text(self, name: str, length: int) -> None:
        """Refuse a table whose texts have so many characters together."""
        if self.cells is not None and length > _TEXT * self.cells:
            raise TooMuch(f"{name}: the texts of the table have {length:,} characters; here they may have "
                          f"{_TEXT * self.cells:,}.")  # fmt: skip

    def check_field(self, name: str, length: int) -> None:
        """Refuse a cell of so many characters."""
        if self.field is not None and length > self.field:
            raise TooMuch(f"{name}: a cell has {length:,} characters; here it may have {self.field:,}.")


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    if text and not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise InvalidParameter.wrong(variable, must=f"be a whole number of at most {_DIGITS} digits", was=text[:100])
    return int(text) if text else None
