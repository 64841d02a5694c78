"""One search of a lattice in shares, which threads go through at the same time; it can be written down and goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tabular.lattice.optimal.branch_and_bound import (
    BEST,
    DEPTH,
    DONE,
    FOUND,
    FULL,
    Blocks,
    Parts,
    advance_bounding,
    given_away,
    parts_of,
)
from tabular.lattice.optimal.class_splits import STAMP, Grid, Scratch, scratch_for
from tabular.lattice.space import Numbers
from tabular.loop import Values, on_threads, processors

#: Searches that are under way at the same time, whatever the threads, and the work of each between two looks.
_TOGETHER = 8
_A_SHARE = 8_000_000

#: Blocks are bounded anew in parts in which more than this share of the attributes is open, with so much work for each.
_WIDE, _EFFORT = 0.54, 1_000_000

#: What `Parts` and its `Splits` have for each depth.
_OF_PARTS = ("now", "most", "losing", "caps", "by", "given")
_OF_SPLITS = ("row_at", "start_at", "classes", "lost")

#: How many slices there were, and how many shares there are, where a search is written down.
_COUNTS = "counts"


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
    """One search in shares; each goes on by itself for a slice, then what they found is put together.

    Parts are given away in the same way for any number of threads.
    """

    grid: Grid
    blocks: Blocks
    shares: list[Share] = field(default_factory=list)

    @classmethod
    def of(cls, grid: Grid, parts: Parts, blocks: Blocks) -> SharedSearch:
        """All in one share to begin with."""
        shared = cls(grid, blocks)
        shared._add(parts)
        return shared

    def slices(self, totals: Numbers) -> Iterator[list[Numbers]]:
        """Go on for a slice; give the nodes found, which are to be judged before the next. Adds to *totals*."""
        while self.shares:
            self._share_out()
            for _ in on_threads(self._go, self.shares, min(processors(), _TOGETHER)):
                pass
            for each in self.shares:
                totals[:STAMP] += each.scratch.totals[:STAMP]
                each.scratch.totals[:STAMP] = 0
                if each.outcome == FULL:
                    each.parts = each.parts.with_more_room()
            found = [each.parts.most[each.parts.state[DEPTH] + 1] for each in self.shares if each.outcome == FOUND]
            self.shares = [each for each in self.shares if each.outcome != DONE]
            yield found

    def take_best(self, best: int) -> None:
        """Nothing is sought that gains no more than *best*."""
        for each in self.shares:
            each.parts.state[BEST] = max(int(each.parts.state[BEST]), best)

    def values(self, number: int) -> Values:
        """Where it stands between two slices, after so many of them."""
        written = {
            f"{place} {name}": array
            for place, each in enumerate(self.shares)
            for name, array in _written(each.parts).items()
        }
        return {_COUNTS: np.array([number, len(self.shares)]), **written}

    def resume(self, values: Values) -> int:
        """Go on where a search of the same parts stood that wrote *values*; say after how many slices."""
        first, self.shares = self.shares[0].parts, []
        number, count = values[_COUNTS].tolist()
        for place in range(count):
            start = f"{place} "
            own = {name.removeprefix(start): array for name, array in values.items() if name.startswith(start)}
            self._add(_restored(parts_of(self.grid, first.most[0], 0, judges=False, caps=self.blocks.most), own))
        return int(number)

    def _go(self, share: Share) -> None:
        wide = 1 + int(len(self.grid.steps) * _WIDE)
        share.outcome = advance_bounding(
            self.grid, share.parts, share.inner, share.blocks, share.scratch, _A_SHARE, wide, _EFFORT
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


def _written(parts: Parts) -> Values:
    """The parts down to the one looked at; what lies deeper is written before it is read."""
    depths, splits = int(parts.state[DEPTH]) + 1, parts.splits
    rows = starts = 0
    if depths:
        starts = int(splits.start_at[depths - 1] + splits.classes[depths - 1]) + 1
        rows = int(splits.row_at[depths - 1] + splits.starts[starts - 1])
    return {
        "state": parts.state,
        **{name: getattr(parts, name)[:depths] for name in _OF_PARTS},
        **{name: getattr(splits, name)[:depths] for name in _OF_SPLITS},
        "rows": splits.rows[:rows],
        "weights": splits.weights[:rows],
        "starts": splits.starts[:starts],
        # As much room as there was: what more takes is work that is counted.
        "room": np.array([splits.rows.size, splits.starts.size]),
    }


def _restored(like: Parts, values: Values) -> Parts:
    """The parts that `_written` wrote, in the room of others of the same lattice."""
    rows, starts = values["room"].tolist()
    splits = like.splits._replace(
        rows=np.zeros(rows, dtype=np.uint32),
        weights=np.zeros(rows, dtype=np.int32),
        starts=np.zeros(starts, dtype=np.int32),
    )
    parts = like._replace(splits=splits)
    for name in ("state", *_OF_PARTS):
        getattr(parts, name)[: len(values[name])] = values[name]
    for name in ("rows", "weights", "starts", *_OF_SPLITS):
        getattr(splits, name)[: len(values[name])] = values[name]
    return parts
