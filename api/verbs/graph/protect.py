"""`protect`: a graph whose profiles are k-anonymous."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Any

from api.verbs.contract import (
    Outcome,
    Verb,
    Work,
    of_engine,
    refuse_beside,
    verbs,
)
from api.verbs.values import parameters_of
from tabular.registry import option

DEFAULT_METHOD = "closest-profiles"


graph_protections = of_engine("graphpriv.protections", "protections")


def k_option(default: Any = MISSING) -> Any:
    """The option `k` of a release: k = 1 would protect nobody."""
    return option(default, low=2, help="Each released profile occurs at least K times.")


def method_option() -> Any:
    """The option `method` of a graph protection."""
    return option(DEFAULT_METHOD, metavar="NAME", choices=graph_protections, help="How users are put together.")


def param_option() -> Any:
    """The option `param`: the parameters of a method."""
    return option((), metavar="KEY=VALUE", help="A parameter of the method; repeatable.")


@verbs.add("protect")
@dataclass(frozen=True, kw_only=True)
class ProtectGraph(Verb):
    """Release a graph with k-anonymous profiles, checked before it is stored.

    A second release of an original is refused while another one is live in the store: their links tell which rows are
    one user, and few users share both profiles. Give `previous` or `accept_combined_risk`, or delete or replace the
    other one. A release that was exported and then deleted here may live on elsewhere, where nothing counts it.
    """

    store = "writes"
    draws = True
    replaces = True
    action = "protect"

    name: str = option(help="The original.", positional=True, graph="any")
    k: int = k_option()
    into: str = option(metavar="NAME", graph="new release", help="What to call the release in the store.")
    method: str = method_option()
    param: tuple[str, ...] = param_option()
    previous: str | None = option(
        None,
        metavar="NAME",
        graph="release",
        help="Keep the clusters of this live release, so that all live releases of the original together keep K.",
    )
    accept_combined_risk: bool = option(
        False,
        help="Release beside live releases all the same, and say the joint k: how many users share the rarest "
        "combination of all their released profiles.",
    )

    def check(self) -> None:
        from graphpriv.stored import check_release_name

        if self.previous is not None:
            refuse_beside(self, "previous", "accept_combined_risk")
        check_release_name(self.into, self.name)
        self._parameters()

    def run(self, work: Work) -> Outcome:
        from graphpriv.stored import keep_release, kept_before

        with work.opened() as store:
            before = kept_before(store, self.name, self.into, work.seed) if work.again else None
            kept = before or keep_release(
                store,
                self.name,
                self.into,
                self.k,
                method=self.method,
                parameters=self._parameters(),
                seed=work.seed,
                previous=self.previous,
                accept_combined_risk=self.accept_combined_risk,
                overwrite=work.overwrite,
                report=work.report,
            )
        return Outcome(document=kept.document)

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(graph_protections()[self.method], self.param)
