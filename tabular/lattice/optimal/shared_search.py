"""Branch and bound on several threads: parts are given away, in the same way for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabular.lattice.optimal.branch_and_bound import advance_bounding
from tabular.lattice.optimal.class_splits import STAMP, Scratch, scratch_for
from tabular.lattice.optimal.grid import Grid
from tabular.lattice.optimal.parts import (
    BEST,
    DEPTH,
    DONE,
    FOUND,
    FULL,
    Blocks,
    Parts,
    given_away,
    parts_of,
    with_more_room,
)
from tabular.loop import on_threads, processors

#: Searches that are under way at the same time, whatever the threads, and the work of each between two looks.
_TOGETHER = 8
_SLICE = 8_000_000

#: Blocks are bounded anew in parts in which more than this share of the attributes is open, with so much work for each.
_WIDE, _EFFORT = 0.54, 1_000_000


@dataclass(eq=False)
class Share:
    """Parts of the lattice, with room of their own to go through them."""

    parts: Parts
    inner: Parts
    blocks: Blocks
    scratch: Scratch
    outcome: int = 0


@dataclass(eq=False)
class SharedSearch:
    """One search in shares; each goes on by itself for a slice, then what they found is put together."""

    grid: Grid
    blocks: Blocks
    shares: list[Share] = field(default_factory=list)

    @classmethod
    def of(cls, grid: Grid, parts: Parts, blocks: Blocks) -> SharedSearch:
        """All in one share to begin with."""
        shared = cls(grid, blocks)
        shared._add(parts)
        return shared

    def slices(self, totals: NDArray[np.int64]) -> Iterator[list[NDArray[np.int64]]]:
        """Go on for a slice; give the nodes found, which are to be judged before the next. Adds to *totals*."""
        while self.shares:
            for _ in on_threads(self._go, self.shares, min(processors(), _TOGETHER)):
                pass
            for each in self.shares:
                totals[:STAMP] += each.scratch.totals[:STAMP]
                each.scratch.totals[:STAMP] = 0
                if each.outcome == FULL:
                    each.parts = with_more_room(each.parts)
            found = [each.parts.most[each.parts.state[DEPTH] + 1] for each in self.shares if each.outcome == FOUND]
            self.shares = [each for each in self.shares if each.outcome != DONE]
            yield found
            self._share_out()

    def take_best(self, best: int) -> None:
        """Nothing is sought that gains no more than *best*."""
        for each in self.shares:
            each.parts.state[BEST] = max(int(each.parts.state[BEST]), best)

    def _go(self, share: Share) -> None:
        wide = 1 + int(len(self.grid.steps) * _WIDE)
        share.outcome = advance_bounding(
            self.grid, share.parts, share.inner, share.blocks, share.scratch, _SLICE, wide, _EFFORT
        )

    def _add(self, parts: Parts) -> None:
        blocks = self.blocks._replace(gains=np.zeros_like(self.blocks.gains), needs=np.zeros_like(self.blocks.needs))
        inner = parts_of(self.grid, self.grid.steps, 0, judges=True, caps=self.blocks.most)
        self.shares.append(Share(parts, inner, blocks, scratch_for(self.grid)))

    def _share_out(self) -> None:
        """Fill up with the largest parts that are not begun."""
        while self.shares and len(self.shares) < _TOGETHER:
            depths = [_shallowest(each.parts) for each in self.shares]
            least = min(depths)
            share = self.shares[depths.index(least)]
            if least >= int(share.parts.state[DEPTH]):
                return
            self._add(given_away(share.parts, least))


def _shallowest(parts: Parts) -> int:
    """The outermost part whose other half is not begun."""
    depth = int(parts.state[DEPTH])
    free = np.flatnonzero(~parts.given[: max(depth, 0)])
    return int(free[0]) if len(free) else 1 << 30
