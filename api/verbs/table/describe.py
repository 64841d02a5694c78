"""`table describe`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Work, keep_description, verbs
from api.verbs.table.files import TableVerb
from tabular.registry import option


@verbs.add("table describe")
@dataclass(frozen=True, kw_only=True)
class DescribeTable(TableVerb):
    """Show the format of a table, what each column holds, and which of these are guesses.

    FILE is CSV or Parquet, - is standard input. Values that could identify a person are not shown.
    """

    action = "describe"
    quick = True

    file: str = option(help="The table.", positional=True, input=True)

    def run(self, work: Work) -> Outcome:
        from tabular.files.description import described

        found = self.read(self.file, work)
        keep_description(self.file, work)
        return Outcome(document=described(found), details={"schema": found.schema.source})
