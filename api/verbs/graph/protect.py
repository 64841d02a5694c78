"""`protect`: a graph whose profiles are k-anonymous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

from api.verbs.contract import (
    Outcome,
    Verb,
    Work,
    of_engine,
    refuse_beside,
    verbs,
)
from api.verbs.values import parameters_of
from graphpriv import DEFAULT_PROTECTION
from tabular.errors import InvalidParameter, named
from tabular.registry import Parameter, option

#: What plans of layout 1, and jobs queued by versions of their time, mean where they name none.
FIRST_METHOD = "closest-profiles"


#: Said of `param` where parameters have options of their own.
GIVEN_ONCE = " Give `weights`, `limit` and `l` here or as options, not both."

graph_protections = of_engine("graphpriv.protections", "protections")


def k_option(default: Any = MISSING, more: str = "") -> Any:
    """The option `k` of a release: k = 1 would protect nobody."""
    return option(default, low=2, help=f"Each released profile occurs at least K times{more}.")


def method_option() -> Any:
    """The option `method` of a graph protection."""
    return option(DEFAULT_PROTECTION, metavar="NAME", choices=graph_protections, help="How users are put together.")


def param_option(more: str = "") -> Any:
    """The option `param`: the parameters of a method."""
    return option((), metavar="KEY=VALUE", help=f"A parameter of `method`; repeatable.{more}")


def weights_help(more: str = "") -> str:
    """The help of the option `weights`."""
    return (
        "What the place and each rank of topics count, as whole numbers; 1 if left out. Not every `method` takes them."
        f"{more}"
    )


def limit_option() -> Any:
    """The option `limit` of a method that has one."""
    return option(
        None,
        metavar="location=LEVEL",
        help="Show no place above this level, such as location=country; not every `method` takes it.",
    )


def l_option() -> Any:
    """The option `l` of a method that has one."""
    return option(None, low=1, help="At least L different first topics in each cluster; not every `method` takes it.")


def protection_parameters(method: str, param: tuple[str, ...], **chosen: Any) -> dict[str, Any]:
    """The parameters of a *method*: those of `param`, and those *chosen* by options of their own."""
    entry = graph_protections()[method]
    parameters = parameters_of(entry, param)
    for name, value in chosen.items():
        if value is None:
            continue
        if name in parameters:
            raise InvalidParameter(f"{named(name)} is given twice, once as {named('param')}.")
        if name not in [each.name for each in entry.parameters]:
            others = [each.name for each in graph_protections().entries() if name in map(_name, each.parameters)]
            raise InvalidParameter(f"{named(name)} means nothing to {method}; {', '.join(others)} takes it.")
        parameters[name] = value
    # What is wrong with them is said before anything is read.
    entry.make(parameters)
    return parameters


def _name(parameter: Parameter) -> str:
    return parameter.name


@verbs.add("protect")
@dataclass(frozen=True, kw_only=True)
class ProtectGraph(Verb):
    """Release a graph with k-anonymous profiles, checked before it is stored.

    A second release of an original is refused while another one is live in the store: their links tell which rows are
    one user, and few users share both profiles. Give `previous` or `accept_combined_risk`, or delete or replace the
    other one. A release that was exported and then deleted here may live on elsewhere, where nothing counts it.

    A method that searches can be stopped at any time (Ctrl-C); the release is then of the best clusters so far.
    """

    store = "writes"
    draws = True
    replaces = True
    stoppable = True
    meant_at_first: ClassVar[Mapping[str, Any]] = {"method": FIRST_METHOD}
    action = "protect"

    name: str = option(help="The original.", positional=True, graph="any")
    k: int = k_option()
    into: str = option(metavar="NAME", graph="new release", help="What to call the release in the store; not `name`.")
    method: str = method_option()
    weights: str | None = option(None, metavar="NAME=N,…", help=weights_help())
    limit: str | None = limit_option()
    l: int | None = l_option()  # noqa: E741 (the name of the notion)
    param: tuple[str, ...] = param_option(GIVEN_ONCE)
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
                # Whoever cancels a job of the service wants no release, not one of the clusters so far.
                stop=work.stop if work.account is None else lambda: False,
            )
        return Outcome(document=kept.document)

    def _parameters(self) -> dict[str, Any]:
        return protection_parameters(self.method, self.param, weights=self.weights, limit=self.limit, l=self.l)
