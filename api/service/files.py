"""What the service needs of uploads and tables: where a verb finds the files that somebody names."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from api.service.access import Kind, UnknownThing
from api.service.accounts import Account
from api.service.home import Home
from api.service.tables.tables import HIERARCHIES, SCHEMA, Tables, place_of
from api.service.uploads.uploads import FOLDER, UPLOAD, Uploads, folder_of
from api.verbs.contract import Verb


@dataclass(frozen=True)
class Stored:
    """A file or folder of the service."""

    #: The name that a job knows it by.
    name: str
    #: Whether it shows persons as they are.
    kind: Kind


class Files(Protocol):
    """Uploads and tables; what *account* may not know of is `UnknownThing`, in the words of what is not there."""

    def table(self, name: str, account: Account) -> Stored:
        """The table called *name*, or `release:NAME`."""

    def hierarchies(self, table: str, account: Account) -> Stored:
        """The folder with the hierarchies of a table."""

    def schema(self, table: str, account: Account) -> Stored | None:
        """The schema of a table, if it has one."""

    def upload(self, upload: str, account: Account) -> Stored:
        """A finished upload of this account by its id."""

    def uploads(self, uploads: Mapping[str, str], account: Account) -> Stored:
        """A folder with finished uploads of this account: their ids by the names they have in it."""


@dataclass(frozen=True)
class StoredFiles:
    """The uploads and the tables of a service."""

    of_uploads: Uploads
    tables: Tables

    def table(self, name: str, account: Account) -> Stored:
        """A table, which a job knows by its address."""
        found = self.tables.find(name, account.role, None)
        return Stored(found.address, found.kind)

    def hierarchies(self, table: str, account: Account) -> Stored:
        """The hierarchies of a table."""
        found = self.tables.find(table, account.role, None)
        return Stored(f"{HIERARCHIES}{found.address}", found.kind)

    def schema(self, table: str, account: Account) -> Stored | None:
        """The schema of a table, if it has one."""
        found = self.tables.find(table, account.role, None)
        return Stored(f"{SCHEMA}{found.address}", found.kind) if found.schema.is_file() else None

    def upload(self, upload: str, account: Account) -> Stored:
        """A finished upload, which a job knows by its id."""
        found = self.of_uploads.finished(upload, account)
        return Stored(f"{UPLOAD}{found.file}", "original")

    def uploads(self, uploads: Mapping[str, str], account: Account) -> Stored:
        """A folder of finished uploads."""
        return Stored(self.of_uploads.together(uploads, account), "original")


def files_of(home: Path, verb: Verb) -> Mapping[str, Path]:
    """Where in the *home* of the service the names lie that a *verb* reads."""
    found: dict[str, Path] = {}
    with closing(Home(home)) as opened:
        for name in verb.reads():
            if not name.startswith((UPLOAD, FOLDER)):
                found |= place_of(Tables(opened), name)
                continue
            path = folder_of(home) / name.removeprefix(UPLOAD)
            if path.exists():
                found[name] = path
            elif not any(path.parent.glob(f"{path.name.partition('.')[0]}*")):
                # What an edge list may have beside it is not there, and need not be.
                raise UnknownThing.called("upload", name)
    return found
