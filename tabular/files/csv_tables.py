"""Cells of CSV files, written so that a spreadsheet runs nothing, and small tables of them.

A text cell that a spreadsheet could take for a formula gets an apostrophe in front, and loses it again on reading. A
cell that begins with apostrophes before such a character gets one more, so that every text comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import IO

#: What a spreadsheet takes for the beginning of a formula, and what it skips before one.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_HARMLESS = re.compile(r"'+[=+\-@\t\r]")
#: A cell with one of these in it, or with a space at either end, stands in quotes; so does a comment that is none.
_QUOTED = re.compile(r'[",;|\t\r\n]|^[ #\ufeff]| $')

_BLOCK = 1 << 16


def harmless(cell: str) -> str:
    """The *cell* as text that no spreadsheet runs.

    >>> harmless("=1+1"), harmless("@someone"), harmless("'s-Gravenhage")
    ("'=1+1", "'@someone", "'s-Gravenhage")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def plain(cell: str) -> str:
    """The text that `harmless` was given.

    >>> plain("'=1+1"), plain(harmless("'=1+1")), plain("'s-Gravenhage")
    ('=1+1', "'=1+1", "'s-Gravenhage")
    """
    return cell[1:] if cell.startswith("'") and _HARMLESS.match(cell) else cell


def write_csv(
    file: IO[bytes], header: Sequence[str], rows: Iterable[Sequence[str | float | None]], *, delimiter: str = ","
) -> None:
    """Write *rows* under *header*; texts are made harmless, numbers stay numbers, None is an empty cell."""
    block: list[str] = [delimiter.join(map(written_cell, header))] if header else []
    for row in rows:
        line = delimiter.join(map(written_cell, row))
        # A single empty cell would be a blank line, which readers skip.
        block.append(line or '""')
        if len(block) == _BLOCK:
            file.write("\n".join(block).encode() + b"\n")
            block = []
    if block:
        file.write("\n".join(block).encode() + b"\n")


def written_cell(cell: str | float | None) -> str:
    """A cell as it stands in a file: harmless, and in quotes where it must be.

    >>> written_cell("a,b"), written_cell("-1"), written_cell(-1), written_cell(None)
    ('"a,b"', "'-1", '-1', '')
    """
    if cell is None:
        return ""
    text = harmless(cell) if isinstance(cell, str) else str(cell)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
