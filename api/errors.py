"""What each sort of error means at the doors: the HTTP status and the exit code."""

from __future__ import annotations

import secrets
import traceback
from dataclasses import dataclass
from pathlib import Path

from api.jobs.records import NoResult, TooManyJobs
from api.service.access import Forbidden
from api.service.accounts import SecondFactorNeeded
from api.service.answers import KeyInUse, OtherRequest
from api.service.signing.second_factors import TooManyCodes
from api.service.uploads.scanner import Infected, ScannerUnavailable, TooLarge
from api.service.uploads.uploads import WrongOffset
from tabular.errors import (
    AlreadyReleased,
    FileFailure,
    InvalidInput,
    InvalidParameter,
    NameTaken,
    NoSolution,
    Outdated,
    ReportedError,
    SourceUnavailable,
    StoreUnavailable,
    UnknownName,
    counted,
    named,
    worded,
)
from tabular.files.disk import reason
from tabular.files.limits import TooMuch

__all__ = [
    "OUTCOMES",
    "InvalidParameter",
    "Outcome",
    "ReportedError",
    "bug_of",
    "counted",
    "named",
    "outcome_of",
    "reason",
    "worded",
]


@dataclass(frozen=True)
class Outcome:
    """How an error leaves the house."""

    status: int
    exit_code: int
    title: str


#: Looked up along the class of an error, the nearest first.
OUTCOMES: dict[type[ReportedError], Outcome] = {
    UnknownName: Outcome(404, 2, "Not found"),
    NameTaken: Outcome(409, 2, "Name taken"),
    AlreadyReleased: Outcome(409, 2, "Already released"),
    Outdated: Outcome(412, 2, "Precondition failed"),
    WrongOffset: Outcome(409, 2, "Wrong offset"),
    TooLarge: Outcome(413, 2, "Too large"),
    Infected: Outcome(422, 2, "Malware found"),
    ScannerUnavailable: Outcome(503, 1, "Scanner unavailable"),
    OtherRequest: Outcome(422, 2, "Other request"),
    KeyInUse: Outcome(409, 1, "In use"),
    TooMuch: Outcome(413, 2, "Too large"),
    Forbidden: Outcome(403, 2, "Forbidden"),
    SecondFactorNeeded: Outcome(403, 2, "Second factor needed"),
    TooManyCodes: Outcome(429, 1, "Too many requests"),
    InvalidInput: Outcome(400, 2, "Invalid input"),
    NoSolution: Outcome(422, 3, "No solution"),
    SourceUnavailable: Outcome(502, 1, "Source unavailable"),
    StoreUnavailable: Outcome(503, 1, "Store unavailable"),
    FileFailure: Outcome(507, 1, "File not written"),
    TooManyJobs: Outcome(429, 1, "Too many jobs"),
    NoResult: Outcome(409, 1, "No result"),
    ReportedError: Outcome(500, 1, "Failed"),
}


def outcome_of(error: ReportedError) -> Outcome:
    """The outcome of *error*: that of the nearest class that has one.

    >>> outcome_of(NameTaken("taken")).exit_code
    2
    """
    return next(OUTCOMES[kind] for kind in type(error).__mro__ if kind in OUTCOMES)


def kind_of(error: ReportedError) -> str:
    """The name of the nearest class of an *error* that has an outcome, as the record of a job has it.

    >>> kind_of(InvalidParameter("wrong"))
    'InvalidInput'
    """
    return next(kind.__name__ for kind in type(error).__mro__ if kind in OUTCOMES)


def bug_of(error: Exception) -> tuple[str, str]:
    """A reference for an unforeseen *error*, and what may be said of it: its kind and place.

    Its text is not shown, since it may hold what belongs to a person.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    return secrets.token_hex(4), f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
