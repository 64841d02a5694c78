"""Helps with the jobs of other workers: while a worker has no job of its own, it does parts of one of theirs."""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from subprocess import Popen

from api.errors import bug_of
from api.jobs.folders import WANTED, Folder
from api.jobs.ledger import MOST, Ledger
from api.jobs.performing import Task
from api.jobs.process import Performance, Why
from api.jobs.records import Job, Settings

_log = logging.getLogger("graphpriv.jobs")

#: Makes a new folder, with links to the files that it is given.
Begin = Callable[[Mapping[str, Path]], Path]


@dataclass
class Helper:
    """One process that does parts of a job."""

    settings: Settings
    ledger: Ledger
    #: The task of performing a job in a new folder, for one who helps.
    task: Callable[[Job, Begin], Task]
    started: Callable[[], Popen[bytes]]
    _thread: threading.Thread | None = field(default=None, init=False)
    _job: Job | None = field(default=None, init=False)
    _why: Why | None = field(default=None, init=False)
    #: Whether the worker had nothing to do at the last look.
    _was_idle: bool = field(default=False, init=False)
    #: The jobs of which it has done what there was to do, as far as it could.
    _helped: set[str] = field(default_factory=set, init=False)

    def look(self, is_idle: bool) -> None:
        """Begin to help, or stop; *is_idle* says whether the worker has nothing to do."""
        if self._thread is not None and self._thread.is_alive():
            if not is_idle or self._is_over():
                self.stop()
        elif is_idle and self._was_idle:
            self._begin()
        self._was_idle = is_idle

    def stop(self) -> None:
        """Help no more; what is done stays done."""
        self._was_idle, self._why = False, "displaced"

    def _is_over(self) -> bool:
        job = None if self._job is None else self.ledger.find(self._job.id)
        return job is None or job.state != "running" or job.is_cancelling

    def _begin(self) -> None:
        running = self.ledger.page(account=None, state="running", after=None, limit=MOST)
        self._helped &= {each.id for each in running}
        first = sorted(running, key=lambda job: (job.priority, job.created))
        wanting = (job for job in first if job.id not in self._helped and not job.is_cancelling)
        self._job = next((job for job in wanting if (self._folder(job).parts / WANTED).exists()), None)
        if self._job is not None:
            self._why = None
            self._thread = threading.Thread(target=self._help, args=(self._job,), name="helper", daemon=True)
            self._thread.start()

    def _help(self, job: Job) -> None:
        attempt = secrets.token_hex(8)
        folder = self._folder(job)
        try:
            task = self.task(job, partial(folder.help, attempt))
            Performance(task, lambda message: None, lambda: self._why, 0.0).run(self.started())
        except Exception as error:
            # Whoever performs the job says what is wrong with it.
            _log.warning("help with a job: %s", bug_of(error)[1])
        finally:
            if self._why is None:
                self._helped.add(job.id)
            shutil.rmtree(folder.path / f"attempt-{attempt}", ignore_errors=True)

    def _folder(self, job: Job) -> Folder:
        return Folder(self.settings.home / "jobs" / job.id)
