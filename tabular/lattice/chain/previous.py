"""Reading what was released before: a private record, or a released table whose rows and labels can be matched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabular.anonymity import suppressed_rows
from tabular.attributes import ANY, NOMINAL, ORDINAL, Attribute, LabelReader, text_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName, named
from tabular.files.columns import is_number_text
from tabular.files.disk import STREAM, read_bytes
from tabular.files.table_files import read_file
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.history import NOTHING, STARRED, History, Publication, history_in, keys_of
from tabular.lattice.space import Node, Numbers
from tabular.release import ORDERS_KEPT
from tabular.table import Table, equivalence_classes

#: What can be done where rows cannot be matched by position.
_WAY_OUT = (
    f"Give {named('key')} with a column that both have, or a private record that was written with {named('key')}."
)


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


def published_groups(publication: Publication, hierarchies: Sequence[Hierarchy]) -> Numbers:
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


def _reader(attribute: Attribute, hierarchy: Hierarchy) -> tuple[LabelReader, Numbers]:
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


def _members(word: str, reader: LabelReader, places: Numbers) -> Numbers | None:
    """The values, by their places in the hierarchy, that *word* stands for; None where it says nothing of values."""
    if word == ANY:
        return places
    try:
        return places[list(reader.members(word))]
    except InvalidInput:
        return None


def read_history(
    path: str | Path,
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    *,
    key: str | None = None,
    dictionary: str | Path | None = None,
) -> History:
    """The releases before that of *table*, from the private record of the last one, or from its file alone.

    Who is who is said by the column *key*: of the table and of the record, which has a key of its own; of a file, which
    has that column, too. Without one row i is row i, and further rows are new: each label must be that of the value at
    its position, and the *dictionary* beside a file must say that the rows stand in the order of the original. A file
    whose dictionary says that others went before it is refused, for it does not hold what they said. The *hierarchies*
    are whole, for an earlier release may have values that the table lacks.
    """
    if str(path) == STREAM:
        raise InvalidInput("A previous release is named as a file; it is not read from standard input.")
    data = read_bytes(path)
    if data.lstrip()[:1] == b"{":
        history = _of_record(history_in(data, str(path)), str(path), key)
    else:
        history = _of_file(path, table, hierarchies, key, dictionary)
    if set(history.names) != set(hierarchies):
        before, now = (", ".join(names) for names in (history.names, hierarchies))
        raise InvalidInput(
            f"{path}: the previous release is of other quasi-identifiers: {before}; now they are {now}. What both say "
            "together can only be told of the same ones."
        )
    history = _in_order(history, tuple(hierarchies))
    for publication in history.publications:
        refuse_unknown(publication, history.names, hierarchies, str(path))
    if history.key is None:
        _refuse_other_rows(str(path), history, table, hierarchies)
    if history.key is not None and history.key not in table.names:
        near = UnknownName.among("column", history.key, table.names)
        raise UnknownName(f"The previous release tells rows apart by the column {history.key!r}. {near}")
    keys = keys_of(table, history.key)
    if history.persons and history.key is not None and not (history.places_of(keys) >= 0).any():
        raise InvalidInput(
            f"{path}: no row of the table has a key in {history.key!r} that the previous release has, too; is it the "
            "right column, and the right release?"
        )
    return history


def _of_record(history: History, where: str, key: str | None) -> History:
    if key is not None and key != history.key:
        said = "by position, for it was written without a key" if history.key is None else f"by {history.key!r}"
        raise InvalidParameter(
            f"{named('key')} {key}: the record {where} tells rows apart {said}; leave {named('key')} away."
        )
    how = "position, which no value contradicts" if history.key is None else f"the column {history.key!r}"
    return replace(history, matched=f"by {how}, as the record says")


def _of_file(
    path: str | Path, table: Table, hierarchies: Mapping[str, Hierarchy], key: str | None, dictionary: str | Path | None
) -> History:
    said = _dictionary(dictionary)
    if isinstance(releases := said.get("releases"), int) and releases > 1:
        raise InvalidInput(
            f"{path}: by its data dictionary this is release {releases} of a chain, and the file does not say what the "
            "earlier ones said of each person. Give the private record that was written with it."
        )
    released = read_file(path).table
    lacking = [name for name in hierarchies if name not in released.names]
    if lacking:
        raise InvalidInput(
            f"{path}: this previous release has other columns than the quasi-identifiers: {lacking[0]!r} is not among "
            f"them. It is the table of the last release, or the private record that was written with it."
        )
    if key is None:
        _refuse_other_order(path, said)
        how = f"by position: row i of the table is row i of {path}, which no value contradicts"
    else:
        if key not in released.names:
            raise UnknownName(
                f"{path}: {UnknownName.among('column', key, released.names)} Without the key in the release, give the "
                "private record that was written with it."
            )
        how = f"by the column {key!r} of {path}"
    try:
        persons = keys_of(released, key)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    publication = _publication(path, released, table, hierarchies)
    return History(tuple(hierarchies), key, tuple(persons), (publication,), how)


def _publication(path: str | Path, released: Table, table: Table, hierarchies: Mapping[str, Hierarchy]) -> Publication:
    names = list(hierarchies)
    out = suppressed_rows(released, names)
    kept = np.flatnonzero(~out)
    said = np.full(len(released), NOTHING, dtype=np.int64)
    # Another column beside the `*`, and be it the key, says of whom nothing else is said.
    said[out] = STARRED if len(released.names) > len(names) else NOTHING
    words = {name: [text_of(value) for value in released.rows(kept).values(name)] for name in names}
    node, called = levels_of(words, [table.attribute(name) for name in names], hierarchies, str(path))
    if not kept.size:
        return Publication(node, (), said)
    found = equivalence_classes([_numbered(words[name]) for name in names])
    said[kept] = found.labels
    tuples = tuple(tuple(called[name][words[name][row]] for name in names) for row in found.firsts.tolist())
    return Publication(node, tuples, said)


def _numbered(words: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    place: dict[str, int] = {}
    return np.array([place.setdefault(word, len(place)) for word in words], dtype=np.int64)


def _dictionary(path: str | Path | None) -> Mapping[str, object]:
    """What the data dictionary beside a release says; nothing where there is none."""
    if path is None or not Path(path).is_file():
        return {}
    try:
        document = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        document = None
    # One that cannot be read says of no order that it was kept.
    return document if isinstance(document, Mapping) else {"order": None}


def _refuse_other_order(path: str | Path, said: Mapping[str, object]) -> None:
    """Rows are matched by position only where it is said that they stand in the order of the original."""
    if not said:
        raise InvalidInput(f"{path}: no data dictionary beside it says in which order its rows stand. {_WAY_OUT}")
    if said.get("order") not in ORDERS_KEPT or said.get("left_out"):
        raise InvalidInput(
            f"{path}: by its data dictionary its rows are not those of the original in their order, so that they "
            f"cannot be matched by position. {_WAY_OUT}"
        )


def _refuse_other_rows(where: str, history: History, table: Table, hierarchies: Mapping[str, Hierarchy]) -> None:
    """Rows are matched by position only where each still has the values that the releases say of it.

    Where a row was deleted, all below it moved up: each of them would be taken for somebody else.
    """
    before = len(history.persons)
    if len(table) < before:
        raise InvalidInput(
            f"{where}: it is of {before} rows and the table has {len(table)}, so that rows were deleted and cannot be "
            f"matched by position. {_WAY_OUT}"
        )
    fitting = [each.over(table.attribute(name).domain) for name, each in hierarchies.items()]
    is_known = np.array([person is not None for person in history.persons], dtype=np.bool_)
    for publication in history.publications:
        said, told = publication.of(before), published_groups(publication, fitting)
        shown = np.flatnonzero((said >= 0) & is_known)
        now = [
            each.levels[level].groups[table.columns[each.name][shown]]
            for each, level in zip(fitting, publication.node, strict=True)
        ]
        rows, columns = np.nonzero(told[said[shown]] != np.stack(now, axis=1))
        if len(rows):
            row, name = shown[rows[0]] + 1, fitting[columns[0]].name
            raise InvalidInput(
                f"{where}: row {row} does not fit row {row} of the table, which has another value of {name!r}, so that "
                f"rows cannot be matched by position: one was deleted, moved or changed. {_WAY_OUT}"
            )


def _in_order(history: History, names: tuple[str, ...]) -> History:
    """The history with its columns in the order of *names*."""
    if history.names == names:
        return history
    order = [history.names.index(name) for name in names]
    publications = tuple(
        Publication(
            tuple(each.node[place] for place in order),
            tuple(tuple(labels[place] for place in order) for labels in each.tuples),
            each.said,
        )
        for each in history.publications
    )
    return replace(history, names=names, publications=publications)
