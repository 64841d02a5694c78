"""`audit`: what a release lost and what it discloses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.verbs import conditions
from api.verbs.contract import STREAM, Outcome, Work, refuse_without, text_output, verbs
from api.verbs.graph.attacks import AttackingVerb
from tabular.errors import ReportedError
from tabular.registry import option

if TYPE_CHECKING:
    from graphpriv.auditing import Audit
    from graphpriv.stored import Matched


@verbs.add("audit")
@dataclass(frozen=True, kw_only=True)
class AuditRelease(AttackingVerb):
    """Measure what a release lost and who can still be found in it."""

    store = "reads"
    action = "measure"

    original: str = option(help="The original graph.", positional=True, graph="any", or_file="files")
    released: str = option(help="Its release.", positional=True, graph="any", or_file="files")
    files: bool = option(False, help="ORIGINAL and RELEASED are files: a release made elsewhere.")
    mapping: str | None = option(None, metavar="FILE", input=True, help="With `files`: the CSV original,released.")
    undirected: bool = option(False, help="Read both graphs without directions.")
    at_risk: int = option(20, low=0, help="List the N users most at risk.")
    at_risk_out: str | None = option(
        None, metavar="FILE", output=True, help="Also write all users at risk as CSV; it names users of the original."
    )
    html: str | None = option(None, metavar="FILE", output=True, help="Also write a report.")
    fail_if: str | None = option(
        None,
        metavar="EXPR",
        help="Exit with 4 if it holds or may hold: 'highest.expected_success.value > 0.05'. Only "
        "figures of the chosen `attacker` and `scenario` are there.",
    )

    def check(self) -> None:
        from graphpriv.auditing import figure_paths

        super().check()
        refuse_without(self, "files", "mapping")
        conditions.check_names(self.fail_if, figure_paths(self.attackers(), self.scenarios()))

    def reads(self) -> Sequence[str]:
        graphs = [*_files_of(self.original), *_files_of(self.released)] if self.files else []
        return [*super().reads(), *graphs]

    def releases(self) -> Sequence[Sequence[str]]:
        return [_files_of(self.released)] if self.files else []

    def run(self, work: Work) -> Outcome:
        from graphpriv.auditing import audit
        from graphpriv.report import audit_report
        from graphpriv.risk.ahead import compiling_the_search

        matched = self._matched(work)
        for each in matched.notes:
            work.note(f"warning: {each}")
        with compiling_the_search():
            found = audit(
                matched.original,
                matched.released,
                matched.mapping,
                attackers=self.attackers(),
                scenarios=self.scenarios(),
                undirected=self.undirected,
                steps=self.steps,
                at_risk=self.at_risk,
                report=work.report,
                parts=work.parts,
            )
        outputs = []
        if self.html is not None:
            outputs.append(text_output(self.html, "html", audit_report(found.document)))
        if self.at_risk_out is not None:
            outputs.append(text_output(self.at_risk_out, "at risk", found.at_risk().to_csv(index=False)))
        doubts = found.bounds
        return Outcome(
            document=found.document,
            outputs=outputs,
            condition_holds=conditions.holds(self.fail_if, found.document, doubts),
            condition_doubt=_doubt(conditions.hangs_on(self.fail_if, found.document, doubts), doubts),
            afterwards=lambda: None if self.files else self._record(found, work),
        )

    def _matched(self, work: Work) -> Matched:
        from graphpriv.stored import match_files, match_stored

        if self.files:
            return match_files(self.original, self.released, mapping=self.mapping, report=work.report)
        with work.opened() as store:
            return match_stored(store, self.original, self.released, report=work.report)

    def _record(self, found: Audit, work: Work) -> None:
        try:
            with work.opened() as store:
                store.add_run(self.original, found.run(self.released))
        except ReportedError as error:
            work.note(f"warning: the audit is not in the store's list of runs: {error}")


def _doubt(path: str | None, bounds: Mapping[str, tuple[float, float]]) -> str | None:
    """Between what a figure lies on which a condition hangs."""
    if path is None:
        return None
    low, high = bounds[path]
    return f"{path} is between {low:.4f} and {high:.4f}, since the steps ran out with users undecided"


def _files_of(path: str) -> list[str]:
    """The files of a graph: an edge list has others beside it."""
    from graphpriv.formats import graph_files

    is_plain = path != STREAM and not path.endswith(".gz")
    return [str(each) for each in graph_files(path)] if is_plain else [path]
