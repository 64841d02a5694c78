"""`sweep`: losses and risks by k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.verbs.contract import Outcome, Work, text_output, verbs
from api.verbs.graph.attacks import AttackingVerb
from api.verbs.graph.protect import graph_protections, method_option, param_option
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, NoSolution
from tabular.registry import option


@verbs.add("sweep")
@dataclass(frozen=True, kw_only=True)
class SweepGraph(AttackingVerb):
    """Show losses and risks by k, each the mean of several runs; nothing is released.

    You can stop it at any time (Ctrl-C); it then shows the runs that are done.
    """

    store = "reads"
    draws = True
    stoppable = True
    action = "measure"

    name: str = option(help="The original.", positional=True, graph="any")
    k: tuple[str, ...] = option(("2", "3", "5", "10", "20"), metavar="K,K…", listed=True, help="The values of k.")
    runs: int = option(5, low=1, high=10_000, help="Runs for each k.")
    method: str = method_option()
    param: tuple[str, ...] = param_option()
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
        self._parameters()

    def run(self, work: Work) -> Outcome:
        from graphpriv.report import sweep_report
        from graphpriv.stored import kept_by_k
        from graphpriv.sweep import sweep

        work.report("Loading", 0, 0)
        ks, kept, refused = self._numbers(), dict[int, Any](), dict[int, str]()
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
            method=self.method,
            parameters=self._parameters(),
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

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(graph_protections()[self.method], self.param)
