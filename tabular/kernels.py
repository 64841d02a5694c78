"""Compiled array kernels: one way to compile a loop that NumPy cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile *function* to machine code, kept on disk between runs; it runs without the interpreter's lock."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # Neither beside the module nor in the user's cache may a file be written: compile anew in each process.
        return cast(F, numba.njit(nogil=True)(function))


def inlined(function: F) -> F:
    """Write *function* out wherever a kernel calls it: for small steps whose many arrays a call would copy."""
    return cast(F, numba.njit(nogil=True, inline="always")(function))
