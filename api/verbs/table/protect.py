"""`table protect`: one masked table, or the grid of many."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.verbs.contract import STREAM, Outcome, Work, copy_of, refuse_beside, verbs
from api.verbs.table.compare import SCORES, compared
from api.verbs.table.files import ReleasingVerb, refuse_repeated, require_columns, table_protections, writing
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, named
from tabular.files.disk import Output, Planned
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.attributes import Attribute
    from tabular.comparison import Member
    from tabular.files.table_files import TableFile
    from tabular.table import Table

_one = partial(option, group="How it masks")
_grid = partial(option, group="How it compares many protections")


@verbs.add("table protect")
@dataclass(frozen=True, kw_only=True)
class ProtectTable(ReleasingVerb):
    """Mask columns of a table and write it for release, with a data dictionary beside it.

    Identifiers are dropped. A column in which no value occurs twice needs a role, or nothing is written. With `grid` it
    tries and compares many protections, and leaves the choice to you.

    `graphpriv methods --json` lists what each method promises, and its parameters for `param`.
    """

    draws = True
    action = "protect"

    file: str = option(help="The table.", positional=True, input=True)
    columns: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns to protect.")

    method: str | None = _one(
        None,
        metavar="NAME",
        choices=table_protections,
        help="The method; it needs `out`, and takes no `html`, `out_dir` or `score`.",
    )
    param: tuple[str, ...] = _one((), metavar="KEY=VALUE", help="A parameter of `method`; repeatable.")
    measure: bool = _one(True, help="Measure loss and risk; on large tables this takes longer.")
    matrices_out: str | None = writing(
        None,
        metavar="DIR",
        fills=True,
        help="For `method` pram, like `frequencies`: write the matrices, a CSV per column. They lead back to the "
        "original: keep them private.",
    )
    frequencies: str | None = writing(
        None,
        metavar="FILE",
        output=True,
        help="For `method` pram: write unbiased estimates of the original's frequencies with standard errors, as CSV.",
    )

    grid: bool = _grid(
        False,
        help="Try the thesis's grid, about a hundred protections, and sort them by score. There is no `method` then, "
        "and no `param`, `out`, `into`, `shuffle`, `private`, `matrices_out` or `frequencies`.",
    )
    score: str | None = _grid(
        None, choices=SCORES, help="Sort by the greater of loss and risk (the default), or by their mean."
    )
    html: str | None = _grid(
        None, metavar="FILE", output=True, help="Write the map of risk against loss, with all figures."
    )
    out_dir: str | None = _grid(
        None, metavar="DIR", fills=True, help="Write each masked table, with its rows in the original's order."
    )

    def check(self) -> None:
        super().check()
        refuse_repeated("columns", self.columns)
        if self.grid:
            refuse_beside(
                self, "grid", "method", "out", "into", "param", "shuffle", "private", "matrices_out", "frequencies"
            )
            return
        if self.method is None or self.out is None:
            raise InvalidParameter(
                f"Give {named('method')} and {named('out')}, or {named('grid')} to try many protections."
            )
        refuse_beside(self, "method", "html", "out_dir", "score")
        if self.matrices_out == STREAM:
            raise InvalidParameter(f"{named('matrices_out')} -: the matrices are several files; give a folder.")
        self._parameters()

    @property
    def writes_later(self) -> bool:
        return self.out_dir is not None

    def reads(self) -> Sequence[str]:
        named_files = [] if self.grid else [self._parameters().get(name) for name in ("matrix", "hierarchies")]
        return [*super().reads(), *(path for path in named_files if path is not None)]

    def run(self, work: Work) -> Outcome:
        source = self.read(self.file, work, measured=self.columns)
        require_columns(source.table, self.columns, self.file)
        return self._try_grid(source, work) if self.grid else self._mask(source, work)

    def _mask(self, source: TableFile, work: Work) -> Outcome:
        from tabular.masking import Masking, read_parameters
        from tabular.matrices.transition import matrix_path

        folder, attributes = self.matrices_out, [source.table.attribute(name) for name in self.columns]
        paths = {} if folder is None else {str(matrix_path(folder, each)): each for each in attributes}
        work.expect([Planned("matrices_out", path, folder=folder) for path in paths])
        asked = Masking(
            method=self.method or "",
            columns=self.columns,
            parameters=read_parameters(self._parameters(), source.table, self.columns),
            identifiers=self.identifiers or "drop",
            shuffle=self.shuffles,
            measure=self.measure,
            matrices=folder is not None,
            frequencies=self.frequencies is not None,
        )
        work.report("Protecting", 0, 0)
        masked = asked.run(source.table, rng=work.generator(), report=work.report)
        document, outputs = self.release_outputs(masked, source, work)
        if masked.matrix_measures is not None:
            document["matrix_measures"] = masked.matrix_measures
        if folder is not None:
            document["matrices"] = folder
            outputs += [_matrix_output(path, each, masked.matrices[each.name]) for path, each in paths.items()]
        if self.frequencies is not None:
            document["frequencies"] = self.frequencies
            outputs.append(_frequency_output(self.frequencies, masked.frequencies))
        return Outcome(document=document, outputs=outputs)

    def _try_grid(self, source: TableFile, work: Work) -> Outcome:
        from tabular.grid import run_grid

        table = source.table
        paths = self._grid_paths(source)
        work.expect([Planned("out_dir", path, folder=self.out_dir) for path in paths.values()])
        outputs: list[Output] = []

        def keep(member: Member, masked: Table) -> None:
            outputs.append(self._kept(paths[member.name], masked, source))

        found = run_grid(
            table, self.columns, rng=work.generator(), report=work.report, keep=keep if paths else None,
            parts=work.parts,
        )  # fmt: skip
        outcome = compared(source, self.columns, found, self.score, self.html)
        return replace(outcome, outputs=[*outputs, *outcome.outputs])

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(table_protections()[self.method or ""], self.param)

    def _grid_paths(self, source: TableFile) -> dict[str, str]:
        """Where each protection of the grid goes, by its name."""
        from tabular.grid import thesis_grid

        if self.out_dir is None:
            return {}
        ending = ".parquet" if source.dialect is None else ".csv"
        members, _ = thesis_grid(source.table, self.columns)
        return {each.name: str(Path(self.out_dir) / (re.sub(r"[ =,]+", "-", each.name) + ending)) for each in members}

    def _kept(self, path: str, masked: Table, source: TableFile) -> Output:
        """A masked table of the grid, which waits on the disk until all are written."""
        from tabular.files.table_files import write_table_to
        from tabular.release import release_table

        waiting = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed when it has been copied)
        released = release_table(masked, identifiers=self.identifiers or "drop")
        write_table_to(waiting, released, path, like=source)
        return Output(path=path, parameter="out_dir", write=copy_of(waiting))


def _matrix_output(path: str, attribute: Attribute, matrix: Any) -> Output:
    from tabular.matrices.transition import write_matrix

    return Output(
        path=path, parameter="matrices_out", write=lambda file, _: write_matrix(file, attribute, matrix), private=True
    )


def _frequency_output(path: str, frequencies: Sequence[Any]) -> Output:
    from tabular.attributes import text_of
    from tabular.files.csv_tables import write_csv

    rows = [
        (each.attribute.name, text_of(value), masked, estimate, error)
        for each in frequencies
        for value, masked, estimate, error in each.rows()
    ]
    header = ("column", "value", "masked", "estimate", "standard_error")
    return Output(path=path, parameter="frequencies", write=lambda file, _: write_csv(file, header, rows))
