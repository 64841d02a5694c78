"""Calls of the operating system that fail, or at which the process is killed: the step is the number of the call."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

CALLS = ("fsync", "replace", "link", "unlink", "mkdir", "rmdir", "open", "write", "ftruncate", "fchmod")


@contextlib.contextmanager
def counted(at_step: Callable[[int, str], None]) -> Iterator[None]:
    """Call *at_step* with the number and the name of each call that changes files, before it is made."""
    steps = 0
    before = {name: getattr(os, name) for name in CALLS}

    def watched(name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal steps
            steps += 1
            at_step(steps, name)
            return before[name](*args, **options)

        return call

    try:
        for name in CALLS:
            setattr(os, name, watched(name))
        yield
    finally:
        for name, function in before.items():
            setattr(os, name, function)


@contextlib.contextmanager
def failing(step: int, error: BaseException, *, ever_after: bool = False) -> Iterator[None]:
    """The call number *step* fails by *error*, or each one from there on."""

    def at_step(number: int, _: str) -> None:
        if number == step or (ever_after and number > step):
            raise error

    with counted(at_step):
        yield


def killed_at(step: int, action: Callable[[], object]) -> bool:
    """Do *action* in a process of its own that is killed before its call number *step*; whether it came so far."""

    def at_step(number: int, _: str) -> None:
        if number == step:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), counted(at_step):
            action()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
