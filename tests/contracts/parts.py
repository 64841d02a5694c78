"""Parts that remember, for tests of work that is cut off and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tabular.loop import Parts, Values


class Remembered(Parts):
    """Remembers what parts gave, and does *more* of them before it is cut off."""

    def __init__(self) -> None:
        self.given: dict[tuple[str, int], Values] = {}
        self.more = 10**6

    def each(self, key: str, work: Callable[[int], Values], count: int, **_: Any) -> Iterator[tuple[int, Values]]:
        for number in range(count):
            if (key, number) not in self.given:
                self.more -= 1
                if self.more < 0:
                    raise InterruptedError
                # As if it were read from a file.
                self.given[key, number] = {name: array.copy() for name, array in work(number).items()}
            yield number, self.given[key, number]

    def recall(self, key: str) -> Values | None:
        return self.given.get((key, 0))

    def keep(self, key: str, values: Values) -> None:
        self.given[key, 0] = {name: array.copy() for name, array in values.items()}
