"""The parts of a job on the disk: what was done is not done again, and several processes share what is left.

jobs/ID/parts/NAME           what a part has given, after its digest
jobs/ID/parts/NAME.lock      locked by the process that does the part
jobs/ID/parts/wanted         there are parts that idle workers could do

Nobody relies on a lock. It goes with the process that holds it, so that others do its part; if it does not go, they
do the part all the same after a while. A part that is done twice gives the same arrays twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from api.jobs.folders import WANTED
from tabular.loop import Parts, Values, on_threads, untold
from tabular.release import version

#: What takes less time than this is not kept, but done again.
_QUICK = 1.0

#: The bytes of a digest.
_DIGEST = 32

#: How often one looks whether another process has done a part, in seconds.
_LOOKING = 0.02

#: How often the parts that others do are counted meanwhile, in seconds.
_COUNTING = 1.0

#: How long to wait for a part that another process is at: so long at least, and so many times the longest of one's own.
_PATIENCE, _TIMES = 60.0, 4

#: The parts of one job may take so many bytes; what comes after is done by each process for itself.
_ROOM = 2 << 30


@dataclass
class SharedParts(Parts):
    """Does the parts of a job that nobody has done, and keeps them for whoever comes later."""

    folder: Path
    #: After so many seconds this process wants help, if there is something that others could do; None if it helps.
    help_after: float | None = None
    #: What takes less time than this is not kept, but done again.
    quick: float = _QUICK
    _began: float = field(default_factory=time.monotonic, init=False)
    _longest: float = field(default=0.0, init=False)
    _held: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.helps = self.help_after is None
        with contextlib.suppress(FileNotFoundError):
            self._held = sum(each.stat().st_size for each in self.folder.iterdir())

    def each(
        self,
        key: str,
        work: Callable[[int], Values],
        count: int,
        *,
        workers: int = 1,
        stop: Callable[[], bool] = lambda: False,
        told: Callable[[int], None] = untold,
    ) -> Iterator[tuple[int, Values]]:
        """As of `Parts`; parts that others do are waited for, and they count as done when they are."""
        names = [self._name(key, number) for number in range(count)]
        unwritten: dict[int, Values] = {}

        def tried(number: int) -> None:
            if stop():
                return
            self._ask_for_help(count - number)
            found = self._try(names[number], partial(work, number))
            if found is not None and not self._has(names[number]):
                unwritten[number] = found
            counted.look()

        with _Counted(self.folder, set(names), told) as counted:
            for _ in on_threads(tried, range(count), workers):
                pass
            for number, name in enumerate(names):
                found = unwritten.pop(number, None) or self._awaited(name, partial(work, number), stop)
                if found is not None:
                    counted.look()
                    yield number, found

    def kept(self, key: str, work: Callable[[], Values]) -> Values:
        """As of `Parts`; several processes may be at it together, since its own parts are shared."""
        found = self.recall(key)
        if found is None:
            began = time.monotonic()
            found = work()
            if time.monotonic() - began >= self.quick:
                self.keep(key, found)
        return found

    def recall(self, key: str) -> Values | None:
        """As of `Parts`."""
        return self._read(self._name(key, 0))

    def keep(self, key: str, values: Values) -> None:
        """As of `Parts`."""
        self._write(self._name(key, 0), values)

    def _has(self, name: str) -> bool:
        """Whether a part is done."""
        return (self.folder / name).exists()

    def _read(self, name: str) -> Values | None:
        """What a part has given; None where it is not done. What is not whole is deleted."""
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        if content[:_DIGEST] != _digest(name, content[_DIGEST:]):
            (self.folder / name).unlink(missing_ok=True)
            return None
        with np.load(io.BytesIO(zlib.decompress(content[_DIGEST:])), allow_pickle=False) as read:
            return {each: read[each] for each in read.files}

    def _try(self, name: str, work: Callable[[], Values]) -> Values | None:
        """Do a part that nobody has done and nobody is at."""
        if self._has(name):
            return None
        with self._locked(name) as is_free:
            return self._done(name, work) if is_free and not self._has(name) else None

    def _done(self, name: str, work: Callable[[], Values]) -> Values:
        began = time.monotonic()
        values = work()
        self._longest = max(self._longest, time.monotonic() - began)
        self._write(name, values)
        return values

    def _awaited(self, name: str, work: Callable[[], Values], stop: Callable[[], bool]) -> Values | None:
        """What a part has given, by whomever it is done; None where it is not done when *stop* says so."""
        until = time.monotonic() + max(_PATIENCE, _TIMES * self._longest)
        while (found := self._read(name)) is None and not stop():
            if time.monotonic() > until:
                return self._done(name, work)
            found = self._try(name, work)
            if found is not None:
                return found
            time.sleep(_LOOKING)
        return found

    def _write(self, name: str, values: Values) -> None:
        """Keep what a part has given; where there is no room, it is not kept."""
        buffer = io.BytesIO()
        np.savez(buffer, **values)  # type: ignore[arg-type]
        content = zlib.compress(buffer.getvalue(), level=1)
        # Some parts are kept again and again, each time in the place of what was kept before.
        before = (self.folder / name).stat().st_size if self._has(name) else 0
        if self._held - before + len(content) > _ROOM:
            return
        self._held += len(content) - before
        waiting = self.folder / f"{name}.{secrets.token_hex(4)}"
        # The folder is gone when the job has ended, and a disk that is full is no reason to fail.
        with contextlib.suppress(OSError):
            with os.fdopen(os.open(waiting, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(_digest(name, content) + content)
            waiting.replace(self.folder / name)

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[bool]:
        """Lock a part for as long as this process is at it; says whether nobody else has it.

        Where files cannot be locked, everybody may do every part.
        """
        lock = self.folder / f"{name}.lock"
        try:
            held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:
            # The folder goes with the job: who helps is no longer needed, who leads does its parts without one.
            yield not self.helps
            return
        except OSError:
            yield True
            return
        try:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:
                pass
            yield True
            lock.unlink(missing_ok=True)
        finally:
            os.close(held)

    def _ask_for_help(self, left: int) -> None:
        """Say that helpers are wanted, where there are parts for them."""
        if left > 1 and self.help_after is not None and time.monotonic() - self._began >= self.help_after:
            with contextlib.suppress(OSError):
                (self.folder / WANTED).touch(mode=0o600)

    def _name(self, key: str, number: int) -> str:
        """The name of a part; whoever has another version of the program does other parts."""
        return hashlib.sha256(f"{version()} {key} {number}".encode()).hexdigest()


class _Counted:
    """Tells how many of some parts are done, when there are more; also while this process is at a long one."""

    def __init__(self, folder: Path, names: set[str], told: Callable[[int], None]) -> None:
        self._folder, self._open, self._of, self._told = folder, names, len(names), told
        self._lock, self._over = threading.Lock(), threading.Event()
        self._watching = threading.Thread(target=self._watch, name="parts", daemon=True)

    def __enter__(self) -> _Counted:
        if self._told is not untold:
            self._told(0)
            self.look()
            self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(_COUNTING):
            self.look()

    def look(self) -> None:
        """Look for parts that were done since."""
        if self._told is untold:
            return
        with self._lock, contextlib.suppress(FileNotFoundError):
            done = self._open.intersection(each.name for each in self._folder.iterdir())
            if done:
                self._open -= done
                self._told(self._of - len(self._open))


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()
