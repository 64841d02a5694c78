"""What the service needs of uploads and tables: where a verb finds the files that somebody names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from api.service.access import Kind, UnknownThing
from api.service.accounts import Account


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

    def upload(self, upload: str, account: Account) -> Stored:
        """A finished upload of this account by its id."""

    def uploads(self, uploads: Mapping[str, str], account: Account) -> Stored:
        """A folder with finished uploads of this account: their ids by the names they have in it."""


class NoFiles:
    """A service that has neither uploads nor tables."""

    def table(self, name: str, account: Account) -> Stored:
        """There is none."""
        raise UnknownThing.called("table", name)

    def hierarchies(self, table: str, account: Account) -> Stored:
        """There is none."""
        raise UnknownThing.called("table", table)

    def upload(self, upload: str, account: Account) -> Stored:
        """There is none."""
        raise UnknownThing.called("upload", upload)

    def uploads(self, uploads: Mapping[str, str], account: Account) -> Stored:
        """There is none."""
        raise UnknownThing.called("upload", next(iter(uploads.values()), ""))
