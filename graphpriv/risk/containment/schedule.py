"""Which open pairs a round looks at, how far, and which round comes next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

_ANY = 1 << 40


class Round(NamedTuple):
    """Which open pairs a round looks at, and with how many steps each."""

    #: Steps of one search.
    steps: int
    #: How much the chances of a pattern's users must still be open, for each of its open pairs.
    gain: float = 0.0
    #: The sizes of patterns, and up to which size the small ones come first; the others come with the large ones first.
    low: int = 0
    high: int = _ANY
    rising: int = _ANY
    #: How much the chances of a pattern's users must still be open in all.
    chance: float = 0.0
    #: How many of its open targets are looked at, the largest up to so many times its size; all where it is 0.
    reach: int = 0
    larger: int = 10


#: Small patterns come first, as they rule out most of the larger ones; in between those somewhat larger, each of which
#: that is found settles many smaller ones.
OPENING = (
    Round(700, high=5), Round(30_000, high=5), Round(1_200, high=7), Round(30_000, high=7),
    Round(800, low=7, high=11, rising=0), Round(20_000, high=9),
)  # fmt: skip

#: Users with few sure candidates are looked for where most is found, in larger targets: a second candidate halves what
#: their chances can be.
SECOND_CANDIDATES = (
    Round(4_000, high=40, chance=0.05, reach=8), Round(16_000, high=40, chance=0.1, reach=16),
    Round(64_000, chance=0.3, reach=1, larger=_ANY), Round(16_000, high=40, chance=0.15, reach=32, larger=6),
    Round(64_000, chance=0.3, reach=4, larger=_ANY), Round(64_000, chance=0.3, reach=8, larger=50),
    Round(250_000, chance=0.3, reach=2, larger=_ANY), Round(64_000, chance=0.3, reach=32),
    Round(250_000, chance=0.3, reach=16, larger=30),
)  # fmt: skip

#: Long searches for whom few of them may settle altogether.
LONG_SEARCHES = tuple(
    Round(steps, gain)
    for steps, gain in (
        (64_000, 0.1), (250_000, 0.1), (1_000_000, 0.1), (4_000_000, 0.1), (64_000, 0.06), (4_000_000, 0.06),
        (16_000_000, 0.1), (16_000_000, 0.06), (64_000, 0.04), (4_000_000, 0.04), (16_000_000, 0.04),
        (64_000_000, 0.06), (64_000, 0.03), (4_000_000, 0.03), (16_000_000, 0.03), (64_000_000, 0.04), (64_000, 0.02),
        (4_000_000, 0.02), (16_000_000, 0.02), (64_000_000, 0.03), (64_000, 0.01), (4_000_000, 0.01),
        (4_000_000, 0.005), (16_000_000, 0.01), (64_000_000, 0.02), (10**9, 0.1), (4_000_000, 0.002),
        (16_000_000, 0.005), (64_000_000, 0.01),
    )
)  # fmt: skip

#: Short searches for many, most of whom stay open.
SHORT_SEARCHES = (
    Round(1_200, 0.001, rising=0),
    *(Round(steps, gain, rising=10) for steps, gain in (
        (8_000, 0.001), (64_000, 0.01), (64_000, 0.002), (8_000, 0.0002), (500_000, 0.01), (64_000, 0.0003),
        (500_000, 0.002), (4_000_000, 0.008),
    )),
)  # fmt: skip

#: All that is open. Where most is decided in the end, eight times as many steps in each round repeat least.
ALL_SEARCHES = (
    Round(1_200, low=9, high=14, rising=0), Round(1_200, rising=0),
    *(Round(steps, rising=10) for steps in (8_000, 64_000, 500_000, 4_000_000, 32_000_000, 10**9, 10**11)),
)  # fmt: skip

WAYS = (SECOND_CANDIDATES, SHORT_SEARCHES, LONG_SEARCHES, ALL_SEARCHES)


class Turn(NamedTuple):
    """A round, or what is left of it from one place on, in the order of targets by rising size."""

    round: Round
    start: int = 0
    #: Whether it is not broken off, however long it takes.
    whole: bool = True


class Schedule:
    """Rounds one after the other: the opening, then of several ways to go on the one that of late gained most a step.

    >>> schedule = Schedule([Round(1)], [[Round(2), Round(3)], [Round(4), Round(5)]])
    >>> for gained, rest in ((0, None), (1, 7), (5, None), (2, None), (0, None), (0, None)):
    ...     schedule.next()[0].steps, schedule.last.start
    ...     schedule.note(gained, steps=10, rest=rest)
    (1, 0)
    (2, 0)
    (4, 0)
    (5, 0)
    (2, 7)
    (3, 0)
    >>> schedule.next() is None
    True
    """

    def __init__(self, opening: Iterable[Round] = OPENING, ways: Iterable[Iterable[Round]] = WAYS) -> None:
        self._opening, self._ways = deque(opening), [_Way(each) for each in ways]
        self._way: _Way | None = None
        self.last = Turn(Round(0))

    def next(self) -> Turn | None:
        """What comes next; nothing where all is done."""
        ways = [each for each in self._ways if each.turns]
        if self._opening:
            self.last = Turn(self._opening.popleft())
        elif ways:
            # The first of several that gained as much.
            self._way = max(ways, key=lambda way: way.yields)
            self.last = self._way.turns.popleft()
        else:
            return None
        return self.last

    def note(self, gained: float, steps: int, rest: int | None) -> None:
        """Note what the last turn gained with so many steps, and from which place on there is a rest of its round."""
        if self._way is None:
            return
        if steps:
            self._way.gained, self._way.steps = self._way.gained / 2 + gained, self._way.steps / 2 + steps
        if rest is not None:
            self._way.turns.appendleft(self.last._replace(start=rest))


class _Way:
    """Rounds of one kind, and what the last ones gained, the older the less."""

    def __init__(self, rounds: Iterable[Round]) -> None:
        self.turns = deque(Turn(each, whole=False) for each in rounds)
        self.gained = self.steps = 0.0

    @property
    def yields(self) -> float:
        """What it gains a step; a way that has not begun comes first."""
        return self.gained / self.steps if self.steps else inf
