"""Whole evaluations of protected files, and of steps that change one, in compiled loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular.evolution.fitness.basis import Basis, Transport, begin_nearer
from tabular.evolution.fitness.counts import PRL, Counts, change, count, link, percents
from tabular.evolution.fitness.tables import Tables
from tabular.kernels import lean

#: Where more than one gene in so many is replaced, counting the file anew is quicker.
RECOUNTED = 8


@lean
def evaluate(
    tables: Tables,
    counts: Counts,
    transport: Transport,
    basis: Basis,
    start: Basis,
    linked: bool,
    files: NDArray[np.int32],
    found: NDArray[np.float64],
) -> None:
    """Count each of the *files* anew, and write its measures in percent to a row of *found*."""
    for number in range(len(files)):
        for record in range(files.shape[1]):
            for place in range(files.shape[2]):
                counts.codes[record, place] = files[number, record, place]
        count(tables, counts, linked)
        begin_nearer(basis, start, counts.demand)
        _measure(tables, counts, transport, basis, linked, found, number)


@lean
def step(
    tables: Tables,
    counts: Counts,
    transport: Transport,
    basis: Basis,
    start: Basis,
    linked: bool,
    gene: int,
    values: NDArray[np.int32],
    found: NDArray[np.float64],
) -> None:
    """Replace the genes from *gene* on, and write the measures to the row of *found*."""
    put(tables, counts, linked, gene, values)
    if len(values) > 1:
        begin_nearer(basis, start, counts.demand)
    _measure(tables, counts, transport, basis, linked, found, 0)


@lean
def begin_step(
    tables: Tables, counts: Counts, linked: bool, gene: int, values: NDArray[np.int32], found: NDArray[np.float64]
) -> None:
    """Replace the genes from *gene* on, and write the measures as if nothing were linked one to one."""
    put(tables, counts, linked, gene, values)
    counts.sums[PRL] = 0
    percents(tables, counts, found, 0)


@lean
def end_step(
    tables: Tables, counts: Counts, transport: Transport, basis: Basis, start: Basis, found: NDArray[np.float64]
) -> None:
    """Link one to one what `begin_step` did not."""
    begin_nearer(basis, start, counts.demand)
    _measure(tables, counts, transport, basis, True, found, 0)


@lean
def put(tables: Tables, counts: Counts, linked: bool, gene: int, values: NDArray[np.int32]) -> None:
    """Replace the genes from *gene* on, and leave the linkage for later."""
    attributes = counts.codes.shape[1]
    anew = RECOUNTED * len(values) > counts.codes.size
    for place in range(len(values)):
        record, column = (gene + place) // attributes, (gene + place) % attributes
        if anew:
            counts.codes[record, column] = values[place]
        else:
            change(tables, counts, record, column, values[place])
    if anew:
        count(tables, counts, linked)


@lean
def try_changes(
    tables: Tables,
    counts: Counts,
    transport: Transport,
    basis: Basis,
    start: Basis,
    linked: bool,
    changes: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Write the measures after each of *changes*, a row with gene and value, and undo it."""
    attributes = counts.codes.shape[1]
    for number in range(len(changes)):
        record, place = changes[number, 0] // attributes, changes[number, 0] % attributes
        before = counts.codes[record, place]
        change(tables, counts, record, place, changes[number, 1])
        _measure(tables, counts, transport, basis, linked, found, number)
        change(tables, counts, record, place, before)


@lean
def _measure(
    tables: Tables,
    counts: Counts,
    transport: Transport,
    basis: Basis,
    linked: bool,
    found: NDArray[np.float64],
    number: int,
) -> None:
    if linked:
        link(tables, counts, transport, basis)
    percents(tables, counts, found, number)


@lean
def wrong_file(files: NDArray[np.int32], sizes: NDArray[np.int64]) -> int:
    """The first of *files* with a value that is no code of its domain; -1 if there is none."""
    for number in range(len(files)):
        for record in range(files.shape[1]):
            for place in range(files.shape[2]):
                if files[number, record, place] < 0 or files[number, record, place] >= sizes[place]:
                    return number
    return -1
