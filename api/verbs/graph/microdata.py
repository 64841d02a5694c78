"""`microdata`: the users of a graph as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.verbs.contract import (
    STREAM,
    Outcome,
    Verb,
    Work,
    dictionary_beside,
    json_output,
    refuse_without,
    verbs,
)
from api.verbs.graph.protect import param_option
from api.verbs.table.files import into_option, refuse_stream, table_protections
from api.verbs.values import parameters_of
from tabular.errors import InvalidParameter, named
from tabular.files.disk import Output, Planned
from tabular.registry import option


@verbs.add("microdata")
@dataclass(frozen=True, kw_only=True)
class TakeMicrodata(Verb):
    """Write each user's degree, location and topics as a table, and show its k.

    The degree breaks the k of the graph, so the k of the table includes it. Without `method` the table shows the users
    as the graph has them. With a method the table is masked, and measured against the original if the store has it.
    The rows are in random order.
    """

    store = "reads"
    draws = True
    home = "writes"
    action = "export"

    name: str = option(help="The graph.", positional=True, graph="any")
    out: str = option(metavar="FILE", output=True, help="The CSV.")
    into: str | None = into_option()
    k: int | None = option(
        None,
        low=2,
        help="Write only a table in which each row occurs at least K times; a `method` that takes k needs it.",
    )
    method: str | None = option(
        None, metavar="NAME", choices=table_protections, help="Mask the table, so that k holds with the degree too."
    )
    param: tuple[str, ...] = param_option(" A k in it must be that of `k`.")
    alone: bool = option(
        False, local=True, blinds=True, help="Ignore the original: do not measure a masked table against it."
    )

    def check(self) -> None:
        if self.out != STREAM and Path(self.out).suffix.lower() not in (".csv", ".txt", ""):
            raise InvalidParameter(
                f"{named('out')} {self.out}: microdata are written as CSV; the name must end in .csv."
            )
        refuse_without(self, "method", "param")
        if self.into is not None:
            refuse_stream(self.out)
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
                alone=self.alone,
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
