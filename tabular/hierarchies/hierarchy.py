"""Hierarchies: for every value of a domain one label per level, from the value itself to one label for all.

A file has them as ARX does: one row per value, one column per level, no header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY, Attribute, Members, Value, is_number, text_of
from tabular.errors import InvalidHierarchy, InvalidInput, InvalidRecord, counted
from tabular.files.columns import is_number_text
from tabular.files.csv_tables import Dialect, Rows, outside_quotes
from tabular.files.csv_texts import decoded
from tabular.files.disk import read_bytes, write_text
from tabular.intervals import with_round_ends
from tabular.loop import key_of
from tabular.table import Table

#: First cells that stand for a missing value, where the column has any.
_MISSING = ("", "?", "NULL", "null", "NA", "N/A", "NaN", "nan", "*missing*")


class LackingValues(InvalidHierarchy):
    """A hierarchy lacks labels for some *values* of a column."""

    def __init__(self, text: str, values: Sequence[Value]) -> None:
        super().__init__(text)
        self.values = tuple(values)


@dataclass(frozen=True, eq=False)
class Level:
    """One level: the group of each code of the domain, and the label of each group."""

    groups: NDArray[np.int32]
    labels: tuple[str, ...]

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """How many values of the domain lie under each label."""
        return np.bincount(self.groups, minlength=len(self.labels))

    @cached_property
    def sets(self) -> tuple[Members, ...]:
        """The codes that lie under each label, ascending."""
        by_group = np.argsort(self.groups, kind="stable")
        return tuple(tuple(part.tolist()) for part in np.split(by_group, np.cumsum(self.leaves)[:-1]))

    def published(self, attribute: Attribute) -> tuple[Members, ...]:
        """The same with the ends that are published where they are ranges of numbers."""
        return with_round_ends(attribute, self.sets, self.labels)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one attribute over its domain, each of which merges groups of the one below; made by `of`."""

    name: str
    domain: tuple[Value, ...]
    levels: tuple[Level, ...]

    @cached_property
    def key(self) -> str:
        """A digest of all that the hierarchy holds."""
        levels = [part for each in self.levels for part in (each.groups, each.labels)]
        return key_of(self.name, self.domain, *levels)

    @classmethod
    def of(
        cls,
        name: str,
        domain: Sequence[Value],
        labels: Sequence[Sequence[str]],
        *,
        where: Callable[[int], str] = lambda place: "",
    ) -> Hierarchy:
        """The hierarchy whose *labels* give, for each level from 1 on, one label per value of *domain*.

        For errors, *where* gives the place of a value in a file, by its number.

        >>> ages = Hierarchy.of("age", [17, 25, 31], [["young", "young", "old"], ["*", "*", "*"]])
        >>> ages.height, ages.levels[1].labels, ages.levels[1].groups.tolist(), ages.levels[1].leaves.tolist()
        (2, ('young', 'old'), [0, 0, 1], [2, 1])
        """
        values = tuple(domain)
        levels = [Level(np.arange(len(values), dtype=np.int32), tuple(map(text_of, values)))]
        for number, words in enumerate(labels, start=1):
            if len(words) != len(values):
                raise InvalidHierarchy(
                    f"Hierarchy of {name}, level {number}: it has {len(words)} labels for {len(values)} values."
                )
            levels.append(_grouped(words))
            _check_merges(name, number, levels[-2], levels[-1], where)
        top = levels[-1]
        if len(top.labels) > 1:
            second = int(np.argmax(top.groups != top.groups[0]))
            raise InvalidHierarchy(
                f"{where(second)}Hierarchy of {name}, level {len(levels) - 1}: the last level must be one label for "
                f"all, such as {ANY}; it has {len(top.labels)}."
            )
        return cls(name, values, tuple(levels))

    @property
    def height(self) -> int:
        """The number of the last level; level 0 has the values themselves."""
        return len(self.levels) - 1

    def over(self, domain: Sequence[Value], *, source: str = "") -> Hierarchy:
        """This hierarchy for the values of *domain*, in that order; values it lacks are refused.

        >>> Hierarchy.of("age", [17, 25], [["*", "*"]]).over([25]).levels[1].leaves.tolist()
        [1]
        """
        places = self._places(domain, source)
        levels = [Level(np.arange(len(places), dtype=np.int32), tuple(map(text_of, domain)))]
        for level in self.levels[1:]:
            used, groups = _numbered(level.groups[places])
            levels.append(Level(groups, tuple(level.labels[group] for group in used.tolist())))
        return Hierarchy(self.name, tuple(domain), tuple(levels))

    def _places(self, domain: Sequence[Value], source: str) -> NDArray[np.int64]:
        by_value = {value: place for place, value in enumerate(self.domain)}
        by_text = {text_of(value): place for place, value in enumerate(self.domain) if value is not None}
        # A file may write a number otherwise than the table does.
        by_number = {float(text): place for text, place in by_text.items() if is_number_text(text)}
        places, lacking = [], []
        for value in domain:
            place = by_value.get(value)
            if place is None and value is not None:
                place = by_text.get(text_of(value))
            if place is None and is_number(value):
                place = by_number.get(float(value))  # type: ignore[arg-type]
            if place is None:
                lacking.append(value)
            else:
                places.append(place)
        if lacking:
            raise self._lacks(lacking, source)
        return np.array(places, dtype=np.int64)

    def _lacks(self, values: Sequence[Value], source: str) -> LackingValues:
        begin = f"{source}Hierarchy of {self.name}: "
        if values == [None]:
            return LackingValues(
                f"{begin}it does not place missing values, which the column has; add a row with an empty first cell.",
                values,
            )
        # None of them is repeated: a cell of a table may be one person's.
        are = "is" if len(values) == 1 else "are"
        return LackingValues(f"{begin}{counted(len(values), 'value')} of the column {are} not in it.", values)

    def rows(self) -> list[list[str]]:
        """One row per value, one column per level, as in ARX."""
        columns = [[level.labels[group] for group in level.groups.tolist()] for level in self.levels]
        return [list(row) for row in zip(*columns, strict=True)]

    def generalised(self, table: Table, level: int) -> Table:
        """*table* with the column at a *level*: each value becomes the set of values under its label."""
        if not 0 <= level <= self.height:
            raise InvalidHierarchy(f"Hierarchy of {self.name}: its levels are 0 to {self.height}; there is no {level}.")
        if table.attribute(self.name).domain != self.domain or table.sets[self.name]:
            raise InvalidHierarchy(f"Hierarchy of {self.name}: it is not one of the values of this table's column.")
        groups = self.levels[level].groups[table.columns[self.name]]
        return table.with_labels(self.name, groups + len(self.domain), self.levels[level].sets)


def generalised(
    table: Table, hierarchies: Mapping[str, Hierarchy], node: Mapping[str, int], *, suppressed: NDArray[np.bool_]
) -> Table:
    """*table* with each column of *node* at its level, and `*` in all of them where a row is *suppressed*."""
    columns, sets = dict(table.columns), dict(table.sets)
    for name, height in node.items():
        level, size = hierarchies[name].levels[height], len(hierarchies[name].domain)
        groups = level.groups[table.columns[name]]
        columns[name] = (size + np.where(suppressed, len(level.labels), groups)).astype(np.int32)
        everything = tuple(range(size))
        sets[name] = (*(level.published(table.attribute(name)) if height else level.sets), everything)
    return Table(table.attributes, columns, sets)


def _grouped(words: Sequence[str]) -> Level:
    place: dict[str, int] = {}
    groups = np.fromiter((place.setdefault(word, len(place)) for word in words), dtype=np.int32, count=len(words))
    return Level(groups, tuple(place))


def _numbered(groups: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The groups in use, in the order of their first value, and the new number of each value's group."""
    used, firsts, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return used[order], np.argsort(order)[inverse].astype(np.int32)


def _check_merges(name: str, number: int, below: Level, level: Level, where: Callable[[int], str]) -> None:
    """Refuse a level that separates values which the level below has under one label."""
    first = np.zeros(len(below.labels), dtype=np.int64)
    places = np.arange(len(below.groups))
    # The first value under each label says where the label goes; written backwards, the first one stays.
    first[below.groups[::-1]] = places[::-1]
    apart = np.flatnonzero(level.groups != level.groups[first[below.groups]])
    if apart.size:
        place = int(apart[0])
        label = below.labels[below.groups[place]]
        one, other = (_shown(level, int(each)) for each in (first[below.groups[place]], place))
        raise InvalidHierarchy(
            f"{where(place)}Hierarchy of {name}, level {number}: {label!r} lies under both {one} and {other}; "
            "each level must merge the one below."
        )


def _shown(level: Level, place: int) -> str:
    """The label of a value on a level; where no other value has it, it may be the value itself, and a person's."""
    group = level.groups[place]
    return repr(level.labels[group]) if np.count_nonzero(level.groups == group) > 1 else "a label of one value"


def read_hierarchy(path: str | Path, attribute: Attribute, *, whole: bool = False) -> Hierarchy:
    """Read a hierarchy over the domain of *attribute*; rows for other values are left out unless it is *whole*."""
    data = read_bytes(path)
    text, encoding = decoded(data, str(path), None)
    if not text.strip():
        raise InvalidInput(f"{path}: the file is empty.")
    dialect = Dialect(delimiter=_delimiter(text), header=False, encoding=encoding, spaced=True)
    found = Rows(data, str(path), dialect)
    rows = [[cell.strip() for cell in row] for row in found]

    def where(row: int) -> str:
        return f"{path}, line {found.begins(row, 1)}: "

    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidRecord(f"{where(place)}this line has {len(row)} cells, the first {len(rows[0])}.")
    return hierarchy_of_rows(rows, attribute, source=f"{path}: ", where=where, whole=whole)


def hierarchy_of_rows(
    rows: Sequence[Sequence[str]],
    attribute: Attribute,
    *,
    source: str = "",
    where: Callable[[int], str] = lambda row: f"Row {row + 1}: ",
    whole: bool = False,
) -> Hierarchy:
    """The hierarchy that *rows* spell out, over the domain of *attribute*, or *whole*, over all their values.

    For errors, *source* says where the rows come from, and *where* the place of one of them.
    """
    first: dict[Value, int] = {}
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]) or not row:
            raise InvalidRecord(f"{where(place)}a row has a value and its label on each level, as the first one has.")
        before = first.setdefault(row[0], place)
        if list(row) != list(rows[before]):
            raise InvalidHierarchy(f"{where(place)}Hierarchy of {attribute.name}: its value has another row above.")
    values: list[Value] = list(first)
    if None in attribute.codes and "" not in attribute.codes:
        # The first of these stands for the missing value, unless the column has it as a value.
        marker = next((text for text in _MISSING if text in first and text not in attribute.codes), None)
        values = [None if marker is not None and value == marker else value for value in values]
    kept = list(first.values())
    labels = [[rows[place][level] for place in kept] for level in range(1, len(rows[0]) if rows else 1)]
    written = Hierarchy.of(attribute.name, values, labels, where=lambda place: where(kept[place]))
    fitting = written.over(attribute.domain, source=source)
    return written if whole else fitting


def write_hierarchy(path: str | Path | IO[bytes], hierarchy: Hierarchy) -> None:
    """Write a hierarchy file as ARX does."""
    write_text(path, "".join(f"{';'.join(map(_cell, row))}\n" for row in hierarchy.rows()), overwrite=False)


def hierarchy_files(folder: str | Path, columns: Iterable[str]) -> dict[str, Path]:
    """The hierarchy file of each column that has one: `NAME.csv`, or else one that ends in `_NAME.csv`."""
    if not Path(folder).is_dir():
        raise InvalidInput(f"{folder}: there is no such folder of hierarchies.")
    names = sorted(columns, key=len, reverse=True)
    found: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix.lower() == ".csv":
            # `salary_class.csv` is of `salary_class` where there is such a column, else of `class`.
            owner = next((name for name in names if path.stem == name or path.stem.endswith(f"_{name}")), None)
            if owner is not None:
                found.setdefault(owner, []).append(path)
    files = {}
    for name, paths in found.items():
        exact = [path for path in paths if path.stem == name]
        if not exact and len(paths) > 1:
            both = " and ".join(path.name for path in paths[:2])
            raise InvalidInput(f"{folder}: {both} could both be the hierarchy of {name!r}; call one {name}.csv.")
        files[name] = (exact or paths)[0]
    return files


def read_hierarchies(
    folder: str | Path, table: Table, names: Sequence[str], *, whole: bool = False
) -> dict[str, Hierarchy]:
    """Read the hierarchies of the columns *names* of *table* from the files of a folder.

    *Whole* ones keep all values of their files; otherwise values that the table lacks are left out.
    """
    attributes = [table.attribute(name) for name in names]
    files = hierarchy_files(folder, table.names)
    for name in names:
        if name not in files:
            there = ", ".join(sorted(path.name for path in Path(folder).glob("*.csv"))[:8]) or "no CSV file"
            wanted = f"{name}.csv or *_{name}.csv"
            raise InvalidInput(f"{folder}: there is no hierarchy for {name!r}, {wanted}; there is {there}.")
    found = {}
    for attribute in attributes:
        path = files[attribute.name]
        try:
            found[attribute.name] = read_hierarchy(path, attribute, whole=whole)
        except LackingValues as error:
            rows = np.flatnonzero(
                np.isin(table.columns[attribute.name], [attribute.codes[each] for each in error.values])
            )
            it = "it" if len(error.values) == 1 else "one"
            first = f"Data row {rows[0] + 1} is the first that has {it}" if rows.size else f"No row has {it}"
            way_out = "" if error.values == (None,) else f"; add a line for {it} to {path}"
            raise InvalidHierarchy(f"{error} {first}{way_out}.") from None
    return found


def _delimiter(text: str) -> str:
    """A semicolon, as in ARX, if each line has one; or else a tab or a comma."""
    lines = [outside_quotes(line) for line in text.splitlines() if line.strip()]
    return next((mark for mark in ";\t," if all(mark in line for line in lines)), max(";,\t", key=text.count))


def _cell(text: str) -> str:
    needs = any(mark in text for mark in (";", '"', "\n", "\r")) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if needs else text
