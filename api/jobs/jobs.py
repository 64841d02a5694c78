"""Jobs as a door sees them: submitted, looked at, listened to, cancelled; a worker does them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOSClient

from api.jobs import engine as dbos
from api.jobs import tables
from api.jobs.folders import FAILURE, RESULT, Folder, check_asked
from api.jobs.ledger import PAGE, Ledger
from api.jobs.private import PrivateStore
from api.jobs.records import (
    LAST,
    PRIORITY,
    Event,
    Failure,
    Job,
    NoResult,
    Result,
    Settings,
    State,
    TooManyJobs,
)
from api.verbs import verbs
from api.verbs.contract import names_with
from api.verbs.values import made
from tabular.errors import InvalidParameter, StoreUnavailable, UnknownName

#: When a private entry without a job counts as left behind, in seconds.
_LEFT = 3600.0

#: How long to wait for the end of a job that is to be deleted, in seconds.
_ENDING = 30.0

#: How often `wait` looks at a job, in seconds.
_LOOKING = 0.05


@dataclass(frozen=True)
class Jobs:
    """All jobs of a home."""

    settings: Settings
    ledger: Ledger
    private: PrivateStore
    _client: DBOSClient

    @classmethod
    def opened(cls, settings: Settings) -> Jobs:
        """The jobs of a home; their database is made where there is none."""
        engine = tables.opened(settings.address)
        private = PrivateStore(tables.opened(settings.private_address, connections=2, forgets=True))
        with tables.told():
            prepare(settings, engine, private)
            return cls(settings, Ledger(engine), private, dbos.client(settings, engine))

    def submit(
        self,
        verb: str,
        options: Mapping[str, Any],
        *,
        account: str,
        priority: int = PRIORITY,
        seed: int | None = None,
        left: Path | None = None,
    ) -> Job:
        """Queue a verb with its options, as JSON has them; what is wrong with them is said at once.

        Names in the options stand for files and things of the store. The personal options and the seed go into the
        private store. It begins with the parts that another job has *left*.
        """
        if not 1 <= priority <= LAST:
            raise InvalidParameter.wrong("priority", must=f"be from 1 to {LAST}", was=priority)
        method = verbs[verb].method
        asked = made(method, options)
        check_asked(asked)
        personal = {name: options[name] for name in names_with(method, "personal") if options.get(name) is not None}
        seed = secrets.randbits(128) if seed is None else seed
        meant = {name: getattr(asked, name) for name in method.meant_at_first}
        new = Job(
            id=secrets.token_hex(16),
            account=account,
            verb=verb,
            options={name: value for name, value in {**options, **meant}.items() if name not in personal},
            private=self.private.put(seed, personal),
            priority=priority,
            state="queued",
            created=0,
        )
        try:
            if left is not None:
                self._folder(new.id).take_up(left)
            self._queue(new)
        except BaseException:
            self.private.remove(new.private)
            self._folder(new.id).remove()
            raise
        return self.get(new.id)

    def can_go_on(self, id: str) -> bool:
        """Whether a job was cancelled and has left something from which another one can go on."""
        return self.get(id).state == "cancelled" and self._folder(id).can_go_on

    def go_on(self, id: str, options: Mapping[str, Any], *, account: str) -> Job:
        """Queue a job that goes on where one stood that was cancelled; *options* are those of that one."""
        old = self.get(id)
        private = self.private.get(old.private)
        if not self.can_go_on(id) or private is None or private.seed is None:
            raise NoResult("This job cannot be taken up again: nothing is left of it to go on from.")
        new = self.submit(
            old.verb, {**options, **private.options}, account=account, priority=old.priority, seed=private.seed,
            left=self._folder(id).left,
        )  # fmt: skip
        self._folder(id).let_go()
        self.private.forget_seed(old.private)
        return new

    def _queue(self, new: Job) -> None:
        with tables.told(), self.ledger.engine.begin() as connection:
            # One transaction: the ledger and the queue always hold the same jobs.
            self.ledger.add(connection, new)
            if self.ledger.unfinished(connection, new.account) > self.settings.most:
                raise TooManyJobs(
                    f"This account has {self.settings.most} unfinished jobs, as many as it may have; wait for one to "
                    "end, or cancel one."
                )
            dbos.enqueue(self._client, connection, new.id, account=new.account, priority=new.priority)

    def get(self, id: str) -> Job:
        """One job."""
        return self.ledger.get(id)

    def list(
        self, *, account: str | None = None, state: State | None = None, after: str | None = None, limit: int = PAGE
    ) -> Sequence[Job]:
        """A page of the jobs of an *account*, or of all, newest first; *after* is the last one of the page before."""
        return self.ledger.page(account=account, state=state, after=after, limit=limit)

    def wait(self, id: str, seconds: float) -> Job:
        """A job when it has ended, or as it is after so many seconds."""
        until = time.monotonic() + seconds
        while not (job := self.get(id)).has_ended and time.monotonic() < until:
            time.sleep(_LOOKING)
        return job

    def cancel(self, id: str) -> Job:
        """Cancel a job; one that runs ends within seconds. One that is cancelled or has ended stays as it is."""
        self.get(id)
        if self.ledger.cancel(id):
            # The ledger decides: if this fails, the worker that gets the job sees there that it is cancelled.
            with tables.told():
                dbos.cancel(self._client, id)
            self.private.forget_seed(self.get(id).private)
        return self.get(id)

    def events(self, after: Mapping[str, int], *, limit: int = PAGE) -> Sequence[Event]:
        """What has happened to some jobs: for each id the events after a number, in their order.

        One question for all jobs that somebody listens to.
        """
        return self.ledger.events(after, limit=limit)

    def result(self, id: str) -> Result:
        """What came of a job that is done, or was cancelled and had an answer already."""
        read = self._folder(id).read(RESULT) if self.get(id).has_ended else None
        if read is None:
            raise NoResult("This job has no result: it has not ended yet, or it ended without one.")
        return Result(**read)

    def failure(self, id: str) -> Failure | None:
        """Why a job failed."""
        read = self._folder(id).read(FAILURE) if self.get(id).state == "failed" else None
        return None if read is None else Failure(**read)

    def files(self, id: str) -> dict[str, int]:
        """The sizes of the files that a job has written, by name."""
        return self._folder(id).files() if self.get(id).has_ended else {}

    def file(self, id: str, name: str) -> Path:
        """Where one of the files lies."""
        self.get(id)
        return self._folder(id).file(name)

    def counts(self) -> dict[str, int]:
        """How many jobs there are in each state."""
        return self.ledger.counts()

    def remove(self, id: str) -> None:
        """Delete a job that has ended, with its result, files, events and its private entry."""
        job = self.get(id)
        if not job.has_ended:
            raise NoResult("This job has not ended; cancel it before you delete it.")
        self._folder(id).remove()
        self.private.remove(job.private)
        with tables.told(), self.ledger.engine.begin() as connection:
            dbos.forget(self._client, connection, id)
            self.ledger.remove(connection, id)

    def forget(self, person: str) -> int:
        """Delete all jobs that were about a person, by a personal option, with everything they left; tells how many."""
        entries = set(self.private.about(person))
        found = self.ledger.with_private(entries)
        for id in found:
            self.erase(id)
        for entry in entries:
            self.private.remove(entry)
        return len(found)

    def naming(self, names: Collection[str]) -> Sequence[Job]:
        """The jobs with an option that is one of the *names*, or a list or a parameter with one of them."""
        return [each for each in self.ledger.mentioning(names) if set(_texts(each.options)) & set(names)]

    def erase(self, id: str) -> None:
        """Delete a job with everything it left; one that has not ended is cancelled first."""
        self.cancel(id)
        if not self.wait(id, _ENDING).has_ended:
            raise StoreUnavailable("A job that is to be deleted does not end; try again.", can_retry=True)
        self.remove(id)

    def erase_older(self, seconds: float) -> None:
        """Delete the jobs that have ended so long ago, with all they left; several processes may do so at once."""
        for id in self.ledger.ended_before(seconds):
            # Another process may have deleted it meanwhile.
            with suppress(UnknownName):
                self.remove(id)

    def folder(self, id: str) -> Path:
        """Where the result and the files of a job lie."""
        return self._folder(id).path

    def tidy(self) -> None:
        """Delete private entries without a job: whoever made them was killed before the job was queued."""
        for id in set(self.private.older_than(_LEFT)) - self.ledger.privates():
            self.private.remove(id)

    def close(self) -> None:
        """Let go of the databases."""
        self._client.destroy()
        self.ledger.engine.dispose()
        self.private.engine.dispose()

    def _folder(self, id: str) -> Folder:
        return Folder(self.settings.home / "jobs" / id)


def _texts(options: Mapping[str, Any]) -> Iterator[str]:
    """The texts that options hold, of a parameter `KEY=VALUE` also its value."""
    for value in options.values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield from (text, text.partition("=")[2])


def prepare(settings: Settings, engine: sa.Engine, private: PrivateStore) -> None:
    """Make what is not there yet; doors and workers do so whoever comes first."""
    dbos.prepare(settings)
    tables.create(engine)
    private.create()
