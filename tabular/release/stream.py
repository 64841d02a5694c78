"""Random numbers that are safe to publish: they reveal neither their key nor each other."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

#: Letters of fresh ids: no vowels, so that no word comes up, and no digits, so that no number of an original does.
_LETTERS = np.frombuffer(b"bcdfghjklmnpqrstvwxz", dtype="S1")


class Stream:
    """Random numbers that reveal neither their key nor each other: SHAKE-256 of a key and a label.

    Ids are published. If they came from a generator for simulations, whose state can be computed from its output, they
    would reveal the order that was drawn with it, and so the mapping.
    """

    def __init__(self, key: bytes, label: bytes) -> None:
        self._key, self._label, self._block = key, label, 0

    def bytes(self, count: int) -> NDArray[np.uint8]:
        """The next *count* bytes."""
        self._block += 1
        seed = b"|".join([self._label, str(self._block).encode(), self._key])
        return np.frombuffer(hashlib.shake_256(seed).digest(count), dtype=np.uint8)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """The numbers below *count* in random order."""
        return np.argsort(self.bytes(8 * count).view("<u8"), kind="stable")

    def letters(self, count: int) -> NDArray[np.bytes_]:
        """*count* random letters."""
        # Bytes from the last multiple of the number of letters upwards would make the first letters likelier.
        fair = 256 - 256 % len(_LETTERS)
        drawn = np.zeros(0, dtype=np.uint8)
        while len(drawn) < count:
            more = self.bytes(2 * (count - len(drawn)) + 16)
            drawn = np.concatenate([drawn, more[more < fair]])
        return _LETTERS[drawn[:count] % len(_LETTERS)]
