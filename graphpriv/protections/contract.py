"""The contract and registry of protections, and `protect`, which makes a checked release."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import SocialGraph
from graphpriv.protections.aggregation import aggregated
from graphpriv.release import Release, anonymous
from graphpriv.verification import verify
from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.loop import Report, silent
from tabular.registry import Method, Registry

#: The thesis's algorithm.
DEFAULT = "closest-profiles"


@dataclass(frozen=True, kw_only=True)
class Protection(Method):
    """A way to put users into clusters of k or more whose profiles are then aggregated."""

    @abstractmethod
    def clusters(self, graph: SocialGraph, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """For each user the number of its cluster; numbers run from 0 without a gap, 1 <= k <= number of users."""


protections: Registry[Protection] = Registry("protection")


def protect(
    graph: SocialGraph,
    k: int,
    *,
    method: str = DEFAULT,
    rng: np.random.Generator,
    report: Report = silent,
    **parameters: object,
) -> Release:
    """Release *graph* so that at least *k* users share each profile (Mares Soler 2013, Algorithm 13).

    The edges stay as they are. The release has been checked by `graphpriv.verification`, which shares no code with
    the protections; a release that fails there is never returned. *report* is told what is being done.
    """
    protection = protections[method].make(parameters)
    k = check_k(k, len(graph))
    report("Clustering", 0, 0)
    clusters = protection.clusters(graph, k, rng)
    report("Releasing", 0, 0)
    released, mapping = anonymous(graph, aggregated(graph, clusters), rng)
    release = Release(graph=released, mapping=mapping, k=k, method=method, parameters=asdict(protection))
    report("Verifying", 0, 0)
    verify(graph, release)
    return release


def check_k(k: int, users: int) -> int:
    """*k* as a plain number, or an error where no release of so many *users* can have it."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidParameter.wrong("k", must="be a whole number of at least 1", was=k)
    if not users:
        raise InvalidInput("The graph has no users; there is nothing to protect.")
    if k > users:
        noun = "user" if users == 1 else "users"
        raise NoSolution(f"No release with k={k} exists: the graph has {users} {noun}. Lower k or add users.")
    return int(k)
