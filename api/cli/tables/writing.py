"""What one protection of a table writes: the table, its dictionary, and apart from them what leads back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.cli.tables.common import write_release
from api.cli.tables.outputs import Outputs
from tabular.errors import InvalidParameter
from tabular.files.csv_tables import write_csv
from tabular.files.disk import STREAM, replacing, write_text
from tabular.files.reading import TableFile
from tabular.files.writing import check_table_name
from tabular.labels import text_of
from tabular.matrices import CorrectedFrequencies, write_matrices
from tabular.release.dictionary import LABELS, dictionary_path, table_dictionary
from tabular.release.fingerprint import fingerprint_of_table
from tabular.release.identifiers import IDENTIFIER, release_table
from tabular.stream import Stream
from tabular.table import Table
from tabular.version import version


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options say of one release: how it is made and where it goes."""

    file: str
    out: str
    columns: tuple[str, ...]
    method: str
    seed: int
    identifiers: str
    shuffle: bool
    private: str | None
    overwrite: bool
    params: tuple[str, ...] = ()
    measure: bool = False
    matrices_out: str | None = None
    frequencies: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Done:
    """A masked table, in the order of its original, and all that goes with it."""

    source: TableFile
    masked: Table
    parameters: Mapping[str, Any]
    findings: Mapping[str, Any]
    order: NDArray[np.int64] | None
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    frequencies: Sequence[CorrectedFrequencies] = ()
    #: What else leads back.
    private: Mapping[str, Any] = field(default_factory=dict)
    #: What a label stands for, in words.
    labels: str = LABELS


def announced(outputs: Outputs, asked: Asked) -> None:
    """Refuse a release that cannot be written where it was asked for."""
    check_table_name(asked.out)
    outputs.announce("--out", asked.out)
    if asked.out != STREAM:
        outputs.announce("the data dictionary", dictionary_path(asked.out))
    if asked.private == STREAM:
        raise InvalidParameter(
            "--private -: what leads back is not written to standard output, among the release or what is said of it; "
            "give it a file."
        )
    outputs.announce("--private", asked.private)
    outputs.announce("--frequencies", asked.frequencies)


def drawn_order(rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
    """A random order of the rows of a release; the seed alone leads back."""
    return Stream(rng.bytes(32), b"order").permutation(rows)


def written(asked: Asked, done: Done) -> dict[str, Any]:
    """Write everything, the table last; what was written is said."""
    masked = done.masked if done.order is None else done.masked.rows(done.order)
    attributes = [done.source.table.attribute(name) for name in asked.columns]
    document: dict[str, Any] = {
        "table": asked.out,
        "rows": len(masked),
        "columns": list(asked.columns),
        "method": asked.method,
        "parameters": dict(done.parameters),
        **done.findings,
        "shuffled": asked.shuffle,
        "dropped": list(masked.with_role(IDENTIFIER)) if asked.identifiers == "drop" else [],
    }
    if asked.private is not None:
        text = json.dumps(private_document(asked, done), ensure_ascii=False) + "\n"
        write_text(asked.private, text, overwrite=asked.overwrite, private=True)
        document["private"] = asked.private
    if asked.matrices_out is not None:
        write_matrices(asked.matrices_out, attributes, done.matrices, overwrite=asked.overwrite, private=True)
        document["matrices"] = asked.matrices_out
    if asked.frequencies is not None:
        write_frequencies(asked.frequencies, done.frequencies, overwrite=asked.overwrite)
        document["frequencies"] = asked.frequencies
    if asked.out != STREAM:
        dictionary = table_dictionary(
            release_table(masked, identifiers=asked.identifiers),
            asked.columns,
            method=asked.method,
            parameters=done.parameters,
            findings=done.findings,
            shuffled=asked.shuffle,
            titles={name: each.title for name, each in done.source.schema.attributes.items()},
            labels=done.labels,
        )
        path = dictionary_path(asked.out)
        write_text(path, json.dumps(dictionary, ensure_ascii=False, indent=2) + "\n", overwrite=asked.overwrite)
        document["dictionary"] = str(path)
    write_release(masked, asked.out, like=done.source, identifiers=asked.identifiers, overwrite=asked.overwrite)
    return document


def private_document(asked: Asked, done: Done) -> dict[str, Any]:
    """What leads from the release back to the original."""
    table = done.source.table
    return {
        "private": "Who has this file can undo the release. Keep it apart from the release.",
        "version": version(),
        "input": fingerprint_of_table(table),
        "seed": asked.seed,
        "columns": list(asked.columns),
        "method": asked.method,
        "parameters": dict(done.parameters),
        # Row i of the release is row order[i] of the original, both counted from 0.
        "order": None if done.order is None else done.order.tolist(),
        "matrices": {
            name: {"categories": [text_of(value) for value in table.attribute(name).domain], "matrix": matrix.tolist()}
            for name, matrix in done.matrices.items()
        },
        **done.private,
    }


def write_frequencies(path: str, frequencies: Sequence[CorrectedFrequencies], *, overwrite: bool) -> None:
    """Write the corrected frequencies of all columns as one CSV."""
    rows = (
        (each.attribute.name, text_of(value), masked, estimate, error)
        for each in frequencies
        for value, masked, estimate, error in each.rows()
    )
    with replacing(path, overwrite=overwrite) as file:
        write_csv(file, ("column", "value", "masked", "estimate", "standard_error"), rows)
