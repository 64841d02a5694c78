"""A table with all that goes with it when it is released: what is said of it, its dictionary, and what leads back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabular.labels import text_of
from tabular.release.dictionary import LABELS, table_dictionary
from tabular.release.identifiers import IDENTIFIER, release_table
from tabular.release.stream import Stream
from tabular.release.version import version
from tabular.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """A table to be released, in the order of its original, and what was found out about it."""

    table: Table
    columns: tuple[str, ...]
    method: str
    parameters: Mapping[str, Any]
    findings: Mapping[str, Any]
    #: The rows that are released, in their order; None where all stand as they are.
    order: NDArray[np.int64] | None = field(default=None, repr=False)
    #: What a label stands for, in words.
    labels: str = LABELS
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    #: Whether identifiers are dropped or starred.
    identifiers: str = "drop"
    #: What else leads back to the original.
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def released(self) -> Table:
        """The rows in the order of the release; identifiers still stand in it."""
        return self.table if self.order is None else self.table.rows(self.order)

    def to_frame(self) -> DataFrame:
        """The release as a pandas data frame, its identifiers dropped or starred."""
        return release_table(self.released, identifiers=self.identifiers).to_frame()

    def _repr_html_(self) -> str:
        return self.released._repr_html_()


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """The table as it is given away, and the documents beside it; `private` leads back to the original."""

    table: Table
    document: dict[str, Any]
    dictionary: dict[str, Any]
    private: dict[str, Any]


def drawn_order(rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
    """A random order of the *rows* of a release; the seed alone leads back."""
    return Stream(rng.bytes(32), b"order").permutation(rows)


def packaged(made: Released, original: Table, *, shuffled: bool, titles: Mapping[str, str], seed: int) -> Package:
    """Drop or star the identifiers of a release, put its rows in order, and write down what goes with it."""
    masked = made.released
    table = release_table(masked, identifiers=made.identifiers)
    about = {"columns": list(made.columns), "method": made.method, "parameters": dict(made.parameters)}
    dropped = list(masked.with_role(IDENTIFIER)) if made.identifiers == "drop" else []
    return Package(
        table=table,
        document={"rows": len(masked), **about, **made.findings, "shuffled": shuffled, "dropped": dropped},
        dictionary=table_dictionary(
            table,
            made.columns,
            method=made.method,
            parameters=made.parameters,
            findings=made.findings,
            shuffled=shuffled,
            titles=titles,
            labels=made.labels,
        ),
        private={
            "private": "Who has this file can undo the release. Keep it apart from the release.",
            "version": version(),
            "seed": seed,
            **about,
            # Row i of the release is row order[i] of the original, both counted from 0.
            "order": None if made.order is None else made.order.tolist(),
            "matrices": {
                name: {
                    "categories": [text_of(value) for value in original.attribute(name).domain],
                    "matrix": matrix.tolist(),
                }
                for name, matrix in made.matrices.items()
            },
            **made.private,
        },
    )
