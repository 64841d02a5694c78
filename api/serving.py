"""A service from its start to its end: its folder and store, its workers, its first token; for every server alike."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass

from flask import Flask

from api.app import create_app, job_settings
from api.http.problems import service_of
from api.jobs.jobs import Jobs
from api.jobs.workers import Workers
from api.plain_connections import refuse_plain_connections
from api.service.home import Home
from api.service.settings import Settings
from api.service.uploads.scanner import Scanner
from api.verbs.contract import Work

#: Parameters of glibc's memory: when free memory goes back, from what size on a piece goes back by itself, and from how
#: many places threads take it; and their values here.
_MALLOC = {-1: 128 * 1024, -3: 128 * 1024, -8: 2}


@dataclass
class Serving:
    """A service that can answer; `begin` starts what goes on beside the answers."""

    settings: Settings
    app: Flask
    jobs: Jobs
    workers: Workers | None = None

    @classmethod
    def prepared(cls, settings: Settings) -> Serving:
        """The service, whose folder and store are made where there are none."""
        _give_memory_back()
        shared = job_settings(settings)
        refuse_plain_connections(shared, os.environ)
        scanner = Scanner.at(settings.scanner)
        if scanner is not None and not settings.plain_connections:
            scanner.refuse_plain()
        # From now on a missing store is an error; what is wrong with the folder is said in our words.
        Work(store=settings.store).opened(create=True).close()
        Home(settings.home, create=True).close()
        # Workers that this process starts read within the same limits.
        settings.limit_readers(os.environ)
        jobs = Jobs.opened(shared)
        return cls(settings, create_app(asdict(settings), queue=jobs), jobs)

    def begin(self, say: Callable[[str], object]) -> None:
        """Start the workers and the housekeeping, and *say* the first token if there was none."""
        service = service_of(self.app)
        service.keep_house()
        first = service.accounts.add_first()
        if first is not None:
            good = f"good until {first.token.expires[:10]}"
            say(f"The token of the first custodian, shown this once, {good}: {first.secret}")
        self.workers = Workers(job_settings(self.settings), self.settings.workers)

    def end(self) -> None:
        """Let the workers hand back what they are at, and let go of everything."""
        if self.workers is not None:
            self.workers.stop()
        service_of(self.app).close()
        self.jobs.close()


def _give_memory_back() -> None:
    """Have memory that an answer needed go back when it is sent; glibc would keep it for the thread that answered."""
    # Elsewhere there is no such function.
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _MALLOC.items():
            mallopt(parameter, value)
