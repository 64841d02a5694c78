"""The service as a whole: its settings, its folder, the store of graphs, jobs and files."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.service.accounts import Account, Accounts, RateLimit
from api.service.answers import Answers, Questions
from api.service.audit_log import AuditLog
from api.service.erasure.erasure import Erasure
from api.service.files import Files, StoredFiles
from api.service.graphs import Graphs
from api.service.jobs import Jobs, NoJobs
from api.service.listeners import Listeners
from api.service.probe import Probe
from api.service.records import Records
from api.service.requests import Request, Requests, Thing
from api.service.settings import Settings
from api.service.signing.second_factors import SecondFactors
from api.service.signing.sessions import Sessions
from api.service.tables.tables import Tables
from api.service.uploads.scanner import Scanner
from api.service.uploads.uploads import Uploads
from api.verbs.contract import Work
from tabular.errors import ReportedError, StoreUnavailable
from tabular.files.journal import WORKING, leftovers
from tabular.files.reserve import Reserve
from tabular.files.working import working_folder

if TYPE_CHECKING:
    from graphpriv.store import Store


#: How often the service looks for what nobody wants any more, in seconds.
_HOUSEKEEPING = 300.0

#: What is kept free for the day on which the disk is full, in bytes: enough for what notes, jobs and databases write
#: while somebody is forgotten.
_RESERVE = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Service:
    """What every request is answered from."""

    settings: Settings
    records: Records
    uploads: Uploads
    files: Files
    jobs: Jobs = field(default_factory=NoJobs)

    @classmethod
    def at(cls, settings: Settings, *, jobs: Jobs | None = None, files: Files | None = None) -> Service:
        """The service with its folder, which is made where there is none."""
        settings.refuse_unknown_providers()
        records = Records.at(settings.home, create=True)
        leftovers(records.home.folder)
        uploads = Uploads(records.home, settings.largest_upload, Scanner.at(settings.scanner))
        found = files or StoredFiles(uploads, Tables(records.home))
        return cls(settings=settings, records=records, uploads=uploads, jobs=jobs or NoJobs(), files=found)

    @property
    def accounts(self) -> Accounts:
        """Who may ask."""
        return self.records.accounts

    @property
    def factors(self) -> SecondFactors:
        """What some must show beside a token to sign in."""
        return self.records.factors

    @property
    def log(self) -> AuditLog:
        """Who asked for what."""
        return self.records.log

    @property
    def folder(self) -> Path:
        """Where the service keeps its things."""
        return self.records.home.folder

    @cached_property
    def sessions(self) -> Sessions:
        """Who is signed in."""
        return Sessions(self.records.home)

    @cached_property
    def answers(self) -> Answers:
        """Answers kept for repeated requests."""
        return Answers(self.records.home)

    @cached_property
    def questions(self) -> Questions:
        """What forms asked."""
        return Questions()

    @cached_property
    def limit(self) -> RateLimit:
        """How often each account may ask."""
        return RateLimit(self.settings.rate_limit)

    @cached_property
    def tries(self) -> RateLimit:
        """How often an address may send a token or code that is not good: twenty times, then every five seconds."""
        return RateLimit(0.2, burst=20)

    @cached_property
    def graphs(self) -> Graphs:
        """The graphs under the names they have here."""
        return Graphs(self.opened)

    @cached_property
    def tables(self) -> Tables:
        """The tables."""
        return Tables(self.records.home)

    @property
    def erasure(self) -> Erasure:
        """Erases what belongs to somebody or something."""
        return Erasure(self.records.home, self.uploads, self.answers, self.jobs)

    @cached_property
    def listeners(self) -> Listeners:
        """The listeners to jobs."""
        return Listeners(self.jobs.events)

    @cached_property
    def requests(self) -> Requests:
        """Makes requests of JSON."""
        return Requests(self.graphs, self.files, self.settings.offered)

    @cached_property
    def probe(self) -> Probe:
        """Says whether the store answers."""
        return Probe(lambda: (self.opened().graphs(), self.jobs.counts()))

    @cached_property
    def _shared(self) -> _Shared:
        return _Shared(self.settings.store)

    def opened(self) -> Store:
        """The store, which all threads share."""
        return self._shared.opened()

    def work(
        self, account: Account, *, seed: int | None = None, overwrite: bool = False, revision: str | None = None
    ) -> Work:
        """What a verb is handed that somebody asks for."""
        fixed: dict[str, Any] = {} if seed is None else {"seed": seed}
        where: dict[str, Any] = {"store": self.settings.store, "home": self.settings.home}
        where |= {"elsewhere": self.forget_person, "later": _in_background}
        return Work(**where, account=account.name, role=account.role, overwrite=overwrite, revision=revision, **fixed)

    def forget_person(self, graph: str, person: str) -> dict[str, int]:
        """Erase what the folder of the service has of a person of a graph; tells how much."""
        return asdict(self.erasure.person(graph, person))

    def note_access(self, action: str, things: tuple[Thing, ...], account: Account, **details: Any) -> None:
        """Write down each original that *account* does *action* with."""
        for thing in dict.fromkeys(things):
            if thing.kind == "original":
                self.log.add(
                    action, thing.kind, thing.name, account=account.name, role=account.role,
                    details={"what": thing.what, **details},
                )  # fmt: skip

    def note_request(self, request: Request, account: Account) -> None:
        """Write down the originals that a request names, before it is done."""
        self.note_access(request.name, request.things, account)

    def without_places(self, text: str) -> str:
        """A *text* for somebody outside, in which nothing says where the service and its store lie."""
        # A file of one request lies in a folder of its own.
        text = re.sub(rf"{re.escape(str(self.folder))}(/{re.escape(WORKING)}[^/\s]+)?/?", "", text)
        return text.replace(self.settings.store, "the store")

    @cached_property
    def _reserve(self) -> Reserve:
        return Reserve(self.folder / "reserve")

    def make_room(self) -> None:
        """Have a full disk take what is to free it, or to forget somebody."""
        self._reserve.make_room(_RESERVE)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for files of one request, in the folder of the service, where nobody else looks."""
        with working_folder(self.folder) as folder:
            yield folder

    def keep_house(self) -> None:
        """Now and from time to time, erase what nobody wants any more."""
        threading.Thread(target=self._keep_house, daemon=True, name="house").start()

    def _keep_house(self) -> None:
        self._tidy()
        while not self._stopping.wait(_HOUSEKEEPING):
            self._tidy()

    def _tidy(self) -> None:
        for erase in (
            self.uploads.erase_abandoned,
            self.tables.erase_left,
            self.questions.let_go,
            self.records.home.settle,
            lambda: self.opened().finish_erasing(),
            lambda: leftovers(self.folder),
            self._erase_old_jobs,
            self._erase_replaced,
            lambda: self._reserve.keep(_RESERVE),
        ):
            # What fails now is done the next time.
            with suppress(ReportedError, OSError):
                erase()

    def _erase_old_jobs(self) -> None:
        if self.settings.keep_jobs:
            self.jobs.erase_older(self.settings.keep_jobs * 24 * 3600)

    def _erase_replaced(self) -> None:
        self.erasure.replaced([each.name for each in self.opened().graphs() if not each.is_release])

    @cached_property
    def _stopping(self) -> threading.Event:
        return threading.Event()

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more is to be begun or waited for."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End what would go on for long: streams, waiting for jobs, keeping house."""
        self._stopping.set()
        self.listeners.end()

    def close(self) -> None:
        """Let go of everything."""
        self._stopping.set()
        self.answers.close()
        self._shared.close()
        self.records.home.close()


def _in_background(work: Callable[[], None]) -> None:
    """Do *work* while others are answered."""
    threading.Thread(target=work, daemon=True, name="later").start()


#: After a store has failed to open, so many seconds pass before somebody tries again.
_PATIENCE = 1.0


class _Shared:
    """A store that is opened when it is first needed, and again after it failed to open."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._failed_at = -_PATIENCE

    def opened(self) -> Store:
        with self._lock:
            if self._store is None and time.monotonic() < self._failed_at + _PATIENCE:
                # Who waited while it failed for others does not wait for as long again.
                raise self._unavailable()
            if self._store is None:
                try:
                    self._store = Work(store=self._url).opened()
                    self._store.later = _in_background
                except ReportedError:
                    self._failed_at = time.monotonic()
                    raise self._unavailable() from None
            return self._store

    @staticmethod
    def _unavailable() -> StoreUnavailable:
        # Where the store is, is nobody's business out there.
        return StoreUnavailable("The store does not answer.", can_retry=True)

    def close(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
