"""Compiled array kernels: one way to compile a loop that NumPy cannot express.

The machine code is kept on disk (`tabular.compiling` says where), and made anew when a kernel, or one it calls, has
changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any, ClassVar, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from tabular.compiling import cache_folders, compile_time, make_cache_folder, turns
from tabular.files.journal import MARK, finish_interrupted, new_locked

F = TypeVar("F", bound=Callable[..., object])

#: What reading kept code raises where an earlier version wrote it for types that have moved since, or it is damaged.
_OUTGROWN = (AttributeError, ImportError, EOFError, pickle.UnpicklingError)


def compiled(function: F) -> F:
    """Compile *function* to machine code, kept on disk between runs; it runs without the interpreter's lock."""
    return _compile(function)


def lean(function: F) -> F:
    """Compile a kernel that makes no arrays: those it is given are not counted each time they are handed on.

    The counts are shared by all threads, which would wait for each other at every call.
    """
    # Numba does not document this option, but compiles kernels of its own with it; it refuses one that makes an array.
    return _compile(function, _nrt=False)


def inlined(function: F) -> F:
    """Write *function* out wherever a kernel calls it: for small steps whose many arrays a call would copy."""
    return cast(F, numba.njit(nogil=True, inline="always")(function))


def _compile(function: F, **options: bool) -> F:
    kernel: Any = numba.njit(nogil=True, **options)(function)
    cache, compile_one = _KernelCache(kernel), kernel.compile

    def compile_in_turn(signature: Any) -> Any:
        try:
            return compile_one(signature)
        finally:
            cache.end_turn()

    kernel._cache, kernel.compile = cache, compile_in_turn
    return cast(F, kernel)


def is_kept(kernel: Callable[..., object]) -> bool:
    """Whether machine code of *kernel* is kept, for whatever arguments."""
    return cast(Any, kernel)._cache.is_kept is True


class _Times(event.Listener):
    """Hears from the compiler when it begins and ends."""

    def on_start(self, event: Any) -> None:
        compile_time.begin()

    def on_end(self, event: Any) -> None:
        compile_time.end()


event.register("numba:compile", _Times())


class _Locator:
    """What the compiler asks about a function that it keeps."""

    def __init__(self, function: FunctionType) -> None:
        self._py_file = function.__code__.co_filename

    @classmethod
    def from_function(cls, function: FunctionType, path: str) -> _Locator:
        return cls(function)

    def get_disambiguator(self) -> str:
        return ""


class _Kept(CompileResultCacheImpl):
    _locator_classes: ClassVar[list[type[object]]] = [_Locator]


class _CacheFile(IndexDataCacheFile):
    """The files of one kernel in a folder; what a killed process has left there goes with the next one that writes."""

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        folder = Path(self._cache_path)
        _clear_up(folder)
        temporary = folder / f"{MARK}{secrets.token_hex(8)}.new"
        try:
            with open(new_locked(temporary), "wb") as file:  # noqa: PTH123
                os.fchmod(file.fileno(), 0o644)
                yield file
                file.flush()
                temporary.replace(filepath)
        finally:
            temporary.unlink(missing_ok=True)


@cache
def _clear_up(folder: Path) -> None:
    """Once in a process: a folder of code has many files."""
    finish_interrupted(folder)


class _KernelCache(FunctionCache):
    """Keeps the machine code of one kernel, one file for each kind of arguments."""

    def __init__(self, kernel: Any) -> None:
        function, self._kernel = kernel.py_func, kernel
        self._name, self._py_func = repr(function), function
        self._impl = _Kept(function)
        self._files: list[_CacheFile] | None = None
        self._turns: list[Callable[[], None]] = []
        self.enable()

    @property
    def cache_path(self) -> str | None:
        return None

    def flush(self) -> None:
        for file in self._kept_in():
            file.flush()

    def _kept_in(self) -> list[_CacheFile]:
        # The kernels that this one calls may stand below it: they are known when it is first called.
        if self._files is None:
            function = self._py_func
            name = f"{function.__module__}.{function.__qualname__}-py{sys.version_info[0]}{sys.version_info[1]}"
            folders = cache_folders(Path(function.__code__.co_filename).parent)
            self._files = [_CacheFile(str(folder), name, _stamp(self._kernel)) for folder in folders]
        return self._files

    @property
    def is_kept(self) -> bool:
        """Whether there is machine code of the kernel as it stands."""
        return any(file._load_index() for file in self._kept_in())

    def _load_overload(self, signature: Any, context: Any) -> Any:
        found = self._kept_overload(signature, context)
        if found is None:
            # One turn for all kinds of arguments: they share an index, which two processes would overwrite.
            files = self._kept_in()
            self._turns.append(turns.taken(files[0]._index_name, (Path(file._cache_path) for file in files)))
            found = self._kept_overload(signature, context)
        return found

    def end_turn(self) -> None:
        """It is kept, or it could not be compiled: whoever waits for it goes on."""
        while self._turns:
            self._turns.pop()()

    def _kept_overload(self, signature: Any, context: Any) -> Any:
        key = self._index_key(signature, context.codegen())
        for file in self._kept_in():
            with contextlib.suppress(OSError, *_OUTGROWN):
                data = file.load(key)
                if data is not None:
                    return self._impl.rebuild(context, data)
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        if not self._impl.check_cachable(data):
            return
        key, reduced = self._index_key(signature, data.codegen), self._impl.reduce(data)
        for file in self._kept_in():
            with contextlib.suppress(OSError):
                make_cache_folder(Path(file._cache_path))
                try:
                    file.save(key, reduced)
                except _OUTGROWN:
                    file.flush()
                    file.save(key, reduced)
                compile_time.folders.add(file._cache_path)
                return


def _stamp(kernel: Any) -> str:
    """A digest of the code of a kernel and of all kernels it calls, so that none is run that one of them outgrew.

    How they are compiled and the values they take from their modules are part of it.
    """
    digest, seen = hashlib.sha256(), set[Any]()
    waiting = [kernel]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        digest.update(repr(sorted(each.targetoptions.items())).encode())
        names, constants = list[str](), list[Any]()
        for code in _codes(each.py_func.__code__):
            digest.update(code.co_code)
            names += code.co_names
            constants += [one for one in code.co_consts if not isinstance(one, CodeType)]
        digest.update(repr((names, constants)).encode())
        for name in names:
            value = each.py_func.__globals__.get(name)
            if hasattr(value, "py_func"):
                waiting.append(value)
            elif isinstance(value, (bool, int, float, str, tuple, np.generic, np.ndarray)):
                digest.update(repr((name, value)).encode())
    return digest.hexdigest()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
