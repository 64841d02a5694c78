"""`table protect`: one masked table, or the grid of many."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from api.verbs.contract import STREAM, Outcome, Work, refuse_beside, verbs
from api.verbs.outputs import text_output
from api.verbs.table.reading import refuse_repeated, require_columns
from api.verbs.table.releasing import WRITES, ReleasingVerb, table_protections
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, named
from tabular.registry import option

if TYPE_CHECKING:
    from tabular.attributes import Attribute
    from tabular.files.disk import Output, Planned
    from tabular.files.table_files import TableFile
    from tabular.table import Table

_ONE, _GRID = "How it masks", "How it compares many protections"

#: How the grid is sorted.
SCORES = ("max", "mean")


@verbs.add("table protect")
@dataclass(frozen=True, kw_only=True)
class ProtectTable(ReleasingVerb):
    """Mask columns of a table and write it for release, with a data dictionary beside it.

    Identifiers are dropped. A column in which no value occurs twice needs a role, or nothing is written. With `grid` it
    tries many protections and compares them, and leaves the choice to you.

    `graphpriv methods --json` lists what each method promises, and its parameters for `param`.
    """

    draws: ClassVar[bool] = True

    file: str = option(help="The table.", positional=True, input=True)
    columns: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns to protect.")

    method: str | None = option(None, metavar="NAME", group=_ONE, choices=table_protections, help="The method.")
    param: tuple[str, ...] = option((), metavar="KEY=VALUE", group=_ONE, help="A parameter of the method; repeatable.")
    measure: bool = option(True, group=_ONE, help="Measure loss and risk; on large tables this takes longer.")
    matrices_out: str | None = option(
        None,
        metavar="DIR",
        group=WRITES,
        help="Write the matrices of pram, a CSV per column. They lead back to the original: keep them private.",
    )
    frequencies: str | None = option(
        None,
        metavar="FILE",
        output=True,
        group=WRITES,
        help="For pram: write unbiased estimates of the original's frequencies with standard errors, as CSV.",
    )

    grid: bool = option(
        False, group=_GRID, help="Try the thesis's grid, about a hundred protections, and sort them by score."
    )
    score: str | None = option(
        None,
        group=_GRID,
        choices=SCORES,
        help="Sort by the greater of loss and risk (the default), or by their mean.",
    )
    html: str | None = option(
        None, metavar="FILE", output=True, group=_GRID, help="Write the map of risk against loss, with all figures."
    )
    out_dir: str | None = option(
        None, metavar="DIR", group=_GRID, help="Write each masked table, with its rows in the original's order."
    )

    def check(self) -> None:
        super().check()
        refuse_repeated("columns", self.columns)
        if self.grid:
            refuse_beside(self, "grid", "method", "out", "param", "shuffle", "private", "matrices_out", "frequencies")
            return
        if self.method is None or self.out is None:
            raise InvalidParameter(
                f"Give {named('method')} and {named('out')}, or {named('grid')} to try many protections."
            )
        refuse_beside(self, "method", "html", "out_dir", "score")
        if self.matrices_out == STREAM:
            raise InvalidParameter(f"{named('matrices_out')} -: the matrices are several files; name a folder.")
        self._parameters()

    @property
    def writes_later(self) -> bool:
        return self.out_dir is not None

    def reads(self) -> Sequence[str]:
        named_files = [] if self.grid else [self._parameters().get(name) for name in ("matrix", "hierarchies")]
        return [*super().reads(), *(path for path in named_files if path is not None)]

    def run(self, work: Work) -> Outcome:
        source = self.read(self.file, work)
        require_columns(source.table, self.columns, self.file)
        return self._try_grid(source, work) if self.grid else self._mask(source, work)

    def _mask(self, source: TableFile, work: Work) -> Outcome:
        from tabular.masking import Masking, read_parameters

        attributes = [source.table.attribute(name) for name in self.columns]
        work.expect(self._planned_matrices(attributes))
        asked = Masking(
            method=self.method or "",
            columns=self.columns,
            parameters=read_parameters(self._parameters(), source.table, self.columns),
            identifiers=self.identifiers or "drop",
            shuffle=self.shuffle,
            measure=self.measure,
            matrices=self.matrices_out is not None,
            frequencies=self.frequencies is not None,
        )
        work.report("Protecting", 0, 0)
        masked = asked.run(source.table, rng=work.generator(), report=work.report)
        document, outputs = self.release_outputs(masked, source, work)
        if masked.matrix_measures is not None:
            document["matrix_measures"] = masked.matrix_measures
        if self.matrices_out is not None:
            document["matrices"] = self.matrices_out
            outputs += self._matrix_outputs(attributes, masked.matrices)
        if self.frequencies is not None:
            document["frequencies"] = self.frequencies
            outputs.append(self._frequency_output(self.frequencies, masked.frequencies))
        return Outcome(document=document, outputs=outputs)

    def _try_grid(self, source: TableFile, work: Work) -> Outcome:
        from tabular.grid import Member, run_grid
        from tabular.release import version
        from tabular.report import risk_loss_report

        table = source.table
        paths = self._grid_paths(source)
        work.expect(self._planned_tables(paths))
        outputs: list[Output] = []

        def keep(member: Member, masked: Table) -> None:
            if member.name in paths:
                outputs.append(self._kept(paths[member.name], masked, source))

        found = run_grid(table, self.columns, rng=work.generator(), report=work.report, keep=keep)
        document = {
            "version": version(),
            "file": Path(source.name).name,
            "rows": len(table),
            "columns": [
                {"name": name, "kind": table.attribute(name).kind, "categories": len(table.attribute(name).domain)}
                for name in self.columns
            ],
            **found.document(self.score or SCORES[0]),
        }
        every = document["protections"]
        if self.html is not None:
            outputs.append(text_output(self.html, "html", risk_loss_report(document)))
        members = [Member(method=each["method"], parameters=each["parameters"]) for each in every]
        return Outcome(document=document, outputs=outputs, details={"names": [each.name for each in members]})

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(table_protections()[self.method or ""], self.param)

    def _planned_matrices(self, attributes: Sequence[Attribute]) -> list[Planned]:
        from tabular.files.disk import Planned
        from tabular.matrices.transition import matrix_path

        folder = self.matrices_out
        if folder is None:
            return []
        paths = (str(matrix_path(folder, each)) for each in attributes)
        return [Planned(parameter="matrices_out", path=path, folder=folder) for path in paths]

    def _matrix_outputs(self, attributes: Sequence[Attribute], matrices: Mapping[str, Any]) -> list[Output]:
        from tabular.files.disk import Output
        from tabular.matrices.transition import matrix_path, write_matrix

        folder = self.matrices_out or ""

        def output(attribute: Attribute) -> Output:
            return Output(
                path=str(matrix_path(folder, attribute)),
                parameter="matrices_out",
                write=lambda file, _: write_matrix(file, attribute, matrices[attribute.name]),
                private=True,
            )

        return [output(each) for each in attributes]

    def _frequency_output(self, path: str, frequencies: Sequence[Any]) -> Output:
        from tabular.attributes import text_of
        from tabular.files.csv_tables import write_csv
        from tabular.files.disk import Output

        rows = [
            (each.attribute.name, text_of(value), masked, estimate, error)
            for each in frequencies
            for value, masked, estimate, error in each.rows()
        ]
        header = ("column", "value", "masked", "estimate", "standard_error")
        return Output(path=path, parameter="frequencies", write=lambda file, _: write_csv(file, header, rows))

    def _grid_paths(self, source: TableFile) -> dict[str, str]:
        """Where each protection of the grid goes, by its name."""
        from tabular.grid import thesis_grid

        if self.out_dir is None:
            return {}
        ending = ".parquet" if source.dialect is None else ".csv"
        members, _ = thesis_grid(source.table, self.columns)
        return {each.name: str(Path(self.out_dir) / (re.sub(r"[ =,]+", "-", each.name) + ending)) for each in members}

    def _planned_tables(self, paths: Mapping[str, str]) -> list[Planned]:
        from tabular.files.disk import Planned

        return [Planned(parameter="out_dir", path=path, folder=self.out_dir) for path in paths.values()]

    def _kept(self, path: str, masked: Table, source: TableFile) -> Output:
        """A masked table of the grid, which waits on the disk until all are written."""
        from tabular.files.disk import Output
        from tabular.files.table_files import write_table_to
        from tabular.release import release_table

        waiting = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed when it has been copied)
        released = release_table(masked, identifiers=self.identifiers or "drop")
        write_table_to(waiting, released, path, like=source)

        def write(file: IO[bytes], release: str) -> None:
            with waiting:
                waiting.seek(0)
                shutil.copyfileobj(waiting, file)

        return Output(path=path, parameter="out_dir", write=write)
