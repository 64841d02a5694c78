"""`graph forget`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.registry import option

if TYPE_CHECKING:
    pass


@verbs.add("graph forget")
@dataclass(frozen=True, kw_only=True)
class ForgetUser(Verb):
    """Remove a person from an original, with their posts and their entries in the mappings of its releases."""

    store = "writes"

    name: str = option(help="The graph.", positional=True)
    user: str = option(help="The person's id.", positional=True)

    def run(self, work: Work) -> Outcome:
        with work.opened() as store:
            gone = store.forget(self.name, self.user)
        return Outcome(document={"graph": self.name, **asdict(gone)})
