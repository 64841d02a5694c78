"""Single files: read with clear errors, replaced completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tabular.errors import FileFailure, InvalidInput, NameTaken, ReportedError, named
from tabular.files.journal import MARK, new_locked

#: What stands for standard input or standard output.
STREAM = "-"


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
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: {reason(error)}") from None


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
        with open(new_locked(temporary), "wb") as file:  # noqa: PTH123
            yield file
            finish(file, private=private)
            temporary.replace(target)
    except OSError as error:
        raise failure(error, path) from None
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
