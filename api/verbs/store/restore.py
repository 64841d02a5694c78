"""`store restore`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option


@verbs.add("store restore")
@dataclass(frozen=True, kw_only=True)
class RestoreStore(Verb):
    """Restore a backup; `overwrite` replaces a store that already holds graphs."""

    store = "writes"
    replaces = True

    file: str = option(help="The backup.", positional=True, input=True)

    def run(self, work: Work) -> Outcome:
        from graphpriv.store.copies import check_backup

        check_backup(self.file, into=work.store)
        with work.opened(create=True) as store:
            store.restore(self.file, overwrite=work.overwrite)
            names = [info.name for info in store.graphs()]
        return Outcome(document={"restored": self.file, "graphs": names})
