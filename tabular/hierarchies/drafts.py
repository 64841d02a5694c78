"""Hierarchies in the making: a person names groups, joins them, takes values out, adds and drops levels.

A value that lacks a label on some level has no place yet. Each step gives a new draft, in which every level still
merges groups of the one below.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabular.attributes import ANY, Attribute, text_of
from tabular.errors import InvalidInput, InvalidParameter
from tabular.hierarchies.builders import build, present
from tabular.hierarchies.hierarchy import Hierarchy, LackingValues, hierarchy_of_rows
from tabular.hierarchies.proposals import proposed

#: So many levels a draft has at most, and so many characters a label.
MOST_LEVELS, LONGEST = 20, 200

#: What values are joined under that are too rare to stand alone.
OTHERS = "Other"

#: The label of the missing value where it stands alone.
MISSING = "(missing)"

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Draft:
    """The labels of *values*, level by level from 1 on; the last level, *top* for all of them, is not among them."""

    values: Labels
    levels: tuple[Labels, ...]
    top: str = ANY

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[str]], lacking: Iterable[str] = ()) -> Draft:
        """The draft of a hierarchy that *rows* spell out, and of values that it lacks.

        >>> Draft.of_rows([["a", "x", "*"], ["b", "x", "*"]], ["c"])
        Draft(values=('a', 'b', 'c'), levels=(('x', 'x', ''),), top='*')
        """
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]]
        more = list(lacking)
        top = columns[-1][0] if len(columns) > 1 else ANY
        # Builders leave the missing value without a word.
        named = [
            [label or MISSING * (not row[0]) for label, row in zip(each, rows, strict=True)] for each in columns[1:-1]
        ]
        levels = tuple((*column, *[""] * len(more)) for column in named)
        return cls((*columns[0], *more), levels, top)

    @classmethod
    def by_hand(cls, values: Sequence[str], rare: Iterable[str] = ()) -> Draft:
        """A draft of one level, on which all values stand alone but for the *rare* ones, if these are several."""
        joined = set(rare)
        label = dict.fromkeys(joined, OTHERS) if len(joined) > 1 else {}
        return cls(tuple(values), (tuple(label.get(value, value or MISSING) for value in values),))

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Draft:
        """The draft that `document` gave."""
        return cls(tuple(document["values"]), tuple(map(tuple, document["levels"])), document["top"])

    def document(self) -> dict[str, Any]:
        """The draft as plain values."""
        return {"values": list(self.values), "levels": [list(each) for each in self.levels], "top": self.top}

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.levels) + 1

    @property
    def unplaced(self) -> list[int]:
        """The places of values that lack a label on some level."""
        return [place for place, labels in enumerate(self._by_value()) if "" in labels]

    def group(self, place: int, level: int) -> list[int]:
        """The places of the values that share the label of one on a level."""
        label = self.label(place, level)
        return (
            [place]
            if level == 0 or not label
            else [at for at, each in enumerate(self.levels[level - 1]) if each == label]
        )

    def label(self, place: int, level: int) -> str:
        """The label of a value on a level."""
        return self.values[place] if level == 0 else self.levels[level - 1][place]

    def put(self, places: Iterable[int], level: int, label: str) -> Draft:
        """Give the groups of some values a label on a level; where others have it already, they come under theirs.

        >>> draft = Draft(("a", "b", "c"), (("a", "b", "c"), ("x", "x", "y")))
        >>> draft.put([0, 2], 1, "ac").levels
        (('ac', 'b', 'ac'), ('x', 'x', 'x'))
        >>> draft.put([1], 2, "y").levels
        (('a', 'b', 'c'), ('x', 'y', 'y'))
        """
        text = self._checked(label)
        self._check_level(level)
        chosen, levels = sorted(set(places)), [list(each) for each in self.levels]
        if chosen and not 0 <= chosen[0] <= chosen[-1] < len(self.values):
            raise InvalidParameter.wrong("value", must="be a value of the hierarchy", was=chosen)
        for below in range(level - 1):
            # Whoever comes under a label has a place below it, too.
            for place in chosen:
                if not levels[below][place]:
                    _put(levels, [place], below, levels[below - 1][place] if below else self._alone(place))
        if chosen:
            _put(levels, chosen, level - 1, text)
        return replace(self, levels=tuple(map(tuple, levels)))

    def rename(self, place: int, level: int, label: str) -> Draft:
        """Give the group of a value another label on a level; with the label of another group the two are joined."""
        return self.put(self.group(place, level), level, label)

    def take_out(self, places: Iterable[int], level: int) -> Draft:
        """Let what some values are on the level below stand alone on a level.

        >>> Draft(("a", "b", "c"), (("x", "x", "x"),)).take_out([1], 1).levels
        (('x', 'b', 'x'),)
        """
        found = self
        self._check_level(level)
        for place in sorted(set(places)):
            label, moved = found.label(place, level - 1) or self._alone(place), found.group(place, level - 1)
            inside = set(moved)
            taken = {each for at, each in enumerate(found.levels[level - 1]) if at not in inside}
            found = found.put(moved, level, _free(label, taken))
        return found

    def settled(self) -> Draft:
        """The draft in which values without a place stand alone."""
        below, levels = tuple(map(self._alone, range(len(self.values)))), []
        for labels in self.levels:
            taken, new = set(labels), {}
            for alone in dict.fromkeys(each for each, label in zip(below, labels, strict=True) if not label):
                new[alone] = _free(alone, taken)
                taken.add(new[alone])
            below = tuple(label or new[alone] for alone, label in zip(below, labels, strict=True))
            levels.append(below)
        return replace(self, levels=tuple(levels))

    def with_level(self, level: int) -> Draft:
        """The draft with a new level, on which nothing is joined that is not joined below it."""
        if self.height >= MOST_LEVELS:
            raise InvalidInput(f"A hierarchy has at most {MOST_LEVELS} levels here; drop one first.")
        if not 1 <= level <= self.height:
            raise InvalidParameter.wrong("level", must=f"be from 1 to {self.height}", was=level)
        unplaced = set(self.unplaced)
        below = self.levels[level - 2] if level > 1 else tuple(map(self._alone, range(len(self.values))))
        new = tuple("" if place in unplaced else label for place, label in enumerate(below))
        return replace(self, levels=(*self.levels[: level - 1], new, *self.levels[level - 1 :]))

    def without_level(self, level: int) -> Draft:
        """The draft without a level."""
        self._check_level(level)
        return replace(self, levels=(*self.levels[: level - 1], *self.levels[level:]))

    def trimmed(self) -> Draft:
        """The draft without levels that join nothing more than the one below, or everything as the last one does.

        >>> Draft(("a", "b"), (("a", "b"), ("x", "x"))).trimmed().levels
        ()
        """
        kept: list[Labels] = []
        before = len(self.values)
        for labels in self.levels:
            count = len(set(labels))
            if 1 < count < before:
                kept.append(labels)
                before = count
        return replace(self, levels=tuple(kept))

    def rows(self) -> list[list[str]]:
        """One row for each value: the value, and its label on each level."""
        return [[value, *labels, self.top] for value, labels in zip(self.values, self._by_value(), strict=True)]

    def hierarchy(self, attribute: Attribute) -> Hierarchy:
        """The hierarchy over the domain of an attribute, in which values without a place stand alone until the top."""
        rows = self.rows()
        for place in self.unplaced:
            # No label of anybody's begins like this, so that nothing is joined by chance.
            rows[place] = [rows[place][0], *(label or f"\0{self.values[place]}" for label in rows[place][1:])]
        return hierarchy_of_rows(rows, attribute)

    def written(self) -> Hierarchy:
        """The hierarchy over all values of the draft."""
        rows = self.rows()
        return Hierarchy.of("", [row[0] for row in rows], list(zip(*(row[1:] for row in rows), strict=True)))

    def covering(self, attribute: Attribute) -> Draft:
        """The draft with those values of an attribute that it lacks, without a place."""
        try:
            self.hierarchy(attribute)
        except LackingValues as error:
            lacking = tuple(text_of(value) for value in error.values)
            levels = tuple((*each, *[""] * len(lacking)) for each in self.levels)
            return replace(self, values=(*self.values, *lacking), levels=levels)
        return self

    def in_order(self) -> list[int]:
        """The places of the values, those without a place first, then group by group from the top."""
        unplaced = set(self.unplaced)
        first: list[dict[str, int]] = [{} for _ in self.levels]
        for place, labels in enumerate(self._by_value()):
            for level, label in enumerate(labels):
                first[level].setdefault(label, place)
        upwards = list(zip(first, self.levels, strict=True))[::-1]
        return sorted(
            range(len(self.values)),
            key=lambda place: (place not in unplaced, [begin[labels[place]] for begin, labels in upwards], place),
        )

    def _alone(self, place: int) -> str:
        """The label of a value that stands alone."""
        return self.values[place] or MISSING

    def _by_value(self) -> list[Labels]:
        return list(zip(*self.levels, strict=True)) if self.levels else [()] * len(self.values)

    def _check_level(self, level: int) -> None:
        if not 1 <= level < self.height:
            must = f"be from 1 to {self.height - 1}" if self.levels else "be one that there is: add a level first"
            raise InvalidParameter.wrong("level", must=must, was=level)

    @staticmethod
    def _checked(label: str) -> str:
        text = label.strip()
        if not text or len(text) > LONGEST or not text.isprintable():
            raise InvalidParameter.wrong(
                "label", must=f"have 1 to {LONGEST} characters that can be printed", was=text[:LONGEST]
            )
        return text


def _free(label: str, taken: Collection[str]) -> str:
    """A *label* that is not *taken*."""
    while label in taken:
        label = f"{label} only"
    return label


def _put(levels: list[list[str]], places: Sequence[int], at: int, label: str) -> None:
    """Put values under a *label* of one level, with all that is joined with them below it."""
    moved = set(places)
    if at:
        below = levels[at - 1]
        groups = {below[place] for place in places} - {""}
        moved |= {place for place, each in enumerate(below) if each in groups}
    above = levels[at + 1 :]
    others = (place for place, each in enumerate(levels[at]) if each == label and place not in moved)
    placed = (place for place in sorted(moved) if all(each[place] for each in above))
    model = next(others, None)
    model = next(placed, min(moved)) if model is None else model
    for place in moved:
        levels[at][place] = label
        for each in above:
            each[place] = each[model]


def started(attribute: Attribute, rows: Mapping[str, int], by: str | None = None, **parameters: Any) -> Draft:
    """A first draft for an attribute whose values occur in so many *rows*, built *by* a builder or the proposed one."""
    builder = by or proposed(attribute)
    if builder is not None:
        return Draft.of_rows(build(attribute, builder, **parameters).rows()).trimmed()
    values = [text_of(value) for value in attribute.domain]
    enough = sum(rows.values()) / 100
    return Draft.by_hand(values, [value for value in values if value and rows.get(value, 0) < enough])


def of_file(attribute: Attribute, read: Any) -> Draft:
    """The draft of a hierarchy that *read* gives for an attribute, which may lack values that the attribute has."""
    try:
        return Draft.of_rows(read(attribute).rows())
    except LackingValues as error:
        known = replace(attribute, domain=tuple(each for each in attribute.domain if each not in error.values))
        if not present(known):
            raise
        return Draft.of_rows(read(known).rows(), [text_of(value) for value in error.values])
