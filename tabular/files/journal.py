"""Files that are replaced together, and the journal that brings a killed replacement to an end.

POSIX renames one path at a time, so several files cannot change in one step. This is how they come close to it:

1. A journal is made in the folder of the first file, locked as long as its process lives. It names all files, and the
   temporaries and old copies beside them, before there are any. Other folders get a pointer to it.
2. Each file is written completely to its temporary. Each old file gets a second name (a hard link, or a copy where the
   file system has no links). The journal then notes what each new file is known by: inode, size, time of change.
3. The temporaries are renamed to their targets, and files that shall go with the old ones are removed.
4. The journal notes that all is done. Old copies, pointers and, last, the journal itself are removed.

Each step reaches the disk before the next one begins. So until "done" is noted, every old file is at its place or has
its second name, and everything can be undone; from then on, every new file is at its place, and only copies are left
to be removed. Undoing and removing can both be cut short and begun again. Undoing touches a target only while it is the
very file that the replacement put there: what somebody has changed since stays.

Whether a process lives is told by its lock, which the kernel drops when it dies. A journal of another user is left
alone, since it could name any file.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabular.errors import NameTaken, named

#: How the names of all temporaries, old copies and journals begin, and those of folders for the time of some work.
MARK = ".graphpriv-"
WORKING = f"{MARK}copy-"
_JOURNAL = ".journal"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL


@dataclass(frozen=True)
class Place:
    """Where a file goes, and what stands beside it until the replacement is done."""

    target: Path
    temporary: Path
    old: Path


class Replacement:
    """Files that take the place of others together: `begin`, write the temporaries, `rename`, `commit`, `clear`.

    Files that are *removed* go together with them. Until `commit` has returned, `undo` puts everything back as it was,
    however far things have come.
    """

    def __init__(self, written: Sequence[Path], removed: Sequence[Path] = ()) -> None:
        name, targets = f"{MARK}{secrets.token_hex(8)}", [*written, *removed]
        self._written = len(written)
        # Folders that are there come first: what the journal says of the others must be on the disk before they are.
        self.folders = sorted(dict.fromkeys(each.parent for each in targets), key=lambda folder: not folder.is_dir())
        self.made = [folder for folder in self.folders if not folder.is_dir()]
        self.places = [
            Place(target, target.parent / f"{name}-{number}.new", target.parent / f"{name}-{number}.old")
            for number, target in enumerate(targets)
        ]
        self.journals = [folder / f"{name}{_JOURNAL}" for folder in self.folders]
        #: What each new file is known by, and whether there was an old one; of all files, before the first is renamed.
        #: A file that is removed is known by not being there.
        self.marks: list[tuple[Any, bool]] = []
        self._locks: list[int] = []
        self._undoable: int | None = None

    def begin(self) -> None:
        """Say in each folder what is going to happen; folders that are not there are made."""
        for folder, path in zip(self.folders, self.journals, strict=True):
            if folder in self.made:
                folder.mkdir(exist_ok=True)
                sync_folder(folder.parent)
            self._locks.append(lock := new_locked(path))
            pointer = {"journal": os.path.relpath(self.folders[0], folder)}
            _append(lock, self._plan() if len(self._locks) == 1 else pointer)
        self._sync_folders()

    def rename(self, *, overwrite: bool) -> None:
        """Give the old files their second names and the new ones their places."""
        marks = []
        for place in self.places:
            exists = place.target.exists()
            if exists and not overwrite:
                raise NameTaken(f"{place.target}: the file exists; give {named('overwrite')} to replace it.")
            if exists:
                _keep(place.target, place.old)
            # There is no temporary for a file that is removed, and so no mark.
            marks.append((_mark_of(place.temporary), exists))
        if self.places:
            self._sync_folders()
            _append(self._locks[0], {"files": marks})
        self.marks = marks
        for place in self.places[: self._written]:
            os.replace(place.temporary, place.target)  # noqa: PTH105
        for place in self.places[self._written :]:
            place.target.unlink(missing_ok=True)
        self._sync_folders()

    def commit(self) -> None:
        """Note that all is done: from here on the new files stay."""
        if self.places:
            self._undoable = os.fstat(self._locks[0]).st_size
            _append(self._locks[0], {"done": True})

    def undo(self) -> None:
        """Put everything back as it was; cut short, it can be done again."""
        if self._undoable is not None:
            # What may be noted as done must not be half undone: this fails, or nothing says so any more.
            os.ftruncate(self._locks[0], self._undoable)
            os.fsync(self._locks[0])
        for place, (mark, had_old) in zip(self.places, self.marks, strict=False):
            if _mark_of(place.target) != mark:
                continue
            if not had_old:
                place.target.unlink(missing_ok=True)
            elif place.old.exists():
                os.replace(place.old, place.target)  # noqa: PTH105
        if self.marks:
            with contextlib.suppress(OSError):
                self._sync_folders()
        self.clear(made=self.made)

    def clear(self, made: Sequence[Path] = ()) -> None:
        """Remove what stands beside the files, and folders that were *made* for nothing; the journal goes last."""
        for place in self.places:
            place.temporary.unlink(missing_ok=True)
            place.old.unlink(missing_ok=True)
        for journal in reversed(self.journals):
            journal.unlink(missing_ok=True)
            if journal.parent in made:
                with contextlib.suppress(OSError):
                    journal.parent.rmdir()

    def new_files(self) -> list[str]:
        """The targets where the new file stands."""
        found = zip(self.places, self.marks, strict=False)
        return [place.target.name for place, (mark, _) in found if mark is not None and _mark_of(place.target) == mark]

    def close(self) -> None:
        """Give up the locks."""
        while self._locks:
            os.close(self._locks.pop())

    def _sync_folders(self) -> None:
        for folder in self.folders:
            sync_folder(folder)

    def _plan(self) -> dict[str, Any]:
        return {
            "about": "These files are being replaced together. The next command that reads or writes here clears up.",
            "folders": [os.path.relpath(folder, self.folders[0]) for folder in self.folders],
            "made": [self.folders.index(folder) for folder in self.made],
            "files": [
                {
                    "folder": self.folders.index(place.target.parent),
                    "target": place.target.name,
                    "temporary": place.temporary.name,
                    "old": place.old.name,
                }
                for place in self.places
            ],
        }

    @classmethod
    def read(cls, journal: Path, lines: Sequence[dict[str, Any]]) -> Replacement:
        """The replacement that a journal tells of; ValueError where it names files that are none of its own."""
        plan = lines[0]
        folders = [journal.parent / name for name in plan["folders"]]
        names = [name for each in plan["files"] for name in (each["target"], each["temporary"], each["old"])]
        beside = [name for each in plan["files"] for name in (each["temporary"], each["old"])]
        ours = f"{journal.stem}-"
        if any(Path(name).name != name for name in names) or not all(name.startswith(ours) for name in beside):
            raise ValueError
        self = cls([])
        self.folders, self.made = folders, [folders[number] for number in plan["made"]]
        self.journals = [folder / journal.name for folder in folders]
        self.places = [
            Place(*(folders[each["folder"]] / each[key] for key in ("target", "temporary", "old")))
            for each in plan["files"]
        ]
        if len(lines) > 1:
            self.marks = [(mark, had_old) for mark, had_old in lines[1]["files"]]
        return self


def finish_interrupted(folder: str | Path) -> list[str]:
    """Undo or finish the replacements of killed processes in a *folder*, and say which files are as they were.

    What a living process is doing stays untouched, and so does what cannot be undone now.
    """
    told: list[str] = []
    leftovers(folder)
    with contextlib.suppress(OSError):
        found = sorted(path for path in Path(folder).iterdir() if path.name.startswith(MARK))
        for path in found:
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                if path.name.endswith(_JOURNAL):
                    told += _finish(path)
                elif not path.with_name(path.name.rpartition("-")[0] + _JOURNAL).exists():
                    with _locked(path) as lock:
                        if lock is not None:
                            path.unlink()
    return told


def _finish(journal: Path) -> list[str]:
    with _locked(journal) as lock:
        lines = [] if lock is None else _lines(lock)
        if lock is None:
            return []
        if not lines:
            # Its process was killed before there was anything else.
            journal.unlink()
            return []
        if "journal" in lines[0]:
            return _finish_elsewhere(journal, journal.parent / lines[0]["journal"] / journal.name)
        replacement = Replacement.read(journal, lines)
        if len(lines) > 2:
            replacement.clear()
            return []
        kept = set(replacement.folders) - set(replacement.made)
        if replacement.marks and not all(folder.is_dir() for folder in kept):
            # A folder that is away may come back.
            return []
        replacement.undo()
    names = ", ".join(place.target.name for place in replacement.places)
    return [f"An earlier command was killed while it wrote {names}; all is as it was before that command."]


def _finish_elsewhere(pointer: Path, journal: Path) -> list[str]:
    if journal.exists():
        return _finish(journal)
    # The journal goes last: without it, all that is left is to clear up.
    if journal.parent.is_dir():
        for path in pointer.parent.glob(f"{pointer.stem}-*"):
            path.unlink(missing_ok=True)
        pointer.unlink(missing_ok=True)
    return []


def leftovers(place: str | Path) -> list[Path]:
    """Remove the working folders that killed processes left in a folder, and name those that could not be removed."""
    stuck = []
    for folder in sorted(Path(place).glob(f"{WORKING}*")):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = opened_folder(folder)
            try:
                # Whoever is at work with it holds the lock; the lock of a killed process is gone.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                if folder.exists():
                    stuck.append(folder)
            finally:
                os.close(lock)
    return stuck


def opened_folder(folder: Path) -> int:
    """A descriptor of a folder, and of no link to one."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def new_locked(path: Path) -> int:
    """A new file that is locked while this process lives and has it open."""
    while True:
        descriptor = os.open(path, _NEW, 0o600)
        # A file system without locks holds everything for alive, and leaves it there.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        # Between its two steps somebody held it for left behind.
        os.close(descriptor)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """A file of ours that a dead process left behind, locked; None where it is not."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink > 0
        yield descriptor if is_ours else None
    finally:
        os.close(descriptor)


def _lines(descriptor: int) -> list[dict[str, Any]]:
    """The lines of a journal that were written whole."""
    with open(descriptor, "rb", closefd=False) as file:
        return [json.loads(line) for line in file.read().split(b"\n")[:-1]]


def _append(descriptor: int, line: dict[str, Any]) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)


def _keep(target: Path, old: Path) -> None:
    try:
        os.link(target, old)
    except OSError:
        old.unlink(missing_ok=True)
        with target.open("rb") as source, open(os.open(old, _NEW, 0o600), "wb") as copy:  # noqa: PTH123
            shutil.copyfileobj(source, copy)
            copy.flush()
            shutil.copystat(target, old)
            os.fsync(copy.fileno())


def _mark_of(path: Path) -> list[int] | None:
    """What a file is known by wherever it is renamed to."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
