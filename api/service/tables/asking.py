"""What may be asked of a table: its rows, filtered, and how often values occur, read a block at a time."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named

#: So many rows are read at a time, so many of them are made ready together, and so many combinations of values are
#: counted at most.
_BLOCK, _PIECE, _MOST = 5_000, 250, 1_000_000

#: NAME=VALUE, NAME>=NUMBER, NAME<=NUMBER.
_CONDITION = re.compile(r"(.+?)(>=|<=|=)(.*)", re.DOTALL)


class Row(dict[str, Any]):
    """One row, ready for JSON."""

    @property
    def cells(self) -> tuple[Any, ...]:
        """Its values side by side."""
        return tuple(self.values())


@dataclass(frozen=True)
class Condition:
    """What a row must be like."""

    column: str
    sign: str
    text: str


class Values:
    """The values of a table, in a Parquet file."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self._file: Any = pq.ParquetFile(path)
        self.names: tuple[str, ...] = tuple(self._file.schema_arrow.names)

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def condition(self, text: str) -> Condition:
        """The condition that a text is."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise InvalidParameter(f"{named('where')} {text[:100]!r}: write NAME=VALUE, NAME>=NUMBER or NAME<=NUMBER.")
        column, sign, value = found.groups()
        self._check("where", [column])
        if sign != "=" and _number(value) is None:
            raise InvalidParameter.wrong("where", must=f"compare {column!r} with a number", was=value[:100])
        return Condition(column, sign, value)

    def columns(self, text: str) -> tuple[str, ...]:
        """The columns that a list with commas names, each once."""
        from api.verbs.values import names_in

        names = names_in("by", text)
        self._check("by", names)
        if not names or len(set(names)) < len(names):
            raise InvalidParameter.wrong("by", must="name one or more columns, each once", was=text[:100])
        return names

    def rows(self, conditions: Sequence[Condition], begin: int = 0) -> Iterator[tuple[int, Row]]:
        """The rows that meet all conditions, each with its number, from *begin* on."""
        for first, batch in self._batches(list(self.names), begin):
            kept = [each for each in _positions(batch, conditions) if first + each >= begin]
            for piece in (kept[at : at + _PIECE] for at in range(0, len(kept), _PIECE)):
                chosen = _taken(batch, piece).to_pydict()
                for place, values in zip(piece, zip(*chosen.values(), strict=True), strict=True):
                    yield first + place, Row(zip(self.names, map(_shown, values), strict=True))

    def counts(self, by: Sequence[str], conditions: Sequence[Condition]) -> list[Row]:
        """How many rows have each combination of values, in the order of the values."""
        needed = list(dict.fromkeys([*by, *(each.column for each in conditions)]))
        tally: Counter[tuple[Any, ...]] = Counter()
        for _, batch in self._batches(needed, 0):
            chosen = _taken(batch, _positions(batch, conditions)) if conditions else batch
            for values, count in _counted(chosen, by):
                tally[values] += count
            if len(tally) > _MOST:
                raise InvalidInput(f"There are more than {_MOST:,} combinations of values; count by fewer columns.")
        ordered = sorted(tally, key=lambda values: [_order(each) for each in values])
        header = (*by, counted_as(by))
        return [Row(zip(header, (*values, tally[values]), strict=True)) for values in ordered]

    def _batches(self, columns: list[str], begin: int) -> Iterator[tuple[int, Any]]:
        """Blocks of some columns, each with the number of its first row; those before *begin* are left out."""
        sizes = [self._file.metadata.row_group(each).num_rows for each in range(self._file.num_row_groups)]
        first = 0
        for group, size in enumerate(sizes):
            if first + size > begin:
                at = first
                for batch in self._file.iter_batches(_BLOCK, row_groups=[group], columns=columns, use_threads=False):
                    yield at, batch
                    at += batch.num_rows
            first += size

    def _check(self, parameter: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.names:
                text = UnknownName.among("column", name[:100], self.names).worded(named)
                raise InvalidParameter(f"{named(parameter)}: {text}")


def counted_as(by: Sequence[str]) -> str:
    """The name of the column of counts, the last one: no other column has it.

    >>> counted_as(["age"]), counted_as(["rows"])
    ('rows', 'rows_')
    """
    name = "rows"
    while name in by:
        name += "_"
    return name


def _positions(batch: Any, conditions: Sequence[Condition]) -> Sequence[int]:
    """The positions of the rows of a block that meet all conditions."""
    if not conditions:
        return range(batch.num_rows)
    masks = [_held(batch.column(each.column), each) for each in conditions]
    return [place for place, held in enumerate(zip(*masks, strict=True)) if all(held)]


def _held(column: Any, condition: Condition) -> list[bool]:
    """Which rows of a block meet a condition, which is asked of each value once."""
    encoded = column.dictionary_encode(null_encoding="encode")
    answers = [_holds(value, condition) for value in encoded.dictionary.to_pylist()]
    return [answers[index] for index in encoded.indices.to_pylist()]


def _counted(batch: Any, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """How many rows of a block have each combination of values; one may come twice, such as what is missing."""
    import pyarrow as pa

    groups = pa.Table.from_batches([batch]).group_by(list(by), use_threads=False).aggregate([([], "count_all")])
    *columns, counts = (each.to_pylist() for each in groups.columns)
    return zip(zip(*(map(_shown, each) for each in columns), strict=True), counts, strict=True)


def _taken(batch: Any, positions: Sequence[int]) -> Any:
    """The rows of a block at some positions, or at none."""
    import pyarrow as pa

    if positions and positions[-1] - positions[0] + 1 == len(positions):
        return batch.slice(positions[0], len(positions))

    # A list that is empty has no type of its own, and is refused.
    return batch.take(pa.array(positions, pa.int64()))


def _holds(value: Any, condition: Condition) -> bool:
    number = _number(condition.text)
    is_number = isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool)
    if condition.sign == "=":
        if value is None:
            return condition.text == ""
        return float(value) == number if is_number and number is not None else str(_shown(value)) == condition.text
    if not is_number or number is None:
        return False
    return float(value) >= number if condition.sign == ">=" else float(value) <= number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _shown(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def _order(value: Any) -> tuple[int, float, str]:
    """What values are ordered by: numbers, then texts, what is missing last."""
    if value is None:
        return 2, 0.0, ""
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))
