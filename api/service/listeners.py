"""Listeners to jobs: one reader asks for the events of all jobs that somebody listens to, and hands each on."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from api.service.jobs import Event
from tabular.errors import StoreUnavailable

#: So many may listen at once: each holds a thread of the server.
MOST = 40

#: How often the reader asks, in seconds.
OFTEN = 0.25

#: Says whether somebody has gone away.
Gone = Callable[[], bool]

#: Asks for the events of jobs: by the id of each, those after a number.
Asks = Callable[[Mapping[str, int]], Sequence[Event]]


class TooManyListeners(StoreUnavailable):
    """As many listen as may."""

    def __init__(self) -> None:
        super().__init__(f"{MOST} streams are open already; ask for the job itself now and then.", can_retry=True)


class Listener:
    """Somebody who listens to one job."""

    def __init__(self, job: str, after: int, is_gone: Gone = lambda: False) -> None:
        self.job, self.after, self.is_gone = job, after, is_gone
        #: Whether there will be nothing more to hear: the service stops, or nobody is there to hear it.
        self.has_ended = False
        self._waiting: queue.SimpleQueue[Event | None] = queue.SimpleQueue()

    def tell(self, event: Event) -> None:
        """Hand on an event that is new to this listener."""
        if event.job == self.job and event.number > self.after:
            self.after = event.number
            self._waiting.put(event)

    def end(self) -> None:
        """Have this listener hear nothing more."""
        self.has_ended = True
        # Who waits is woken.
        self._waiting.put(None)

    def heard(self, seconds: float) -> Event | None:
        """The next event, or None if there is none for so many seconds."""
        with suppress(queue.Empty):
            return self._waiting.get(timeout=max(0.0, seconds))
        return None


class Listeners:
    """All who listen in this process."""

    def __init__(self, ask: Asks) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._all: list[Listener] = []
        self._has_ended = False
        self._is_reading = False

    @property
    def count(self) -> int:
        """How many listen."""
        with self._lock:
            return len(self._all)

    @contextmanager
    def listening(self, job: str, after: int, is_gone: Gone = lambda: False) -> Iterator[Listener]:
        """Listen to a job from the event after a number on, until *is_gone* says that nobody listens any more."""
        listener = Listener(job, after, is_gone)
        with self._lock:
            if len(self._all) >= MOST or self._has_ended:
                raise TooManyListeners
            self._all.append(listener)
            if not self._is_reading:
                self._is_reading = True
                threading.Thread(target=self._read, daemon=True, name="listeners").start()
        try:
            yield listener
        finally:
            with self._lock:
                self._all.remove(listener)

    def end(self) -> None:
        """End all streams, and begin none any more: the service stops."""
        with self._lock:
            self._has_ended = True
            for each in self._all:
                each.end()

    def _read(self) -> None:
        """Hand on events until nobody listens."""
        while wanted := self._wanted():
            self._let_go()
            # Whatever fails now is asked again: without the reader, nobody would hear anything any more.
            with suppress(Exception):
                for event in self._ask(wanted):
                    self._hand_on(event)
            time.sleep(OFTEN)

    def _let_go(self) -> None:
        """End the streams of those who have gone away, so that others find a place."""
        with self._lock:
            for each in self._all:
                if not each.has_ended and each.is_gone():
                    each.end()

    def _wanted(self) -> dict[str, int]:
        """By job the number after which somebody wants its events."""
        wanted: dict[str, int] = {}
        with self._lock:
            for each in self._all:
                wanted[each.job] = min(each.after, wanted.get(each.job, each.after))
            self._is_reading = bool(wanted)
        return wanted

    def _hand_on(self, event: Event) -> None:
        with self._lock:
            for each in self._all:
                each.tell(event)
