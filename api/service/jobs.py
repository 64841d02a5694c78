"""What the service needs of jobs: work that takes longer than an answer may."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from tabular.errors import StoreUnavailable


class JobsNotRunning(StoreUnavailable):
    """The service runs no jobs."""

    def __init__(self) -> None:
        super().__init__("Jobs are not running here; only what answers at once can be asked for.", can_retry=True)


class Progress(Protocol):
    """How far a job is."""

    @property
    def document(self) -> dict[str, Any]:
        """It as JSON."""


class Event(Protocol):
    """Something that happened to a job."""

    @property
    def job(self) -> str:
        """The id of the job."""

    @property
    def number(self) -> int:
        """Counts up within a job."""

    @property
    def at(self) -> float:
        """When it happened, in seconds of the clock."""

    @property
    def kind(self) -> str:
        """One of state, progress and best."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What it is about."""


class Job(Protocol):
    """One job as it stands; times are seconds of the clock."""

    @property
    def id(self) -> str:
        """Drawn at random."""

    @property
    def account(self) -> str:
        """The id of the account that asked for it."""

    @property
    def verb(self) -> str:
        """The name of its verb."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Its options, but for those that are personal."""

    @property
    def state(self) -> str:
        """One of queued, running, done, failed and cancelled."""

    @property
    def created(self) -> float:
        """When it was asked for."""

    @property
    def began(self) -> float | None:
        """When it was begun."""

    @property
    def ended(self) -> float | None:
        """When it ended."""

    @property
    def progress(self) -> Progress | None:
        """How far it is, while it runs."""

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The figures of the best candidate so far."""

    @property
    def version(self) -> int:
        """The number of its last event."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing about it will change any more."""


class Result(Protocol):
    """What came of a job."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The document that the command line prints with --json."""

    @property
    def condition_holds(self) -> bool:
        """Whether what `fail_if` asks for is so, or may be."""


class Failure(Protocol):
    """Why a job failed."""

    @property
    def error(self) -> str:
        """The name of the error's class."""

    @property
    def text(self) -> str:
        """Its text, in which parameters are `named`."""

    @property
    def parameters(self) -> Sequence[str]:
        """The parameters that it is about."""


class Jobs(Protocol):
    """The jobs of a service; an unknown id is `UnknownName`, a result that is not there an error of its own."""

    def submit(
        self, verb: str, options: Mapping[str, Any], *, account: str, priority: int = 10, seed: int | None = None
    ) -> Job:
        """Queue a verb with options of plain names."""

    def get(self, id: str) -> Job:
        """One job."""

    def list(self, *, account: str | None = None, after: str | None = None, limit: int = 100) -> Sequence[Job]:
        """The jobs of an account, or of all, newest first, from the one after *after* on."""

    def wait(self, id: str, seconds: float) -> Job:
        """A job when it has ended, or as it is after so many seconds."""

    def cancel(self, id: str) -> Job:
        """End a job; one that has ended stays as it is."""

    def can_go_on(self, id: str) -> bool:
        """Whether a job was cancelled and another one can go on where it stood."""

    def go_on(self, id: str, options: Mapping[str, Any], *, account: str) -> Job:
        """Queue a job that goes on where one stood that was cancelled."""

    def events(self, after: Mapping[str, int]) -> Sequence[Event]:
        """What has happened to some jobs: for each id the events after a number, in their order."""

    def result(self, id: str) -> Result:
        """What came of a job that is done."""

    def failure(self, id: str) -> Failure | None:
        """Why a job failed, if it did."""

    def forget(self, person: str) -> int:
        """Delete all jobs that were about a person; tells how many."""

    def naming(self, names: Collection[str]) -> Sequence[Job]:
        """The jobs with an option that is one of the *names*."""

    def erase(self, id: str) -> None:
        """Delete a job with everything it left; one that has not ended is cancelled."""

    def folder(self, id: str) -> Path:
        """Where the result and the files of a job lie."""

    def counts(self) -> Mapping[str, int]:
        """How many jobs there are in each state."""

    def erase_older(self, seconds: float) -> None:
        """Delete the jobs that have ended so long ago, with all they left."""

    def files(self, id: str) -> Mapping[str, int]:
        """The sizes of the files that a job has written, by name."""

    def file(self, id: str, name: str) -> Path:
        """One of them."""


class NoJobs:
    """A service that runs no jobs: whatever it is asked is refused."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise JobsNotRunning

    def forget(self, person: str) -> int:
        """There is nothing to forget."""
        return 0

    def naming(self, names: Collection[str]) -> Sequence[Job]:
        """There are none."""
        return ()

    def counts(self) -> dict[str, int]:
        """There are none."""
        return {}

    def erase_older(self, seconds: float) -> None:
        """There is nothing to delete."""

    submit = get = list = wait = cancel = can_go_on = go_on = events = result = failure = files = file = erase = (
        folder
    ) = _refuse
