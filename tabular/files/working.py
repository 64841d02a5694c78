"""Folders for the time of some work: for their owner alone, and after a kill gone with the next command there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tabular.files.disk import failure
from tabular.files.journal import WORKING, leftovers, opened_folder


@contextlib.contextmanager
def working_folder(place: str | Path | None = None) -> Iterator[Path]:
    """A folder within *place* for the time of the block that nobody but the owner can look into.

    Without a place it lies in the folder for temporary files.
    """
    place = Path(tempfile.gettempdir() if place is None else place)
    try:
        folder, lock = new_working_folder(place)
    except OSError as error:
        raise failure(error, place) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def new_working_folder(place: Path) -> tuple[Path, int]:
    """A new folder within *place*, and what keeps it locked; those that killed processes left there go."""
    leftovers(place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=WORKING, dir=place))
        # Before it is locked, another process may take it for left behind.
        with contextlib.suppress(FileNotFoundError):
            lock = opened_folder(folder)
            # Where no locks are possible, nobody can take it for left behind either.
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)
