"""Compiled array kernels: one way to compile a loop that NumPy cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile *function* to machine code, kept on disk between runs; it runs without the interpreter's lock."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """Write *function* out wherever a kernel calls it: for small steps that take many arrays, which a call would copy."""
    return cast(F, numba.njit(nogil=True, inline="always")(function))
