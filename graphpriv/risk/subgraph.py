"""The attacker who knows some of a user's neighbours, and all links among these and the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from threading import local

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk import Attacker, attackers
from graphpriv.risk.classes import Classes, neighbour_types
from graphpriv.risk.comparison import Comparison
from graphpriv.risk.containment import Agenda, contain
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.features import needs_of
from graphpriv.risk.search import desk_for
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
    limits="Neighbours and links may have been added around the masked user, none taken away. Deciding is NP-hard; "
    "users of whom the steps left something open are reported as undecided.",
)
@dataclass(frozen=True, kw_only=True)
class Subgraph(Attacker):
    """Find the masked users whose neighbourhood contains a user's as a node-induced subgraph."""

    budget: int = option(200_000, low=1, high=10**12, help="assignments that one search may try")

    def disclose_in(self, comparison: Comparison, scenarios: Mapping[str, tuple[str, ...]]) -> dict[str, Disclosure]:
        """What is found in each scenario."""
        return {name: self._disclosed(comparison, attributes) for name, attributes in scenarios.items()}

    def _disclosed(self, comparison: Comparison, attributes: tuple[str, ...]) -> Disclosure:
        classes = comparison.classes(attributes, budget=CLASS_STEPS, one_sided=True)
        users = len(comparison.original)
        sides = Sides.of(comparison, comparison.labels(attributes), classes)
        found = sides.found_by(comparison, self.budget)
        matched = found.candidates[sides.pattern_of] > 0
        undecided = found.open[sides.pattern_of] | classes.open[:users]
        true_found = None
        if comparison.mapping is not None:
            true_found = np.zeros(users, dtype=np.bool_)
            true_found[sides.seekers] = found.true
        return Disclosure(matched, undecided, found.candidates[sides.pattern_of], true_found)


@dataclass(frozen=True, eq=False)
class Found:
    """How many candidates a pattern has, whether something was left open, and whether a seeker finds its own."""

    candidates: NDArray[np.int64]
    open: NDArray[np.bool_]
    true: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sides:
    """One centre of each class: the patterns of original users, the targets of masked ones.

    Targets go by label, then by the number of neighbours, so that those a pattern can lie in are one run.
    """

    patterns: Shapes
    targets: Shapes
    pattern_of: NDArray[np.int64]
    same: NDArray[np.int64]
    weights: NDArray[np.int64]
    seekers: NDArray[np.int64]
    seeker_offsets: NDArray[np.int64]
    sought: NDArray[np.int64]

    @classmethod
    def of(cls, comparison: Comparison, labels: NDArray[np.int32], classes: Classes) -> Sides:
        """Lay out both sides under *labels*."""
        around, users = comparison.neighbourhoods, len(comparison.original)
        types = neighbour_types(around, labels)
        first_patterns, pattern_of = np.unique(classes.of[:users], return_inverse=True)
        first_targets, target_of, weights = np.unique(classes.of[users:], return_inverse=True, return_counts=True)
        order = np.lexsort((np.diff(around.offsets)[first_targets], labels[first_targets]))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        target_of = place[target_of]
        sorted_targets = first_targets[order]
        at = np.searchsorted(first_targets, first_patterns)
        at = np.minimum(at, max(len(first_targets) - 1, 0))
        shared = first_targets[at] == first_patterns if len(first_targets) else np.zeros(len(at), dtype=np.bool_)
        same = np.where(shared, place[at] if len(place) else -1, -1).astype(np.int64)
        mapping = comparison.mapping if comparison.mapping is not None else np.full(users, -1, dtype=np.int64)
        seekers = np.argsort(pattern_of, kind="stable")
        sought = np.full(users, -1, dtype=np.int64)
        sought[mapping >= 0] = target_of[mapping[mapping >= 0]]
        return cls(
            patterns=shapes_of(around, types, labels, first_patterns.astype(np.int64), comparison.workers),
            targets=shapes_of(around, types, labels, sorted_targets.astype(np.int64), comparison.workers),
            pattern_of=pattern_of,
            same=same,
            weights=weights[order],
            seekers=seekers,
            seeker_offsets=np.concatenate([[0], np.cumsum(np.bincount(pattern_of))]).astype(np.int64),
            sought=sought[seekers],
        )

    def agenda(self) -> Agenda:
        """Where to look for each pattern."""
        patterns, targets = self.patterns, self.targets
        sizes, target_sizes = np.diff(patterns.offsets), np.diff(targets.offsets)
        span = int(target_sizes.max(initial=0)) + 1
        by_size = targets.labels.astype(np.int64) * span + target_sizes
        own = patterns.labels.astype(np.int64) * span
        bases = np.searchsorted(by_size, own)
        highs = np.searchsorted(by_size, own + span - 1, side="right")
        pattern_of = np.full(len(target_sizes), -1, dtype=np.int64)
        pattern_of[self.same[self.same >= 0]] = np.flatnonzero(self.same >= 0)
        words = np.where(self.same >= 0, (highs - bases + 63) // 64, 0)
        # The small ones are found in most and found first: they are kept as far as there is room.
        rising = np.argsort(sizes, kind="stable")
        ends = np.cumsum(words[rising])
        starts = np.full(len(sizes), -1, dtype=np.int64)
        starts[rising] = np.where((ends <= _MOST_KEPT) & (words[rising] > 0), ends - words[rising], -1)
        room = int(ends[ends <= _MOST_KEPT].max(initial=0))
        return Agenda(
            bases=bases,
            lows=np.searchsorted(by_size, own + np.minimum(sizes, span - 1), side="right"),
            highs=highs,
            same=self.same,
            pattern_of=pattern_of,
            weights=self.weights,
            seeker_offsets=self.seeker_offsets,
            seekers=self.sought,
            kept_starts=starts,
            kept=np.zeros(room, dtype=np.uint64),
        )

    def found_by(self, comparison: Comparison, budget: int) -> Found:
        """Look for every pattern among the targets, the large ones first."""
        ways = 4 if comparison.original.directed else 2
        patterns, targets, agenda = self.patterns, self.targets, self.agenda()
        sizes = np.diff(patterns.offsets)
        bits, bit_starts = bit_rows(targets, comparison.original.directed, comparison.workers)
        needs = needs_of(patterns, targets, comparison.workers)
        found = Found(
            candidates=np.zeros(len(sizes), dtype=np.int64),
            open=np.zeros(len(sizes), dtype=np.bool_),
            true=np.zeros(len(self.sought), dtype=np.bool_),
        )
        most = int(sizes[agenda.lows < agenda.highs].max(initial=0))
        span = int(np.diff(targets.offsets).max(initial=0)) + 1
        words = min(_MOST_WORDS, (most + 2) * (most + 2) * (span // 64 + 2))
        desks = local()
        order = np.lexsort((patterns.labels, -sizes))

        def look(start: int, stop: int) -> None:
            if not hasattr(desks, "own"):
                desks.own = desk_for(most, span, words)
            contain(
                *(patterns, order, start, stop, targets, needs, bits, bit_starts, ways, agenda, desks.own, budget),
                *(found.candidates, found.open, found.true),
            )

        work = (sizes * (agenda.highs - agenda.lows))[order]
        if work.sum() < _LITTLE:
            look(0, len(order))
            return found
        # What a pattern lies in has more neighbours than it: one size after the other, no two threads wait.
        layers = np.append(np.flatnonzero(np.diff(sizes[order], prepend=-1)), len(order))
        for first, last in pairwise(layers.tolist()):
            in_chunks(look, first + even_bounds(work[first:last], least=_LITTLE), comparison.workers)
        return found
