"""`graph forget`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.errors import InvalidInput, UnknownName
from tabular.registry import option

if TYPE_CHECKING:
    pass


@verbs.add("graph forget")
@dataclass(frozen=True, kw_only=True)
class ForgetUser(Verb):
    """Remove a person from an original, with their posts and their entries in the mappings of its releases."""

    store = "writes"

    name: str = option(help="The graph.", positional=True)
    user: str = option(help="The person's id.", positional=True, personal=True)

    def run(self, work: Work) -> Outcome:
        from graphpriv.store.records import Forgotten

        with work.opened() as store:
            try:
                gone = store.forget(self.name, self.user)
            except UnknownName:
                raise
            except InvalidInput:
                if not work.again:
                    raise
                gone = Forgotten(follows=0, posts=0, mappings=0)
        return Outcome(document={"graph": self.name, **asdict(gone)})
