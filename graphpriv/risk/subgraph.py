"""The attacker who knows some of a user's neighbours, and all links among these and the user."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from threading import local

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.comparison import Comparison
from graphpriv.risk.constraint_search import workspace_for
from graphpriv.risk.containment import SearchSpace, contain
from graphpriv.risk.contract import Attacker, attackers
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.equal_neighbourhoods import NeighbourhoodClasses
from graphpriv.risk.filters import needs_of, possible_pairs
from graphpriv.risk.neighbourhoods import Neighbourhoods
from graphpriv.risk.shapes import Shapes, bit_rows, shapes_of
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.registry import option

#: Steps that comparing two neighbourhoods for equality may take; see `ego`.
CLASS_STEPS = 20_000_000

#: Room for the domains of one search, in words of 64 bits.
_MOST_WORDS = 1 << 24

#: Pairs of a pattern's neighbour and a target that are not worth a thread.
_LITTLE = 1 << 15

#: Room for what was found, in words of 64 bits.
_MOST_KEPT = 1 << 26


@attackers.add(
    "subgraph",
    cites="Mares Soler (2013), eq 6.9 and 6.10; constraint search after McCreesh, Prosser and Trimble (2020) and "
    "Solnon (2010)",
    limits="Neighbours and links may have been added around the masked user, none taken away. The problem is "
    "NP-hard; users whose search runs out of steps count as undecided.",
)
@dataclass(frozen=True, kw_only=True)
class Subgraph(Attacker):
    """Find the masked users whose neighbourhood contains a user's as a node-induced subgraph."""

    steps: int = option(200_000, low=1, high=10**12, help="assignments that one search may try")

    def disclosed(self, comparison: Comparison, attributes: tuple[str, ...]) -> Disclosure:
        """Take each class of equal neighbourhoods once on either side, and look for one in the other."""
        classes = comparison.classes(attributes, budget=CLASS_STEPS)
        around = comparison.labelled(attributes)
        sides = Sides.of(comparison, around, classes)
        found = sides.found_by(comparison, around, self.steps)
        candidates = found.candidates[sides.pattern_of]
        undecided = found.open[sides.pattern_of] | classes.open[: len(comparison.original)]
        return Disclosure(candidates > 0, undecided, candidates, None if comparison.mapping is None else found.true)


@dataclass(frozen=True, eq=False)
class Found:
    """The number of candidates of each pattern, whether something was left open, and whether the true one is found."""

    candidates: NDArray[np.int64]
    open: NDArray[np.bool_]
    true: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sides:
    """One centre of each class: the patterns of original users, the targets of masked ones.

    Targets go by label, then by the number of neighbours, so that those a pattern can lie in are one run.
    """

    patterns: NDArray[np.int64]
    targets: NDArray[np.int64]
    #: For each original user its pattern, and the target of its masked self, -1 where there is none.
    pattern_of: NDArray[np.int64]
    sought: NDArray[np.int64]
    #: For each pattern the target of its own class, -1 where there is none; how many masked users each target is.
    same: NDArray[np.int64]
    weights: NDArray[np.int64]
    #: For each pattern the run of targets with its label, and where in it those with more neighbours start.
    bases: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    @classmethod
    def of(cls, comparison: Comparison, around: Neighbourhoods, classes: NeighbourhoodClasses) -> Sides:
        """Put one centre of each class on either side."""
        users, centres = len(comparison.original), len(classes.of)
        labels, sizes = around.labels, np.diff(around.offsets)
        patterns, pattern_of, _ = _firsts(classes.of[:users], centres)
        targets, _, weights = _firsts(classes.of[users:], centres)
        order = np.lexsort((sizes[targets], labels[targets]))
        targets, weights = targets[order], weights[order]
        place = np.full(centres, -1, dtype=np.int64)
        place[targets] = np.arange(len(targets))
        span = int(sizes[targets].max(initial=0)) + 1
        by_size = labels[targets].astype(np.int64) * span + sizes[targets]
        bases, lows, highs = (np.zeros(len(patterns), dtype=np.int64) for _ in range(3))
        # A label that no target has needs no search.
        known = np.flatnonzero(np.bincount(labels[targets], minlength=int(labels.max(initial=0)) + 1)[labels[patterns]])
        own, reach = labels[patterns[known]].astype(np.int64) * span, np.minimum(sizes[patterns[known]], span - 1)
        bases[known] = np.searchsorted(by_size, own)
        lows[known] = np.searchsorted(by_size, own + reach, side="right")
        highs[known] = np.searchsorted(by_size, own + span - 1, side="right")
        sought = np.full(users, -1, dtype=np.int64)
        if comparison.mapping is not None:
            there = comparison.mapping >= 0
            sought[there] = place[classes.of[users:][comparison.mapping[there]]]
        return cls(
            patterns=patterns,
            targets=targets,
            pattern_of=pattern_of,
            sought=sought,
            same=place[patterns],
            weights=weights,
            bases=bases,
            lows=lows,
            highs=highs,
        )

    def found_by(self, comparison: Comparison, around: Neighbourhoods, budget: int) -> Found:
        """Look for every pattern among the targets, the large ones first."""
        workers = comparison.workers
        worth, wanted = possible_pairs(around, self.patterns, self.targets, self.lows, self.highs)
        found = Found(
            candidates=np.where(self.same >= 0, self.weights[self.same], 0) if len(self.weights) else self.same * 0,
            open=np.zeros(len(self.patterns), dtype=np.bool_),
            true=(self.sought >= 0) & (self.sought == self.same[self.pattern_of]),
        )
        kept = np.flatnonzero(worth)
        if not len(kept):
            return found
        patterns = shapes_of(around, self.patterns[kept], workers)
        targets = shapes_of(around, self.targets[wanted], workers)
        where = self._space(kept, wanted, np.diff(patterns.offsets))
        within = look_for(patterns, targets, where, comparison.original.directed, workers, budget)
        found.candidates[kept] += within.candidates
        found.open[kept] = within.open
        found.true[where.seekers[within.true]] = True
        return found

    def _space(self, kept: NDArray[np.int64], wanted: NDArray[np.bool_], sizes: NDArray[np.int64]) -> SearchSpace:
        """Where to look for each pattern that is kept, among the targets that are wanted."""
        place = np.concatenate([[0], np.cumsum(wanted)]).astype(np.int64)
        bases, lows, highs = (place[each[kept]] for each in (self.bases, self.lows, self.highs))
        same, sought = self.same[kept], self.sought
        shared = same >= 0
        shared[shared] = wanted[same[shared]]
        pattern_of = np.full(place[-1], -1, dtype=np.int64)
        pattern_of[place[same[shared]]] = np.flatnonzero(shared)
        words = np.where(shared, (highs - bases + 63) // 64, 0)
        # The small ones are found in most and found first: they are kept as far as there is room.
        rising = np.argsort(sizes, kind="stable")
        ends = np.cumsum(words[rising])
        starts = np.full(len(kept), -1, dtype=np.int64)
        starts[rising] = np.where((ends <= _MOST_KEPT) & (words[rising] > 0), ends - words[rising], -1)
        room = int(ends[ends <= _MOST_KEPT].max(initial=0))
        # A target that nobody's pattern can lie in is sought in vain.
        known = sought >= 0
        known[known] = wanted[sought[known]]
        seekers = np.argsort(self.pattern_of, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.pattern_of, minlength=len(self.patterns)))])
        return SearchSpace(
            bases=bases,
            lows=lows,
            highs=highs,
            pattern_of=pattern_of,
            weights=self.weights[wanted],
            seeker_starts=offsets[kept],
            seeker_ends=offsets[kept + 1],
            seekers=seekers,
            sought=np.where(known, place[sought], -1)[seekers],
            kept_starts=starts,
            kept=np.zeros(room, dtype=np.uint64),
        )


def _firsts(of: NDArray[np.int32], centres: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The centres that stand for a class, the number of each one's among them, and how often it is."""
    counts = np.bincount(of, minlength=centres)
    number = np.cumsum(counts > 0) - 1
    firsts = np.flatnonzero(counts)
    return firsts, number[of], counts[firsts]


def look_for(patterns: Shapes, targets: Shapes, where: SearchSpace, directed: bool, workers: int, budget: int) -> Found:
    """Look for all *patterns*, the large ones first; `true` goes by the seekers."""
    rows, needs = bit_rows(targets, directed, workers), needs_of(patterns, targets, workers)
    sizes = np.diff(patterns.offsets)
    order = np.lexsort((patterns.labels, -sizes))
    found = Found(
        candidates=np.zeros(len(sizes), dtype=np.int64),
        open=np.zeros(len(sizes), dtype=np.bool_),
        true=np.zeros(len(where.seekers), dtype=np.bool_),
    )
    most = int(sizes[where.lows < where.highs].max(initial=0))
    span = int(np.diff(targets.offsets).max(initial=0)) + 1
    own = local()

    def look(start: int, stop: int) -> None:
        if not hasattr(own, "space"):
            own.space = workspace_for(most, span, min(_MOST_WORDS, (most + 2) * (most + 2) * (span // 64 + 2)))
        contain(
            *(patterns, order, start, stop, targets, needs, rows, where, own.space, budget),
            *(found.candidates, found.open, found.true),
        )

    work = (sizes * (where.highs - where.lows))[order]
    if work.sum() < _LITTLE:
        look(0, len(order))
        return found
    # What a pattern lies in has more neighbours than it: one size after the other, no two threads wait.
    layers = np.append(np.flatnonzero(np.diff(sizes[order], prepend=-1)), len(order))
    for first, last in pairwise(layers.tolist()):
        in_chunks(look, first + even_bounds(work[first:last], least=_LITTLE), workers)
    return found
