"""`protect`: a graph, released with k-anonymous profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from api.verbs.contract import WRITES, Outcome, Verb, Work, verbs
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, named
from tabular.registry import option

DEFAULT_METHOD = "closest-profiles"


def graph_protections() -> Any:
    """The protections of graphs."""
    from graphpriv.protections import protections

    return protections


def k_option(default: Any = ...) -> Any:
    """The option `k` of a release: k = 1 protects nobody."""
    text = "Each released profile occurs at least K times."
    return option(low=2, help=text) if default is ... else option(default, low=2, help=text)


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

    store: ClassVar[str | None] = WRITES
    draws: ClassVar[bool] = True
    replaces: ClassVar[bool] = True

    name: str = option(help="The original.", positional=True)
    k: int = k_option()
    into: str = option(metavar="NAME", help="What to call the release in the store.")
    method: str = method_option()
    param: tuple[str, ...] = param_option()

    def check(self) -> None:
        from graphpriv.store.contract import check_name

        check_name(self.into)
        if self.into == self.name:
            raise InvalidParameter(
                f"{named('into')} {self.into}: a release needs a name of its own; this is the original's."
            )
        parameters_of(graph_protections()[self.method], self.param)

    def run(self, work: Work) -> Outcome:
        from graphpriv.fingerprint import fingerprint
        from graphpriv.protections import protect
        from graphpriv.store import Run
        from graphpriv.store.contract import taken
        from tabular.classes import class_count
        from tabular.version import version

        parameters = parameters_of(graph_protections()[self.method], self.param)
        with work.opened() as store:
            if not work.overwrite and any(info.name == self.into for info in store.graphs()):
                raise taken(self.into)
            work.report("Loading", 0, 0)
            revision = store.revision(self.name)
            original = store.load_graph(self.name)
            release = protect(
                original, self.k, method=self.method, rng=work.generator(), report=work.report, **parameters
            )
            run = Run(
                verb="protect",
                parameters={"k": self.k, "method": self.method, **parameters},
                version=version(),
                input_hash=fingerprint(original),
            )
            work.report("Storing", 0, 0)
            store.save_release(
                self.name, self.into, release, seed=work.seed, run=run, overwrite=work.overwrite, revision=revision
            )
        return Outcome(
            document={
                "graph": self.into,
                "release_of": self.name,
                "k": self.k,
                "method": self.method,
                "users": len(release.graph),
                "edges": release.graph.edge_count,
                "profiles": class_count(list(release.graph.profiles().T)),
            }
        )
