"""The verbs that release a graph: `protect`, `microdata`, and `demo`, the whole chain on a synthetic graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

from api.verbs.contract import (
    STREAM,
    Outcome,
    Verb,
    Work,
    dictionary_beside,
    json_output,
    of_engine,
    refuse_without,
    verbs,
)
from api.verbs.table.files import table_protections
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, NameTaken, named
from tabular.files.disk import failure
from tabular.files.outputs import Output, Planned
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


@verbs.add("microdata")
@dataclass(frozen=True, kw_only=True)
class TakeMicrodata(Verb):
    """Write degree, location and topics of each user as a table, and say which k it has.

    The degree breaks the k of the graph, so the k of the table is counted with it. Without `method` the table shows the
    users as the graph has them. With one, it is masked, and measured against the original if the store has that. The
    rows are in random order.
    """

    store = "reads"
    draws = True

    name: str = option(help="The graph.", positional=True)
    out: str = option(metavar="FILE", output=True, help="The CSV.")
    k: int | None = option(None, low=2, help="Write only a table in which each row occurs at least K times.")
    method: str | None = option(
        None, metavar="NAME", choices=table_protections, help="Mask the table, so that k holds with the degree too."
    )
    param: tuple[str, ...] = param_option()

    def check(self) -> None:
        if self.out != STREAM and Path(self.out).suffix.lower() not in (".csv", ".txt", ""):
            raise InvalidParameter(
                f"{named('out')} {self.out}: microdata are written as CSV; let the name end in .csv."
            )
        refuse_without(self, "method", "param")
        k = self._parameters().get("k")
        if self.k is None and k is not None and k < 2:
            raise InvalidParameter.wrong("k", must="be at least 2", was=k)

    def planned(self) -> Sequence[Planned]:
        return [*super().planned(), *dictionary_beside(self.out)]

    def run(self, work: Work) -> Outcome:
        from graphpriv.dictionary import microdata_dictionary
        from graphpriv.stored import take_microdata

        with work.opened() as store:
            taken = take_microdata(
                store,
                self.name,
                k=self.k,
                method=self.method,
                parameters=self._parameters(),
                rng=work.generator(),
                report=work.report,
            )
        for each in taken.notes:
            work.note(f"warning: {each}")
        table, private = taken.table, taken.is_private
        document = {"table": self.out, **table.document}
        traits = {"private": private, "released": not private}
        outputs = [Output(path=self.out, parameter="out", write=lambda file, _: table.write(file), **traits)]
        for beside in dictionary_beside(self.out):
            document["dictionary"] = beside.path
            outputs.append(json_output(beside.path, "out", microdata_dictionary(table), private=private))
        return Outcome(document=document, outputs=outputs)

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(table_protections()[self.method], self.param) if self.method is not None else {}


@verbs.add("demo")
@dataclass(frozen=True, kw_only=True)
class RunDemo(Verb):
    """Make a synthetic follow graph, protect, audit and release it: the whole chain, offline.

    You can recompute everything it prints from the files in DIR. The store demo.db keeps the seed with the mapping:
    `graphpriv protect original --seed` with it gives the same release again, `graphpriv demo --seed` the whole demo.
    """

    draws = True
    replaces = True

    # No output that is planned: files of an earlier demo are replaced unasked, and looked at when the work begins.
    out: str = option("graphpriv-demo", metavar="DIR", help="Where the files go.")
    users: int = option(1638, low=2, help="How many users.")
    follows: int | None = option(None, low=1, help="How many follows; about 2.8 a user if not given.")
    k: int = k_option(5)

    def check(self) -> None:
        from graphpriv.protections import check_k

        check_k(self.k, self.users)

    def run(self, work: Work) -> Outcome:
        from graphpriv.demonstration import FILES, PRIVATE, demonstrate
        from graphpriv.store import open_store

        folder = Path(self.out)
        there = [name for name in FILES.values() if (folder / name).exists()]
        if there and not work.overwrite and not (folder / FILES["store"]).exists():
            raise NameTaken(
                f"{folder / there[0]}: the file exists and is not from an earlier demo; give {named('overwrite')} to "
                "replace it."
            )
        found = demonstrate(self.users, self.follows, k=self.k, seed=work.seed, report=work.report)
        work.report("Writing", 0, 0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(error, folder) from None

        def keep() -> None:
            with open_store(f"file:{folder / FILES['store']}", create=True) as store:
                found.keep(store)

        def output(name: str, write: Any) -> Output:
            traits = {"private": name in PRIVATE, "released": name == "released"}
            return Output(path=files[name], parameter="out", write=lambda file, _: write(file), **traits)

        files = {name: str(folder / file) for name, file in FILES.items()}
        beside = [json_output(files[name], "out", each) for name, each in found.dictionaries().items()]
        return Outcome(
            document={"files": files, "microdata": found.microdata.document, "audit": found.audit.document},
            outputs=[*(output(name, write) for name, write in found.writers().items()), *beside],
            replaces_unasked=True,
            afterwards=keep,
        )
