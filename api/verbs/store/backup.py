"""`store backup`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option


@verbs.add("store backup")
@dataclass(frozen=True, kw_only=True)
class BackUpStore(Verb):
    """Write everything the store holds to FILE, which any backend can restore."""

    store = "reads"

    file: str = option(help="The backup.", positional=True, output=True)

    def run(self, work: Work) -> Outcome:
        # The store writes the file itself, as a whole: it can be larger than memory.
        with work.opened() as store:
            store.backup(self.file, overwrite=work.overwrite)
        return Outcome(document={"backup": self.file})
