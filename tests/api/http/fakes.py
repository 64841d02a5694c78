"""Stand-ins for jobs, uploads and tables."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.service.access import UnknownThing, may_see
from api.service.files import Stored
from tabular.errors import UnknownName


@dataclass
class FakeJob:
    id: str
    account: str
    verb: str
    options: Any
    seed: Any = None
    state: str = "queued"
    created: float = 0.0
    began: Any = None
    ended: Any = None
    progress: Any = None
    best: Any = None

    @property
    def version(self):
        return 3 if self.has_ended else 2

    @property
    def has_ended(self):
        return self.state in ("done", "failed", "cancelled")


@dataclass
class FakeEvent:
    job: str
    number: int
    kind: str
    data: Any
    at: float = 0.0


class FakeJobs:
    """Jobs that are done when somebody waits for them."""

    def __init__(self):
        self.all = {}

    def submit(self, verb, options, *, account, priority=10, seed=None):
        id = f"job{len(self.all)}"
        self.all[id] = FakeJob(id, account, verb, dict(options), seed)
        return self.all[id]

    def get(self, id):
        if id not in self.all:
            raise UnknownName("No job has this id.")
        return self.all[id]

    def list(self, *, account=None, after=None, limit=100):
        found = [each for each in reversed(self.all.values()) if account in (None, each.account)]
        ids = [each.id for each in found]
        begin = 0 if after is None else ids.index(after) + 1 if after in ids else len(ids)
        return found[begin:][:limit]

    def wait(self, id, seconds):
        self.all[id].state = "failed" if self.all[id].options.get("name") == "fails" else "done"
        return self.all[id]

    def forget(self, person):
        self.forgotten = person
        return 0

    def naming(self, names):
        return [each for each in self.all.values() if set(names) & {*map(str, each.options.values())}]

    def erase(self, id):
        del self.all[id]

    def cancel(self, id):
        self.all[id].state = "cancelled"
        return self.all[id]

    def can_go_on(self, id):
        return self.all[id].state == "cancelled" and self.all[id].verb == "table evolve"

    def go_on(self, id, options, *, account):
        return self.submit(self.all[id].verb, options, account=account)

    def events(self, after):
        told = []
        for id, number in after.items():
            events = [("state", {"state": "queued"}), ("progress", {"done": 1})]
            if self.all[id].has_ended:
                events.append(("state", {"state": self.all[id].state}))
            told += [FakeEvent(id, n, *each) for n, each in enumerate(events, 1) if n > number]
        return told

    def result(self, id):
        @dataclass
        class Result:
            document: Any
            condition_holds: bool = True

        return Result({"done": self.all[id].verb})

    def failure(self, id):
        @dataclass
        class Failure:
            error: str = "NoSolution"
            text: str = "No release exists."
            parameters: tuple[str, ...] = ()

        return Failure()

    def counts(self):
        return dict(Counter(each.state for each in self.all.values()))

    def erase_older(self, seconds):
        self.erased_after = seconds

    def files(self, id):
        return {"a.txt": 1}

    def file(self, id, name):
        if name != "a.txt":
            raise UnknownName("No file of this job is called that.")
        path = Path(tempfile.mkdtemp()) / name
        path.write_text("a")
        return path


class FakeFiles:
    """A table of persons and a released one, and an upload of each account."""

    tables = {"people": "original", "people-v1": "release"}  # noqa: RUF012

    def table(self, name, account):
        if name not in self.tables or not may_see(account.role, self.tables[name]):
            raise UnknownThing.called("table", name)
        return Stored(name, self.tables[name])

    hierarchies = table

    def schema(self, table, account):
        """No table has one."""

    def upload(self, upload, account):
        if upload != f"upload-of-{account.name}":
            raise UnknownThing.called("upload", upload)
        return Stored(upload, "original")

    def uploads(self, uploads, account):
        return next(self.upload(each, account) for each in uploads.values())
