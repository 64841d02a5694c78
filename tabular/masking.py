"""Masking a table and measuring what came of it: one request and one outcome, for every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabular.attributes import write_label
from tabular.errors import InvalidParameter, named
from tabular.hierarchies import read_hierarchies
from tabular.loop import Report, silent
from tabular.matrices.transition import CorrectedFrequencies, corrected_frequencies, read_matrices
from tabular.measures.scores import PLAIN, Summary, summary
from tabular.measures.transitions import matrix_measures
from tabular.protections import Protection, protect, protections
from tabular.protections.pram import PRAM
from tabular.protections.recoding import Recoding
from tabular.release import IDENTIFIER, Released, drawn_order, effective_parameters, release_table, verify
from tabular.table import Table

#: How the files are read that some parameters name.
_READERS: Mapping[str, Callable[[str, Table, Sequence[str]], Any]] = {
    "matrix": lambda path, table, columns: read_matrices(path, [table.attribute(name) for name in columns]),
    "hierarchies": read_hierarchies,
}


@dataclass(frozen=True, kw_only=True)
class Masking:
    """How a table is masked, what is measured, and in which order its rows are released.

    *matrices* and *frequencies* need a method that masks by transition matrices: the matrices themselves, and the
    frequencies of the original estimated with them.
    """

    method: str
    columns: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    identifiers: str = "drop"
    shuffle: bool = False
    measure: bool = True
    matrices: bool = False
    frequencies: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns))

    def run(self, table: Table, *, rng: np.random.Generator, report: Report = silent) -> Masked:
        """Mask *table*, check that it may be released, and measure it; nothing is written."""
        protection = self._protection(table)
        masked = protect(table, self.method, self.columns, rng=rng, **self.parameters)
        release_table(masked, identifiers=self.identifiers)
        counted = verify(masked, protection, self.columns)
        matrices = protection.matrices(table, self.columns) if isinstance(protection, PRAM) else {}
        wanted = self.columns if self.frequencies else ()
        frequencies = [corrected_frequencies(masked, name, matrices[name]) for name in wanted]
        findings: dict[str, Any] = {
            # Over blocks of columns a k says nothing of all of them together.
            "promises_k": protection.k_holds_over(self.columns) == (self.columns,),
            "k": counted.k,
            "suppressed": counted.suppressed,
            "exact_values": _exact_values(masked, self.columns),
        }
        if isinstance(protection, Recoding):
            findings["joined"] = _joined(masked, self.columns)
        found = None
        if self.measure:
            report("Measuring", 0, 0)
            known = {"informed": {"matrices": matrices}} if matrices else {}
            found = summary(table, masked, self.columns, without=(PLAIN,), parameters=known, method_is_known=True)
            bound = found.disclosure_risk_bound
            findings |= found.scores() | ({"disclosure_risk_bound": bound} if bound else {})
            findings["highest_linkage"] = found.highest_linkage
        return Masked(
            identifiers=self.identifiers,
            table=masked,
            columns=self.columns,
            method=self.method,
            parameters=effective_parameters(protection, self.parameters),
            findings=findings,
            measures=found,
            matrices=matrices,
            matrix_measures=matrix_measures(table, masked, matrices) if self.measure and matrices else None,
            frequencies=frequencies,
            order=drawn_order(rng, len(table)) if self.shuffle else None,
        )

    def _protection(self, table: Table) -> Protection:
        """The method with its parameters, or an error where it or the columns are not what is needed."""
        for name in self.columns:
            if table.attribute(name).role == IDENTIFIER:
                raise InvalidParameter(
                    f"{named('columns')}: {name!r} is an identifier; it is dropped or starred, and not protected."
                )
        protection = protections[self.method].make(self.parameters)
        if (self.matrices or self.frequencies) and not isinstance(protection, PRAM):
            raise InvalidParameter(
                f"{named('matrices_out')} and {named('frequencies')} are for pram; {self.method} has no matrices."
            )
        return protection


@dataclass(frozen=True, kw_only=True, eq=False)
class Masked(Released):
    """A masked table, in the order of its original, and what was found out about it.

    *findings* may go out with the release; *measures* are all readings, None where nothing was measured; *matrices*,
    *matrix_measures* and *frequencies* lead back to the original.
    """

    measures: Summary | None = None
    matrix_measures: Mapping[str, Any] | None = field(default=None, repr=False)
    frequencies: Sequence[CorrectedFrequencies] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        from tabular.report.kit.page import table_snippet

        caption = f"{', '.join(self.columns)} masked by {self.method}, {len(self.table):,} rows."
        return table_snippet(caption, ["Finding", "Value"], [*self.findings.items()])


def _joined(masked: Table, columns: Sequence[str]) -> dict[str, dict[str, int]]:
    """The labels in each of *columns*, and the rows that have them."""
    return {
        name: {
            write_label(masked.attribute(name), members): int(
                (masked.columns[name] == len(masked.attribute(name).domain) + place).sum()
            )
            for place, members in enumerate(masked.sets[name])
        }
        for name in columns
    }


def _exact_values(masked: Table, columns: Sequence[str]) -> dict[str, int]:
    """The rows that hold a value and no label, in each of the *columns* that has labels."""
    return {
        name: int((masked.columns[name] < len(masked.attribute(name).domain)).sum())
        for name in columns
        if len(masked.sets[name])
    }


def read_parameters(parameters: Mapping[str, Any], table: Table, columns: Sequence[str]) -> dict[str, Any]:
    """The *parameters* of a method with the files read that some of them name."""
    return {
        name: _READERS[name](value, table, columns) if name in _READERS and isinstance(value, str) else value
        for name, value in parameters.items()
    }
