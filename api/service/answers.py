"""Answers to requests that change something, kept for a day in case the same request comes again with its key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.service.home import Home, now, written
from tabular.errors import InvalidInput, ReportedError

#: How long an answer is kept.
KEPT = timedelta(hours=24)

#: After so long, work without an answer counts as cut off: its process was killed, and it may be asked for again.
_CUT_OFF = timedelta(minutes=10)


class KeyInUse(ReportedError):
    """The same request is being worked on."""


class OtherRequest(InvalidInput):
    """A key was used for another request before."""


@dataclass(frozen=True)
class Answer:
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Answers:
    """The answers by account and key."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def begin(self, account: str, key: str, request: str) -> Answer | None:
        """The answer to an earlier *request* with the same *key*, or None, and then the work is this caller's."""
        with self._home.writing() as db:
            moment = datetime.now(UTC)
            db.execute(
                "DELETE FROM answers WHERE begun < ? OR (status IS NULL AND begun < ?)",
                (written(moment - KEPT), written(moment - _CUT_OFF)),
            )
            found = db.execute(
                "SELECT request, status, headers, body FROM answers WHERE account = ? AND key = ?", (account, key)
            ).fetchone()
            if found is None:
                db.execute(
                    "INSERT INTO answers (account, key, request, begun) VALUES (?, ?, ?, ?)",
                    (account, key, request, now()),
                )
                return None
        before, status, headers, body = found
        if before != request:
            raise OtherRequest("This Idempotency-Key was used for another request; take a new one.")
        if status is None:
            raise KeyInUse("A request with this Idempotency-Key is being worked on; ask again later.")
        return Answer(status, json.loads(headers), body)

    def clear(self) -> None:
        """Let go of all answers: one of them may hold what belongs to a person who is to be forgotten."""
        with self._home.writing() as db:
            db.execute("DELETE FROM answers WHERE status IS NOT NULL")

    def end(self, account: str, key: str, answer: Answer | None) -> None:
        """Keep the *answer*; without one, the work may be asked for again."""
        with self._home.writing() as db:
            if answer is None:
                db.execute("DELETE FROM answers WHERE account = ? AND key = ?", (account, key))
                return
            db.execute(
                "UPDATE answers SET status = ?, headers = ?, body = ? WHERE account = ? AND key = ?",
                (answer.status, json.dumps(dict(answer.headers)), answer.body, account, key),
            )
