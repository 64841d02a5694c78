"""What was released before, and the rule over all releases: nobody's published tuples, side by side, are rare.

A person's *trail* is what each release published of that person: a tuple of labels, or nothing, where the person was
not in the table or the row was suppressed and so left out. (A release that shows its suppressed rows as `*` says `*`.)
The rule: each trail with a tuple in it is that of at least k persons.

Whoever holds all releases, knows a target's values at any time and which releases the target is in, and is even told
which published rows of different releases belong to one person, sees trails and no more: those of the same trail cannot
be told apart, so at least k persons fit the target, or nothing was ever published of the target. The decision of D-KGEN
follows, each time because persons of one trail stand or fall together:

- *Rows consistent with all published tuples of a row*: among them are all of its trail, k at least.
- *Rows added to a class* between two releases: those with nothing in the earlier and the class in the later one. That
  is a union of trails, each with a tuple in it: none or at least k rows.
- *Rows removed from a class*, by the same argument: the class in the earlier release and nothing in the later one. And
  so for the rows that moved from one class to another, whichever the releases.

Between two releases the rule is no more than the decision: with two places, a trail is either a pair of tuples, or an
addition, or a removal. Over more it asks for more, as it takes a target's absence for known.

The rule implies k within each release: a class is a union of trails. And it says what can be mended. Who is gone is
gone: where fewer than k of a trail leave the table, only others who leave the release with them, suppressed and left
out, can hide them. So the rows that have to go are settled trail by trail (see `buckets`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tabular.attributes import text_of
from tabular.errors import InvalidInput, NoSolution
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Flags, Node, Numbers
from tabular.table import Table, equivalence_classes

#: Nothing of the person stands in the release: the person was not in the table, or the row was left out.
NOTHING = -1
#: The row stands in the release, suppressed: `*` in all quasi-identifiers, and perhaps something in the other columns.
STARRED = -2

#: The place of a history in a private record.
HISTORY = "history"


@dataclass(frozen=True, eq=False)
class Publication:
    """One release: its node, the distinct tuples of labels in it, and which of them each person had."""

    node: Node
    tuples: tuple[tuple[str, ...], ...]
    said: Numbers

    def of(self, persons: int) -> Numbers:
        """What it says of so many *persons*; of those who came later nothing."""
        return np.concatenate([self.said, np.full(persons - len(self.said), NOTHING)])


@dataclass(frozen=True, eq=False)
class Trails:
    """Persons of whom all releases say the same follow one trail: the trail of each person, and those on each."""

    of: Numbers
    sizes: Numbers
    #: Whether no release says a tuple of those on it.
    silent: Flags
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

    def places_of(self, keys: Sequence[str]) -> Numbers:
        """The places of the persons with these *keys*; -1 for those who are new."""
        places = {person: place for place, person in enumerate(self.persons) if person is not None}
        return np.array([places.get(each, -1) for each in keys], dtype=np.int64)

    def extended(
        self, table: Table, hierarchies: Mapping[str, Hierarchy], node: Node, suppressed: Flags, *, silent: bool = True
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
    table: Table, hierarchies: Sequence[Hierarchy], node: Node, kept: Flags
) -> tuple[Numbers, tuple[tuple[str, ...], ...]]:
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


def document_of(history: History) -> dict[str, Any]:
    """A *history* as plain values."""
    return {
        "columns": list(history.names),
        "key": history.key,
        "persons": list(history.persons),
        "releases": [
            {"levels": list(each.node), "tuples": [list(labels) for labels in each.tuples], "said": each.said.tolist()}
            for each in history.publications
        ],
    }


def history_in(data: bytes, where: str) -> History:
    """The history that a private record holds; *where* names the file."""
    try:
        document = json.loads(data)
    except (ValueError, UnicodeDecodeError, RecursionError):
        raise _strange(where) from None
    held = document.get(HISTORY) if isinstance(document, Mapping) else None
    if not isinstance(held, Mapping):
        raise _strange(where)
    try:
        return history_of(held)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{where}: the record is damaged; take the one that the last release was written with."
        ) from None


def history_of(held: Mapping[str, Any]) -> History:
    """The history that `document_of` gave as plain values; a ValueError or the like where it is damaged."""
    names, key, persons = _texts(held["columns"]), held["key"], tuple(held["persons"])
    known = [each for each in persons if each is not None]
    if not all(isinstance(each, str) for each in known) or len(set(known)) < len(known):
        raise ValueError
    if not (key is None or isinstance(key, str)) or not names or len(set(names)) < len(names):
        raise ValueError
    publications = tuple(_publication(each, len(names), len(persons)) for each in held["releases"])
    return History(names, key, persons, publications)


def _publication(held: Mapping[str, Any], attributes: int, persons: int) -> Publication:
    node = tuple(_whole(level) for level in held["levels"])
    tuples = tuple(_texts(labels) for labels in held["tuples"])
    said: Numbers = np.array([_whole(each) for each in held["said"]], dtype=np.int64)
    if len(node) != attributes or any(len(labels) != attributes for labels in tuples) or len(said) > persons:
        raise ValueError
    if len(said) and (said.min() < STARRED or said.max() >= len(tuples)):
        raise ValueError
    return Publication(node, tuples, said)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return tuple(values)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _strange(where: str) -> InvalidInput:
    return InvalidInput(
        f"{where}: this is neither the private record of a search nor a released table, CSV or Parquet."
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """The rows of a new table by the trails of their persons so far.

    *absent* are the persons of each trail who are not in the table, *silent* the trails on which nothing was published.
    """

    persons: Numbers
    trails: Numbers
    absent: Numbers
    silent: Flags

    @classmethod
    def of(cls, history: History, table: Table) -> Standing:
        """The rows of *table*; who is new is as those who stood in no release, though they were in a table."""
        persons, before = history.places_of(keys_of(table, history.key)), history.trails
        known = persons >= 0
        trails = np.full(len(persons), before.unseen)
        trails[known] = before.of[persons[known]]
        absent = before.sizes - np.bincount(trails[known], minlength=len(before.sizes))
        return cls(persons, trails, absent, before.silent)

    @property
    def added(self) -> int:
        """How many persons were in no table before."""
        return int((self.persons < 0).sum())

    @property
    def removed(self) -> int:
        """How many persons are not in the table any more, from whichever release on."""
        return int(self.absent.sum())


def refuse_broken(history: History, k: int) -> None:
    """Refuse a *k* that the earlier releases already break together: what was published cannot be taken back."""
    least = history.k
    if least is not None and least < k:
        raise NoSolution(
            f"No release keeps k={k} with the previous ones: of some persons they say together what only {least} "
            f"share. Ask for k={least} at most."
        )


def already_told(history: History, k: int) -> int:
    """How many persons share all that was published of them with fewer than *k*, counted in a plain way."""
    persons = len(history.persons)
    said = zip(*(each.of(persons).tolist() for each in history.publications), strict=True)
    trails = Counter(
        tuple(
            publication.tuples[place] if place >= 0 else place
            for publication, place in zip(history.publications, places, strict=True)
        )
        for places in said
    )
    return sum(
        count for trail, count in trails.items() if count < k and not all(each in (NOTHING, STARRED) for each in trail)
    )
