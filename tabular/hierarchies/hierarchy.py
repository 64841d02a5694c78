"""Hierarchies: for every value of a domain one label per level, from the value itself to one label for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import Value, is_number
from tabular.errors import InvalidHierarchy, UnknownName
from tabular.files.written_numbers import is_number_text
from tabular.labels import ANY, Members, text_of
from tabular.table import Table


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


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one attribute over its domain, each of which merges groups of the one below; made by `of`."""

    name: str
    domain: tuple[Value, ...]
    levels: tuple[Level, ...]

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
                f"{begin}it says nothing of missing values, which the column has; add a row with an empty first cell.",
                values,
            )
        text = text_of(next(value for value in values if value is not None))
        near = str(UnknownName.among("value", text, map(text_of, self.domain)))
        more = f" ({len(values)} values of the column are not in it.)" if len(values) > 1 else ""
        return LackingValues(f"{begin}{near[0].lower()}{near[1:]}{more}", values)

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
        one, other = (level.labels[level.groups[each]] for each in (first[below.groups[place]], place))
        raise InvalidHierarchy(
            f"{where(place)}Hierarchy of {name}, level {number}: {label!r} lies under both {one!r} and {other!r}; "
            "each level must merge the one below."
        )
