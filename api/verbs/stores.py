"""The verbs on the store itself: back up, restore, check."""

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


@verbs.add("store restore")
@dataclass(frozen=True, kw_only=True)
class RestoreStore(Verb):
    """Restore a backup; `overwrite` replaces a store that holds graphs already."""

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


@verbs.add("store check")
@dataclass(frozen=True, kw_only=True)
class CheckStore(Verb):
    """Check the whole store and name every problem; exit with 1 if there is one."""

    store = "reads"

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            problems = store.check()
        return Outcome(
            document={"sound": not problems, "problems": problems},
            failure=f"The store is not sound; problems found: {len(problems)}." if problems else None,
        )
