"""The fitness of protected files as codes: a row a record, a column an attribute, values of the domain or sets of them.

The genome of a file is its values record by record: the gene of row r and column c stands at r x columns + c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular.errors import InvalidInput
from tabular.evolution.fitness.basis import (
    Basis,
    Transport,
    copied,
    first_basis,
    solve,
    transport_of,
)
from tabular.evolution.fitness.counts import MEASURES, counts_for
from tabular.evolution.fitness.evaluation import (
    begin_step,
    end_step,
    evaluate,
    put,
    step,
    try_changes,
    wrong_file,
)
from tabular.evolution.fitness.tables import Tables, tables_of
from tabular.intervals import codes_in
from tabular.measures.contract import Column, Numbers, paired_columns
from tabular.measures.linkage.agreement import gains_of
from tabular.registry import check
from tabular.table import Table

#: How loss and risk become one score: the greater of both (Mares Soler 2013, eq 3.4), or their mean (eq 3.2).
SCORES = ("max", "mean")


#: Sets of values, each as ascending codes.
Sets = Sequence[Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """All measures of a protected file that its scores are made of, in percent; PRL is 0 where it was left out."""

    ctbil: float
    dbil: float
    ebil: float
    id: float
    dbrl: float
    prl: float = 0.0

    @classmethod
    def of(cls, percents: Numbers) -> Scores:
        """The scores of measures in the order of `MEASURES`."""
        return cls(**dict(zip(MEASURES, percents.tolist(), strict=True)))

    @property
    def information_loss(self) -> float:
        """The mean of CTBIL, DBIL and EBIL (Mares Soler 2013, eq 4.9)."""
        return (self.ctbil + self.dbil + self.ebil) / 3

    @property
    def disclosure_risk(self) -> float:
        """The mean of ID and the better linkage, DBRL or PRL (eq 4.10)."""
        return (self.id + max(self.dbrl, self.prl)) / 2

    def score(self, kind: str) -> float:
        """One score of both; lower is better."""
        check("The score", "kind", kind, {"choices": SCORES})
        return score_of(self.information_loss, self.disclosure_risk, kind)


def score_of(information_loss: float, disclosure_risk: float, name: str) -> float:
    """The greater of loss and risk, or their mean.

    >>> score_of(20.0, 40.0, "max"), score_of(20.0, 40.0, "mean")
    (40.0, 30.0)
    """
    if name == "max":
        return max(information_loss, disclosure_risk)
    return (information_loss + disclosure_risk) / 2


@dataclass(frozen=True, eq=False)
class Segment:
    """Genes that follow each other, from *start* on."""

    start: int
    values: NDArray[Any]


#: Whether a file with these codes may be, whatever its scores.
Allowed = Callable[[NDArray[Any]], bool]


def all_allowed(codes: NDArray[Any]) -> bool:
    """Every file may be."""
    return True


@dataclass(frozen=True, eq=False)
class Fitness:
    """The measures of protected versions of one file.

    PRL weighs agreement by *gains*, a whole number of millionths for each attribute, counted from true pairs: the data
    owner has them. They are held until they are counted again, in full evaluations and in states alike.
    """

    original: Table
    attributes: tuple[str, ...]
    gains: NDArray[np.int64]
    #: For each attribute the sets that codes beyond its domain stand for, as the codes of their values.
    sets: tuple[Sets, ...]
    #: What whoever measures needs to know of the original file.
    tables: Tables
    #: How many records have each combination of values in the files that are expected; their linkages begin from there.
    usual: NDArray[np.int64]

    @classmethod
    def of(
        cls, original: Table, attributes: Sequence[str], gains: Sequence[int] | None = None,
        *, sets: Sequence[Sets] | None = None,
    ) -> Fitness:  # fmt: skip
        """The fitness of protected versions of *original*; without *gains* they are those of the original itself.

        *sets* of values are labels, too, for each attribute those that are given for it.
        """
        given = tuple(sets or [()] * len(attributes))
        tables = tables_of(columns_with(original, attributes, given))
        held = gains_over(tables.codes, [tables.codes]) if gains is None else np.asarray(gains, dtype=np.int64)
        usual = usual_demand(tables, [tables.codes])
        return cls(original, tuple(attributes), np.maximum(held, 0), given, tables, usual)

    def held(self, population: Iterable[NDArray[np.integer]]) -> Fitness:
        """The same fitness with weights of agreement counted over a *population*; states are to be made anew."""
        files = list(population)
        return replace(self, gains=gains_over(self.codes, files, agreements_of(self.tables))).near(files)

    def near(self, population: Iterable[NDArray[np.integer]]) -> Fitness:
        """The same fitness, sooner done with files like those of a *population*: no answer hangs on it."""
        return replace(self, usual=usual_demand(self.tables, population))

    @property
    def codes(self) -> NDArray[np.int32]:
        """The original file."""
        return self.tables.codes.copy()

    def codes_of(self, table: Table) -> NDArray[np.int32]:
        """The codes of a masked *table*, whose labels must be values or the sets that are known."""
        return coded_with(self.sets, paired_columns(self.original, table, self.attributes))

    def table_of(self, codes: NDArray[np.integer]) -> Table:
        """The protected file with these *codes* as a table."""
        found = self.original
        for place, name in enumerate(self.attributes):
            found = found.with_labels(name, codes[:, place], self.sets[place])
        return found

    def full(self, codes: NDArray[np.integer], *, linked: bool = True) -> Scores:
        """All measures of a file; the one-to-one linkage only if it is to be *linked*."""
        return Scores.of(self.measured(codes[None], linked=linked)[0])

    def measured(self, files: NDArray[np.integer], *, linked: bool = True) -> Numbers:
        """The measures of many *files* in one compiled loop, a row a file, in the order of `MEASURES`."""
        checked = self.checked(files)
        found = np.zeros((len(checked), len(MEASURES)))
        counts = counts_for(self.tables, checked[0])
        evaluate(self.tables, counts, self.transport, copied(self.basis), self.basis, linked, checked, found)
        return found

    def state(self, codes: NDArray[np.integer], *, linked: bool = True) -> State:
        """One file that changes step by step."""
        return State(self, self.checked(codes[None])[0], linked)

    def checked(self, files: NDArray[np.integer]) -> NDArray[np.int32]:
        """The codes of whole *files*, or an error if they are none."""
        rows, columns = self.tables.codes.shape
        if files.shape[1:] != (rows, columns):
            shape = " x ".join(map(str, files.shape[1:]))
            raise InvalidInput(f"A protected file has {rows} rows and {columns} columns of codes, not {shape}.")
        codes = np.ascontiguousarray(files, dtype=np.int32)
        wrong = wrong_file(codes, self.tables.labels)
        if wrong >= 0:
            self.check_genes(np.arange(rows * columns), codes[wrong].reshape(-1))
        return codes

    def check_genes(self, genes: NDArray[np.integer], values: NDArray[np.integer]) -> None:
        """Refuse *genes* that lie outside the file, and *values* that are no codes of their domains."""
        count, columns = self.tables.codes.size, len(self.attributes)
        outside = genes[(genes < 0) | (genes >= count)]
        if len(outside):
            raise InvalidInput(f"The file has the genes 0 to {count - 1}; there is no gene {outside[0]}.")
        wrong = np.flatnonzero((values < 0) | (values >= self.tables.labels[genes % columns]))
        if len(wrong):
            row, column = divmod(int(genes[wrong[0]]), columns)
            name, last = self.attributes[column], self.tables.labels[column] - 1
            raise InvalidInput(f"Column {name!r}, row {row + 1}: codes are from 0 to {last}, not {values[wrong[0]]}.")

    @cached_property
    def transport(self) -> Transport:
        """The costs of linking one to one."""
        return transport_of(self.tables, self.gains)

    @cached_property
    def basis(self) -> Basis:
        """The best linkage of a usual file, from which those of others begin."""
        basis = first_basis(self.transport)
        solve(self.transport, basis, self.usual)
        return basis


class State:
    """One protected file with its scores; a step costs what it changes, and can be undone.

    `changed` and `replaced` make a step and tell the scores after it. `undo` takes back the last step, then the one
    before it, as far as the last `keep`.
    """

    def __init__(self, fitness: Fitness, codes: NDArray[np.int32], linked: bool) -> None:
        self.fitness = fitness
        counts, basis = counts_for(fitness.tables, codes), copied(fitness.basis)
        self._linked = linked
        self._counts, self._found = counts, np.zeros((1, len(MEASURES)))
        self._parts = fitness.tables, counts, fitness.transport, basis, fitness.basis, linked
        evaluate(*self._parts, codes[None], self._found)
        self.scores = Scores.of(self._found[0])
        self._steps: list[tuple[Segment, Scores]] = []

    @property
    def codes(self) -> NDArray[np.int32]:
        """A copy of the file as it is now."""
        return self._counts.codes.copy()

    def segment(self, first: int, last: int) -> Segment:
        """The genes from *first* to *last*, both included, to be handed to another file."""
        return Segment(first, self._counts.codes.reshape(-1)[first : last + 1].copy())

    def changed(self, row: int, column: int, value: int) -> Scores:
        """The scores with another *value* in one cell."""
        return self.replaced(Segment(row * len(self.fitness.attributes) + column, np.array([value], dtype=np.int32)))

    def replaced(self, segment: Segment) -> Scores:
        """The scores with the genes of a *segment*."""
        values = np.ascontiguousarray(segment.values, dtype=np.int32)
        self.fitness.check_genes(np.arange(segment.start, segment.start + len(values)), values)
        self._steps.append((self.segment(segment.start, segment.start + len(values) - 1), self.scores))
        step(*self._parts, segment.start, values, self._found)
        self.scores = Scores.of(self._found[0])
        return self.scores

    def better(self, segment: Segment, kind: str, than: float, may: Allowed = all_allowed) -> Scores | None:
        """The scores with the genes of a *segment* if their score is less *than* that; the file stays as it is.

        Linking one to one takes longest and only adds to the risk: it is left out where the rest is too much already,
        or the file *may* not be.
        """
        values = np.ascontiguousarray(segment.values, dtype=np.int32)
        genes = np.arange(segment.start, segment.start + len(values))
        self.fitness.check_genes(genes, values)
        before = self._counts.codes.reshape(-1)[genes].copy()
        tables, counts, transport, basis, start, linked = self._parts
        begin_step(tables, counts, linked, segment.start, values, self._found)
        found = Scores.of(self._found[0])
        is_better = found.score(kind) < than and may(self._counts.codes)
        if linked and is_better:
            end_step(tables, counts, transport, basis, start, self._found)
            found = Scores.of(self._found[0])
            is_better = found.score(kind) < than
        put(tables, counts, linked, segment.start, before)
        return found if is_better else None

    def undo(self) -> Scores:
        """The scores without the last step."""
        if not self._steps:
            raise InvalidInput("There is no step to undo: none was made since the file was kept.")
        segment, self.scores = self._steps.pop()
        put(self.fitness.tables, self._counts, self._linked, segment.start, segment.values)
        return self.scores

    def keep(self) -> None:
        """Make all steps final."""
        self._steps.clear()

    def tried(self, changes: NDArray[np.integer]) -> Numbers:
        """The measures after each of *changes* alone, a row with gene and value; the file stays as it is.

        In one compiled loop, a row a change, in the order of `MEASURES`.
        """
        self.fitness.check_genes(changes[:, 0], changes[:, 1])
        found = np.zeros((len(changes), len(MEASURES)))
        try_changes(*self._parts, np.ascontiguousarray(changes, dtype=np.int64), found)
        return found


def columns_with(original: Table, attributes: Sequence[str], sets: Sequence[Sets]) -> list[Column]:
    """The columns of *original* with *sets* of values as further labels."""
    columns = paired_columns(original, original, attributes)
    return [replace(column, sets=tuple(map(tuple, given))) for column, given in zip(columns, sets, strict=True)]


def coded_with(sets: Sequence[Sets], columns: Sequence[Column]) -> NDArray[np.int32]:
    """Masked *columns* as codes, a column an attribute, in which codes beyond the domain count *sets*."""
    found = []
    for known, column in zip(sets, columns, strict=True):
        places = {tuple(members): column.size + place for place, members in enumerate(known)}
        renamed = [*range(column.size), *(places.get(tuple(codes_in(each).tolist()), -1) for each in column.sets)]
        if -1 in renamed:
            raise InvalidInput(f"Column {column.name!r} holds a label for a set that is none of those that evolve.")
        found.append(np.array(renamed, dtype=np.int32)[column.masked])
    return np.ascontiguousarray(np.stack(found, axis=1))


def agreements_of(tables: Tables) -> list[NDArray[np.bool_]]:
    """For each attribute whether a value agrees with a label, a row a value and a column a label."""
    ends = np.append(tables.cells[1:], len(tables.agrees))
    return [
        tables.agrees[begin:end].reshape(size, -1)
        for begin, end, size in zip(tables.cells.tolist(), ends.tolist(), tables.sizes.tolist(), strict=True)
    ]


def gains_over(
    original: NDArray[np.integer],
    population: Iterable[NDArray[np.integer]],
    agrees: Sequence[NDArray[np.bool_]] | None = None,
) -> NDArray[np.int64]:
    """What agreement in each attribute adds to a weight, in millionths, counted over the files of a *population*.

    Agreement of true pairs against agreement of all pairs; never below 0. Equal values agree, unless what *agrees* is
    given for each attribute.

    >>> before = np.array([[0], [0], [1], [1]])
    >>> gains_over(before, [np.array([[0], [0], [1], [0]])]).tolist()
    [1098612]
    """
    attributes = original.shape[1]
    together, apart, files = np.zeros(attributes), np.zeros(attributes), 0
    for codes in population:
        for place in range(attributes):
            own, other = original[:, place], codes[:, place]
            known = np.eye(int(max(own.max(), other.max())) + 1, dtype=np.bool_) if agrees is None else agrees[place]
            together[place] += known[own, other].mean()
            counted = np.bincount(own, minlength=known.shape[0]), np.bincount(other, minlength=known.shape[1])
            apart[place] += float(counted[0] @ known.astype(np.int64) @ counted[1]) / len(own) ** 2
        files += 1
    if not files:
        raise InvalidInput("Weights of agreement are counted over one or more files; there is none.")
    return np.maximum(gains_of(together / files, apart / files), 0)


def usual_demand(tables: Tables, population: Iterable[NDArray[np.integer]]) -> NDArray[np.int64]:
    """How many records have each combination in the files of a *population* on average, in whole numbers."""
    sums, files = np.zeros(tables.ties.shape[1], dtype=np.int64), 0
    for codes in population:
        sums += np.bincount(codes @ tables.strides, minlength=len(sums))
        files += 1
    if not files:
        raise InvalidInput("Usual files are counted over one or more files; there is none.")
    # The combinations of the largest remainders, the first of equal ones, have the records that are left over.
    whole, rest = np.divmod(sums, files)
    left = len(tables.codes) - int(whole.sum())
    whole[np.argsort(-rest, kind="stable")[:left]] += 1
    return whole
