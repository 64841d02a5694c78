"""Files on the disk: read with clear errors, and written completely or not at all, one or all of a command.

Every output of a command is checked before the work begins, and written completely to a temporary in its own folder,
what is released first: its SHA-256 is the release id, which the others (data dictionary, private record) are told. Then
all are renamed together by a `Replacement`, with a journal beside them: whatever fails is undone, and after a kill each
file is wholly old or wholly new, until the next command has `finish_interrupted` undo or finish the rest. Should a mix
of old and new be read in between, the release ids in the records tell. Standard output comes last.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tabular.errors import FileFailure, InvalidInput, InvalidParameter, NameTaken, ReportedError, named
from tabular.files.journal import MARK, Replacement, finish_interrupted, new_locked, sync_folder

#: What stands for standard input or standard output.
STREAM = "-"

#: What goes to standard output waits in memory up to this size, and beyond it in a temporary file.
_IN_MEMORY = 1 << 26

#: So much is taken at a time of what may never end.
_PART = 1 << 20


def read_text(path: str | Path, *, encoding: str = "utf-8-sig") -> str:
    """The text of a file, or of standard input for `-`."""
    return decode(read_bytes(path), path, encoding)


def decode(data: bytes, name: str | Path, encoding: str, hint: str = "") -> str:
    """*data* as text; *name* and *hint* say, for errors, which file it is of and what to do."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        called = "UTF-8" if encoding.startswith("utf-8") else encoding
        raise InvalidInput(f"{name}, line {line}: this is not {called} text{hint}.") from None


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, or of standard input for `-`."""
    if str(path) == STREAM:
        return _read_stream(sys.stdin.buffer, "standard input")
    try:
        status, free = Path(path).stat(), free_memory()
        if not stat.S_ISREG(status.st_mode):
            with Path(path).open("rb") as file:
                return _read_stream(file, path)
        if status.st_size <= free:
            return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: {reason(error)}") from None
    raise InvalidInput(
        f"{path}: the file has {status.st_size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of memory are free; split it, "
        "or take a machine with more memory."
    )


def _read_stream(file: IO[bytes], name: str | Path) -> bytes:
    """All that comes from a pipe or a device, which may never end."""
    # It is there twice when it is put together.
    most, size, parts = free_memory() // 2, 0, []
    while part := file.read(_PART):
        parts.append(part)
        size += len(part)
        if size > most:
            parts.clear()
            raise InvalidInput(
                f"{name}: more than {most / 1e9:,.1f} GB came, half of the memory that was free, and no end; send "
                "less, or take a machine with more memory."
            )
    return b"".join(parts)


def free_memory() -> int:
    """How many bytes of memory can still be had, by the machine and the container; else all that there is."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    return int(min(found, _left_in_container()))


#: Where a container sees its limit of memory and what it takes: version 2 of control groups, and version 1.
_CONTAINERS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def _left_in_container() -> float:
    """How many bytes the container of this process may still take; what it keeps of files goes when there is need."""
    for folder, *names in _CONTAINERS:
        # There may be no such folder, and a limit may be "max".
        with contextlib.suppress(OSError, ValueError):
            most, taken = (int(Path(folder, name).read_text(encoding="ascii")) for name in names)
            counts = dict(line.split() for line in Path(folder, "memory.stat").read_text(encoding="ascii").splitlines())
            return max(most - taken + int(counts.get("inactive_file", 0)), 0)
    return float("inf")


def refuse_existing(path: str | Path, *, overwrite: bool) -> None:
    """Refuse, before the work begins, to overwrite a file without permission, or anything that is no file."""
    if str(path) == STREAM or not Path(path).exists():
        return
    if not Path(path).is_file():
        raise InvalidInput(f"{path}: this is a folder, a device or a pipe; name a file.")
    if not overwrite:
        raise NameTaken(f"{path}: the file exists; give {named('overwrite')} to replace it.")


def place_of(path: str | Path) -> Path:
    """The real path: the same for all paths that lead to one file."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: str | Path | IO[bytes], *, overwrite: bool = True, private: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that replaces *path* when the block succeeds, and leaves no trace when it fails.

    Only its owner can read a *private* file. A file that is open already is written as it is.
    """
    if not isinstance(path, str | Path):
        yield path
        return
    refuse_existing(path, overwrite=overwrite)
    if str(path) == STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = place_of(path)
    # Its lock says that it is being written; the next command removes those that are left behind.
    temporary = target.parent / f"{MARK}{secrets.token_hex(8)}.new"
    try:
        with _failing_as(str(path)), open(new_locked(temporary), "wb") as file:  # noqa: PTH123
            yield file
            finish(file, private=private)
            temporary.replace(target)
            sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def finish(file: IO[bytes], *, private: bool) -> None:
    """Put a complete new file on the disk, with the usual rights; only its owner can read a *private* one."""
    file.flush()
    os.fchmod(file.fileno(), 0o600 if private else 0o666 & ~_umask())
    os.fsync(file.fileno())


def write_text(path: str | Path | IO[bytes], text: str, *, overwrite: bool = True, private: bool = False) -> None:
    """Replace a file by *text*."""
    with replacing(path, overwrite=overwrite, private=private) as file:
        file.write(text.encode())


def failure(error: OSError, path: str | Path) -> ReportedError:
    """What to say of a file that could not be written."""
    is_disk = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
    return (FileFailure if is_disk else InvalidInput)(f"{path}: {reason(error)} Nothing was written.")


def reason(error: OSError) -> str:
    """The operating system's word for what went wrong, as a sentence."""
    return f"{(error.strerror or str(error)).rstrip('.')}."


def _umask() -> int:
    # It cannot be asked for without being changed; for that moment other threads get fewer rights, never more.
    current = os.umask(0o077)
    os.umask(current)
    return current


@dataclass(frozen=True)
class Planned:
    """An output before there is anything to write: *what* names it in errors if its parameter does not.

    A *folder* that is not there yet is made with its first file.
    """

    parameter: str
    path: str
    folder: str | None = None
    what: str = ""

    @property
    def name(self) -> str:
        """What it is called in an error."""
        return self.what or named(self.parameter)


@dataclass(frozen=True, kw_only=True)
class Output:
    """One file of a command, and what writes it."""

    #: Where it goes; `-` is standard output.
    path: str
    #: The parameter that asked for it.
    parameter: str
    #: Gets the file and the release id, which is empty where nothing is released, and for what is released.
    write: Callable[[IO[bytes], str], None]
    #: For its owner's eyes alone.
    private: bool = False
    #: Its bytes make the release id.
    released: bool = False


def check_outputs(
    planned: Sequence[Planned], *, overwrite: bool, reads: Iterable[str | None] = (), store: str = ""
) -> None:
    """Refuse, before the work begins, outputs that could not be written or would harm what is read.

    *reads* are the files and folders that are read, *store* is the URL of the store.
    """
    known: dict[Path, Planned] = {}
    for each in planned:
        target = Path(STREAM)
        if each.path != STREAM:
            _check_place(each, overwrite=overwrite)
            target = place_of(each.path)
        if target in _files_of(store):
            raise InvalidInput(f"{each.path}: this is the store; give the output a name of its own.")
        if target in known:
            raise InvalidParameter(f"{each.name} {each.path}: {known[target].name} writes to this file, too.")
        known[target] = each
    for path in reads:
        if path is not None and path != STREAM and Path(path).exists():
            for each in planned:
                _check_apart(each, path)


def _check_place(each: Planned, *, overwrite: bool) -> None:
    """Refuse an output that exists, or that has no folder in which it could be made."""
    folder = Path(each.path).parent
    if each.folder is not None:
        made = place_of(each.folder)
        if made.exists() and not made.is_dir():
            raise InvalidInput(f"{each.folder}: this is no folder.")
        if not made.parent.is_dir():
            raise InvalidInput(f"{each.folder}: there is no folder {Path(each.folder).parent} to make it in.")
        if not made.exists():
            folder = Path(each.folder).parent
    refuse_existing(each.path, overwrite=overwrite)
    found = folder if each.folder is not None else place_of(each.path).parent
    if not found.is_dir():
        raise InvalidInput(f"{each.path}: there is no folder {folder} to write it to.")
    if not os.access(found, os.W_OK):
        raise InvalidInput(f"{each.path}: nothing may be written to the folder {folder}.")


def _check_apart(each: Planned, path: str) -> None:
    """Refuse an output in the place of a file that is read, or in a folder whose files are."""
    if each.path == STREAM:
        return
    target, read = place_of(each.path), place_of(path)
    if target == read:
        raise InvalidParameter(f"{each.name} {path}: this is a file that is read; give the output another name.")
    if read.is_dir() and target.parent == read:
        raise InvalidParameter(f"{each.name} {target.name}: the files of {path} are read; name another folder.")


def _files_of(store: str) -> tuple[Path, ...]:
    kept = place_of(store.removeprefix("file:"))
    return (kept, Path(f"{kept}-wal"), Path(f"{kept}-shm")) if store.startswith("file:") else ()


def put_right(paths: Iterable[str]) -> list[str]:
    """Undo or finish what killed runs left in the folders of *paths*, and say which files are as they were."""
    places = [place_of(path) for path in paths if path != STREAM]
    folders = sorted({place if place.is_dir() else place.parent for place in places})
    return [text for folder in folders for text in finish_interrupted(folder)]


def write_outputs(outputs: Sequence[Output], *, overwrite: bool, removed: Sequence[Path] = ()) -> str | None:
    """Write all *outputs* or none, and give the release id, if anything is released; missing folders are made.

    Files that are *removed* go with what the outputs replace. Whatever fails, an interruption
    too, is undone, and the error says what is on the disk then.
    """
    for output in outputs:
        refuse_existing(output.path, overwrite=overwrite)
    files = [output for output in outputs if output.path != STREAM]
    replacement = Replacement([place_of(output.path) for output in files], removed)
    temporaries = {output.path: place.temporary for output, place in zip(files, replacement.places, strict=False)}
    names = ", ".join(temporaries)
    with contextlib.ExitStack() as stack:
        stack.callback(replacement.close)
        try:
            with _failing_as(names):
                replacement.begin()
            release, streams = _write_all(outputs, temporaries, stack)
            with _failing_as(names):
                replacement.rename(overwrite=overwrite)
            for stream in streams:
                shutil.copyfileobj(stream, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            with _failing_as(names):
                replacement.commit()
        except BaseException as error:
            _undo(replacement, names, error)
            raise
        # All is written. What cannot be removed now is removed by the next command.
        with contextlib.suppress(OSError, KeyboardInterrupt):
            replacement.clear()
    return release


def _write_all(
    outputs: Sequence[Output], temporaries: Mapping[str, Path], stack: contextlib.ExitStack
) -> tuple[str | None, list[IO[bytes]]]:
    """Write everything beside where it goes, what is released first; the release id, and what standard output gets."""

    def written(output: Output, release: str) -> Path | IO[bytes]:
        temporary = temporaries.get(output.path)
        if temporary is None:
            with _failing_as(f"{named(output.parameter)} {STREAM}"):
                stream = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
                stack.enter_context(stream)
                output.write(stream, release)
                stream.seek(0)
                streams.append(stream)
            return stream
        with _failing_as(output.path), open(new_locked(temporary), "wb") as file:  # noqa: PTH123
            output.write(file, release)
            finish(file, private=output.private)
        return temporary

    streams: list[IO[bytes]] = []
    released = [written(output, "") for output in outputs if output.released]
    release = release_id(*released) if released else None
    for stream in streams:
        stream.seek(0)
    for output in outputs:
        if not output.released:
            written(output, release or "")
    return release, streams


def _undo(replacement: Replacement, names: str, error: BaseException) -> None:
    """Undo what was done; where that fails too, say which files are new instead of what *error* says."""
    try:
        replacement.undo()
    except OSError as second:
        new = ", ".join(replacement.new_files())
        if new:
            raise FileFailure(
                f"{names}: writing failed and could not be undone: {reason(second)} New on the disk: {new}; all others "
                "are as they were. The next command that reads or writes there makes all of them old or all new."
            ) from error


@contextlib.contextmanager
def _failing_as(names: str) -> Iterator[None]:
    """Word what the operating system says by the *names* of the files."""
    try:
        yield
    except OSError as error:
        raise failure(error, names) from None


def release_id(*parts: bytes | str | Path | IO[bytes]) -> str:
    """The id of released bytes or files: that of one file with all of them in their order.

    >>> release_id(b"degree\\n1\\n")
    'sha256:f83583aaf798d68499e0efdce954bc5682f811b427f4287ad41d9637de89fe51'
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            digest.update(part)
        elif isinstance(part, str | Path):
            try:
                with Path(part).open("rb") as file:
                    hashlib.file_digest(file, lambda: digest)
            except OSError as error:
                raise InvalidInput(f"{part}: {error.strerror}.") from None
        else:
            hashlib.file_digest(part, lambda: digest)  # type: ignore[arg-type]
    return f"sha256:{digest.hexdigest()}"


def check_release_id(files: Sequence[str | Path], expected: str | None, *, record: str | Path) -> None:
    """Refuse released *files* that do not have the id that a *record* of them *expected*.

    Records of earlier versions have no id, and expect none.
    """
    if expected is not None and release_id(*files) != expected:
        raise InvalidInput(
            f"{files[0]}: this is not the release that {record} belongs to; take both from the same run."
        )
