"""`table import`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import STREAM, Outcome, Work, verbs
from api.verbs.table.files import TableVerb
from tabular.errors import InvalidParameter
from tabular.registry import option


@verbs.add("table import")
@dataclass(frozen=True, kw_only=True)
class ImportTable(TableVerb):
    """Save a table in the service as an original, with the kinds and roles of its columns.

    Only custodians see its rows. Every command that uses the saved table uses those kinds and roles too.
    """

    home = "writes"
    action = "store"

    file: str = option(help="The table.", positional=True, input=True)
    into: str = option(metavar="NAME", becomes="file", help="The name of the table in the service.")

    def check(self) -> None:
        super().check()
        if self.file == STREAM:
            raise InvalidParameter.wrong("file", must="be a file, which is copied", was=STREAM)

    def run(self, work: Work) -> Outcome:
        from tabular.files.description import described

        found = self.read(self.file, work)
        said = self.columns_described.with_options(self.dialect).document()
        return Outcome(
            document={**described(found), "file": self.into}, schema=said, details={"schema": found.schema.source}
        )
