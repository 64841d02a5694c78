"""Labels of earlier releases, found again in the hierarchies of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import ANY, NOMINAL, ORDINAL, Attribute, LabelReader, text_of
from tabular.errors import InvalidInput
from tabular.files.columns import is_number_text
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.history import Publication
from tabular.lattice.space import Node


def plain_text(text: str) -> str:
    """A label as it is compared where it is a value: a number is the same however it is written.

    >>> plain_text("17"), plain_text("17.0"), plain_text("007")
    ('17.0', '17.0', '007')
    """
    return repr(float(text)) if is_number_text(text) else text


def groups_by_label(hierarchy: Hierarchy, number: int) -> dict[str, int]:
    """The group of each label of a level; level 0 holds values, which may be numbers."""
    labels = hierarchy.levels[number].labels
    return {plain_text(label) if not number else label: group for group, label in enumerate(labels)}


def published_groups(publication: Publication, hierarchies: Sequence[Hierarchy]) -> NDArray[np.int64]:
    """The groups of the tuples of a *publication*, a column an attribute; -1 for labels that are none of today's."""
    found = np.full((len(publication.tuples), len(hierarchies)), -1, dtype=np.int64)
    for place, (hierarchy, level) in enumerate(zip(hierarchies, publication.node, strict=True)):
        known = groups_by_label(hierarchy, level)
        words = [each[place] for each in publication.tuples]
        found[:, place] = [known.get(word if level else plain_text(word), -1) for word in words]
    return found


def refuse_unknown(publication: Publication, names: Sequence[str], whole: Mapping[str, Hierarchy], where: str) -> None:
    """Refuse a release at levels, or of labels, that the *whole* hierarchies do not have."""
    for place, name in enumerate(names):
        hierarchy, level = whole[name], publication.node[place]
        if not 0 <= level <= hierarchy.height:
            raise InvalidInput(
                f"{where}: the release has column {name!r} at level {level}, and its hierarchy has the levels 0 to "
                f"{hierarchy.height}; give the hierarchies that the release was made with."
            )
        # A missing value has no label of its own on level 0.
        known = groups_by_label(hierarchy, level).keys() | {""}
        for label in sorted({each[place] for each in publication.tuples}):
            if (label if level else plain_text(label)) not in known:
                raise InvalidInput(
                    f"{where}: the release has {label!r} in column {name!r}, and level {level} of its hierarchy has no "
                    "such label; give the hierarchies that the release was made with."
                )


def levels_of(
    words: Mapping[str, Sequence[str]], attributes: Sequence[Attribute], whole: Mapping[str, Hierarchy], where: str
) -> tuple[Node, dict[str, dict[str, str]]]:
    """For each column the level its *words* are labels of, the lowest such, and what each word is called there."""
    node, names = [], {}
    for attribute in attributes:
        level, called = _level_of(sorted(set(words[attribute.name])), attribute, whole[attribute.name], where)
        node.append(level)
        names[attribute.name] = called
    return tuple(node), names


def _level_of(
    words: Sequence[str], attribute: Attribute, hierarchy: Hierarchy, where: str
) -> tuple[int, dict[str, str]]:
    reader, places = _reader(attribute, hierarchy)
    members = {word: _members(word, reader, places) for word in words}
    for number, level in enumerate(hierarchy.levels):
        by_name = groups_by_label(hierarchy, number)
        found: dict[str, int] = {}
        for word in words:
            group = by_name.get(word if number else plain_text(word))
            if group is None and members[word] is not None:
                groups = set(level.groups[members[word]].tolist())
                group = groups.pop() if len(groups) == 1 else None
            if group is not None:
                found[word] = group
        # Two labels of a level stand for different values.
        if len(found) == len(words) and len(set(found.values())) == len(words):
            return number, {word: level.labels[group] for word, group in found.items()}
    known = {label for level in hierarchy.levels for label in level.labels}
    strange = [word for word in words if members[word] is None and word not in known]
    said = f"has {strange[0]!r}" if strange else "has labels that are not those of one level"
    raise InvalidInput(
        f"{where}: column {attribute.name!r} {said}, which its hierarchy does not know; a previous release is a table "
        "at one level of each hierarchy, made with the hierarchies given here."
    )


def _reader(attribute: Attribute, hierarchy: Hierarchy) -> tuple[LabelReader, NDArray[np.int64]]:
    """What reads the labels of a file, over all values of a hierarchy, and where each of its values stands there."""
    texts = [text_of(value) for value in hierarchy.domain]
    order = np.arange(len(texts))
    if attribute.kind != NOMINAL:
        rank = {plain_text(text_of(value)): code for code, value in enumerate(attribute.domain)}
        present = [text for text in texts if text]
        if all(map(is_number_text, present)):
            order = np.array(sorted(order.tolist(), key=lambda place: float(texts[place] or "inf")))
        else:
            last = len(rank)
            order = np.array(sorted(order.tolist(), key=lambda place: rank.get(plain_text(texts[place]), last)))
    first: dict[str, int] = {}
    for place in order.tolist():
        first.setdefault(texts[place], place)
    kind = NOMINAL if attribute.kind == NOMINAL else ORDINAL
    return LabelReader(Attribute(name=attribute.name, kind=kind, domain=tuple(first))), np.array(list(first.values()))


def _members(word: str, reader: LabelReader, places: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The values, by their places in the hierarchy, that *word* stands for; None where it says nothing of values."""
    if word == ANY:
        return places
    try:
        return places[list(reader.members(word))]
    except InvalidInput:
        return None
