"""The contract and registry of protections, and `protect`, which makes a checked release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpriv import DEFAULT_PROTECTION
from graphpriv.graph import SocialGraph
from graphpriv.places import UNKNOWN, PlaceTree
from graphpriv.release import Proven, Release, anonymous
from graphpriv.topics import EMPTY, RANKS
from graphpriv.trails import FREE
from graphpriv.verification import verify
from tabular.errors import InvalidInput, InvalidParameter, NoSolution
from tabular.loop import Report, silent
from tabular.registry import Method, Registry


@dataclass(frozen=True, kw_only=True)
class Protection(Method):
    """A way to put users into clusters of k or more whose profiles are then aggregated."""

    @abstractmethod
    def clusters(
        self,
        graph: SocialGraph,
        k: int,
        rng: np.random.Generator,
        *,
        report: Report = silent,
        stop: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.int64]:
        """For each user the number of its cluster; numbers run from 0 without a gap, 1 <= k <= number of users.

        What searches ends when *stop* says so, with clusters that are as good as it has found by then.
        """

    def proven(self, graph: SocialGraph, clusters: NDArray[np.int64], k: int) -> Proven | None:
        """What *clusters* lose and what is proven that all others lose at least; None where nothing is."""
        return None

    def refuse_kept(self, graph: SocialGraph, clusters: NDArray[np.int64]) -> None:
        """Refuse *clusters* that are not what was asked for, some of which were kept of another release."""


protections: Registry[Protection] = Registry("protection")


def protect(
    graph: SocialGraph,
    k: int,
    *,
    method: str = DEFAULT_PROTECTION,
    rng: np.random.Generator,
    kept: NDArray[np.int64] | None = None,
    report: Report = silent,
    stop: Callable[[], bool] = lambda: False,
    **parameters: object,
) -> Release:
    """Release *graph* so that at least *k* users share each profile (Mares Soler 2013, Algorithm 13).

    The edges stay as they are. The release has been checked by `graphpriv.verification`, which shares no code with
    the protections; a release that fails there is never returned. *kept* are clusters that stand already, as
    `graphpriv.trails.kept_clusters` numbers them; the *method* is then for the others alone. *report* is told what is
    being done; when *stop* says so, a method that searches ends with what it has found.
    """
    protection = protections[method].make(parameters)
    k = check_k(k, len(graph))
    report("Clustering", 0, 0)
    if kept is None:
        clusters = protection.clusters(graph, k, rng, report=report, stop=stop)
    else:
        clusters = _completed(protection, graph, kept, k, rng, report, stop)
    report("Bounding", 0, 0)
    proven = protection.proven(graph, clusters, k)
    report("Releasing", 0, 0)
    released, mapping = anonymous(graph, aggregated(graph, clusters), rng)
    release = Release(released, mapping, k, method, asdict(protection), proven)
    report("Verifying", 0, 0)
    verify(graph, release)
    return release


def _completed(
    protection: Protection,
    graph: SocialGraph,
    kept: NDArray[np.int64],
    k: int,
    rng: np.random.Generator,
    report: Report,
    stop: Callable[[], bool],
) -> NDArray[np.int64]:
    """The clusters *kept*, and after them those that a protection makes of the users who are in none of them."""
    free = np.flatnonzero(kept == FREE)
    clusters = kept.copy()
    if len(free):
        others = protection.clusters(graph.restricted(free), k, rng, report=report, stop=stop)
        clusters[free] = kept.max() + 1 + others
    protection.refuse_kept(graph, clusters)
    return clusters


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


def aggregated(graph: SocialGraph, clusters: NDArray[np.int64]) -> SocialGraph:
    """The graph in which each user has the profile of its cluster; *clusters* are numbered from 0 without a gap.

    A user alone in a cluster keeps its profile as it is.
    """
    if not len(graph):
        return graph
    sizes = np.bincount(clusters)
    location = common_places(graph.places, graph.location, clusters)
    topics = borda(graph.topics, clusters, len(graph.topic_names))
    # Borda would close a gap between the topics of one user; with nobody to agree with there is nothing to vote on.
    alone = (sizes == 1)[clusters][:, None]
    return replace(
        graph,
        location=location[clusters],
        topics=np.where(alone, graph.topics, topics[clusters]).astype(np.int32),
    )


def common_places(places: PlaceTree, location: NDArray[np.int32], clusters: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each cluster the closest place above all of its users; unknown only where all of them are."""
    count = int(clusters.max()) + 1
    first = np.full(count, len(places), dtype=np.int32)
    last = np.full(count, UNKNOWN, dtype=np.int32)
    np.minimum.at(first, clusters, location)
    np.maximum.at(last, clusters, location)
    # What lies below a place is a contiguous run of nodes, so a place above the first and the last is above all.
    common = np.where(first == UNKNOWN, np.where(last == UNKNOWN, UNKNOWN, 0), first).astype(np.int32)
    while True:
        short = np.flatnonzero((common > 0) & (last >= places.ends[common]))
        if not len(short):
            return common
        common[short] = places.parents[common[short]]


def borda(topics: NDArray[np.int32], clusters: NDArray[np.int64], names: int) -> NDArray[np.int32]:
    """For each cluster the three topics with the highest sums of weights 3, 2, 1, best first, empty at the end.

    Ties go to more first places, then to more second places, then to the lower code, which is the order of topics.

    >>> figure_6_3 = np.array([[2, 1, 0], [1, 3, 4], [1, 2, 5]])
    >>> borda(figure_6_3, np.zeros(3, dtype=np.int64), 6).tolist()
    [[1, 2, 3]]
    """
    count = int(clusters.max()) + 1
    voted = topics != EMPTY
    ranks = np.broadcast_to(np.arange(RANKS), topics.shape)[voted]
    ballots = (clusters[:, None] * names + topics)[voted]
    stood, candidate = np.unique(ballots, return_inverse=True)
    sums = np.bincount(candidate, weights=RANKS - ranks, minlength=len(stood)).astype(np.int64)
    firsts = np.bincount(candidate[ranks == 0], minlength=len(stood))
    seconds = np.bincount(candidate[ranks == 1], minlength=len(stood))
    cluster = stood // max(names, 1)
    best_first = np.lexsort((stood, -seconds, -firsts, -sums, cluster))
    cluster = cluster[best_first]
    place = np.arange(len(cluster)) - np.searchsorted(cluster, cluster)
    winners = place < RANKS
    elected = np.full((count, RANKS), EMPTY, dtype=np.int32)
    elected[cluster[winners], place[winners]] = (stood % max(names, 1))[best_first][winners]
    return elected
