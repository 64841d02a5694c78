"""Compiled array kernels: one way to compile a loop that NumPy cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile *function* to machine code, kept on disk between runs; it runs without the interpreter's lock."""
    return _compile(function)


def lean(function: F) -> F:
    """Compile a kernel that makes no arrays: those it is given are not counted each time they are handed on.

    The counts are shared by all threads, which would wait for each other at every call.
    """
    # Numba does not document this option, but compiles kernels of its own with it; it refuses one that makes an array.
    return _compile(function, _nrt=False)


def _compile(function: F, **options: bool) -> F:
    jit: Any = numba.njit
    try:
        kernel = jit(cache=True, nogil=True, **options)(function)
        kernel._cache.load_overload = _fresh_only(kernel._cache)
        return cast(F, kernel)
    except RuntimeError:
        # Neither beside the module nor in the user's cache may a file be written: compile anew in each process.
        return cast(F, jit(nogil=True, **options)(function))


def _fresh_only(cache: Any) -> Callable[[Any, Any], Any]:
    """Load from a *cache*, or clear it where an earlier version wrote it for types that have moved since."""
    load = cache.load_overload

    def loaded(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except (AttributeError, ImportError):
            cache.flush()
            return None

    return loaded


def inlined(function: F) -> F:
    """Write *function* out wherever a kernel calls it: for small steps whose many arrays a call would copy."""
    return cast(F, numba.njit(nogil=True, inline="always")(function))
