"""Folders for copies that hold persons, for as long as a backup is written or read; and what killed runs left of them.

They lie where the finished file goes and not among the temporary files of the machine: whoever keeps persons has chosen
that disk for them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tabular.files.disk import STREAM, failure, refuse_existing, replacing

#: How the names of such folders begin.
PREFIX = ".graphpriv-copy-"


@contextlib.contextmanager
def working_folder(place: Path) -> Iterator[Path]:
    """A folder within *place* for the time of the block that nobody but the owner can look into."""
    leftovers(place)
    try:
        folder, lock = _locked(place)
    except OSError as error:
        raise failure(error, place) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def first_usable(*places: Path) -> Path:
    """The first of the folders that can be written to; the one for temporary files where there is none."""
    fallback = Path(tempfile.gettempdir())
    return next((each for each in places if each.is_dir() and os.access(each, os.W_OK | os.X_OK)), fallback)


def leftovers(place: Path) -> list[Path]:
    """Remove what killed runs left in a folder, and name what could not be removed."""
    stuck = []
    for folder in sorted(place.glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.getuid():
                continue
            lock = _opened(folder)
            try:
                # Whoever is at work with it holds the lock; the lock of a killed process is gone.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                if folder.exists():
                    stuck.append(folder)
            finally:
                os.close(lock)
    return stuck


def hand_over(written: Path, path: str | Path, *, overwrite: bool) -> None:
    """Put a file that is finished in the place of *path*, for its owner's eyes alone."""
    if str(path) == STREAM:
        with written.open("rb") as source, replacing(path) as file:
            shutil.copyfileobj(source, file)
        return
    try:
        written.chmod(0o600)
        with written.open("rb") as file:
            os.fsync(file.fileno())
        refuse_existing(path, overwrite=overwrite)
        written.replace(path)
    except OSError as error:
        raise failure(error, path) from None


def _locked(place: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        # Before it is locked, another process may take it for left behind.
        with contextlib.suppress(FileNotFoundError):
            lock = _opened(folder)
            # Where no locks are possible, nobody can take it for left behind either.
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
