"""`store check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.verbs.contract import Outcome, Verb, Work, verbs


@verbs.add("store check")
@dataclass(frozen=True, kw_only=True)
class CheckStore(Verb):
    """Check the whole store and name every problem; exit with 1 if there is one.

    If there is a service folder, it also checks that no other program changed, removed or added an entry of the audit
    log. It shows the last hash: keep a copy elsewhere to prove that nobody rewrote the whole log.
    """

    store = "reads"
    home = "reads"

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            problems = store.check()
        document: dict[str, Any] = {}
        if work.has_service_home:
            with work.service_home() as home:
                problems = [*problems, *home.log.problems()]
                entries, last = home.log.end()
            document = {"audit_log": {"entries": entries, "hash": last}}
        return Outcome(
            document={"sound": not problems, "problems": problems, **document},
            failure=f"The store is not sound; problems found: {len(problems)}." if problems else None,
        )
