"""`protect`: a graph whose profiles are k-anonymous."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Any

from api.verbs.contract import (
    Outcome,
    Verb,
    Work,
    of_engine,
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
    """Release a graph with k-anonymous profiles, checked before it is stored."""

    store = "writes"
    draws = True
    replaces = True

    name: str = option(help="The original.", positional=True)
    k: int = k_option()
    into: str = option(metavar="NAME", help="What to call the release in the store.")
    method: str = method_option()
    param: tuple[str, ...] = param_option()

    def check(self) -> None:
        from graphpriv.stored import check_release_name

        check_release_name(self.into, self.name)
        self._parameters()

    def run(self, work: Work) -> Outcome:
        from graphpriv.stored import keep_release

        with work.opened() as store:
            kept = keep_release(
                store,
                self.name,
                self.into,
                self.k,
                method=self.method,
                parameters=self._parameters(),
                seed=work.seed,
                overwrite=work.overwrite,
                report=work.report,
            )
        return Outcome(document=kept.document)

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(graph_protections()[self.method], self.param)
