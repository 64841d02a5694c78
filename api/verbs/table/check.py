"""`table check`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs import conditions
from api.verbs.contract import STREAM, Outcome, Work, verbs
from api.verbs.table.files import TableVerb, refuse_repeated, require_columns
from tabular.errors import InvalidInput, InvalidParameter, named
from tabular.registry import option


@verbs.add("table check")
@dataclass(frozen=True, kw_only=True)
class CheckTable(TableVerb):
    """Show the k, l, t and risks of a table as it is.

    A label for a set of values counts like any other value. Rows with * in all quasi-identifiers count as suppressed:
    k, l and the risks leave them out.
    """

    action = "describe"

    file: str = option(help="The table.", positional=True, input=True)
    quasi_identifiers: tuple[str, ...] = option(metavar="A,B", listed=True, help="The columns an attacker may know.")
    sensitive: tuple[str, ...] = option(
        (), metavar="C,D", listed=True, help="The columns whose values nobody should learn about a person."
    )
    population: str | None = option(
        None, metavar="FILE", input=True, help="The whole population FILE was drawn from, masked in the same way."
    )
    fail_if: str | None = option(
        None,
        metavar="EXPR",
        help="Exit with 4 if it holds: 'k < 5 or t > 0.2'. Only columns in `sensitive` have figures of their own.",
    )

    def check(self) -> None:
        from tabular.criteria import Check

        super().check()
        refuse_repeated("quasi_identifiers", self.quasi_identifiers)
        conditions.check_names(self.fail_if, Check.paths(self.sensitive))
        if self.file == self.population == STREAM:
            raise InvalidParameter(f"{named('file')} and {named('population')} cannot both come from standard input.")

    def run(self, work: Work) -> Outcome:
        from tabular.criteria import check, criteria, key_of
        from tabular.files.table_files import read_file

        table = self.read(self.file, work, measured=self.sensitive).table
        require_columns(table, (*self.quasi_identifiers, *self.sensitive), self.file)
        people = None
        if self.population is not None:
            people = read_file(self.population, schema=self.columns_described).table
            require_columns(people, self.quasi_identifiers, self.population)
        if not len(table):
            raise InvalidInput(f"{self.file}: the table has no rows; there is nothing to check.")
        document = check(table, self.quasi_identifiers, self.sensitive, population=people).document()
        return Outcome(
            document=document,
            condition_holds=conditions.holds(self.fail_if, document),
            details={"criteria": {key_of(each.name): each for each in criteria.entries()}},
        )
