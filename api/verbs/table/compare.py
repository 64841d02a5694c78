"""`table compare`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.verbs.contract import Outcome, Work, text_output, verbs
from api.verbs.table.files import TableVerb, refuse_repeated, require_columns
from tabular.errors import InvalidParameter, NoSolution, ReportedError, named
from tabular.registry import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabular.comparison import LeftOut, Member, Outcomes
    from tabular.files.table_files import TableFile
    from tabular.hierarchies.hierarchy import Hierarchy
    from tabular.table import Table

#: How protections are sorted.
SCORES = ("max", "mean")

#: The method whose levels a search finds.
LEVELS = "full-domain"

_tried = partial(option, group="What it compares")


@verbs.add("table compare")
@dataclass(frozen=True, kw_only=True)
class CompareTable(TableVerb):
    """Compare protections of a table side by side: loss, loss per column, and risk; nothing is released.

    By default it compares all methods that promise `k` for columns of these kinds, and the generalisation with the
    least loss. As in `table search`, a generalisation needs a hierarchy for each column; where one is missing, the
    generalisation is left out and the reason shown.
    """

    draws = True
    action = "protect"
    stoppable = True

    file: str = option(help="The table.", positional=True, input=True)
    columns: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns to protect.")

    k: int = _tried(10, low=2, help="Each protection makes at least N rows agree.")
    protection: tuple[str, ...] = _tried(
        (),
        metavar="METHOD KEY=VALUE",
        help="Compare these instead, as in 'mondrian k=5'; repeatable. They name no files; `hierarchies` does.",
    )
    hierarchies: str | None = _tried(
        None,
        metavar="DIR",
        input=True,
        folder=True,
        own=True,
        help="A folder with hierarchies for the columns: A.csv or *_A.csv, a row per value.",
    )
    suppression: float = _tried(0.01, low=0, high=1, help="A generalisation may suppress this share of the rows.")
    seconds: float = _tried(20.0, low=0.1, help="Search for the best generalisation for at most X seconds.")

    score: str | None = option(
        None, choices=SCORES, help="Sort by the greater of loss and risk (the default), or by their mean."
    )
    sample: int = option(
        0, low=0, high=100, help="Also show N rows before and after each protection; keep these private."
    )
    html: str | None = option(None, metavar="FILE", output=True, help="Write the map of risk against loss.")

    def check(self) -> None:
        from tabular.comparison import read_members
        from tabular.protections.contract import method_in

        super().check()
        refuse_repeated("columns", self.columns)
        if any({"hierarchies", "matrix"} & set(method_in(each)[1]) for each in self.protection):
            raise InvalidParameter(f"{named('protection')} takes no files; {named('hierarchies')} names a folder.")
        read_members(self.protection, self.columns)

    def run(self, work: Work) -> Outcome:
        from tabular.comparison import compare

        source = self.read(self.file, work, measured=self.columns)
        table = source.table
        require_columns(table, self.columns, self.file)
        members, left_out = self._members(table, work)
        sample = _Sample(table, self.columns, self.sample)
        found = compare(
            table, self.columns, members, left_out, rng=work.generator(), by_column=True, report=work.report,
            keep=sample.keep if self.sample else None, parts=work.parts,
        )  # fmt: skip
        outcome = compared(source, self.columns, found, self.score, self.html)
        if not self.sample:
            return outcome
        return replace(outcome, document={**outcome.document, "sample": sample.document(outcome.details["names"])})

    def _members(self, table: Table, work: Work) -> tuple[list[Member], list[LeftOut]]:
        """The protections to compare, and those that cannot be."""
        from tabular.comparison import LeftOut, Member, promising, read_members

        every, left_out = (
            (read_members(self.protection, self.columns), ())
            if self.protection
            else promising(table, self.columns, self.k)
        )
        parameters = {"k": self.k, "suppression": self.suppression}
        best = [] if self.protection else [Member(method=LEVELS, parameters=parameters, columns=self.columns)]
        members, gone = [], list(left_out)
        for each in (*best, *every):
            if each.method != LEVELS:
                members.append(each)
                continue
            try:
                members.append(self._generalising(each, table, work))
            except ReportedError as error:
                gone.append(LeftOut(each.name, str(error)))
        return members, gone

    def _generalising(self, member: Member, table: Table, work: Work) -> Member:
        """A generalisation with its hierarchies and levels, which are those of the least loss if none are given."""
        from tabular.lattice import Limits, SearchRequest, find_generalisation

        hierarchies = self._hierarchies(table)
        member = replace(member, hierarchies=hierarchies)
        if "levels" in member.parameters:
            return member
        limits = Limits(**{name: member.parameters[name] for name in ("k", "suppression") if name in member.parameters})
        request = SearchRequest(quasi_identifiers=self.columns, limits=limits, seconds=self.seconds)
        found = find_generalisation(
            request, table, hierarchies, rng=work.generator(), file=self.file, report=work.report, stop=work.stop
        )
        # In the order of the columns: their names may hold commas.
        text = ",".join(map(str, found.document["solutions"][0]["node"]))
        return replace(member, parameters={**member.parameters, "levels": text})

    def _hierarchies(self, table: Table) -> dict[str, Hierarchy]:
        """The hierarchy of each column."""
        from tabular.hierarchies import hierarchy_files, read_hierarchies

        known = {} if self.hierarchies is None else hierarchy_files(self.hierarchies, table.names)
        missing = [repr(name) for name in self.columns if name not in known]
        if missing:
            raise NoSolution(f"There is no hierarchy for {', '.join(missing)}.")
        return read_hierarchies(self.hierarchies or "", table, self.columns)


def compared(
    source: TableFile, columns: Sequence[str], found: Outcomes, score: str | None, html: str | None
) -> Outcome:
    """What came of several protections of the *columns* of a table, with a report where one is wanted."""
    from tabular.comparison import Member
    from tabular.release import version
    from tabular.report import risk_loss_report

    table = source.table
    document = {
        "version": version(),
        "file": Path(source.name).name,
        "rows": len(table),
        "columns": [
            {"name": name, "kind": table.attribute(name).kind, "categories": len(table.attribute(name).domain)}
            for name in columns
        ],
        **found.document(score or SCORES[0]),
    }
    every = document["protections"]
    outputs = [] if html is None else [text_output(html, "html", risk_loss_report(document))]
    names = [Member(method=each["method"], parameters=each["parameters"]).name for each in every]
    return Outcome(document=document, outputs=outputs, details={"names": names})


class _Sample:
    """Some rows before and after each protection."""

    def __init__(self, table: Table, columns: Sequence[str], rows: int) -> None:
        step = max(len(table) / rows, 1) if rows else 1
        self._rows = [int(place * step) for place in range(min(rows, len(table)))]
        self._table, self._columns = table, columns
        self._before = self._cells(table)
        self._after: dict[str, list[list[str]]] = {}

    def keep(self, member: Member, masked: Table) -> None:
        """Take the rows of a masked table."""
        self._after[member.name] = self._cells(self._written(member, masked))

    def _written(self, member: Member, masked: Table) -> Table:
        """A generalised table with the labels of its hierarchies, as it would be released."""
        from tabular.lattice.release import labelled
        from tabular.protections.full_domain import FullDomain

        if member.method != LEVELS:
            return masked
        made = FullDomain(**member.parameters, hierarchies=member.hierarchies)
        hierarchies = made.fitting(self._table, self._columns)
        node = made.node(hierarchies)
        gone = made.suppressed(self._table, hierarchies, node)
        return labelled(self._table, hierarchies, node, suppressed=gone)

    def document(self, names: Sequence[str]) -> dict[str, Any]:
        """The rows, counted from 1, before and after each of the protections *names*, in their order."""
        return {
            "rows": [row + 1 for row in self._rows],
            "before": self._before,
            "after": [self._after[name] for name in names],
        }

    def _cells(self, table: Table) -> list[list[str]]:
        import numpy as np

        from tabular.attributes import text_of

        some = table.rows(np.array(self._rows, dtype=np.int64))
        columns = [list(map(text_of, some.values(name))) for name in self._columns]
        return [list(row) for row in zip(*columns, strict=True)]
