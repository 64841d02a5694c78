"""The starting population: the protections of the thesis's grid, or files that somebody masked before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.attributes import CONTINUOUS, text_of
from tabular.comparison import LeftOut
from tabular.errors import InvalidInput, InvalidParameter, NoSolution, ReportedError, UnknownName, named
from tabular.evolution.contract import Task
from tabular.evolution.fitness.contract import Sets, columns_with
from tabular.evolution.fitness.tables import has_room
from tabular.files.table_files import read_masked
from tabular.grid import thesis_grid
from tabular.intervals import codes_in
from tabular.loop import Values, document_of, key_of, of_document, processors
from tabular.measures.contract import paired_columns
from tabular.measures.scores import PLAIN, summary
from tabular.release import IDENTIFIER, SUFFIX
from tabular.table import Table

#: What makes codes of a masked table, a row a record and a column an attribute, and lists the sets of each column.
Coded = Callable[[Table], tuple[NDArray[Any], list[Sets]]]

#: The endings of files that are tables.
ENDINGS = (".csv", ".tsv", ".txt", ".parquet")

#: A population of fewer has nothing to exchange.
FEWEST = 2

_SETS = (
    "its labels stand for several values, and there are too many combinations of values and such labels to evolve, so "
    "it cannot take part; as it is, its score is {:.2f}"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Protected files to begin with: what made each of them, and its codes, a row a record.

    Codes beyond the domain of an attribute count its *sets*.
    """

    origins: tuple[str, ...]
    files: tuple[NDArray[Any], ...]
    sets: tuple[Sets, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def without_best(self, scores: NDArray[np.float64], percent: float) -> NDArray[np.intp]:
        """The places of those that stay when the best *percent* of them are left out."""
        gone = round(len(self.files) * percent / 100)
        if len(self.files) - gone < FEWEST:
            raise InvalidParameter(
                f"{named('drop_best')} {percent:g}: {len(self.files) - gone} of {len(self.files)} members would be "
                f"left, and evolution needs {FEWEST} or more."
            )
        return np.sort(np.argsort(scores, kind="stable")[gone:])


def starting_population(task: Task, rng: np.random.Generator, coded: Coded | None = None) -> Start:
    """The files of the folder that the *task* names, or of the grid, *coded* as they evolve."""
    code = coded or partial(_with_own_sets, task)
    found = _of_grid(task, rng, code) if task.population is None else _of_folder(task, task.population, code)
    if len(found.files) < FEWEST:
        why = f" Left out: {found.left_out[0].method}: {found.left_out[0].reason}." if found.left_out else ""
        raise NoSolution(
            f"Evolution begins with {FEWEST} protected files or more, and here are {len(found.files)}.{why}"
        )
    return found


def _of_grid(task: Task, rng: np.random.Generator, code: Coded) -> Start:
    """The protections of the grid whose labels are all values of the domain."""
    members, left_out = thesis_grid(task.table, task.columns)
    streams = rng.spawn(len(members))

    def tried(number: int) -> Values:
        try:
            masked = members[number].protect(task.table, deepcopy(streams[number]))
        except ReportedError as error:
            return of_document({"failed": str(error)})
        codes, sets = code(masked)
        return {"codes": codes, **of_document({"sets": sets})}

    states = [each.bit_generator.state for each in streams]
    key = key_of("start", task.score, task.table.key, task.columns, [each.key for each in members], states)
    found = task.parts.each(
        key, tried, len(members), workers=task.workers or min(4, processors()),
        told=lambda done: task.report("Starting population", done, len(members)),
    )  # fmt: skip
    coded, failed = [], list(left_out)
    for number, values in found:
        document = document_of(values)
        if "codes" in values:
            coded.append((members[number].name, values["codes"], document["sets"]))
        else:
            failed.append(LeftOut(members[number].name, document["failed"]))
    return _joined(task, coded, failed)


def _joined(task: Task, coded: Sequence[tuple[str, NDArray[Any], list[Sets]]], failed: list[LeftOut]) -> Start:
    """One alphabet for all files: the values, and the sets of any of them; without those that there is no room for."""
    sets = _alphabet(task, [own for _, _, own in coded])
    if any(sets) and not has_room(columns_with(task.table, task.columns, sets)):
        for name, codes, own in coded:
            if any(own):
                masked = _labelled(task, codes, own)
                found = summary(task.table, masked, task.columns, without=(PLAIN,))
                failed.append(LeftOut(name, _SETS.format(getattr(found, f"score_{task.score}"))))
        coded, sets = [each for each in coded if not any(each[2])], _alphabet(task, [])
    files = tuple(_recoded(task, codes, own, sets) for _, codes, own in coded)
    return Start(origins=tuple(name for name, _, _ in coded), files=files, sets=sets, left_out=tuple(failed))


def _alphabet(task: Task, every: Sequence[Sequence[Sets]]) -> tuple[Sets, ...]:
    """For each column the sets that any file has, in order."""
    return tuple(
        sorted({tuple(members) for own in every for members in own[place]}) for place in range(len(task.columns))
    )


def _recoded(task: Task, codes: NDArray[Any], own: Sequence[Sets], sets: Sequence[Sets]) -> NDArray[Any]:
    """Codes whose sets are counted as those of all files are."""
    if not any(own):
        return codes
    found = codes.copy()
    for place, name in enumerate(task.columns):
        size, known = len(task.table.attribute(name).domain), [tuple(each) for each in sets[place]]
        renamed = np.array([*range(size), *(size + known.index(tuple(each)) for each in own[place])], dtype=codes.dtype)
        found[:, place] = renamed[codes[:, place]]
    return found


def _labelled(task: Task, codes: NDArray[Any], sets: Sequence[Sets]) -> Table:
    """The table with these codes."""
    found = task.table
    for place, name in enumerate(task.columns):
        found = found.with_labels(name, codes[:, place], sets[place])
    return found


def _with_own_sets(task: Task, masked: Table) -> tuple[NDArray[Any], list[Sets]]:
    """The codes of a masked table and its sets."""
    columns = paired_columns(task.table, masked, task.columns)
    sets: list[Sets] = [[codes_in(members).tolist() for members in column.sets] for column in columns]
    return np.ascontiguousarray(np.stack([column.masked for column in columns], axis=1)), sets


def _of_folder(task: Task, folder: str, code: Coded) -> Start:
    """The tables of a folder, in the order of their names; one that does not fit is an error."""
    paths = population_files(folder)
    if not paths:
        raise InvalidInput(f"{folder}: there is no table here; masked tables end with {', '.join(ENDINGS)}.")
    coded = []
    for done, path in enumerate(paths):
        task.report("Starting population", done, len(paths))
        coded.append((path.name, *code(_read(task, path))))
    return _joined(task, coded, [])


def population_files(folder: str) -> list[Path]:
    """The tables of a *folder* by name; data dictionaries lie beside some of them."""
    if not Path(folder).is_dir():
        raise InvalidInput(f"{folder}: there is no such folder.")
    every = sorted(Path(folder).iterdir(), key=lambda path: path.name)
    return [
        path for path in every
        if path.is_file() and path.suffix.lower() in ENDINGS and not path.name.endswith(SUFFIX)
        and not path.name.startswith(".")
    ]  # fmt: skip


def _read(task: Task, path: Path) -> Table:
    """One masked table whose row i is row i of the original."""
    table, others = task.table, _unprotected(task)
    try:
        masked = read_masked(path, table, names=[*task.columns, *others], schema=task.schema)
    except UnknownName:
        # A file of the protected columns alone will do.
        others = []
        masked = read_masked(path, table, names=task.columns, schema=task.schema)
    if len(masked) != len(table):
        raise InvalidInput(
            f"{path}: it has {len(masked)} rows, {task.file} has {len(table)}; row i of both must be the same record."
        )
    for name in task.columns:
        if masked.attribute(name).kind == CONTINUOUS:
            _refuse_sets(masked, name, path)
    for name in others:
        _refuse_other_record(task, masked, name, path)
    return masked


def _unprotected(task: Task) -> list[str]:
    """The columns that a masked file has as they were."""
    attributes = task.table.attributes
    return [each.name for each in attributes if each.name not in task.columns and each.role != IDENTIFIER]


def _refuse_sets(masked: Table, name: str, path: Path) -> None:
    rows = np.flatnonzero(masked.columns[name] >= len(masked.attribute(name).domain))
    if len(rows):
        label = text_of(masked.rows(rows[:1]).values(name)[0])
        raise InvalidInput(
            f"{path}: Column {name!r}, row {rows[0] + 1}: the label {label!r} stands for several values, and numbers "
            "evolve one by one."
        )


def _refuse_other_record(task: Task, masked: Table, name: str, path: Path) -> None:
    """Refuse a file in which a column that is not protected differs: its rows are in another order."""
    rows = np.flatnonzero(masked.columns[name] != task.table.columns[name])
    if len(rows):
        raise InvalidInput(
            f"{path}: Column {name!r}, row {rows[0] + 1}: this column is not protected, but its value is not that of "
            f"{task.file}; row i of both must be the same record."
        )
