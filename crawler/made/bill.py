"""What a made network charges: each thing that comes back, once a UTC day. It shares no code with the ledger."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

PRICES = {"user": Decimal("0.010"), "followed": Decimal("0.010"), "post": Decimal("0.005")}


@dataclass
class Bill:
    """The bill of one account."""

    total: Decimal = Decimal(0)
    counts: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[int, str, str]] = field(default_factory=set, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, kind: str, ids: Iterable[str], moment: float) -> None:
        """Charge for things that come back at a *moment*."""
        with self._lock:
            for id in ids:
                thing = (int(moment) // 86_400, kind, id)
                if thing not in self._seen:
                    self._seen.add(thing)
                    self.counts[kind] += 1
                    self.total += PRICES[kind]
