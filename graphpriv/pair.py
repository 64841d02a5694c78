"""An original and a masked graph in one coding, so that equal codes are equal values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph, common_codes
from tabular.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Pair:
    """Two graphs with common codes, and for each original user its position in the masked one (-1: none) or None."""

    original: SocialGraph
    masked: SocialGraph
    mapping: NDArray[np.int64] | None

    @classmethod
    def of(cls, original: SocialGraph, masked: SocialGraph, mapping: NDArray[np.int64] | None = None) -> Pair:
        """The pair in common codes; a mapping that does not fit, or one graph directed and one not, is refused."""
        if original.directed != masked.directed:
            raise InvalidInput(
                "One of the two graphs is directed and the other is not; read both as undirected to compare them."
            )
        if mapping is not None:
            mapping = _checked(np.asarray(mapping), len(original), len(masked))
        return cls(*common_codes(original, masked), mapping)

    @property
    def left_out(self) -> int:
        """How many users of either graph have no counterpart in the other; 0 where the mapping is not known."""
        if self.mapping is None:
            return 0
        known = int((self.mapping >= 0).sum())
        return len(self.original) + len(self.masked) - 2 * known

    @cached_property
    def shared(self) -> Pair:
        """The pair among the users who are in both graphs, with the edges between them.

        After a person was forgotten, the release still has a user whom no original user stands for: losses are then
        those of all the others. Without a mapping nobody can be told apart, and the pair stays as it is.
        """
        if self.mapping is None or not self.left_out:
            return self
        known = np.flatnonzero(self.mapping >= 0)
        return Pair.of(
            self.original.restricted(known),
            self.masked.restricted(self.mapping[known]),
            np.arange(len(known), dtype=np.int64),
        )


def _checked(mapping: NDArray[np.int64], users: int, masked_users: int) -> NDArray[np.int64]:
    if mapping.shape != (users,):
        raise InvalidInput(f"The mapping has {mapping.size} entries; it must have one for each of {users} users.")
    if users and (mapping.min() < -1 or mapping.max() >= masked_users):
        raise InvalidInput(
            f"The mapping names a user that the released graph does not have; it has {masked_users} users."
        )
    known = mapping[mapping >= 0]
    if len(np.unique(known)) < len(known):
        raise InvalidInput("The mapping gives two users the same counterpart; each must have one of its own.")
    return mapping.astype(np.int64)
