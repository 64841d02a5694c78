"""The verbs that let attackers look for users in a release: `audit`, and `sweep` over k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from api.verbs import conditions
from api.verbs.contract import STREAM, Outcome, Verb, Work, refuse_without, text_output, verbs
from api.verbs.graph.releasing import graph_protections, method_option, param_option
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, ReportedError
from tabular.registry import option

if TYPE_CHECKING:
    from graphpriv.auditing import Audit
    from graphpriv.stored import Matched


_BOTH = "both"
_attack = partial(option, group="How the attackers work")


@dataclass(frozen=True, kw_only=True)
class AttackingVerb(Verb):
    """A verb that lets attackers look for users in a release."""

    renamed: ClassVar[Mapping[str, str]] = {
        "budget": "this option is --steps now, and takes one number for all attackers; write --steps N."
    }

    attacker: str = _attack(
        _BOTH,
        choices=("ego", "subgraph", _BOTH),
        help="Who attacks: ego knows a user's whole neighbourhood, subgraph a part of it.",
    )
    scenario: tuple[str, ...] = _attack(
        (),
        metavar="NAME",
        help="What the attacker knows: location, topic1, topic2, topic3, topics, all, or attributes joined by +; "
        "repeatable; all six if not given.",
    )
    steps: int | None = _attack(
        None, low=1, metavar="N", help="Steps an attacker may take for one match before it is left undecided."
    )

    def check(self) -> None:
        self.scenarios()

    def attackers(self) -> tuple[str, ...]:
        """The attackers that were chosen."""
        return ("ego", "subgraph") if self.attacker == _BOTH else (self.attacker,)

    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """The attributes of each scenario that was chosen."""
        from graphpriv.auditing import scenarios_named
        from graphpriv.risk import SCENARIOS

        return scenarios_named(self.scenario) if self.scenario else SCENARIOS


@verbs.add("audit")
@dataclass(frozen=True, kw_only=True)
class AuditRelease(AttackingVerb):
    """Measure what a release lost and who can still be found in it."""

    store = "reads"

    original: str = option(help="The original graph.", positional=True)
    released: str = option(help="Its release.", positional=True)
    files: bool = option(False, help="ORIGINAL and RELEASED are files: a release made elsewhere.")
    mapping: str | None = option(None, metavar="FILE", input=True, help="With `files`: the CSV original,released.")
    undirected: bool = option(False, help="Read both graphs without directions.")
    at_risk: int = option(20, low=0, help="How many of the users most at risk to list.")
    html: str | None = option(None, metavar="FILE", output=True, help="Also write a report.")
    fail_if: str | None = option(
        None, metavar="EXPR", help="Exit with 4 if it holds: 'disclosure_risk.ego.all > 0.05'."
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

        matched = self._matched(work)
        for each in matched.notes:
            work.note(f"warning: {each}")
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
        )
        outputs = []
        if self.html is not None:
            outputs.append(text_output(self.html, "html", audit_report(found.document), private=True))
        return Outcome(
            document=found.document,
            outputs=outputs,
            condition_holds=conditions.holds(self.fail_if, found.document, found.bounds),
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


def _files_of(path: str) -> list[str]:
    """The files of a graph: an edge list has others beside it."""
    from graphpriv.formats import graph_files

    is_plain = path != STREAM and not path.endswith(".gz")
    return [str(each) for each in graph_files(path)] if is_plain else [path]


@verbs.add("sweep")
@dataclass(frozen=True, kw_only=True)
class SweepGraph(AttackingVerb):
    """Show losses and risks by k, each the mean of several runs; nothing is released."""

    store = "reads"
    draws = True

    name: str = option(help="The original.", positional=True)
    k: tuple[str, ...] = option(("2", "3", "5", "10", "20"), metavar="K,K…", listed=True, help="The values of k.")
    runs: int = option(5, low=1, high=10_000, help="Runs for each k.")
    method: str = method_option()
    param: tuple[str, ...] = param_option()
    html: str | None = option(None, metavar="FILE", output=True, help="Also write a report.")

    def check(self) -> None:
        super().check()
        self._numbers()
        self._parameters()

    def run(self, work: Work) -> Outcome:
        from graphpriv.report import sweep_report
        from graphpriv.sweep import sweep

        work.report("Loading", 0, 0)
        with work.opened() as store:
            graph = store.load_graph(self.name)
        document = sweep(
            graph,
            self._numbers(),
            self.runs,
            rng=work.generator(),
            method=self.method,
            parameters=self._parameters(),
            attackers=self.attackers(),
            scenarios=self.scenarios(),
            steps=self.steps,
            report=work.report,
        )
        outputs = [] if self.html is None else [text_output(self.html, "html", sweep_report(document))]
        return Outcome(document=document, outputs=outputs)

    def _numbers(self) -> list[int]:
        shown = ",".join(self.k)
        try:
            numbers = [int(text) for text in self.k]
        except ValueError:
            raise InvalidParameter.wrong("k", must="be whole numbers, such as 2,3,5", was=shown) from None
        if any(number < 2 for number in numbers) or len(set(numbers)) < len(numbers):
            raise InvalidParameter.wrong("k", must="be numbers of at least 2, each given once", was=shown)
        return numbers

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(graph_protections()[self.method], self.param)
