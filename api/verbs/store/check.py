"""`store check`."""

from __future__ import annotations

from dataclasses import dataclass

from api.verbs.contract import Outcome, Verb, Work, verbs


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
