"""`graph forget`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial

from api.verbs.contract import Outcome, Verb, Work, verbs
from tabular.errors import InvalidInput, ReportedError, UnknownName
from tabular.registry import option


@verbs.add("graph forget")
@dataclass(frozen=True, kw_only=True)
class ForgetUser(Verb):
    """Remove a person from an original, with their posts and their entries in the mappings of its releases.

    If there is a service folder, the person is erased there too: uploads, jobs with their files and results, and kept
    answers.
    """

    store = "writes"
    home = "writes"

    name: str = option(help="The graph.", positional=True, graph="any")
    user: str = option(help="The person's id.", positional=True, personal=True)

    def run(self, work: Work) -> Outcome:
        from graphpriv.store.records import Forgotten

        with work.opened() as store:
            try:
                store.check_person(self.name, self.user)
                # First, since what fails here can be asked for again while the store knows the person.
                before = work.elsewhere(self.name, self.user)
                gone = store.forget(self.name, self.user)
            except UnknownName:
                raise
            except InvalidInput:
                if not work.again:
                    raise
                gone, before = Forgotten(follows=0, posts=0, mappings=0), {}
        work.later(partial(summarise, work, self.name))
        # What began meanwhile may have read the person.
        after = work.elsewhere(self.name, self.user)
        erased = {what: before.get(what, 0) + after.get(what, 0) for what in ("uploads", "jobs")}
        return Outcome(document={"graph": self.name, **asdict(gone), **erased})


def summarise(work: Work, name: str) -> None:
    """Compute the figures of a graph that has changed; where that fails, whoever asks for them does it."""
    work.report("Computing figures", 0, 0)
    with suppress(ReportedError), work.opened() as store:
        store.summarise(name)
