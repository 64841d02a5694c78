"""Reading what was released before: a private record, or a released table whose rows can be matched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabular.anonymity import suppressed_rows
from tabular.classes import equivalence_classes
from tabular.dictionary import ORDER_KEPT
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.files import STREAM, read_bytes
from tabular.hierarchy import Hierarchy
from tabular.labels import text_of
from tabular.lattice.dynamic.history import NOTHING, STARRED, History, Publication, keys_of
from tabular.lattice.dynamic.labels import levels_of, refuse_unknown
from tabular.lattice.dynamic.records import history_in
from tabular.reading import read_file
from tabular.table import Table


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
    has that column, too. Without one row i is row i: then the *dictionary* beside the file must say that the rows
    stand in the order of the original. The *hierarchies* are whole, for an earlier release may have values that the
    table lacks.
    """
    if str(path) == STREAM:
        raise InvalidInput("A previous release is named as a file; it is not read from standard input.")
    data = read_bytes(path)
    if data.lstrip()[:1] == b"{":
        history = _of_record(history_in(data, str(path)), str(path), key)
    else:
        history = _of_file(path, table, hierarchies, key, dictionary)
    _refuse_other_attributes(history, hierarchies, str(path))
    history = _in_order(history, tuple(hierarchies))
    for publication in history.publications:
        refuse_unknown(publication, history.names, hierarchies, str(path))
    keys = keys_of(table, _column(history.key, table))
    if history.persons and history.key is not None and not (history.places_of(keys) >= 0).any():
        raise InvalidInput(
            f"{path}: no row of the table has a key in {history.key!r} that the previous release has, too; is it the "
            "right column, and the right release?"
        )
    return history


def _of_record(history: History, where: str, key: str | None) -> History:
    if key is not None and key != history.key:
        said = "by position, for it was written without a key" if history.key is None else f"by {history.key!r}"
        raise InvalidParameter(f"--key {key}: the record {where} tells rows apart {said}; leave --key away.")
    how = "position" if history.key is None else f"the column {history.key!r}"
    return replace(history, matched=f"by {how}, as the record says")


def _of_file(
    path: str | Path,
    table: Table,
    hierarchies: Mapping[str, Hierarchy],
    key: str | None,
    dictionary: str | Path | None,
) -> History:
    released = read_file(path).table
    lacking = [name for name in hierarchies if name not in released.names]
    if lacking:
        raise InvalidInput(
            f"{path}: this previous release has other columns than the quasi-identifiers: {lacking[0]!r} is not among "
            f"them. It is the table of the last release, or the private record that was written with it."
        )
    if key is None:
        _refuse_other_order(path, dictionary)
        how = f"by position: row i of the table is row i of {path}"
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
    firsts = np.zeros(len(found.sizes), dtype=np.int64)
    firsts[found.labels[::-1]] = np.arange(len(kept))[::-1]
    tuples = tuple(tuple(called[name][words[name][row]] for name in names) for row in firsts.tolist())
    return Publication(node, tuples, said)


def _numbered(words: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    place: dict[str, int] = {}
    return np.array([place.setdefault(word, len(place)) for word in words], dtype=np.int64)


def _refuse_other_order(path: str | Path, dictionary: str | Path | None) -> None:
    """Rows are matched by position only where it is said that they stand in the order of the original."""
    way_out = "Give --key with a column that both have, or the private record that was written with the release."
    if dictionary is None or not Path(dictionary).is_file():
        raise InvalidInput(f"{path}: no data dictionary beside it says in which order its rows stand. {way_out}")
    try:
        document = json.loads(read_bytes(dictionary))
    except ValueError:
        document = None
    if not isinstance(document, Mapping) or document.get("order") != ORDER_KEPT or document.get("left_out"):
        raise InvalidInput(
            f"{path}: by its data dictionary its rows are not those of the original in their order, so that they "
            f"cannot be matched by position. {way_out}"
        )


def _refuse_other_attributes(history: History, hierarchies: Mapping[str, Hierarchy], where: str) -> None:
    if set(history.names) != set(hierarchies):
        raise InvalidInput(
            f"{where}: the previous release is of other quasi-identifiers: {', '.join(history.names)}; now they are "
            f"{', '.join(hierarchies)}. What both say together can only be told of the same ones."
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


def _column(key: str | None, table: Table) -> str | None:
    if key is not None and key not in table.names:
        near = UnknownName.among("column", key, table.names)
        raise UnknownName(f"The previous release tells rows apart by the column {key!r}. {near}")
    return key
