"""What is known of a job: names, options, states and times; never rows, profiles, tokens or seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from api.verbs.contract import DEFAULT_STORE
from tabular.errors import InvalidInput, ReportedError, UnknownName
from tabular.registry import Method, option

State = Literal["queued", "running", "done", "failed", "cancelled"]

#: The states that a job does not leave.
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")

#: The beginning of the variables of the environment that are settings of jobs.
PREFIX = "GRAPHPRIV_JOBS"

#: The priority of a job unless somebody says otherwise, and the last one; lower numbers come first.
PRIORITY, LAST = 10, 1000


class TooManyJobs(ReportedError):
    """An account has as many unfinished jobs as it may have."""


class NoResult(ReportedError):
    """A job has no result: it has not ended yet, or it ended without one."""


def unknown_job() -> UnknownName:
    """The error for the id of no job; it offers no other, since ids are nobody else's business."""
    return UnknownName("No job has this id.")


@dataclass(frozen=True, kw_only=True)
class Settings(Method):
    """Where jobs are kept and how they are run; the door and all its workers have the same."""

    home: Path = option(help="The folder of the service.")  # noqa: RUF009 (it gives a field)
    store: str = option(DEFAULT_STORE, help="The store of graphs.")
    database: str | None = option(
        None, help="The address of a Postgres for jobs; without one, they are kept in an SQLite file of the home."
    )
    private: str | None = option(
        None,
        help="The address of another Postgres database for seeds and personal options; without one, they lie in a file "
        "of the home, which is for one machine alone.",
    )
    plain_connections: bool = option(
        False, help="Allow connections to other machines without TLS: for networks that encrypt by themselves."
    )
    files: str = option(
        "api.jobs.folders:tables_of_home",
        help="The MODULE:FUNCTION that says which files the names in options stand for.",
    )
    at_once: int = option(1, low=1, help="How many jobs one worker runs at once.")
    per_account: int = option(2, low=1, help="How many jobs of one account run at once, on all workers together.")
    most: int = option(100, low=1, help="How many unfinished jobs an account may have.")
    seconds: float | None = option(None, low=0.1, help="How long a job may take, in seconds.")
    waiting: float = option(
        600.0, low=0, help="How long a job waits for a store that does not answer before it fails, in seconds."
    )
    patience: float = option(
        3.0, low=0, help="How long a verb may take to end after it was told to, in seconds; then it is killed."
    )
    help_after: float = option(
        5.0, low=0, help="How long a job runs before idle workers help with it, if it has parts for them, in seconds."
    )
    spare: bool = option(True, help="Whether a worker keeps a process ready for the next job; it takes 140 MB.")
    beat: float = option(1.0, low=0.01, help="How often a worker says that it is alive, in seconds.")
    silence: float = option(
        15.0, low=0.1, help="How long a worker may be silent before others take its jobs, in seconds."
    )
    deaths: int = option(3, low=1, help="How often the process of a verb may die before its job counts as failed.")

    @property
    def address(self) -> str:
        """The address of the database of jobs, as SQLAlchemy takes it."""
        return _address(self.database, self.home / "jobs.db")

    @property
    def private_address(self) -> str:
        """The address of the private store."""
        return _address(self.private, self.home / "private.db")


def _address(given: str | None, file: Path) -> str:
    """An address as SQLAlchemy takes it: of a server, or of a *file* where none is given."""
    if given is None:
        if {"?", "%"} & set(str(file.absolute())):
            # Addresses mean something else by them, and all would be written elsewhere.
            raise InvalidInput(f"{file.parent}: the path of the service's folder must have no ? and no %.")
        return f"sqlite:///{file.absolute()}"
    return address_of(given)


def address_of(given: str) -> str:
    """The address of a server as SQLAlchemy takes it."""
    scheme, separator, rest = given.partition("://")
    return f"postgresql+psycopg{separator}{rest}" if scheme in ("postgres", "postgresql") else given


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is."""

    phase: str
    done: int = 0
    #: How many parts there are; 0 where that is not known.
    of: int = 0
    #: About how long the phase will still take.
    seconds_left: float | None = None

    @property
    def document(self) -> dict[str, Any]:
        """It as JSON."""
        return {"phase": self.phase, "done": self.done, "of": self.of, "seconds_left": self.seconds_left}


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job as it stands."""

    id: str
    account: str
    verb: str
    #: Without those that are personal.
    options: Mapping[str, Any]
    #: The id under which the private store has the seed and the personal options.
    private: str
    priority: int
    state: State
    created: float
    began: float | None = None
    ended: float | None = None
    attempts: int = 0
    is_cancelling: bool = False
    progress: Progress | None = None
    #: The figures of the best candidate so far.
    best: Mapping[str, Any] | None = None
    #: The sort of error that ended it.
    error: str | None = None
    #: Counts up with every change, and so is its version.
    version: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether nothing about it will change any more."""
        return self.state in ENDED


@dataclass(frozen=True)
class Event:
    """Something that happened to a job; the numbers of one job count up."""

    job: str
    number: int
    at: float
    kind: Literal["state", "progress", "best"]
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a job."""

    document: Mapping[str, Any]
    #: Remarks for the person who asked; parameters in them are `named`.
    notes: Sequence[str] = ()
    condition_holds: bool = False
    condition_doubt: str | None = None
    #: What is wrong with what was looked at, where finding that out was the task.
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a job failed, for whoever may see it."""

    #: The name of the error's class, or of the nearest one above it that has an outcome.
    error: str
    #: Its text, in which parameters are `named`.
    text: str
    parameters: Sequence[str] = field(default_factory=tuple)
