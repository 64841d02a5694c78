"""The attacker who knows some of a user's neighbours, and all links among these and the user."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.comparison import Comparison
from graphpriv.risk.containment.filters import possible_nodes
from graphpriv.risk.containment.nodes import Nodes, nodes_of
from graphpriv.risk.containment.rounds import Containment
from graphpriv.risk.containment.shapes import shapes_of
from graphpriv.risk.contract import Attacker, Told, attackers, untold
from graphpriv.risk.disclosure import Disclosure
from graphpriv.risk.ego import Ego
from graphpriv.risk.equal_neighbourhoods import NeighbourhoodClasses
from graphpriv.risk.neighbourhoods import Neighbourhoods
from tabular.loop import key_of
from tabular.registry import option


@attackers.add(
    "subgraph",
    cites="Mares Soler (2013), eq 6.9 and 6.10; constraint search after McCreesh, Prosser and Trimble (2020) and "
    "Solnon (2010)",
    limits="Neighbours and links may have been added around the masked user, none taken away. The problem is "
    "NP-hard; users about whom the steps leave something open count as undecided, and bounds are given.",
)
@dataclass(frozen=True, kw_only=True)
class Subgraph(Attacker):
    """Find the masked users whose neighbourhood contains a user's as a node-induced subgraph."""

    steps: int = option(40_000_000_000, low=1, high=10**15, help="steps that all users of one scenario may take")

    comparing: int = option(
        2_500_000_000, low=1, high=10**15, help="most of these steps for finding equal neighbourhoods"
    )

    @classmethod
    def within(cls, steps: int, spare: int = 0) -> Subgraph:
        """The search goes on with what others spare; what comes before it takes as many steps as `ego`."""
        return cls(steps=max(1, steps + spare), comparing=Ego.within(steps).steps)

    def disclosed(self, comparison: Comparison, attributes: tuple[str, ...], report: Told = untold) -> Disclosure:
        """Take each class of equal neighbourhoods once on either side, and look for one in the other."""
        comparing = min(self.comparing, Ego.within(self.steps).steps)
        classes = comparison.classes(attributes, steps=comparing)
        return self.among(classes, comparison, attributes, comparing, report)

    def among(
        self,
        classes: NeighbourhoodClasses,
        comparison: Comparison,
        attributes: tuple[str, ...],
        comparing: int,
        report: Told = untold,
    ) -> Disclosure:
        """Look for one of each of these *classes*, which took so many steps, in the others."""
        around = comparison.labelled(attributes)
        users = len(comparison.original)
        kept = _worth_a_look(classes, around, users)
        if not len(kept):
            return replace(classes.disclosure(comparison.mapping), steps=comparing)
        shapes = shapes_of(around, kept, comparison.workers)
        found = Containment.of(
            shapes, _nodes(classes, around, kept, users), comparison.original.directed, comparison.workers
        )
        # Another name than before small targets had a search of their own: what was kept then is not read.
        key = key_of("search in words", self, comparison.key(attributes))
        used = comparing + found.look(self.steps - comparing, report, comparison.parts, key)
        parts = _with_parts(classes.disclosure(comparison.mapping), comparison, classes, kept, found)
        return replace(parts, steps=used)


def _worth_a_look(classes: NeighbourhoodClasses, around: Neighbourhoods, users: int) -> NDArray[np.int64]:
    """A centre of each class that may lie in another or hold another, by label, then by size."""
    centres = np.unique(classes.of).astype(np.int64)
    sizes = np.diff(around.offsets)[centres]
    centres = centres[np.lexsort((sizes, around.labels[centres]))]
    nodes = _nodes(classes, around, centres, users)
    return centres[possible_nodes(around, centres, nodes)]


def _nodes(classes: NeighbourhoodClasses, around: Neighbourhoods, centres: NDArray[np.int64], users: int) -> Nodes:
    counts = (np.bincount(of, minlength=len(classes.of))[centres] for of in (classes.of[:users], classes.of[users:]))
    return nodes_of(around.labels[centres], np.diff(around.offsets)[centres], *counts)


def _with_parts(
    alone: Disclosure,
    comparison: Comparison,
    classes: NeighbourhoodClasses,
    centres: NDArray[np.int64],
    found: Containment,
) -> Disclosure:
    """Add the masked users around whom a user's neighbourhood is but a part to those around whom it is the whole."""
    users = len(comparison.original)
    place = np.full(len(classes.of), -1, dtype=np.int64)
    place[centres] = np.arange(len(centres))
    pattern = place[classes.of[:users]]
    looked = pattern >= 0
    more, maybe = (np.zeros(users, dtype=np.int64) for _ in range(2))
    more[looked] = found.count(found.known)[0][pattern[looked]]
    maybe[looked] = (found.count(found.open_)[0] + found.beyond)[pattern[looked]]
    candidates, possible = alone.candidates + more, alone.possible + more + maybe
    if alone.true_found is None or alone.true_least is None or comparison.mapping is None:
        return Disclosure(candidates, possible, None, None)
    there = np.flatnonzero(comparison.mapping >= 0)
    sought = place[classes.of[users:][comparison.mapping[there]]]
    there, sought = there[(sought >= 0) & looked[there]], sought[(sought >= 0) & looked[there]]
    inside, unsure = found.holds(pattern[there], sought)
    true_found, least = alone.true_found.copy(), alone.true_least.copy()
    true_found[there[inside]] = True
    least[least > 0] += more[least > 0]
    least[there[inside]] = candidates[there[inside]]
    least[there[unsure]] = candidates[there[unsure]] + found.nodes.weights[sought[unsure]]
    return Disclosure(candidates, possible, true_found, least)
