"""The main text of a page, taken out in a process of its own.

Pages come from strangers, and what reads HTML is large and partly written in C. So it runs in a process that has no
secrets in its environment and limits on memory and time for each page. A page that makes it crash or run on costs that
process alone: it is ended, the page counts as unreadable, and the next page gets a new one.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, cast

from crawler.web.outcomes import Failed, Outcome

#: As much of a page is looked at, in characters.
LONGEST_PAGE = 1_000_000

#: As much of its text is kept.
LONGEST_TEXT = 20_000

#: What one page may take: seconds of a processor, so that a busy machine changes nothing, and bytes.
SECONDS = 5.0
MEMORY = 1024**3

_LENGTH = struct.Struct("!I")


@dataclass
class Extraction:
    """Takes main texts out of pages; the process begins with the first page."""

    seconds: float = SECONDS
    _process: subprocess.Popen[bytes] | None = None
    _lock: Lock = field(default_factory=Lock)

    def main_text(self, html: str) -> str:
        """The main text of a page; empty where it has none."""
        with self._lock:
            try:
                process = self._running()
                _send(cast(IO[bytes], process.stdin), html[:LONGEST_PAGE])
                text = _receive(cast(IO[bytes], process.stdout))
            except OSError:
                text = None
            if text is None:
                self._end()
                raise Failed(Outcome.UNREADABLE)
            return text

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath}
            command = [sys.executable, "-P", "-m", "crawler.web.extraction", str(self.seconds)]
            self._process = subprocess.Popen(  # noqa: S603 (our own module)
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):
                self._process.communicate()
            self._process = None

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


def _send(pipe: IO[bytes], text: str) -> None:
    data = text.encode("utf-8", errors="replace")
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> str | None:
    """One text, or None where the other side is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return data.decode() if len(data) == length else None


def main_text(html: str) -> str:
    """The main text of a page, in this process; a function for the other one."""
    import trafilatura

    text = trafilatura.extract(html, include_comments=False, include_tables=False, deduplicate=False)
    return (text or "")[:LONGEST_TEXT]


def _serve(seconds: float) -> None:
    """Answer each page that comes in with its main text, until nothing comes any more."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    main_text("<p>The library is loaded before the first page, so that its time counts against none.</p>")
    while (html := _receive(sys.stdin.buffer)) is not None:
        # Nobody handles this signal, so the process ends wherever it is, in C as well.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        text = main_text(html)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(sys.stdout.buffer, text)


if __name__ == "__main__":
    _serve(float(sys.argv[1]))
