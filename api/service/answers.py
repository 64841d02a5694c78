"""What is kept of requests for a while: answers, in case one comes again with its key, and what forms asked."""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from api.service.home import Home, now, written
from tabular.errors import InvalidInput, ReportedError
from tabular.files.journal import MARK, finish_interrupted, new_locked

#: How long an answer is kept.
KEPT = timedelta(hours=24)

#: After so long, work without an answer counts as cut off, even if nobody can tell whether its process lives.
_CUT_OFF = timedelta(minutes=10)

#: What the names of the files begin with by which processes show that they live.
_ALIVE = "alive-"


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
        self._process: Process | None = None

    def begin(self, account: str, key: str, request: str) -> Answer | None:
        """The answer to an earlier *request* with the same *key*, or None, and then the work is this caller's."""
        with self._home.writing() as db:
            # A plain digest of a body would confirm a guess at the graph that came in it.
            ((secret,),) = db.execute("SELECT secret FROM secret")
            request = hmac.new(secret, request.encode(), "sha256").hexdigest()
            moment = datetime.now(UTC)
            db.execute(
                "DELETE FROM answers WHERE begun < ? OR (status IS NULL AND begun < ?)",
                (written(moment - KEPT), written(moment - _CUT_OFF)),
            )
            found = db.execute(
                "SELECT process, request, status, headers, body FROM answers WHERE account = ? AND key = ?",
                (account, key),
            ).fetchone()
            if found is None or _is_cut_off(self._home.folder, found, request):
                # Whoever is here is alone.
                self._process = self._process or Process(self._home.folder)
                db.execute(
                    "INSERT OR REPLACE INTO answers (account, key, request, begun, process) VALUES (?, ?, ?, ?, ?)",
                    (account, key, request, now(), self._process.name),
                )
                return None
        _, before, status, headers, body = found
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

    def close(self) -> None:
        """Let go of what was begun here: nobody will end it."""
        if self._process is not None:
            self._process.close()


class Process:
    """Shows that this process lives: it has the lock of a file, and loses it however it ends."""

    def __init__(self, folder: Path) -> None:
        for left in folder.glob(f"{_ALIVE}*"):
            if not is_alive(left):
                left.unlink(missing_ok=True)
        self._path = folder / f"{_ALIVE}{secrets.token_hex(8)}"
        # Under its name it is locked from the beginning.
        finish_interrupted(folder)
        new = folder / f"{MARK}{secrets.token_hex(8)}.new"
        self._held = new_locked(new)
        new.rename(self._path)

    @property
    def name(self) -> str:
        """What others find it by."""
        return self._path.name

    def close(self) -> None:
        """Show it no longer."""
        self._path.unlink(missing_ok=True)
        os.close(self._held)


def is_alive(path: Path) -> bool:
    """Whether the process that shows itself by a file lives."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        # Somebody has it, or nobody can tell here.
        return True
    finally:
        os.close(file)


def _is_cut_off(folder: Path, row: tuple[Any, ...], request: str) -> bool:
    """Whether the process that worked on the same request is gone."""
    process, before, status, *_ = row
    return status is None and before == request and process is not None and not is_alive(folder / process)


#: What a form asked is kept for so long after it was last looked at, and for so long in all, in seconds; so much of it,
#: in characters, and so many forms of one account.
ASKED_IDLE, ASKED_LONGEST = 900.0, 3600.0
_LONGEST, _FORMS = 10_000, 100

Options = Sequence[tuple[str, str]]


@dataclass
class _Form:
    account: str
    began: float
    used: float
    options: Options


@dataclass(eq=False)
class Questions:
    """What forms asked, while somebody looks at the answer: its address has a random id instead. Nothing is written."""

    clock: Callable[[], float] = time.monotonic
    #: Those that were used last at the end.
    _all: OrderedDict[str, _Form] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, account: str, options: Options) -> str:
        """Keep the *options* that an account asked with; by what they are found."""
        if sum(len(name) + len(text) for name, text in options) > _LONGEST:
            raise InvalidInput("This form holds too much.")
        id = secrets.token_urlsafe(16)
        self.let_go()
        with self._lock:
            self._all[id] = _Form(account, self.clock(), self.clock(), options)
            own = [key for key, form in self._all.items() if form.account == account]
            for key in own[:-_FORMS]:
                del self._all[key]
        return id

    def find(self, account: str, id: str) -> Options | None:
        """What the account asked with, if that is still known."""
        self.let_go()
        with self._lock:
            form = self._all.get(id)
            if form is None or form.account != account:
                return None
            form.used = self.clock()
            self._all.move_to_end(id)
            return form.options

    def clear(self) -> None:
        """Forget them all: they may name a person who was forgotten."""
        with self._lock:
            self._all.clear()

    def let_go(self) -> None:
        """Let go of those that are too old, or that nobody looks at any more."""
        now = self.clock()
        with self._lock:
            for id, form in list(self._all.items()):
                if form.used < now - ASKED_IDLE or form.began < now - ASKED_LONGEST:
                    del self._all[id]
