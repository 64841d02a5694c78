"""Who is at work on a crawl, so that two never are at once, and a killed one is taken over at once."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Where nobody can look whether an owner still lives (another machine), it is taken for dead after so many seconds.
LEASE = 600.0

#: A living owner shows life after so many seconds at the latest.
BEAT = 60.0


@dataclass(frozen=True)
class Owner:
    """One process at work on one crawl."""

    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    def document(self, now: float) -> dict[str, Any]:
        """What others see of it."""
        return {"token": self.token, "host": socket.gethostname(), "pid": os.getpid(), "since": started(os.getpid()),
                "alive": now}  # fmt: skip


def is_gone(before: Mapping[str, Any], now: float) -> bool:
    """Whether an owner has ended without leaving the crawl."""
    if before.get("host") == socket.gethostname() and before.get("since") is not None:
        return started(int(before["pid"])) != str(before["since"])
    return bool(now - float(before.get("alive", 0)) > LEASE)


def started(process: int) -> str | None:
    """When a process of this machine began, in a form that two processes never share; None where there is none."""
    try:
        # The name of the program, which may hold anything, ends with the last bracket.
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return None if state in ("Z", "X") else rest[18]
