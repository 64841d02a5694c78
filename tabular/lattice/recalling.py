"""What a search was told, kept from time to time, so that one that was cut off is told the same again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np

from tabular.lattice.metrics import Readings
from tabular.lattice.space import Nodes
from tabular.loop import ALONE, Parts, Values, key_of

#: Readings are kept after so many seconds of evaluating.
_OFTEN = 2.0

#: Between two times that something is kept there is so many times as long as it takes.
_RARELY = 20.0

#: Readings that take more bytes are sooner evaluated again than kept.
_MOST = 4 << 20

#: What stands before the name of a metric in what is kept.
_METRIC = "metric "


class Kept:
    """Where a search keeps what it computed by itself, each time in the place of what it kept before."""

    def __init__(self, parts: Parts = ALONE, key: str = "") -> None:
        """*key* names all that the search depends on."""
        self._parts, self._key = parts, key_of("steps", key)
        #: Whether the search still goes through what it did before it was cut off.
        self.is_at_it = False
        self._before, self._pause = perf_counter(), _OFTEN

    @property
    def is_due(self) -> bool:
        """Whether it is time to keep something: not so often that it takes more than a small share of the time."""
        is_alone = self._parts is ALONE or self._parts.helps
        return not is_alone and perf_counter() - self._before >= self._pause

    def recall(self) -> Values | None:
        """What was kept last, if anything was."""
        return self._parts.recall(self._key)

    def keep(self, values: Values) -> None:
        """Keep *values*."""
        began = perf_counter()
        self._parts.keep(self._key, values)
        self._before = perf_counter()
        self._pause = max(_OFTEN, _RARELY * (self._before - began))


class Recall:
    """Evaluates what a search asks for, or recalls it: the same search asks for the same nodes in the same order."""

    def __init__(self, evaluate: Callable[[Nodes], Readings], parts: Parts, key: str) -> None:
        """*key* names all that the search and the readings depend on."""
        self._evaluate, self._parts, self._key = evaluate, parts, key
        #: How often the search has asked, and what it will be told next.
        self._asked = 0
        self._known: deque[Readings] = deque()
        #: What was evaluated since something was kept, and how long that took.
        self._fresh: list[Readings] = []
        self._seconds = 0.0

    @property
    def is_at_it(self) -> bool:
        """Whether the search still asks for what it was told before it was cut off."""
        return bool(self._known)

    def __call__(self, nodes: Nodes) -> Readings:
        """The readings of *nodes*."""
        if self._parts is ALONE or not len(nodes):
            return self._evaluate(nodes)
        if not self._known and not self._fresh:
            self._known.extend(_read(self._parts.recall(self._name)))
        self._asked += 1
        found = self._known.popleft() if self._known else None
        if found is not None and np.array_equal(found.nodes, nodes):
            return found
        self._known.clear()
        began = perf_counter()
        found = self._evaluate(nodes)
        self._seconds += perf_counter() - began
        self._fresh.append(found)
        if self._seconds >= _OFTEN:
            self._keep()
        return found

    @property
    def _name(self) -> str:
        return key_of(self._key, self._asked)

    def _keep(self) -> None:
        values = _written(self._fresh)
        if sum(array.nbytes for array in values.values()) <= _MOST:
            self._parts.keep(key_of(self._key, self._asked - len(self._fresh)), values)
        self._fresh, self._seconds = [], 0.0


def _written(told: list[Readings]) -> Values:
    """Readings of several questions as arrays."""
    together = Readings.together(told)
    metrics = {f"{_METRIC}{name}": array for name, array in together.values.items()}
    return {"nodes": together.nodes, "lengths": np.array([len(each) for each in told]), **metrics}


def _read(values: Values | None) -> list[Readings]:
    """The readings that `_written` wrote."""
    if values is None:
        return []
    metrics = {name.removeprefix(_METRIC): array for name, array in values.items() if name.startswith(_METRIC)}
    together, bounds = Readings(values["nodes"], metrics), np.cumsum([0, *values["lengths"]])
    return [together.take(np.arange(start, stop)) for start, stop in pairwise(bounds.tolist())]
