"""Performs one verb in a process of its own, as a worker tells it to on standard input.

A process of its own can be ended at any moment, whatever the verb is at; it has its memory for itself, and a worker can
beat while a verb computes. It ends with the worker that has started it, even if that is killed.

The worker sends one line with the task, and later perhaps `stop`. It is sent a JSON line for each thing that happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

from api.errors import ReportedError, bug_of, kind_of
from api.jobs.folders import FAILURE, RESULT, write
from api.jobs.parts import SharedParts
from api.jobs.records import Failure
from api.verbs import verbs
from api.verbs.contract import Outcome, Verb, Work, perform
from api.verbs.values import made
from tabular.errors import InvalidInput, StoreUnavailable, named

#: The least time between two messages of progress, in seconds.
_OFTEN = 0.25

#: So that Linux ends this process with its parent.
_DIE_WITH_PARENT = 1


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be done."""

    verb: str
    options: Mapping[str, Any]
    #: As a text, since it may have 128 bits.
    seed: str
    store: str
    #: The folder of the service, and the id of the account that asks.
    home: str
    account: str
    #: The folder of the attempt.
    folder: str
    #: The folder of the parts that are done, and after how many seconds others may help; nobody helps a helper.
    parts: str
    help_after: float | None
    #: Whether an attempt before this one may have done part of it.
    again: bool
    #: The module that is imported before the verb is looked up.
    module: str
    parent: int


#: Modules that most verbs need and that take long to import.
_WARM = ("graphpriv.stored", "graphpriv.auditing", "tabular.masking", "tabular.lattice.search_outcome")


def main() -> None:
    """Do what standard input says."""
    _end_with_parent()
    for module in _WARM if "warm" in sys.argv[1:] else ():
        import_module(module)
    line = sys.stdin.readline()
    if not line:
        return  # The worker is gone.
    task = Task(**json.loads(line))
    if os.getppid() != task.parent:
        return
    # Libraries may print, and what they print may hold data.
    tell = _Teller(os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    asked = threading.Event()
    threading.Thread(target=_listen, args=(sys.stdin, asked), daemon=True).start()
    threading.Thread(target=tell.keep_telling, daemon=True).start()
    folder = Path(task.folder)
    os.chdir(folder / "files")
    if task.help_after is None:
        _help(task, tell, asked.is_set)
    with _failures_told(folder, tell):
        _done(folder, _performed(task, tell, asked.is_set), tell)
    tell.file.flush()
    # Do not wait for threads of libraries.
    os._exit(0)


def _performed(task: Task, tell: _Teller, stop: Callable[[], bool]) -> Outcome:
    verb, work = _asked_for(task, tell, stop)
    return perform(verb, work)


def _help(task: Task, tell: _Teller, stop: Callable[[], bool]) -> NoReturn:
    """Run the verb for the parts that it does, and forget what comes of it."""
    with contextlib.suppress(Exception):
        verb, work = _asked_for(task, tell, stop)
        verb.check()
        verb.run(work)
    os._exit(0)


def _asked_for(task: Task, tell: _Teller, stop: Callable[[], bool]) -> tuple[Verb, Work]:
    import_module(task.module)
    verb = made(verbs[task.verb].method, task.options)
    work = Work(
        store=task.store,
        home=task.home,
        seed=int(task.seed),
        again=task.again,
        report=tell.progress,
        best=tell.best,
        note=tell.note,
        stop=stop,
        parts=SharedParts(Path(task.parts), task.help_after),
    )
    return verb, _asked(work, task.account)


def _asked(work: Work, account: str) -> Work:
    """The work with the name and the role of the *account* that asks; one that was removed asks for nothing more."""
    if not work.has_service_home:
        return work
    with work.service_home() as records:
        found = records.accounts.find(account)
    if found is None:
        raise InvalidInput("The account that asked for this job has been removed.")
    return replace(work, account=found.name, role=found.role)


def _done(folder: Path, outcome: Outcome, tell: _Teller) -> None:
    document = {
        "document": outcome.document,
        "notes": tell.notes,
        "condition_holds": outcome.condition_holds,
        "condition_doubt": outcome.condition_doubt,
        "failure": outcome.failure,
    }
    write(folder / RESULT, document)
    tell.end(ended="done")


@contextlib.contextmanager
def _failures_told(folder: Path, tell: _Teller) -> Iterator[None]:
    can_retry = False
    try:
        yield
    except ReportedError as error:
        # The text goes into the folder, since it may hold what a record of a job must not.
        failure = Failure(error=kind_of(error), text=error.worded(named), parameters=error.named)
        can_retry = isinstance(error, StoreUnavailable) and error.can_retry
    except MemoryError:
        failure = Failure(error="MemoryError", text="There is not enough memory for this; take less data.")
    except OSError as error:
        failure = Failure(error="OSError", text=f"{(error.strerror or 'A file could not be used').rstrip('.')}.")
    except Exception as error:
        reference, place = bug_of(error)
        failure = Failure(error="bug", text=f"Internal error {reference} ({place}); this is a bug.")
    else:
        return
    with contextlib.suppress(OSError):
        write(folder / FAILURE, {"error": failure.error, "text": failure.text, "parameters": list(failure.parameters)})
    tell.end(ended="failed", error=failure.error, can_retry=can_retry)


class _Teller:
    """Sends messages to the worker, progress not too often."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.notes: list[str] = []
        self._phase, self._until = "", 0.0
        #: Progress that was not sent, as something was sent shortly before.
        self._waiting: dict[str, Any] = {}
        #: The best figures, and those that were told.
        self._best: dict[str, Any] = {}
        self._told: dict[str, Any] = {}
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        """Send one message; a worker that is gone needs none."""
        with self._lock, contextlib.suppress(BrokenPipeError):
            self.file.write(json.dumps(message) + "\n")

    def progress(self, phase: str, done: int, of: int) -> None:
        """The work says how far it is."""
        self._waiting = {"phase": phase, "done": done, "of": of}
        if phase != self._phase or time.monotonic() >= self._until:
            self._phase, self._until = phase, time.monotonic() + _OFTEN
            self._tell_waiting()

    def keep_telling(self) -> None:
        """Send what was not sent, from time to time: the work may be silent for long."""
        while True:
            time.sleep(_OFTEN)
            self._tell_waiting()

    def _tell_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        if waiting:
            self.send(**waiting)
            self._tell_best()

    def best(self, figures: Mapping[str, Any]) -> None:
        """The work has found something better; it is told with the progress, or at the end."""
        self._best = dict(figures)

    def _tell_best(self) -> None:
        if self._best != self._told:
            self._told = self._best
            self.send(best=self._best)

    def end(self, **message: Any) -> None:
        """The last message."""
        self._tell_best()
        self.send(**message)

    def note(self, text: str) -> None:
        """The work has a remark."""
        self.notes.append(text)


def _listen(file: IO[str], asked: threading.Event) -> None:
    """Wait for the worker to ask for the end; end at once where it is gone."""
    for line in file:
        if line.strip() == "stop":
            asked.set()
    os._exit(1)


def _end_with_parent() -> None:
    """Be killed when the process that started this one ends, however it does; elsewhere its input ends then."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


if __name__ == "__main__":
    main()
