"""A release: a masked graph with fresh ids in a fresh order, and the mapping that is kept apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph


@dataclass(frozen=True, eq=False)
class Release:
    """What a protection returns: `graph` may be given away, everything that leads back from it is `mapping`."""

    #: The masked graph: fresh ids, shuffled order, nothing private.
    graph: SocialGraph
    #: For each original user, by position, its position in `graph`; -1 where a person was forgotten.
    mapping: NDArray[np.int64] = field(repr=False)
    k: int
    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
