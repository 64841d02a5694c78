"""Long work: how far it is, on standard error, and Ctrl-C, which ends it with the best so far where it has an answer.

Progress is a bar on a terminal and plain lines otherwise; quick work shows nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING

from api.cli.terminal import say, visible
from api.verbs.contract import Report

if TYPE_CHECKING:
    from rich.progress import TaskID

#: Work that ends sooner, in seconds, shows nothing; and lines on one phase come no closer than this.
PATIENCE = 1.0

_SAID = b"Stopping: the best so far follows. Interrupt again to give up.\n"


@contextlib.contextmanager
def progress() -> Iterator[Report]:
    """A function that is told what is being done; what it is told is shown as soon as the work turns out to be long."""
    shown = _Bar() if os.isatty(2) else _Lines()
    # Work that says something once and is then silent for long is shown as well.
    timer = threading.Timer(PATIENCE, shown.begin)
    timer.daemon = True
    timer.start()
    try:
        yield shown.told
    finally:
        timer.cancel()
        shown.end()


class _Lines:
    """A line when a phase begins, and from time to time how far it is.

    What was told last is kept until the work turns out to be long; from then on what is told is shown.
    """

    def __init__(self) -> None:
        self._last: tuple[str, int, int] | None = None
        self._begun = self._ended = False
        # The timer and the work tell from two threads.
        self._lock = threading.Lock()
        self._phase, self._until = "", 0.0
        #: By phase when it began, how much of it was done then, and how much is done now.
        self._paces: dict[str, tuple[float, int, int]] = {}

    def told(self, phase: str, done: int, of: int) -> None:
        """The work says how far it is."""
        with self._lock:
            began, before, last = self._paces.get(phase, (time.monotonic(), done, done))
            # A phase that starts again has a new pace; one that others interrupt goes on.
            self._paces[phase] = (began, before, done) if done >= last else (time.monotonic(), done, done)
            self._last = (phase, done, of)
            if self._begun and not self._ended:
                self._show(*self._last)

    def begin(self) -> None:
        """From now on what is told is shown."""
        with self._lock:
            self._begun = True
            if self._last is not None and not self._ended:
                self._show(*self._last)

    def end(self) -> None:
        """The work has ended, well or not."""
        with self._lock:
            self._ended = True

    def _show(self, phase: str, done: int, of: int) -> None:
        # A step of one run of many, "Run 3 of 25: …", is no phase of its own; there may be thousands.
        now, is_step = time.monotonic(), ": " in phase
        if (is_step or phase == self._phase) and now < self._until:
            return
        self._phase, self._until = self._phase if is_step else phase, now + PATIENCE
        counted = self._counted(phase, done, of)
        say(f"{phase}: {counted}" if counted else f"{phase} …", err=True)

    def _counted(self, phase: str, done: int, of: int) -> str:
        """How many parts are done, and for how long the others will take, as far as that is known."""
        if not of:
            return f"{done:,}" if done else ""
        began, before, _ = self._paces[phase]
        spent = time.monotonic() - began
        left = f", about {_duration(spent * (of - done) / (done - before))} left" if before < done < of else ""
        return f"{done:,} of {of:,}{left}"


class _Bar(_Lines):
    """A bar that is gone when the work is done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        super().__init__()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None

    def end(self) -> None:
        super().end()
        self._bar.stop()

    def _show(self, phase: str, done: int, of: int) -> None:
        if self._task is None or phase != self._phase:
            # A task of its own: that there is no total is nothing that a task can be told later.
            if self._task is not None:
                self._bar.remove_task(self._task)
            total = of or None
            self._phase, self._task = (
                phase,
                self._bar.add_task(visible(phase), total=total, count=self._counted(phase, done, of)),
            )
        self._bar.update(self._task, completed=done, count=self._counted(phase, done, of))
        self._bar.start()


def _duration(seconds: float) -> str:
    """Seconds as people say them: of large units no small ones.

    >>> [_duration(seconds) for seconds in (0.2, 59.6, 600, 9000)]
    ['1 s', '60 s', '10 min', '2.5 h']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


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
