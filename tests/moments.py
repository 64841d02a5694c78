"""A process killed at any moment at which it changes files, from whatever library that is: `moments.c` does it."""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

#: A child that hangs is ended after so many seconds; a machine may be busy with much else.
_PATIENCE = 300


_shared: list[object] = []


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, None where it was killed, and the moments that it had until then."""

    code: int | None
    moments: int
    #: The number of the last system call that changed files.
    call: int


@cache
def _library() -> ctypes.CDLL:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        if os.environ.get("CI"):
            pytest.fail("There is no C compiler to kill commands with; install the package `gcc`.")
        pytest.skip("no C compiler to kill commands with")
    made = Path(mkdtemp()) / "moments.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, source], check=True)
    library = ctypes.CDLL(str(made))
    shutil.rmtree(made.parent)
    return library


def killed_at(moment: int | None, action: Callable[[], int]) -> Ended:
    """Do *action* in a process of its own that is killed at its *moment*, counted from 1, or at none for 0.

    Programs that it starts cannot live where moments are counted; for None, none are.
    """
    ended = forked_at(moment)
    if ended is not None:
        return ended
    code = 70
    try:
        code = action()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Not even an error leaves this process for the tests.
        os._exit(code)


def forked_at(moment: int | None) -> Ended | None:
    """Go on twice: in a process that is killed at its *moment* (None), and in this one when that has ended."""
    library, shared = _library(), mmap.mmap(-1, mmap.PAGESIZE)
    seen = (ctypes.c_long * 2).from_buffer(shared)
    child = os.fork()
    if child == 0:
        signal.alarm(_PATIENCE)
        # It is written to as long as this process lives.
        _shared.append(seen)
        if moment is not None and library.moments_begin(ctypes.c_long(moment), ctypes.byref(seen)) != 0:
            os._exit(71)
        return None
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    assert not killed or os.WTERMSIG(status) == signal.SIGKILL, f"ended by signal {os.WTERMSIG(status)}"
    return Ended(None if killed else os.WEXITSTATUS(status), seen[0], seen[1])


def say_to(folder: Path) -> None:
    """Have this process read nothing, and say what it says in two files of a *folder*."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for number, name in ((1, "said.out"), (2, "said.err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
