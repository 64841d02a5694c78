"""`graph list`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from api.verbs.contract import READS, Outcome, Verb, Work, verbs


@verbs.add("graph list")
@dataclass(frozen=True, kw_only=True)
class ListGraphs(Verb):
    """List the graphs of the store."""

    store: ClassVar[str | None] = READS

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            return Outcome(document={"graphs": [asdict(info) for info in store.graphs()]})
