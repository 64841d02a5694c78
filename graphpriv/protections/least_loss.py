"""Clusters chosen by what the release will lose: built from the bottom up, then bettered user by user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

from graphpriv.graph import ATTRIBUTES, SocialGraph
from graphpriv.places import LEVELS, TOP
from graphpriv.protections.annealing import annealed
from graphpriv.protections.bottom_up import ancestors, bottom_up
from graphpriv.protections.contract import Protection, protections
from graphpriv.protections.losses import FORBIDDEN, LACKING, Losses, Terms, losses_of
from graphpriv.protections.lower_bound import lower_bound
from graphpriv.release import Proven
from graphpriv.topics import EMPTY
from tabular.errors import InvalidParameter, NoSolution, UnknownName, counted, named
from tabular.loop import Report, silent
from tabular.registry import option

#: A weight is at most that.
HEAVIEST = 1_000

#: How many steps the search takes: four for each pair of users, but of large graphs so many and some more a user.
STEPS_A_PAIR, STEPS, STEPS_A_USER = 4, 12_000_000, 40

EQUAL = ",".join(f"{name}=1" for name in ATTRIBUTES)


@protections.add(
    "least-loss",
    cites="The loss is eq 6.7 of Mares Soler (2013); clusters from the bottom up and exchanges between them are ours",
    limits="edges are left as they are; profiles that say more let neighbours be recognised more often",
)
@dataclass(frozen=True, kw_only=True)
class LeastLoss(Protection):
    """Put users together so that their common profiles lose the least, for places and topics as they are weighted."""

    weights: str = option(
        EQUAL,
        help=f"What the place and each rank of topics count, as whole numbers to {HEAVIEST:,}; 1 if left out.",
    )
    limit: str | None = option(
        None, help="How far places may be generalised, such as location=country; those that are unknown stay so."
    )
    l: int = option(  # noqa: E741 (the name of the notion)
        1, low=1, help="How many different first topics there are in each cluster at least."
    )
    exact: bool = option(False, help="Clusters of exactly k, but for one that takes what is over.")
    effort: int = option(
        100, low=0, high=10_000, help="How long to search for better clusters, in percent of what is usual."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.terms

    @cached_property
    def terms(self) -> Terms:
        """What counts, and what no cluster may do."""
        return Terms(
            weights=weights_of(self.weights),
            highest=TOP if self.limit is None else level_of(self.limit),
            distinct=self.l if self.l > 1 else 0,
        )

    def clusters(
        self,
        graph: SocialGraph,
        k: int,
        rng: np.random.Generator,
        *,
        report: Report = silent,
        stop: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.int64]:
        """Clusters of *k* to 2k-1 users, of more only where they need more for their first topics."""
        seed = int(rng.integers(1 << 62))
        losses = Losses.of(graph, self.terms)
        above = ancestors(losses)
        region = above[self.terms.highest][losses.place]
        self._refuse_impossible(graph, region, k)
        size = max(k, self.l)
        if size == 1:
            return np.arange(len(graph))
        numbers = bottom_up(losses, size, above, exact=self.exact)
        users = len(graph)
        steps = min(STEPS_A_PAIR * users**2, STEPS + STEPS_A_USER * users) * self.effort // 100
        numbers = annealed(
            losses,
            numbers,
            above,
            least=size,
            most=size if self.exact else 2 * size - 1,
            steps=steps,
            seed=seed,
            report=report,
            stop=stop,
        )
        return self._with_enough_topics(losses, numbers, region, size)

    def proven(self, graph: SocialGraph, clusters: NDArray[np.int64], k: int) -> Proven:
        """What *clusters* lose, and what all others would lose at least."""
        losses = Losses.of(graph, self.terms)
        lost = losses_of(losses, clusters)
        # A user alone keeps its profile as it is.
        lost[np.bincount(clusters) == 1] = 0
        whole = len(graph) * self.terms.whole
        return Proven(int(lost.sum()) / whole, lower_bound(losses, k) / whole)

    def refuse_kept(self, graph: SocialGraph, clusters: NDArray[np.int64]) -> None:
        """Refuse *clusters*, some of which are kept of another release, that are not what was asked for."""
        lost = losses_of(Losses.of(graph, self.terms), clusters)
        if (lost >= FORBIDDEN).any():
            raise NoSolution(
                f"{named('limit')} {self.limit}: the clusters that are kept of the other release show places above it. "
                f"Raise {named('limit')}, or delete the other release."
            )
        if (lost >= LACKING).any():
            raise NoSolution(
                f"{named('l')} {self.l}: clusters that are kept of the other release have fewer first topics. "
                f"Lower {named('l')}, or delete the other release."
            )

    def _refuse_impossible(self, graph: SocialGraph, region: NDArray[np.int32], k: int) -> None:
        """Refuse a limit, or a number of first topics, that no clusters of the *graph* can keep."""
        self._refuse_limit(graph, region, k)
        regions = np.unique(region, return_inverse=True)[1]
        first = graph.topics[:, 0]
        pairs = np.unique(np.column_stack([regions, first])[first != EMPTY], axis=0)
        have = np.bincount(pairs[:, 0], minlength=int(regions.max()) + 1)
        if self.l > 1 and have.min() < self.l:
            where = "the graph has" if self.limit is None else f"the users of one place at {self.limit} have"
            most = int(have.min())
            lower = f"Lower {named('l')} to {most}" if most > 1 else f"Leave {named('l')} out"
            raise NoSolution(
                f"No release with {named('l')}={self.l} exists: {where} {counted(most, 'first topic')}. {lower}."
            )
        over = int(np.count_nonzero(np.bincount(regions) % max(k, self.l)))
        if self.exact and over > 1:
            raise NoSolution(
                f"{named('exact')}: {over} places at {self.limit} have users over after clusters of {max(k, self.l)}, "
                f"and only one cluster may be larger. Leave out {named('exact')} or {named('limit')}."
            )

    def _refuse_limit(self, graph: SocialGraph, region: NDArray[np.int32], k: int) -> None:
        if self.limit is None:
            return
        losses = Losses.of(graph, self.terms)
        highest, size = self.terms.highest, max(k, self.l)
        few, rare, above = _broken(losses, region, highest, size)
        if not above and not few:
            return
        wrong = []
        if above:
            wrong.append(f"{counted(above, 'user')} {'is' if above == 1 else 'are'} at a place above it")
        if few:
            wrong.append(f"{counted(few, 'user')} {'is' if few == 1 else 'are'} in places with fewer than {size} each")
        ways = []
        if not above and rare > 1:
            ways.append(f"lower k to {rare}")
        every = ancestors(losses)
        for level in range(highest + 1, TOP):
            if not any(_broken(losses, every[level][losses.place], level, size)[::2]):
                kind = next(name for name, at in LEVELS.items() if at == level)
                ways.append(f"set it to location={kind}")
                break
        else:
            ways.append("leave it out")
        way_out = " or ".join(ways)
        raise NoSolution(
            f"No release with k={k} keeps {named('limit')} {self.limit}: {' and '.join(wrong)}. "
            f"{way_out[0].upper()}{way_out[1:]}."
        )

    def _with_enough_topics(
        self, losses: Losses, numbers: NDArray[np.int64], region: NDArray[np.int32], size: int
    ) -> NDArray[np.int64]:
        """The clusters, those that still lack first topics put together with others of the same region."""
        if self.l < 2:
            return numbers
        lacking = np.flatnonzero(losses_of(losses, numbers) >= LACKING)
        if len(lacking) and self.exact:
            raise NoSolution(
                f"No clusters of exactly {size} with {named('l')}={self.l} were found. Leave out {named('exact')} or "
                f"lower {named('l')}."
            )
        while len(lacking):
            cluster = int(lacking[0])
            here = region[np.flatnonzero(numbers == cluster)[0]]
            others = np.unique(numbers[(region == here) & (numbers != cluster)])
            # Whoever can help has first topics that are lacking here.
            own = set(losses.topics[numbers == cluster, 0].tolist())
            helpful = np.unique(numbers[(region == here) & ~np.isin(losses.topics[:, 0], [*own, losses.names])])
            into = int(helpful[0]) if len(helpful) else int(others[0])
            numbers = np.where(numbers == cluster, into, numbers)
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            lacking = np.flatnonzero(losses_of(losses, numbers) >= LACKING)
        return numbers


def _broken(losses: Losses, region: NDArray[np.int32], highest: int, size: int) -> tuple[int, int, int]:
    """Users of regions with too few of them, the least such region's number, and users above the highest level."""
    above = int((losses.levels[losses.place] > highest).sum())
    sizes = np.bincount(np.unique(region[losses.levels[losses.place] <= highest], return_inverse=True)[1])
    return int(sizes[sizes < size].sum()), int(sizes.min(initial=size)), above


def weights_of(text: str) -> tuple[int, int, int, int]:
    """The weights of the place and the topics that a *text* gives, without a common factor.

    >>> weights_of("location=4,topic1=2,topic2=2,topic3=0")
    (2, 1, 1, 0)
    """
    weights = dict.fromkeys(ATTRIBUTES, 1)
    seen = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals:
            raise InvalidParameter.wrong("weights", must=f"be such as {EQUAL}", was=text)
        if name not in weights:
            raise UnknownName.among("attribute", name, ATTRIBUTES)
        if name in seen:
            raise InvalidParameter.wrong("weights", must=f"give {name} once", was=text)
        seen.add(name)
        if not (value.isascii() and value.isdigit() and len(value) <= 9 and int(value) <= HEAVIEST):
            must = f"give {name} a whole number from 0 to {HEAVIEST}"
            raise InvalidParameter.wrong("weights", must=must, was=text)
        weights[name] = int(value)
    if not any(weights.values()):
        raise InvalidParameter.wrong("weights", must="give at least one attribute more than 0", was=text)
    common = gcd(*weights.values())
    location, first, second, third = (weights[name] // common for name in ATTRIBUTES)
    return location, first, second, third


def level_of(text: str) -> int:
    """The level that a limit such as `location=country` names.

    >>> level_of("location=country")
    5
    """
    name, _, kind = (each.strip() for each in text.partition("="))
    if name != "location" or kind not in LEVELS:
        must = f"be location= and one of {', '.join(LEVELS)}"
        raise InvalidParameter.wrong("limit", must=must, was=text)
    return LEVELS[kind]
