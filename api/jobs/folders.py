"""The folder of a job. Each attempt has its own folder; the one that ends the job is renamed to `kept`.

jobs/ID/attempt-…/files      where a verb runs; links to what it reads, under the names it knows them by
jobs/ID/attempt-…/result.json or failure.json
jobs/ID/kept                 the attempt that ended the job, without the links
jobs/ID/left                 the parts of a job that was cancelled and can be taken up again, by another job
jobs/ID/parts                what is done of it already, for later attempts and for those who help; see `parts.py`
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from api.verbs.contract import Verb
from api.verbs.values import options_of
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.release import version

RESULT, FAILURE = "result.json", "failure.json"

#: Among the parts of a job: that there are some which idle workers could do; and which version has left them.
WANTED, _VERSION = "wanted", "version"

#: Says for each name in the options of a verb, and for what belongs beside it, where in the home it lies.
FilesOf = Callable[[Path, Verb], Mapping[str, Path]]


def files_of(name: str) -> FilesOf:
    """The function that a `module:function` names."""
    module, _, function = name.partition(":")
    found: FilesOf = getattr(import_module(module), function)
    return found


def tables_of_home(home: Path, verb: Verb) -> Mapping[str, Path]:
    """Each name is that of a file or folder in `tables`, and a data dictionary goes with its table.

    If a name stands for nothing, the verb says so.
    """
    folder = home / "tables"
    # Some verbs can say what else they read only once the files that their options name are there.
    names = {*_named(verb, is_read=True), *(() if reads_to_check(verb) else verb.reads())}
    beside = {f"{name}.dictionary.json" for name in names}
    return {name: folder / name for name in names | beside if (folder / name).exists()}


#: How the help shows options that name a file or a folder.
_SHOWN = ("FILE", "DIR", "RELEASE")


def check_asked(verb: Verb) -> None:
    """Refuse a verb with wrong options or with paths; a worker does so, too: the tables may have been changed."""
    check_names(verb)
    if not reads_to_check(verb):
        verb.check()
        check_places(verb)


def check_names(verb: Verb) -> None:
    """Refuse options that are paths: what a verb reads and writes is named.

    Called before `verb.check`, which may read what an option names.
    """
    for name, option in {**_named(verb, is_read=True), **_named(verb, is_read=False)}.items():
        if not is_name(name):
            raise InvalidParameter.wrong(option, must="be a plain name, without / and without a leading dot", was=name)


def reads_to_check(verb: Verb) -> bool:
    """Whether its check reads a file, so that it can be called only where that is."""
    known = options_of(type(verb)).values()
    shown = (each for each in known if each.metadata.get("metavar") == "FILE" and not _is_file(each))
    return any(getattr(verb, each.name) is not None for each in shown)


def _is_file(option: Field[Any]) -> bool:
    """Whether an option says itself that it names a file."""
    return bool(option.metadata.get("input") or option.metadata.get("output"))


def _named(verb: Verb, *, is_read: bool) -> dict[str, str]:
    """The files and folders that options name, to be read or to be written: option by name."""
    found: dict[str, str] = {}
    for option in options_of(type(verb)).values():
        value = getattr(verb, option.name)
        is_named = _is_file(option) or option.metadata.get("metavar") in _SHOWN
        if value is not None and is_named and is_read != bool(option.metadata.get("output")):
            found |= dict.fromkeys(value if isinstance(value, tuple) else [value], option.name)
    return found


def check_places(verb: Verb) -> None:
    """Refuse a verb that would read or write elsewhere than in its folder."""
    for path in (*verb.reads(), *(each.path for each in verb.planned())):
        if not all(is_name(part) for part in path.split("/")):
            raise InvalidInput(f"{path}: this is not a plain name; give one without / and without a leading dot.")


def is_name(name: str) -> bool:
    """Whether a text can be the name of a file in one folder.

    >>> [is_name(name) for name in ("a.csv", "../a", ".a", "-", "")]
    [True, False, False, False, False]
    """
    return 0 < len(name.encode()) <= 200 and name[0] not in ".-" and not set(name) & set("/\\\0\n")


@dataclass(frozen=True)
class Folder:
    """The folder of one job."""

    path: Path

    @property
    def kept(self) -> Path:
        """What the job left."""
        return self.path / "kept"

    def begin(self, attempt: str, reads: Mapping[str, Path]) -> Path:
        """The new folder of an *attempt*, with links to what it *reads*."""
        folder = self._of(attempt)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "files").mkdir(mode=0o700, parents=True)
        self.parts.mkdir(mode=0o700, exist_ok=True)
        self.path.chmod(0o700)
        folder.chmod(0o700)
        _link(folder, reads)
        return folder

    @property
    def parts(self) -> Path:
        """What is done already of a job that has not ended."""
        return self.path / "parts"

    def help(self, attempt: str, reads: Mapping[str, Path]) -> Path:
        """The new folder of somebody who helps with the job; there is none when the job is gone."""
        folder = self._of(attempt)
        folder.mkdir(mode=0o700)
        (folder / "files").mkdir(mode=0o700)
        _link(folder, reads)
        return folder

    @property
    def left(self) -> Path:
        """The parts of a job that was cancelled, from which another one can go on."""
        return self.path / "left"

    @property
    def can_go_on(self) -> bool:
        """Whether there are parts to go on from, of this version: another one does other parts."""
        with contextlib.suppress(FileNotFoundError):
            return (self.left / _VERSION).read_text(encoding="utf-8") == version()
        return False

    def leave(self) -> None:
        """Leave the parts for another job to go on from; where nothing was done yet, there is nothing to leave."""
        with contextlib.suppress(FileNotFoundError):
            done = [each for each in self.parts.iterdir() if not each.name.endswith(".lock") and each.name != WANTED]
            if done and not self.left.exists():
                (self.parts / _VERSION).write_text(version(), encoding="utf-8")
                self.parts.rename(self.left)

    def take_up(self, left: Path) -> None:
        """Begin with the parts that another job has *left*."""
        self.path.mkdir(mode=0o700, parents=True)
        shutil.copytree(left, self.parts, ignore=shutil.ignore_patterns("*.lock", WANTED, _VERSION))

    def let_go(self) -> None:
        """Delete the parts that another job has taken up."""
        shutil.rmtree(self.left, ignore_errors=True)

    def keep(self, attempt: str) -> None:
        """Keep what an *attempt* has left, unless another one's is kept already; all other attempts go."""
        folder = self._of(attempt)
        if folder.exists():
            for each in (folder / "files").iterdir():
                if each.is_symlink():
                    each.unlink()
            try:
                folder.rename(self.kept)
            except OSError as error:
                # Another attempt was first. It had the same seed, so it left the same files.
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            _settle(self.path)
        self.clear()

    def clear(self) -> None:
        """Delete what attempts have left that did not end the job, and its parts."""
        with contextlib.suppress(FileNotFoundError):
            # Whoever still helps writes by the old name, and so no more.
            self.parts.rename(self._of(secrets.token_hex(8)))
        for each in self.path.glob("attempt-*"):
            shutil.rmtree(each, ignore_errors=True)

    def remove(self) -> None:
        """Delete everything."""
        self.clear()
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.path)

    def files(self) -> dict[str, int]:
        """The sizes of the files that the job has written, by name."""
        folder = self.kept / "files"
        found = sorted(each for each in folder.rglob("*") if each.is_file())
        return {each.relative_to(folder).as_posix(): each.stat().st_size for each in found}

    def file(self, name: str) -> Path:
        """One of the files."""
        known = self.files()
        if name not in known:
            raise UnknownName.among("file of this job", name, known)
        return self.kept / "files" / name

    def read(self, name: str) -> dict[str, Any] | None:
        """What RESULT or FAILURE holds, or None where there is none."""
        try:
            read: dict[str, Any] = json.loads((self.kept / name).read_bytes())
        except FileNotFoundError:
            return None
        return read

    def _of(self, attempt: str) -> Path:
        return self.path / f"attempt-{attempt}"


def _link(folder: Path, reads: Mapping[str, Path]) -> None:
    for name, real in reads.items():
        (folder / "files" / name).symlink_to(real.absolute())


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document for the owner of the folder alone, down to the disk."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Bring the names in a folder down to the disk."""
    held = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
