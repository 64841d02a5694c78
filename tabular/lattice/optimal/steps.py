"""The steps of a search that take long: kept with what came of them, so that a search that was cut off goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tabular.lattice.metrics import Readings
from tabular.lattice.optimal.class_splits import COUNTED, WORK
from tabular.lattice.recalling import Kept
from tabular.lattice.space import Node, Nodes, Numbers
from tabular.loop import Values, document_of, of_document

#: The names of what is kept: what came of each step, with its length; and where the one that is not done stands.
_CAME, _LENGTHS, _OPEN = "came", "lengths", "open "

#: Where a step stands that takes more bytes is not kept, and it begins anew: writing takes as much memory once more.
_MOST = 256 << 20

#: What is counted after each step.
_COUNTED = [WORK, COUNTED]


class Steps:
    """Does each step, or recalls what came of it: the same search comes to the same steps in the same order.

    All that a step changes is what it gives, the *totals* of what was counted, and the state of chance.
    """

    def __init__(self, kept: Kept, rng: np.random.Generator, totals: Numbers) -> None:
        self._kept, self._rng, self._totals = kept, rng, totals
        #: What came of the steps so far, the totals first.
        self._done: list[Numbers] = []
        self._known: deque[Numbers] = deque()
        self._open: Values | None = None
        #: The state of chance after all that is known.
        self._state: dict[str, Any] = {}
        self._read(kept.recall())

    def _read(self, values: Values | None) -> None:
        if values is None:
            return
        about, bounds = document_of(values), np.cumsum([0, *values[_LENGTHS]])
        self._known.extend(values[_CAME][start:stop] for start, stop in pairwise(bounds.tolist()))
        self._state = about["chance"]
        if about["open"]:
            self._open = {name.removeprefix(_OPEN): each for name, each in values.items() if name.startswith(_OPEN)}
        self._kept.is_at_it = True

    def recalled(self) -> Numbers | None:
        """What came of the next step, if that is known."""
        if not self._known:
            self._kept.is_at_it = False
            return None
        found = self._known.popleft()
        self._totals[_COUNTED] = found[: len(_COUNTED)]
        if self._known or self._open is None:
            self._done.append(found)
        if not self._known:
            # Nothing else draws: from here on chance goes on as it did.
            self._rng.bit_generator.state = self._state
        return found[len(_COUNTED) :]

    def take_open(self) -> Values | None:
        """Where the step stands that `recalled` gave last, if it was not done."""
        if self._known:
            return None
        found, self._open, self._kept.is_at_it = self._open, None, False
        return found

    def add(self, came: Numbers | Sequence[int]) -> None:
        """Take down what came of a step."""
        self._done.append(self._with_totals(came))
        if self.is_due:
            self._keep(self._done, {})

    def once(self, work: Callable[[], Numbers]) -> Numbers:
        """What *work* gives; where that is known, it is not done again."""
        found = self.recalled()
        if found is None:
            found = work()
            self.add(found)
        return found

    def once_through(
        self, course: Generator[Sequence[Node] | Nodes, Readings, Sequence[int]]
    ) -> Generator[Sequence[Node] | Nodes, Readings, Sequence[int]]:
        """As `once`, of what yields to the loop meanwhile, and asks for no node."""
        known = self.recalled()
        if known is not None:
            course.close()
            return [int(each) for each in known]
        found = yield from course
        self.add(found)
        return found

    @property
    def is_due(self) -> bool:
        """Whether it is time to keep where the search stands."""
        return self._kept.is_due

    def keep_open(self, came: Numbers, values: Values) -> None:
        """Keep where a step stands that is not done: what came of it so far, and its own *values*."""
        if sum(each.nbytes for each in values.values()) <= _MOST:
            self._keep([*self._done, self._with_totals(came)], values)

    def _with_totals(self, came: Numbers | Sequence[int]) -> Numbers:
        return np.concatenate([self._totals[_COUNTED], np.asarray(came, dtype=np.int64)])

    def _keep(self, done: list[Numbers], values: Values) -> None:
        about = {"chance": self._rng.bit_generator.state, "open": bool(values)}
        kept = {_CAME: np.concatenate(done), _LENGTHS: np.array([len(each) for each in done])}
        self._kept.keep({**of_document(about), **kept, **{f"{_OPEN}{name}": each for name, each in values.items()}})
