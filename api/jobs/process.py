"""The process that performs one verb, as the worker sees it: started, listened to, told to stop, killed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Literal

from api.jobs.performing import Task

#: How often it is asked whether the verb shall end, in seconds.
_ASKING = 0.1

#: Why a verb is to end: its job is cancelled, its time is up, or its attempt was displaced.
Why = Literal["cancelled", "time", "displaced"]


@dataclass(frozen=True)
class Ended:
    """How the process ended: as the verb said, or `killed` by us, or `died` by itself."""

    how: Literal["done", "failed", "killed", "died"]
    #: Why it was told to end.
    why: Why | None = None
    error: str | None = None
    #: Whether a later try may succeed.
    can_retry: bool = False


def started(*, warm: bool) -> subprocess.Popen[bytes]:
    """A process that waits for its task; a *warm* one imports meanwhile what takes long."""
    # -P: never import from the folder in which the worker happens to run.
    command = [sys.executable, "-P", "-m", "api.jobs.performing", *["warm"] * warm]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing)  # noqa: S603 (it is ours)


class Spare:
    """Keeps one process waiting, so that the next job begins at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = started(warm=True)

    def take(self) -> subprocess.Popen[bytes]:
        """The process that waits; another one takes its place."""
        with self._lock:
            taken, self._waiting = self._waiting, started(warm=True)
        return taken if taken.poll() is None else started(warm=False)


@dataclass
class Performance:
    """One verb that is being performed."""

    task: Task
    #: Takes each message, and an empty one from time to time.
    tell: Callable[[dict[str, Any]], None]
    #: Says whether and why the verb is to end.
    asked: Callable[[], Why | None]
    #: How long it may take to end once it was told to, in seconds.
    patience: float
    _why: Why | None = field(default=None, init=False)
    _until: float = field(default=0.0, init=False)

    def run(self, process: subprocess.Popen[bytes]) -> Ended:
        """Perform it in a *process* that waits for its task, and wait for its end."""
        to, source = process.stdin, process.stdout
        try:
            return Ended("died") if to is None or source is None else self._watched(to, source)
        finally:
            process.kill()
            # It may have ended without reading what it was sent.
            with contextlib.suppress(BrokenPipeError):
                process.communicate()

    def _watched(self, to: IO[bytes], source: IO[bytes]) -> Ended:
        _send(to, json.dumps(asdict(self.task)))
        said: dict[str, Any] = {}
        for message in _messages(source.fileno()):
            if message is None:
                if self._must_be_killed(to):
                    return Ended("killed", self._why)
                self.tell({})
            elif "ended" in message:
                said = message
            else:
                self.tell(message)
        return Ended(said.get("ended", "died"), self._why, said.get("error"), said.get("can_retry", False))

    def _must_be_killed(self, to: IO[bytes]) -> bool:
        asked = self.asked()
        if asked is not None and self._why is None:
            self._why, self._until = asked, time.monotonic() + self.patience
            _send(to, "stop")
        if asked == "displaced":
            # Nobody wants the result of a displaced attempt, and it must not change the store any more.
            self._why = asked
            return True
        return self._why is not None and time.monotonic() >= self._until


def _send(to: IO[bytes], line: str) -> None:
    # It may have ended; its last messages are still to be read.
    with contextlib.suppress(BrokenPipeError):
        to.write(line.encode() + b"\n")
        to.flush()


def _messages(source: int) -> Iterator[dict[str, Any] | None]:
    """What the process says, until its end, and None from time to time."""
    waiting, due = b"", 0.0
    while True:
        if select.select([source], [], [], _ASKING)[0]:
            read = os.read(source, 1 << 16)
            if not read:
                return
            *lines, waiting = (waiting + read).split(b"\n")
            yield from (json.loads(line) for line in lines)
        if time.monotonic() >= due:
            due = time.monotonic() + _ASKING
            yield None
