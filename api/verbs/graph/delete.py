"""`graph delete`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.errors import UnknownName
from tabular.registry import option

if TYPE_CHECKING:
    pass


@verbs.add("graph delete")
@dataclass(frozen=True, kw_only=True)
class DeleteGraph(Verb):
    """Delete a graph; for an original also its posts and the mappings of its releases."""

    store = "writes"

    name: str = option(help="The graph.", positional=True, graph="any")

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            try:
                store.delete_graph(self.name, revision=work.revision)
            except UnknownName:
                if not work.again:
                    raise
        return Outcome(document={"deleted": self.name})
