"""`graph list`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Verb, Work, verbs

if TYPE_CHECKING:
    pass


@verbs.add("graph list")
@dataclass(frozen=True, kw_only=True)
class ListGraphs(Verb):
    """List the graphs of the store."""

    store = "reads"

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            return Outcome(document={"graphs": [asdict(info) for info in store.graphs()]})
