"""`table measure`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.verbs import conditions
from api.verbs.contract import STREAM, Outcome, Work, verbs
from api.verbs.table.files import TableVerb, refuse_repeated, require_columns
from api.verbs.values import parameters_of
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.registry import option


@verbs.add("table measure")
@dataclass(frozen=True, kw_only=True)
class MeasureTable(TableVerb):
    """Measure what a masked table lost and what it still discloses; row i of both files is the same record."""

    action = "measure"

    original: str = option(help="The original; - only if `masked` is a file.", positional=True, input=True)
    masked: str = option(help="The masked table.", positional=True, input=True, release=True)
    columns: tuple[str, ...] = option(metavar="A,B", listed=True, help="The protected columns to compare.")
    matrices: str | None = option(
        None,
        metavar="DIR",
        input=True,
        folder=True,
        help="The PRAM matrices the table was masked with; for ebil and informed.",
    )
    param: tuple[str, ...] = option(
        (), metavar="MEASURE.KEY=VALUE", help="A parameter of a measure, such as rsrl.percent=10; repeatable."
    )
    without: tuple[str, ...] = option((), metavar="MEASURE", help="Leave a measure out; repeatable.")
    fail_if: str | None = option(
        None,
        metavar="EXPR",
        help="Exit with 4 if it holds: 'score_max > 40 or raw.dbrl > 100'. It names no measure in `without`.",
    )

    def check(self) -> None:
        from tabular.measures import Summary

        super().check()
        refuse_repeated("columns", self.columns)
        conditions.check_names(self.fail_if, Summary.paths(len(self.columns), self.without))
        if self.original == self.masked == STREAM:
            raise InvalidParameter(f"{named('original')} and {named('masked')} cannot both come from standard input.")
        self._parameters()

    def run(self, work: Work) -> Outcome:
        from tabular.files.table_files import read_masked
        from tabular.matrices.transition import read_matrices
        from tabular.measures import measures, summary
        from tabular.measures.scores import name_of

        before = self.read(self.original, work, measured=self.columns).table
        require_columns(before, self.columns, self.original)
        # The masked file's dialect is found out anew; where the names of its columns come from is the same.
        after = read_masked(self.masked, before, names=self.columns, schema=self.columns_described)
        if len(before) != len(after):
            raise InvalidInput(
                f"{self.masked}: it has {len(after)} rows, {self.original} has {len(before)}; row i of both must be "
                "the same record."
            )
        known = None
        if self.matrices is not None:
            known = read_matrices(Path(self.matrices), [before.attribute(name) for name in self.columns])
        work.report("Measuring", 0, 0)
        document = summary(
            before, after, self.columns, without=self.without, parameters=self._parameters(), matrices=known
        ).document()
        names = {key: name_of(key, numeric=document["numeric"]) for key in document["raw"]}
        summaries = {key: measures[name].summary for key, name in names.items()}
        holds = conditions.holds(self.fail_if, document)
        return Outcome(document=document, condition_holds=holds, details={"summaries": summaries})

    def _parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The parameters by measure."""
        from tabular.measures import measures

        texts: dict[str, tuple[str, ...]] = {}
        for text in self.param:
            name, dot, rest = text.partition(".")
            if not dot:
                raise InvalidParameter(f"{named('param')} {text!r}: write MEASURE.KEY=VALUE, such as rsrl.percent=10.")
            entry = measures[name.strip()].name
            texts[entry] = (*texts.get(entry, ()), rest)
        return {name: parameters_of(measures[name], given) for name, given in texts.items()}
