"""The classes of the nodes that were evaluated last, for others to be rolled up from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

#: So many nodes are kept at most, and so many bytes of them in all, or a few times those of the distinct rows.
_NODES = 2048
_BYTES = 128 << 20

#: Nodes half the way are rolled up where there are more distinct rows than this; some at first, then one for so many.
_FAR = 2000
_HALFWAY, _NODES_A_HALFWAY = 8, 4


class _Sized(Protocol):
    @property
    def sizes(self) -> NDArray[Any]: ...


#: Arrays of the classes of a node, the rows of each among them.
Arrays = TypeVar("Arrays", bound=_Sized)


class ClassCache(Generic[Arrays]):
    """The classes of nodes, the oldest forgotten first."""

    def __init__(self, base: Arrays, attributes: int, first: Sequence[int] = ()) -> None:
        """Nodes half the way to another have its levels in the *first* attributes."""
        self._base, self._first = base, np.array(first, dtype=np.int64)
        #: Nodes half the way so far, and for how many others one was thought of.
        self._halfway = self._asked = 0
        self._bottom = np.zeros(attributes, dtype=np.int16)
        self._levels = np.zeros((_NODES, attributes), dtype=np.int16)
        self._sizes = np.full(_NODES, np.iinfo(np.int64).max)
        self._classes: list[Arrays | None] = [None] * _NODES
        self._next = self._used = 0
        self._held = 0
        self._room = max(_BYTES, 4 * _bytes(base))

    def nearest(self, node: NDArray[np.int16]) -> tuple[NDArray[np.int16], Arrays]:
        """The node with the fewest classes from which *node* can be rolled up."""
        places = np.flatnonzero((self._levels[: self._used] <= node).all(axis=1))
        if places.size:
            place = int(places[np.argmin(self._sizes[places])])
            found = self._classes[place]
            if found is not None:
                return self._levels[place], found
        return self._bottom, self._base

    def halfway(self, fine: NDArray[np.int16], source: Arrays, node: NDArray[np.int16]) -> NDArray[np.int16] | None:
        """A node on the way from *fine* to *node* that others will share, where the way is far and there are few such.

        From the distinct rows to a node of few classes is far, and so it is to the next; but most nodes that are looked
        at one after the other agree in some attributes, and what those alone leave is kept and is much less.
        """
        if self._near(source):
            return None
        self._asked += 1
        if self._halfway > _HALFWAY + self._asked // _NODES_A_HALFWAY:
            return None
        found = fine.copy()
        found[self._first] = node[self._first]
        if (found == fine).all() or (found == node).all():
            return None
        self._halfway += 1
        return found

    def _near(self, classes: Arrays) -> bool:
        return len(self._base.sizes) <= _FAR or 4 * len(classes.sizes) <= 3 * len(self._base.sizes)

    def keep(self, node: NDArray[np.int16], classes: Arrays) -> None:
        """Keep the *classes* of a *node*."""
        # A node of nearly as many classes as there are distinct rows saves nothing.
        if 4 * len(classes.sizes) > 3 * len(self._base.sizes) + 64:
            return
        self._forget(self._next)
        self._levels[self._next], self._sizes[self._next] = node, len(classes.sizes)
        self._classes[self._next] = classes
        self._held += _bytes(classes)
        self._used = max(self._used, self._next + 1)
        self._next = (self._next + 1) % _NODES
        oldest = self._next
        while self._held > self._room:
            self._forget(oldest)
            oldest = (oldest + 1) % _NODES

    def _forget(self, place: int) -> None:
        classes = self._classes[place]
        if classes is not None:
            self._held -= _bytes(classes)
            self._classes[place], self._sizes[place] = None, np.iinfo(np.int64).max


def _bytes(classes: object) -> int:
    """What the arrays of *classes* take."""
    return classes.nbytes if isinstance(classes, np.ndarray) else sum(map(_bytes, cast("Iterable[object]", classes)))
