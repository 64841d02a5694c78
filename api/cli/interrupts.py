"""Ctrl-C for work that has an answer at any time: the first ends it with the best so far, the second at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_SAID = b"Stopping: the best so far follows. Interrupt again to give up.\n"


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """A function that says whether the work shall end; a second Ctrl-C interrupts it as everywhere else."""
    asked = threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        # Straight to the file: whatever was interrupted may be in the midst of writing to the stream.
        os.write(2, _SAID)

    # Signals come to the main thread alone; elsewhere nobody can ask.
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
