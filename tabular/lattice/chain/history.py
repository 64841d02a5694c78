"""What was released before: for each person and each release the tuple that was published, or that none was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import text_of
from tabular.errors import InvalidInput
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Node
from tabular.table import Table, equivalence_classes

#: Nothing of the person stands in the release: the person was not in the table, or the row was left out.
NOTHING = -1
#: The row stands in the release, suppressed: `*` in all quasi-identifiers, and perhaps something in the other columns.
STARRED = -2

#: How the rows of a table were matched with those of the releases before.
BY_KEY, BY_POSITION = "key", "position"


@dataclass(frozen=True, eq=False)
class Publication:
    """One release: its node, the distinct tuples of labels in it, and which of them each person had."""

    node: Node
    tuples: tuple[tuple[str, ...], ...]
    said: NDArray[np.int64]

    def of(self, persons: int) -> NDArray[np.int64]:
        """What it says of so many *persons*; of those who came later nothing."""
        return np.concatenate([self.said, np.full(persons - len(self.said), NOTHING)])


@dataclass(frozen=True, eq=False)
class Trails:
    """Persons of whom all releases say the same follow one trail: the trail of each person, and those on each."""

    of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    #: Whether no release says a tuple of those on it.
    silent: NDArray[np.bool_]
    #: The trail of those who stand in no release at all, as everybody does before coming.
    unseen: int


@dataclass(frozen=True, eq=False)
class History:
    """All releases so far of the *names*, over all persons who were ever in the table.

    A person is a text of the column *key*, or, without one, a position counted from 1. One who is forgotten has none:
    such a person counts with those of the same trail, and is not found again.
    """

    names: tuple[str, ...]
    key: str | None = None
    persons: tuple[str | None, ...] = ()
    publications: tuple[Publication, ...] = ()
    #: Where it was read, and how its rows are told apart, as a sentence has it.
    matched: str = "nothing was released before"

    @classmethod
    def begun(cls, names: Sequence[str], key: str | None = None) -> History:
        """The history before the first release of the columns *names*."""
        return cls(tuple(names), key)

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return len(self.publications)

    @cached_property
    def trails(self) -> Trails:
        """The persons by all that was said of them."""
        # One who stands in no release is added, so that there is such a trail, and taken away again.
        said = [np.append(each.of(len(self.persons)), NOTHING) for each in self.publications]
        found = equivalence_classes(said or [np.zeros(len(self.persons) + 1, dtype=np.int64)])
        silent = np.ones(len(found.sizes), dtype=np.bool_)
        for codes in said:
            silent[found.labels[codes >= 0]] = False
        sizes, unseen = found.sizes.copy(), int(found.labels[-1])
        sizes[unseen] -= 1
        return Trails(found.labels[:-1], sizes, silent, unseen)

    @property
    def k(self) -> int | None:
        """The fewest persons on one trail on which something was published; None if nothing ever was."""
        sizes = self.trails.sizes[~self.trails.silent]
        return int(sizes.min()) if len(sizes) else None

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each person by the key."""
        return {person: place for place, person in enumerate(self.persons) if person is not None}

    def places_of(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """The places of the persons with these *keys*; -1 for those who are new."""
        place = self.places.get
        return np.array([place(each, -1) for each in keys], dtype=np.int64)

    def extended(
        self,
        table: Table,
        hierarchies: Mapping[str, Hierarchy],
        node: Node,
        suppressed: NDArray[np.bool_],
        *,
        silent: bool = True,
    ) -> History:
        """The history with the release of *table* at a *node*, in which the *suppressed* rows say nothing.

        *silent* says that those rows were left out; else they stand in the release as `*`.
        """
        keys = keys_of(table, self.key)
        places = self.places_of(keys)
        new = np.flatnonzero(places < 0)
        places[new] = len(self.persons) + np.arange(len(new))
        persons = (*self.persons, *(keys[row] for row in new.tolist()))
        labels, tuples = _tuples(table, [hierarchies[name] for name in self.names], node, ~suppressed)
        said = np.full(len(persons), NOTHING, dtype=np.int64)
        said[places[~suppressed]] = labels
        if not silent:
            said[places[suppressed]] = STARRED
        publication = Publication(tuple(int(level) for level in node), tuples, said)
        return replace(self, persons=persons, publications=(*self.publications, publication))


def keys_of(table: Table, key: str | None) -> list[str]:
    """Who each row is: the texts of the column *key*, none missing and none twice; without one, the positions.

    >>> keys_of(Table.from_columns({"id": ["x", "y"]}), None)
    ['1', '2']
    """
    if key is None:
        return [str(place + 1) for place in range(len(table))]
    values = table.values(key)
    keys = [text_of(value) for value in values]
    if None not in table.attribute(key).codes and len(set(keys)) == len(keys):
        return keys
    seen: dict[str, int] = {}
    for row, (value, text) in enumerate(zip(values, keys, strict=True)):
        if value is None:
            raise InvalidInput(f"Column {key!r}, row {row + 1}: the key is missing; every row needs its own.")
        if seen.setdefault(text, row) != row:
            raise InvalidInput(
                f"Column {key!r}: rows {seen[text] + 1} and {row + 1} have the same key; every row needs its own."
            )
    return keys


def _tuples(
    table: Table, hierarchies: Sequence[Hierarchy], node: Node, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """For each row kept its tuple, by number, and the labels of all tuples."""
    fitting = [each.over(table.attribute(each.name).domain) for each in hierarchies]
    levels = [each.levels[level] for each, level in zip(fitting, node, strict=True)]
    columns = [level.groups[table.columns[each.name][kept]] for each, level in zip(fitting, levels, strict=True)]
    found = equivalence_classes(columns)
    words = [
        [level.labels[group] for group in column[found.firsts].tolist()]
        for level, column in zip(levels, columns, strict=True)
    ]
    return found.labels, tuple(zip(*words, strict=True))
