"""`sweep`: losses and risks by k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from api.verbs.contract import Outcome, Work, text_output, verbs
from api.verbs.graph.attacks import AttackingVerb
from api.verbs.graph.protect import (
    FIRST_METHOD,
    GIVEN_ONCE,
    graph_protections,
    l_option,
    limit_option,
    param_option,
    protection_parameters,
    weights_help,
)
from graphpriv import DEFAULT_PROTECTION
from tabular.errors import InvalidParameter, NoSolution
from tabular.registry import option


@verbs.add("sweep")
@dataclass(frozen=True, kw_only=True)
class SweepGraph(AttackingVerb):
    """Show losses and risks by k, each the mean of several runs; nothing is released.

    Without `method` all protections stand beside each other. With several `weights` the method that takes them is tried
    with each: heavier places keep more of places and less of topics.

    You can stop it at any time (Ctrl-C); it then shows the runs that are done.
    """

    store = "reads"
    draws = True
    stoppable = True
    meant_at_first: ClassVar[Mapping[str, Any]] = {"method": FIRST_METHOD}
    action = "measure"

    name: str = option(help="The original.", positional=True, graph="any")
    k: tuple[str, ...] = option(("2", "3", "5", "10", "20"), metavar="K,K…", listed=True, help="The values of k.")
    runs: int = option(5, low=1, high=10_000, help="Runs for each k.")
    method: str | None = option(
        None, metavar="NAME", choices=graph_protections, help="How users are put together; else each way is tried."
    )
    weights: tuple[str, ...] = option((), metavar="NAME=N,…", help=weights_help(" Repeatable."))
    limit: str | None = limit_option()
    l: int | None = l_option()  # noqa: E741 (the name of the notion)
    param: tuple[str, ...] = param_option(GIVEN_ONCE)
    previous: str | None = option(
        None,
        metavar="NAME",
        graph="release",
        help="Keep the clusters of this live release, as a release beside it has to; a k that cannot be is left out.",
    )
    html: str | None = option(None, metavar="FILE", output=True, help="Also write a report.")

    def check(self) -> None:
        super().check()
        self._numbers()
        self._ways()

    def run(self, work: Work) -> Outcome:
        from graphpriv.report import sweep_report
        from graphpriv.stored import kept_by_k
        from graphpriv.sweep import sweep

        work.report("Loading", 0, 0)
        ks, kept, refused = self._numbers(), dict[int, Any](), dict[int, str]()
        (method, parameters), *beside = self._ways()
        with work.opened() as store:
            graph = store.load_graph(self.name)
            if self.previous is not None:
                kept, refused = kept_by_k(store, self.name, self.previous, ks, len(graph))
        if len(refused) == len(ks):
            raise NoSolution(refused[ks[0]])
        document = sweep(
            graph,
            [k for k in ks if k not in refused],
            self.runs,
            rng=work.generator(),
            method=method,
            parameters=parameters,
            beside=beside,
            attackers=self.attackers(),
            scenarios=self.scenarios(),
            steps=self.steps,
            kept=kept,
            report=work.report,
            stop=work.stop,
            parts=work.parts,
        )
        document["left_out"] = [{"k": k, "reason": reason} for k, reason in refused.items()]
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

    def _ways(self) -> list[tuple[str, dict[str, Any]]]:
        """The methods to try, each with its parameters; the first is the one that was asked for, or the default."""
        chosen = {"limit": self.limit, "l": self.l}
        plain = not (self.weights or self.param or any(value is not None for value in chosen.values()))
        method = self.method or DEFAULT_PROTECTION
        first = [
            (method, protection_parameters(method, self.param, weights=each, **chosen))
            for each in dict.fromkeys(self.weights or (None,))
        ]
        if self.method is not None or not plain:
            return first
        return [*first, *((name, {}) for name in graph_protections() if name != method)]


def methods_tried(document: Mapping[str, Any]) -> list[tuple[str, Sequence[Any]]]:
    """The methods that a sweep has tried, with the rows of each."""
    from graphpriv.report.names import ways_of

    return ways_of(document)


def why_risk_rises() -> str:
    """Why a lower loss may come with a higher risk."""
    from graphpriv.report.names import TELLING

    return TELLING
