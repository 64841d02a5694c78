"""Compiling kernels: how long this process has spent on it, who is told, and where the machine code is kept.

Machine code is kept in the first of these folders that takes it, and read from any of them: the one that
`GRAPHPRIV_CACHE_DIR` names, and no other then; `__pycache__` beside the modules; `graphpriv` in the user's cache; a
folder in the temporary directory that belongs to the user alone. What is read is run, so a folder counts only if it
and all above it belong to the user or to root, and nobody else may write there; one that does not is told once, and a
private one takes its place. Nothing here imports the compiler itself.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import functools
import grp
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tabular.errors import InvalidInput

#: The variable of the environment that names the folder of compiled kernels.
CACHE_DIR = "GRAPHPRIV_CACHE_DIR"


class CompileTime:
    """A stopwatch that runs while any thread compiles."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._depth, self._since, self._sum = 0, 0.0, 0.0
        self._listeners: list[Callable[[], None]] = []
        #: What is said of folders that are not used, each once; None before anybody listens.
        self._said: dict[str, bool] = {}
        self._warned: list[Callable[[str], None]] = []
        #: How many kernels were compiled, those inside others not counted, and the folders that took them.
        self.kernels = 0
        self.folders: set[str] = set()

    def begin(self) -> None:
        """A thread begins to compile; a kernel that needs another one compiles that one inside."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._since = self._clock()
            listeners = list(self._listeners)
        for tell in listeners:
            tell()

    def end(self, kernels: int = 1) -> None:
        """A thread has compiled what it began, or waited for another process that did."""
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self.kernels += kernels
                self._sum += self._clock() - self._since

    @property
    def seconds(self) -> float:
        """How long it was in all so far."""
        with self._lock:
            return self._sum + (self._clock() - self._since if self._depth else 0.0)

    @contextlib.contextmanager
    def announced(self, tell: Callable[[], None], warn: Callable[[str], None]) -> Iterator[None]:
        """Call *tell* each time when compiling begins, and *warn* once of each folder that is not used.

        The chosen folder, if there is one, must be one that works.
        """
        check_cache_folder()
        self._listeners.append(tell)
        self._warned.append(warn)
        try:
            self._warn()
            yield
        finally:
            self._listeners.remove(tell)
            self._warned.remove(warn)

    def refuse(self, folder: Path) -> None:
        """A folder is not used, since others may write there."""
        self._said.setdefault(str(folder), False)
        self._warn()

    def _warn(self) -> None:
        for folder, was_said in list(self._said.items()):
            if self._warned and not was_said:
                self._said[folder] = True
                self._warned[-1](
                    f"warning: compiled code is not read from {folder}: somebody else may write there or above it. "
                    f"It is kept in a private folder; {CACHE_DIR} names another one."
                )


#: That of this process.
compile_time = CompileTime()


@contextlib.contextmanager
def compiling_ahead(program: str) -> Iterator[None]:
    """Run *program*, a module of ours that compiles kernels, in a process beside this one.

    This process does something else meanwhile; where it needs a kernel that is being compiled there, it waits for it.
    """
    command, nothing = [sys.executable, "-P", "-m", program], subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)  # noqa: S603 (it is ours)
    try:
        yield
    finally:
        process.kill()
        process.wait()


#: How long another process may take over one kernel, in seconds, before this one compiles it, too.
PATIENCE = 60.0


class Turns:
    """One process at a time compiles a kernel; others that need it wait, and then find it kept.

    Each kernel is a byte of one file in the folder that keeps the code: whoever has that byte locked compiles it. The
    lock goes with the process, however it ends. A kernel that waits for one it calls never waits in a circle.
    """

    _FILE = "compiling.lock"

    def __init__(self) -> None:
        self._files: dict[Path, int] = {}

    def taken(self, name: str, folders: Iterable[Path]) -> Callable[[], None]:
        """Wait for the turn to compile the kernel *name*, and give what ends it.

        Where no folder can be locked, or somebody has the turn for longer than `PATIENCE`, nobody waits any longer.
        """
        place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
        for folder in folders:
            with contextlib.suppress(OSError):
                file = self._open(folder)
                if self._locked(file, place):
                    return functools.partial(fcntl.lockf, file, fcntl.LOCK_UN, 1, place)
                break
        return lambda: None

    def _open(self, folder: Path) -> int:
        """The file of the turns in a folder, which stays open: closing it would end all turns of this process."""
        if folder not in self._files:
            make_cache_folder(folder)
            # Whoever can read it could lock it.
            self._files[folder] = os.open(folder / self._FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._files[folder]

    @staticmethod
    def _locked(file: int, place: int) -> bool:
        if _try_lock(file, place):
            return True
        compile_time.begin()
        try:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                time.sleep(0.01)
                if _try_lock(file, place):
                    return True
            return False
        finally:
            compile_time.end(kernels=0)


def _try_lock(file: int, place: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    return True


#: Those of this process.
turns = Turns()


def working_clock() -> float:
    """A clock in seconds that stands still while kernels are compiled: that happens once and is no part of the work."""
    return time.monotonic() - compile_time.seconds


def cache_folders(beside: Path) -> Iterator[Path]:
    """Where the machine code of kernels of a module in the folder *beside* may lie, best first."""
    chosen, candidates = os.environ.get(CACHE_DIR), [beside / "__pycache__"]
    with contextlib.suppress(RuntimeError):
        candidates.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graphpriv")
    safe = []
    for folder in [Path(chosen)] if chosen else candidates:
        if is_safe(folder):
            safe.append(folder)
        else:
            compile_time.refuse(folder)
    yield from safe
    if chosen and safe:
        return
    own = _own_temporary()
    yield own if not own.is_symlink() and (not own.exists() or _is_private(own)) else _fresh()


#: A folder that this process alone uses, where there is no other.
_made: list[Path] = []


def _fresh() -> Path:
    """A new folder for this process, which goes with it."""
    if not _made or not _made[-1].is_dir():
        from tabular.files.working import new_working_folder

        # Its lock goes with this process, however that ends.
        made, _ = new_working_folder(Path(tempfile.gettempdir()))
        _made.append(made)
        atexit.register(shutil.rmtree, made, ignore_errors=True)
    return _made[-1]


def is_safe(folder: Path) -> bool:
    """Whether nobody but the user and root can have put code into a *folder*, or can put another in its place.

    One that is not there yet is judged by those above it.
    """
    with contextlib.suppress(OSError):
        named, real = folder.absolute(), folder.resolve()
        if not all(_is_ours(each, above=True) for each in {*named.parents, *real.parents} if each.exists()):
            return False
        if not real.exists():
            return True
        if not stat.S_ISDIR(real.stat().st_mode) or not _is_ours(real, above=False):
            return False
        # Code that was put there while the folder was open to others is no better.
        return all(_is_ours(each, above=False) for each in real.iterdir() if each.suffix in _CODE)
    return False


#: The endings of files of machine code.
_CODE = frozenset((".nbi", ".nbc"))


def _is_ours(path: Path, *, above: bool) -> bool:
    """Whether a path is the user's or root's, and nobody else's to change; in a sticky folder others change no name."""
    found = path.stat() if above else path.lstat()
    if found.st_uid not in (os.geteuid(), 0):
        return False
    if above and found.st_mode & stat.S_ISVTX:
        return True
    by_group = found.st_mode & stat.S_IWGRP and not _is_alone_in(found.st_gid)
    return not (found.st_mode & stat.S_IWOTH or by_group)


@functools.cache
def _is_alone_in(group: int) -> bool:
    """Whether nobody but the user is in a group, as where each user has one of their own."""
    try:
        me = pwd.getpwuid(os.geteuid()).pw_name
        members = {*grp.getgrgid(group).gr_mem, *(each.pw_name for each in pwd.getpwall() if each.pw_gid == group)}
    except KeyError:
        return False
    return members <= {me}


def make_cache_folder(folder: Path) -> None:
    """Make a folder for machine code where it is not there; the one in the temporary directory for the user alone."""
    is_own = folder == _own_temporary()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700 if is_own else 0o755, parents=not is_own)
    if not (_is_private(folder) if is_own else is_safe(folder)):
        raise PermissionError(errno.EACCES, "others can write there", str(folder))


def _own_temporary() -> Path:
    return Path(tempfile.gettempdir()) / f"graphpriv-{os.getuid()}"


def _is_private(folder: Path) -> bool:
    """Whether nobody else can have put a file into a *folder*: code that is loaded from there is run."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def check_cache_folder() -> None:
    """Refuse a folder for compiled kernels that the environment names and that can neither be made nor be read."""
    chosen = os.environ.get(CACHE_DIR)
    if not chosen:
        return
    try:
        Path(chosen).mkdir(parents=True, exist_ok=True)
        next(iter(os.scandir(chosen)), None)
    except OSError as error:
        raise InvalidInput(f"{CACHE_DIR}: {chosen}: {error.strerror}; name a folder that can be written.") from None
