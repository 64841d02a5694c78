"""Whether the store answers: one look at a time, and nobody waits long for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tabular.errors import ReportedError

#: How long somebody waits for a look, and for how long what it found is good, in seconds.
DEADLINE, FRESH = 2.0, 1.0


class Probe:
    """Looks at the store in a thread of its own, since a store that hangs would take the caller's."""

    def __init__(self, look: Callable[[], object], *, deadline: float = DEADLINE) -> None:
        self._look, self._deadline = look, deadline
        self._lock = threading.Lock()
        self._looking: threading.Event | None = None
        self._is_ready, self._found_at = False, -FRESH

    def is_ready(self) -> bool:
        """Whether the store answers; while somebody waits for a look, the others are told what the last one found."""
        with self._lock:
            if self._looking is not None or time.monotonic() - self._found_at < FRESH:
                return self._is_ready
            self._looking = ended = threading.Event()
            threading.Thread(target=self._find, args=(ended,), daemon=True, name="probe").start()
        if not ended.wait(self._deadline):
            with self._lock:
                # Until it comes back, nobody looks again.
                self._is_ready = False if self._looking is ended else self._is_ready
        return self._is_ready

    def _find(self, ended: threading.Event) -> None:
        is_ready = False
        try:
            self._look()
            is_ready = True
        except ReportedError:
            pass
        finally:
            with self._lock:
                self._looking, self._is_ready, self._found_at = None, is_ready, time.monotonic()
            ended.set()
