"""A worker: a process that performs jobs, beats while it is alive, and takes over the jobs of silent workers.

A job has two steps. The first performs the verb in a new attempt, the second keeps what the attempt left. If a worker
is killed in the first step, nobody keeps its attempt, and another worker performs the verb again with the same seed;
parts that are done it finds done. If it is killed later, only the second step is repeated. A worker without a job helps
with those of others.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import IO, Any

from api.errors import ReportedError, bug_of, kind_of
from api.jobs import engine as dbos
from api.jobs import tables
from api.jobs.beats import Beats
from api.jobs.folders import FAILURE, Folder, check_asked, files_of, write
from api.jobs.helping import Begin, Helper
from api.jobs.ledger import Ledger
from api.jobs.performing import Task
from api.jobs.private import PrivateStore
from api.jobs.process import Ended, Performance, Spare, Why, started
from api.jobs.records import Job, Progress, Settings
from api.verbs import verbs
from api.verbs.values import made
from tabular.errors import InvalidInput, StoreUnavailable, named

NICE = 10

#: The longest pause before what went wrong is tried again, in seconds.
_PAUSE = 2.0

#: The least time between two records of progress within one phase, in seconds.
_OFTEN = 1.0

_log = logging.getLogger("graphpriv.jobs")


@dataclass
class _Attempt:
    """One job in the hands of this worker."""

    id: str
    name: str
    job: Job
    until: float | None
    #: Set from outside the thread that performs it.
    why: Why | None = None

    def asked(self) -> Why | None:
        """Whether and why it is to end."""
        if self.why is None and self.until is not None and time.monotonic() >= self.until:
            self.why = "time"
        return self.why


@dataclass
class Worker:
    """Performs jobs until it is told to leave."""

    settings: Settings
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}")

    def __post_init__(self) -> None:
        database = tables.opened(self.settings.address)
        self._database = database
        self._ledger = Ledger(database)
        self._beats = Beats(database, self.settings.silence)
        self._private = PrivateStore(tables.opened(self.settings.private_address, connections=2, forgets=True))
        self._spare = Spare() if self.settings.spare else None
        self._files = files_of(self.settings.files)
        self._helper = Helper(self.settings, self._ledger, partial(self._task, help_after=None), self._process)
        self._attempts: dict[str, _Attempt] = {}
        #: When a job was first seen that this worker has taken and does not perform.
        self._idle: dict[str, float] = {}
        #: Since when a job waits for a store that does not answer.
        self._waiting: dict[str, float] = {}
        #: The jobs that seemed lost at the last look, and when the next one is due.
        self._lost: set[str] = set()
        self._next_look = 0.0
        self._leaving = threading.Event()

    def run(self, leave_with: IO[str] | None = None) -> None:
        """Work until SIGTERM, SIGINT or the end of a file; jobs that are under way then are free for others at once."""
        if leave_with is not None:
            threading.Thread(target=self._leave_after, args=(leave_with,), daemon=True).start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._leaving.set())
        with tables.told():
            self._beats.beat(self.name)
            self._client = dbos.client(self.settings, self._database, is_worker=True)
            self._engine = dbos.launch(self.settings, self._database, self.name, self._job)
        while not self._leaving.wait(self.settings.beat):
            self._watch()
        self._leave()

    def _leave_after(self, file: IO[str]) -> None:
        for _ in file:
            pass
        self._leaving.set()

    def _watch(self) -> None:
        """Beat, look after the own jobs, and take over those of the silent; a database that is away is waited for."""
        beat = partial(self._beats.beat, self.name)
        for do in (beat, self._look_after, self._take_over, self._find_lost, self._help):
            try:
                do()
            except Exception as error:
                # A server that restarts fails in many ways. The next beat tries again.
                _log.warning("worker %s: %s", self.name, bug_of(error)[1])

    def _look_after(self) -> None:
        """Tell attempts to end that were displaced while this worker was silent, and those of cancelled jobs."""
        attempts = list(self._attempts.values())
        held = self._ledger.held(each.name for each in attempts)
        for each in attempts:
            if each.name not in held:
                each.why = "displaced"
            elif held[each.name] and each.why is None:
                each.why = "cancelled"

    def _take_over(self) -> None:
        alive = self._beats.alive()
        in_hand = dbos.in_hand()
        mine = {id for id, executor in in_hand.items() if executor == self.name}
        for id, executor in in_hand.items():
            if executor not in alive and executor != self.name:
                dbos.requeue(self._engine, id, executor)
        # If the engine gave this worker a job that none of its threads performs, nobody else would ever do it.
        idle = mine - {each.id for each in list(self._attempts.values())} - set(dbos.active(self._engine))
        self._idle = {id: self._idle.get(id, time.monotonic()) for id in idle}
        for id, since in self._idle.items():
            if time.monotonic() - since > self.settings.silence:
                dbos.requeue(self._engine, id, self.name)

    def _find_lost(self) -> None:
        """Queue jobs again that the engine has given up, though they have not ended: that should never be so."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + self.settings.silence
        known = dbos.known(self._database)
        before, self._lost = self._lost, self._ledger.lost(known)
        for id in self._lost & before:
            with tables.told(), self._database.begin() as connection:
                job = self._ledger.lock_lost(connection, id, known)
                if job is not None:
                    dbos.forget(self._client, connection, id)
                    dbos.enqueue(self._client, connection, id, account=job.account, priority=job.priority)

    def _help(self) -> None:
        self._helper.look(is_idle=not self._attempts)

    def _leave(self) -> None:
        """Free all jobs and end; of what is under way the parts that are done stay done."""
        dbos.take_no_more(self._engine)
        for each in list(self._attempts.values()):
            each.why = "displaced"
        try:
            for id, executor in dbos.in_hand().items():
                if executor == self.name:
                    dbos.requeue(self._engine, id, self.name)
            # Without a beat this worker counts as dead, so whatever it still takes is free as well.
            self._beats.leave(self.name)
        finally:
            # The processes of verbs end with this one.
            os._exit(0)

    def _job(self, id: str) -> None:
        """Do a job that the engine gave to this worker; it never raises, since the engine would store the error."""
        told: dict[str, Any] = {}
        for deaths in range(self.settings.deaths + 1):
            told = dbos.step("perform", partial(self._guarded, partial(self._perform, id, deaths)))
            if not told["again"]:
                break
        dbos.step("keep", partial(self._guarded, partial(self._keep, id, told)))

    def _guarded(self, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of *do*; it is tried until it succeeds, so that no text of an error reaches the tables."""
        pause = self.settings.beat
        while True:
            try:
                return do()
            except Exception as error:
                _log.warning("worker %s: error %s, %s", self.name, *bug_of(error))
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE)

    def _perform(self, id: str, deaths: int) -> dict[str, Any]:
        """Perform a job's verb; gives the attempt and how it ended, or that it has to be performed again.

        *deaths* is how often the process of the verb has died, though its worker lived on.
        """
        attempt = secrets.token_hex(8)
        # A worker that was silent for long may come here with a job that another one has by now.
        job = self._ledger.begin(id, attempt, if_=dbos.held_by(self._database, id, self.name))
        if job is None:
            return {"again": False, "attempt": None}
        if job.is_cancelling:
            return {"again": False, "attempt": attempt, "state": "cancelled"}
        if deaths >= self.settings.deaths:
            text = "The process that did the work died again and again; it may need more memory than there is."
            return self._refused(job, attempt, "Interrupted", text)
        seconds = self.settings.seconds
        mine = _Attempt(id, attempt, job, None if seconds is None else time.monotonic() + seconds)
        self._attempts[attempt] = mine
        self._helper.stop()
        try:
            return self._ended(mine, self._performed(mine))
        except (StoreUnavailable, OSError):
            # Tried again later: the database may come back, and the disk may get room.
            raise
        except ReportedError as error:
            return self._refused(job, attempt, kind_of(error), error.worded(named), error.named)
        except Exception as error:
            return self._refused(job, attempt, "bug", "Internal error {} ({}); this is a bug.".format(*bug_of(error)))
        finally:
            del self._attempts[attempt]

    def _performed(self, mine: _Attempt) -> Ended:
        begin = partial(self._folder(mine.id).begin, mine.name)
        task = self._task(mine.job, begin, help_after=self.settings.help_after)
        performance = Performance(task, Told(self._ledger, mine), mine.asked, self.settings.patience)
        return performance.run(self._process())

    def _process(self) -> Popen[bytes]:
        """A process that waits for its task."""
        return started(warm=False) if self._spare is None else self._spare.take()

    def _task(self, job: Job, begin: Begin, help_after: float | None) -> Task:
        """What a process is to do for a job in a new folder."""
        settings = self.settings
        private = self._private.get(job.private)
        if private is None or private.seed is None:
            raise InvalidInput("The private data of this job has been deleted.")
        options = {**job.options, **private.options}
        verb = made(verbs[job.verb].method, options)
        check_asked(verb)
        folder = begin(self._files(settings.home, verb))
        return Task(
            verb=job.verb,
            options=options,
            seed=str(private.seed),
            store=absolute(settings.store),
            home=str(settings.home.absolute()),
            account=job.account,
            folder=str(folder.absolute()),
            parts=str(self._folder(job.id).parts.absolute()),
            help_after=help_after,
            again=job.attempts > 1,
            module=settings.files.partition(":")[0],
            parent=os.getpid(),
        )

    def _ended(self, mine: _Attempt, ended: Ended) -> dict[str, Any]:
        """What an attempt came to; one that was displaced, or died, is no end of the job."""
        if ended.why == "displaced":
            # Another worker ends the job. If this one is leaving, it must not tell the engine anything more.
            while self._leaving.is_set():
                time.sleep(1)
            return {"again": False, "attempt": None}
        if ended.why == "cancelled":
            return {"again": False, "attempt": mine.name, "state": "cancelled"}
        if ended.how == "died":
            return {"again": True}
        if ended.how == "killed":
            text = f"The work has taken more than {self.settings.seconds:g} s, the most that a job may take."
            return self._refused(mine.job, mine.name, "TimeLimit", text)
        if ended.can_retry:
            since = self._waiting.setdefault(mine.id, time.monotonic())
            if time.monotonic() - since < self.settings.waiting:
                raise StoreUnavailable("The store of graphs does not answer.", can_retry=True)
        return {"again": False, "attempt": mine.name, "state": ended.how, "error": ended.error}

    def _refused(
        self, job: Job, attempt: str, error: str, text: str, parameters: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Write down why a job failed that no verb could say it of."""
        folder = self.settings.home / "jobs" / job.id / f"attempt-{attempt}"
        if not folder.exists():
            folder = self._folder(job.id).begin(attempt, {})
        write(folder / FAILURE, {"error": error, "text": text, "parameters": list(parameters)})
        return {"again": False, "attempt": attempt, "state": "failed", "error": error}

    def _keep(self, id: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what an attempt has left, and end its job; done twice it does no more than done once."""
        attempt = told["attempt"]
        if attempt is not None and self._ledger.is_of(id, attempt):
            if told["state"] == "cancelled" and self._goes_on(id):
                self._folder(id).leave()
            self._folder(id).keep(attempt)
            self._ledger.end(id, attempt, told["state"], told.get("error"))
        self._waiting.pop(id, None)
        job = self._ledger.find(id)
        if job is None:
            # It was deleted right after it ended.
            self._folder(id).remove()
        elif job.has_ended:
            self._folder(id).clear()
            # Whoever takes up what was left needs the seed, which is in it anyway.
            if not self._folder(id).can_go_on:
                self._private.forget_seed(job.private)
        return {}

    def _goes_on(self, id: str) -> bool:
        """Whether a job that is cancelled can be taken up again."""
        job = self._ledger.find(id)
        return job is not None and job.verb in verbs and verbs[job.verb].method.goes_on

    def _folder(self, id: str) -> Folder:
        return Folder(self.settings.home / "jobs" / id)


def absolute(store: str) -> str:
    """The address of a store that is the same wherever a process stands.

    >>> absolute("neo4j://host:7687"), absolute("file:/srv/graphs.db")
    ('neo4j://host:7687', 'file:/srv/graphs.db')
    """
    scheme, _, path = store.partition(":")
    return f"file:{Path(path).absolute()}" if scheme == "file" else store


class Told:
    """Writes down what the process of a verb tells, progress not too often.

    A step of one part of many, such as "Run 3 of 25: …", is no phase of its own; there may be thousands. It gives the
    words, and the parts that are done say how far the job is.
    """

    def __init__(self, ledger: Ledger, mine: _Attempt) -> None:
        self._ledger, self._mine = ledger, mine
        self._phase, self._done, self._of = "", 0, 0
        #: When the phase began, and how much of it was done then.
        self._since = (0.0, 0)
        #: What was not written down yet, and when that is due.
        self._waiting: Progress | None = None
        self._due = 0.0

    def __call__(self, message: dict[str, Any]) -> None:
        try:
            if "best" in message:
                self._ledger.tell_best(self._mine.id, self._mine.name, message["best"])
            elif message:
                self._take(**message)
            if self._waiting is not None and time.monotonic() >= self._due:
                self._due, progress, self._waiting = time.monotonic() + _OFTEN, self._waiting, None
                self._ledger.tell(self._mine.id, self._mine.name, progress)
        except Exception as error:
            # The database is away; later progress replaces this anyway.
            _log.warning("progress of a job: %s", bug_of(error)[1])

    def _take(self, phase: str, done: int, of: int) -> None:
        now = time.monotonic()
        if ": " not in phase or not self._phase:
            if phase != self._phase or done < self._since[1]:
                self._since, self._due = (now, done), 0.0
            self._phase, self._done, self._of = phase, done, of
        (began, before), done, of = self._since, self._done, self._of
        left = (now - began) * (of - done) / (done - before) if before < done < of else None
        self._waiting = Progress(phase=phase, done=done, of=of, seconds_left=None if left is None else round(left, 1))
