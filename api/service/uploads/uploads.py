"""Uploads: files that come in pieces, each a request of its own, and go on after they were cut.

An upload is a file in the folder of the service, and how long that is says how much has come. What nobody goes on with
is erased within the hour, what is finished after a day.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from api.service.access import UnknownThing
from api.service.accounts import Account
from api.service.home import Home, now
from api.service.uploads.scanner import Infected, Scanner, TooLarge
from tabular.errors import FileFailure, InvalidInput, InvalidParameter

#: After so many seconds without another piece an upload counts as abandoned, and a finished one as no longer wanted.
ABANDONED, UNWANTED = 50 * 60, 24 * 3600

#: So much of the disk is left free, in bytes.
RESERVE = 256 * 1024 * 1024


class WrongOffset(InvalidInput):
    """A piece does not begin where the one before ended."""


@dataclass(frozen=True)
class Upload:
    """What has come of one file."""

    id: str
    size: int
    offset: int
    #: How the name of the file ends, from which its format may be known.
    suffix: str = ""
    #: Whether a scanner found nothing in it.
    is_scanned: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether all of it is there."""
        return self.offset == self.size

    @property
    def file(self) -> str:
        """What the file is called."""
        return f"{self.id}{self.suffix}"

    @property
    def document(self) -> dict[str, object]:
        """What is told of it."""
        return {"id": self.id, "size": self.size, "offset": self.offset, "finished": self.is_finished}


@dataclass(frozen=True)
class Uploads:
    """The uploads of a service."""

    home: Home
    #: The largest upload, in bytes.
    largest: int
    #: What each upload is sent to before anything reads it, if the operator named it.
    scanner: Scanner | None = None

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return folder_of(self.home.folder)

    def open(self, account: Account, size: int, name: str = "") -> Upload:
        """Begin an upload of so many bytes, if they have room; of its *name* only the end is kept."""
        if size < 0:
            raise InvalidParameter.wrong("size", must="be at least 0", was=size)
        if size > self.largest:
            raise TooLarge(f"An upload has at most {self.largest:,} bytes here, not {size:,}.")
        self.erase_abandoned()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if size > self._room():
            raise FileFailure("There is no room on the disk for an upload of this size.")
        upload = Upload(secrets.token_hex(16), size, 0, suffix_of(name))
        # The file is there before its row and goes after it: a row left by a kill would promise its room forever.
        os.close(os.open(self.folder / upload.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self.home.writing() as db:
            row = (upload.id, account.id, size, upload.suffix, now())
            db.execute("INSERT INTO uploads (id, account, size, suffix, created) VALUES (?, ?, ?, ?, ?)", row)
        return upload

    def get(self, id: str, account: Account) -> Upload:
        """How much of an upload of this account has come."""
        with self.home.reading() as db:
            asked = "SELECT size, suffix, scanned FROM uploads WHERE id = ? AND account = ?"
            row = db.execute(asked, (id, account.id)).fetchone()
        with contextlib.suppress(FileNotFoundError):
            if row is not None:
                size, suffix, scanned = row
                there = (self.folder / f"{id}{suffix}").stat().st_size
                return Upload(id, size, there, suffix, bool(scanned))
        raise UnknownThing("No upload has this id.")

    def add(self, id: str, account: Account, offset: int, piece: bytes) -> Upload:
        """Add a *piece* that begins at an *offset*; all of it or nothing."""
        known = self.get(id, account)
        size = known.size
        with self._locked(known.file) as file:
            there = file.seek(0, os.SEEK_END)
            if offset != there:
                raise WrongOffset(f"The next piece begins at offset {there}, not {offset}.")
            if there + len(piece) > size:
                raise TooLarge(f"This upload has {size:,} bytes in all, and with this piece it would have more.")
            try:
                file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                file.truncate(there)
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise FileFailure("The disk is full; this piece was not kept.") from None
                raise
        return replace(known, offset=there + len(piece))

    def finished(self, id: str, account: Account) -> Upload:
        """A finished upload of this account, in which the scanner, if there is one, found nothing."""
        upload = self.get(id, account)
        if not upload.is_finished:
            raise InvalidInput(f"This upload has {upload.offset:,} of {upload.size:,} bytes; send the others first.")
        if self.scanner is not None and not upload.is_scanned:
            self._scan(upload, self.scanner)
        return upload

    def _scan(self, upload: Upload, scanner: Scanner) -> None:
        """Erase an upload in which the scanner finds something; write down that it found nothing."""
        try:
            with self._locked(upload.file) as file:
                scanner.check(file)
        except Infected:
            self._erase(self.folder / upload.file)
            raise
        with self.home.writing() as db:
            db.execute("UPDATE uploads SET scanned = 1 WHERE id = ?", (upload.id,))

    def file(self, id: str, account: Account) -> Path:
        """The file of a finished upload of this account."""
        return self.folder / self.finished(id, account).file

    def together(self, uploads: Mapping[str, str], account: Account) -> str:
        """A folder with finished uploads of this account under the names they have in it; gives its own name."""
        files = {name: self.file(id, account) for name, id in uploads.items()}
        folder = self.folder / f"{FOLDER}{secrets.token_hex(16)}"
        folder.mkdir(mode=0o700)
        for name, file in files.items():
            (folder / name).symlink_to(file)
        return folder.name

    def that(self, holds: Callable[[Path], bool]) -> list[Path]:
        """The files of uploads that a test *holds* for, finished or not."""
        found = []
        for path in sorted(self.folder.glob("*")):
            # Somebody else may erase it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if not path.is_dir() and holds(path):
                    found.append(path)
        return found

    def behind(self, name: str) -> list[Path]:
        """The files that a job knows by a *name*: of an upload, or of a folder of uploads."""
        if name.startswith(FOLDER):
            return [each.readlink() for each in sorted((self.folder / name).glob("*"))]
        return [self.folder / name.removeprefix(UPLOAD)] if name.startswith(UPLOAD) else []

    def names_of(self, files: Collection[Path]) -> list[str]:
        """The names by which jobs know *files* of uploads, alone or in a folder."""
        folders = [each.name for each in self.folder.glob(f"{FOLDER}*")]
        together = [each for each in folders if set(self.behind(each)) & set(files)]
        return [*(f"{UPLOAD}{each.name}" for each in files), *together]

    def erase(self, files: Collection[Path]) -> int:
        """Erase the *files* of uploads; tells how many there were."""
        count = sum(each.exists() for each in files)
        for each in files:
            self._erase(each)
        return count

    def erase_abandoned(self) -> None:
        """Erase what nobody goes on with, and what was finished long ago."""
        with self.home.reading() as db:
            sizes = dict(db.execute("SELECT id, size FROM uploads"))
        for path in self.folder.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                found = path.stat(follow_symlinks=False)
                is_whole = path.is_dir() or found.st_size == sizes.get(_id_of(path))
                if found.st_mtime < time.time() - (UNWANTED if is_whole else ABANDONED):
                    self._erase(path)

    def _erase(self, path: Path) -> None:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
            return
        with self.home.writing() as db:
            db.execute("DELETE FROM uploads WHERE id = ?", (_id_of(path),))
        path.unlink(missing_ok=True)

    def _room(self) -> int:
        """How many bytes can still be promised: those that are free, without those that are promised already."""
        with self.home.reading() as db:
            sizes = db.execute("SELECT id || suffix, size FROM uploads").fetchall()
        promised: int = sum(max(0, size - _length(self.folder / name)) for name, size in sizes)
        free: int = shutil.disk_usage(self.folder).free
        return free - RESERVE - promised

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[IO[bytes]]:
        """The file of an upload, which nobody else adds to meanwhile."""
        try:
            file = (self.folder / name).open("r+b")
        except FileNotFoundError:
            raise UnknownThing("No upload has this id.") from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file


def suffix_of(name: str) -> str:
    """How the *name* of a file ends, as far as that tells a format.

    >>> suffix_of("people.csv.gz"), suffix_of("people"), suffix_of("../x.%00")
    ('.csv.gz', '', '')
    """
    return _SUFFIX.search(name)[0]  # type: ignore[index]


_SUFFIX = re.compile(r"(\.[A-Za-z0-9]{1,10}){0,2}\Z")

#: What the names of an upload and of a folder of uploads begin with where a job runs.
UPLOAD, FOLDER = "upload-", "folder-"


def folder_of(home: Path) -> Path:
    """Where the uploads of a service lie."""
    return home / "uploads"


def _id_of(path: Path) -> str:
    """The id of the upload in a file."""
    return path.name.partition(".")[0]


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
