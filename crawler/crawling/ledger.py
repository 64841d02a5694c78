"""What a crawl has paid for: each thing once a UTC day, as the networks charge, and never past the budget.

The day is that of the network, whatever our clock says. What may belong to either of two days counts on both: once as
spent, and once as what may have been spent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler.crawling.prices import Prices
from graphpriv.store.crawls import CHARGES, charge_mark
from graphpriv.store.records import Record

#: Failures after which nobody knows whether the network has charged for an answer.
UNCERTAIN = ("connection-cut", "too-slow", "garbled")


@dataclass
class Ledger:
    """The marks of what was paid for, by day, with the prices."""

    prices: Prices
    secret: bytes = field(repr=False)
    _paid: defaultdict[int, set[bytes]] = field(default_factory=lambda: defaultdict(set), repr=False)
    #: The days of the records by their ids.
    _records: dict[str, int] = field(default_factory=dict, repr=False)

    def load(self, records: Iterable[Record]) -> None:
        """Take over what the store holds."""
        for each in records:
            self._records[each.id] = each.number
            self._paid[each.number].update(each.data[low : low + 8] for low in range(0, len(each.data), 8))

    def close(self, day: int) -> list[str]:
        """End all days before a *day*: everything is charged for again; tells which records can go."""
        over = [id for id, of in self._records.items() if of < day]
        for id in over:
            del self._records[id]
        for before in [each for each in self._paid if each < day]:
            del self._paid[before]
        return over

    def charge(self, things: Iterable[tuple[str, str]], days: tuple[int, ...]) -> Charge:
        """Pay for those of the *things* that did not come back before on the day, which is one of *days*."""
        counts, doubts = Counter[str](), Counter[str]()
        marks: dict[int, list[bytes]] = defaultdict(list)
        for kind, id in things if self.prices.of else ():
            mark = charge_mark(self.secret, kind, id)
            unpaid = [day for day in days if mark not in self._paid[day]]
            # On whichever of the days it came, it was charged for if on none of them it was before.
            sure = len(unpaid) == len(days)
            counts[kind] += sure
            doubts[kind] += len(unpaid) - sure
            for day in unpaid:
                self._paid[day].add(mark)
                marks[day].append(mark)
        joined = {day: b"".join(each) for day, each in marks.items()}
        return Charge(self.prices.cost(**counts), self.prices.cost(**doubts), +counts, joined)

    def records(self, page: int, charge: Charge) -> list[Record]:
        """The marks of a charge as the store keeps them."""
        found = [Record(CHARGES, f"{page:012d}.{day}", data, day) for day, data in charge.marks.items()]
        self._records.update((each.id, each.number) for each in found)
        return found

    def affordable(self, kind: str, left: int | None, least: int, most: int, *, days: int = 1) -> int:
        """How many things of a *kind*, *most* at most, may come back for what is *left*; 0 if not even the *least*.

        The worst case is that none of them was paid for on that day, or those *days*.
        """
        price = self.prices.of.get(kind, 0) * days
        fits = most if left is None or not price else min(most, max(left, 0) // price)
        return fits if fits >= least else 0


@dataclass(frozen=True)
class Charge:
    """What one answer cost, for how many things of which kind, what it may have cost beyond, and marks by day."""

    amount: int
    doubt: int
    counts: Counter[str]
    marks: dict[int, bytes] = field(repr=False)


@dataclass(frozen=True)
class Flight:
    """A question that may be under way: its worst case, and the days on which the network may count the answer."""

    worst: int
    days: tuple[int, ...]

    def lost(self, days: tuple[int, ...]) -> int:
        """What counts as spent if the same is asked on these *days*: on the same day it is not charged for again."""
        return self.worst if len(days) > 1 or days != self.days else 0
