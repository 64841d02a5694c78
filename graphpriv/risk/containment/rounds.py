"""Rounds over open pairs of a pattern and a target: `schedule` says which come next, and how many steps each has.

A round goes through the targets layer by layer. A layer is cut into blocks, and a block reads only what earlier layers
and rounds proved, so that the answer does not depend on who works on which block. The steps are shared out so that
what more of them decide is decided beside, never instead of, what fewer would have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import fsum, inf
from threading import local
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphpriv.risk.containment.filters import needs_of
from graphpriv.risk.containment.inference import (
    VISIT,
    choose_largest,
    close_layer,
    count_weights,
    count_worth,
    decide,
    fill_columns,
    mark_words,
    rule_out_all,
    rule_out_by_independence,
)
from graphpriv.risk.containment.nodes import Nodes
from graphpriv.risk.containment.plans import Plans, plans_of
from graphpriv.risk.containment.schedule import Round, Schedule, Turn
from graphpriv.risk.containment.shapes import BitRows, Shapes, bit_rows
from graphpriv.risk.containment.spaces import Space, space_for
from graphpriv.risk.containment.surroundings import Surroundings, surroundings_of
from graphpriv.risk.workers import even_bounds, in_chunks
from tabular.loop import ALONE, Parts, Values, key_of, on_threads, threads

#: The steps that looking at the pairs of a block took, and inferring what follows; only the former are shared out.
Took: TypeAlias = tuple[int, int]

#: Blocks of a layer, each with its share of the steps; and what does several parts of them at a time.
Blocks: TypeAlias = "list[tuple[Block, int]]"
Each: TypeAlias = "Callable[[Callable[[Blocks], list[Took]], Iterable[Blocks]], Iterable[list[Took]]]"

#: A layer has about so many targets or more, and a block about so many pairs.
_LAYER, _BLOCK = 64, 1 << 12

#: Fewer pairs are cut as well, where blocks may take so many steps each, but into no more than these.
_STEPS, _MOST_BLOCKS = 1 << 24, 64

#: A turn is broken off when it has taken so many steps and an eighth of all before it: another kind may gain more then.
_PATIENCE = 1 << 27

#: At least so many blocks, which may take at least so many steps, are done before it is seen what is left.
_AT_A_TIME, _GROUP = 4, 1 << 30

#: Where others may share the work, a layer that may take so many steps goes by so many parts, and what columns of so
#: many words rule out by so many: that takes a tenth of a second or more.
_LONG, _WIDE, _PARTS, _CLOSING = 1 << 26, 1 << 22, 16, 32

#: How much a user about whom anything is open counts beside the chances: hardly anything, unless these are all known.
_UNDECIDED = 1 / 30

#: Steps for each word of the columns that a round takes beside its searches: they are gone along several times.
_PASSES = 2

#: Room for the domains of one search, in words of 64 bits.
_MOST_WORDS = 1 << 24


class Layer(NamedTuple):
    """Targets of similar size, from one place in the order to another, and the least of their sizes."""

    start: int
    stop: int
    least: int
    #: Steps that looking at one open pair may take, search apart.
    visit: int


class Block(NamedTuple):
    """Some targets of a layer, and the steps that a round may take in these."""

    start: int
    stop: int
    wanted: int


@dataclass(eq=False)
class Containment:
    """What is known of which patterns lie in which targets, as one column of bits for each target."""

    shapes: Shapes
    plans: Plans
    around: Surroundings
    rows: BitRows
    nodes: Nodes
    workers: int
    known: NDArray[np.uint64]
    open_: NDArray[np.uint64]
    #: The masked users in targets that hold what a pattern needs but have no room in their columns for it.
    beyond: NDArray[np.int64]

    @classmethod
    def of(cls, shapes: Shapes, nodes: Nodes, directed: bool, workers: int) -> Containment:
        """Filter all pairs by what the patterns need."""
        open_, beyond = _filtered(shapes, nodes, workers)
        patterns, targets = np.zeros_like(beyond), np.zeros_like(beyond)
        count_weights(nodes, open_, np.zeros_like(beyond), patterns)
        count_worth(nodes, open_, np.repeat([[0, len(beyond)]], len(beyond), axis=0), targets, 0, len(beyond))
        # What is in no open pair is not looked into.
        involved = (patterns > 0) | (targets > 0)
        rows = bit_rows(shapes, involved, directed, workers)
        plans = plans_of(shapes, rows, patterns > 0, involved, workers)
        around = surroundings_of(shapes, rows, involved, workers)
        bounds = even_bounds(nodes.words)
        in_chunks(lambda start, stop: rule_out_by_independence(nodes, plans, open_, start, stop), bounds, workers)
        return cls(shapes, plans, around, rows, nodes, workers, np.zeros_like(open_), open_, beyond)

    def count(self, columns: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each pattern the masked users in whose columns it is, and the targets."""
        users, targets = np.zeros_like(self.beyond), np.zeros_like(self.beyond)
        count_weights(self.nodes, columns, users, targets)
        return users, targets

    def holds(
        self, patterns: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For pairs of a pattern and a target whether the one lies in the other, and whether that is open."""
        nodes = self.nodes
        places = patterns - nodes.bases[patterns]
        fits = (nodes.bases[patterns] == nodes.bases[targets]) & (nodes.sizes[patterns] < nodes.sizes[targets])
        kept = places >> 6 < nodes.words[targets]
        # Where there is no room for a pattern nothing is known.
        known, open_ = np.zeros(len(patterns), dtype=np.bool_), fits & ~kept & (self.beyond[patterns] > 0)
        fits &= kept
        at, bits = (nodes.starts[targets] + (places >> 6))[fits], (places[fits] & 63).astype(np.uint64)
        known[fits], open_[fits] = ((each[at] >> bits) & np.uint64(1) != 0 for each in (self.known, self.open_))
        return known, open_

    def look(self, steps: int, report: Callable[[int, int], None], parts: Parts = ALONE, key: str = "") -> int:
        """Decide as many pairs as *steps* allow, round after round; how many of them it took.

        Long layers go by *parts*; *key* names all that is known before the first round.
        """
        order = np.argsort(self.nodes.sizes, kind="stable")
        order = order[self.nodes.words[order] > 0]
        layers = list(_layers(self.nodes.sizes[order], self.nodes.words[order]))
        with threads(self.workers) as each:
            return self._rounds(steps, report, Course(order, layers, parts, key, each, local()))

    def _rounds(self, steps: int, report: Callable[[int, int], None], course: Course) -> int:
        left, number, schedule, doubts = steps, 0, Schedule(), Doubts.of(self)
        tried = Tried(len(self.beyond))
        # What the filters have ruled out is news.
        changed = Changed(np.zeros(len(self.beyond), dtype=np.bool_), np.ones(len(self.beyond), dtype=np.bool_))
        while left > 0 and (turn := schedule.next()):
            windows = self._windows(turn.round, doubts, tried)
            if not windows[:, 1].any():
                continue
            patience = inf if turn.whole else max(_PATIENCE, (steps - left) >> 3)
            told = partial(_told, report, steps, steps - left)
            used, rest, complete = self._round(course, number, turn, windows, changed, left, patience, told)
            used += _PASSES * len(self.open_) + self._close(course, number, changed)
            left -= used
            if not complete:
                # What is left of the steps could do more here and less there: nobody else has it.
                return steps
            before, doubts = doubts, Doubts.of(self)
            schedule.note(before.total - doubts.total, used, rest)
            tried.note(turn.round, windows[:, 1] > 0, rest)
            number += 1
        return min(steps - left, steps)

    def _round(
        self,
        course: Course,
        number: int,
        turn: Turn,
        windows: NDArray[np.int64],
        changed: Changed,
        steps: int,
        patience: float,
        report: Callable[[int], None],
    ) -> tuple[int, int | None, bool]:
        """Go through all targets once: the steps it took, where it left off, and whether they were enough.

        What comes before its start only infers, and so does what comes after it has lost *patience*. Some blocks at a
        time have all that their searches could take, or share out what is left. A block that then ends with a rest did
        all that it would have done with more steps. Where one ends without, no other one searches any more: with more
        steps all of this is done, too, and something beside.
        """
        pairs = self._worth(windows)
        pairs, used, rest, complete, grown = pairs[course.order], 0, None, True, False
        for at, layer in enumerate(course.layers):
            # Where nothing is looked for, nothing follows either, as long as nothing was found.
            if not grown and not pairs[layer.start : layer.stop].any():
                continue
            for place, group in enumerate(_groups(layer, pairs, turn)):
                # Inferring alone may have taken as much before the start: each turn goes on by one group at least.
                if used >= patience and rest is None and group[0].start > turn.start:
                    rest = group[0].start
                searches = complete and rest is None and group[0].start >= turn.start
                left, shares = max(steps - used, 0) if searches else 0, [block.wanted for block in group]
                wanted = sum(shares)
                if wanted > left:
                    shares = [share * left // wanted for share in shares]
                blocks = list(zip(group, shares, strict=True))
                work = LayerWork(self, course, layer, turn.round, windows, changed, blocks)
                key = key_of(course.key, number, at, place)
                by_parts = course.parts is not ALONE and sum(shares) >= _LONG
                took = work.in_parts(key) if by_parts else work.at_once()
                used += sum(searched + inferred for searched, inferred in took)
                if searches and wanted > left:
                    complete = all(
                        its < share or not block.wanted for (block, share), (its, _) in zip(blocks, took, strict=True)
                    )
            close_layer(self.nodes, course.order, layer.start, layer.stop, self.known, self.open_, changed.grew)
            grown = grown or bool(changed.grew[course.order[layer.start : layer.stop]].any())
            report(used)
        return used, rest, complete

    def _worth(self, windows: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each target the open patterns in whose windows it is, times the effort of one search."""
        pairs = np.zeros_like(self.beyond)

        def count(start: int, stop: int) -> None:
            count_worth(self.nodes, self.open_, windows, pairs, start, stop)

        in_chunks(count, even_bounds(self.nodes.words, least=1 << 20), self.workers)
        return pairs

    def _close(self, course: Course, number: int, changed: Changed) -> int:
        """Rule out whatever holds something that is ruled out: what a round proved does not depend on its order.

        From then on, nothing has *changed*. How many steps it took.
        """

        def mark(start: int, stop: int) -> None:
            mark_words(self.nodes, self.known, starts, marks, start, stop)

        def rule_out(start: int, stop: int) -> int:
            return rule_out_all(self.nodes, self.known, self.open_, starts, marks, *changed, start, stop)

        bounds, groups = even_bounds(self.nodes.words), (self.nodes.words.astype(np.int64) + 63) >> 6
        starts, marks = np.cumsum(groups) - groups, np.zeros(int(groups.sum()), dtype=np.uint64)
        in_chunks(mark, bounds, self.workers)
        if course.parts is ALONE or len(self.open_) < _WIDE:
            took = sum(in_chunks(rule_out, bounds, self.workers))
            changed.clear()
            return took

        def changes(part: int) -> Values:
            start, stop = chosen[part], chosen[part + 1]
            columns = slice(self.nodes.starts[start], self.nodes.starts[stop])
            before = self.open_[columns].copy()
            steps = in_chunks(rule_out, bounds[(bounds >= start) & (bounds <= stop)], 1)
            at = columns.start + np.flatnonzero(self.open_[columns] != before)
            return {"at": at, "open": self.open_[at], "steps": np.array(steps)}

        chosen = bounds[np.linspace(0, len(bounds) - 1, min(len(bounds) - 1, _CLOSING) + 1).astype(int)].tolist()
        key, took = key_of(course.key, "close", number), 0
        for _, values in course.parts.each(key, changes, len(chosen) - 1, workers=self.workers):
            self.open_[values["at"]] = values["open"]
            took += int(values["steps"].sum())
        changed.clear()
        return took

    def _windows(self, each: Round, doubts: Doubts, tried: Tried) -> NDArray[np.int64]:
        """From which target to which each pattern is looked for in a round; none where it is not."""
        chances, pairs = doubts.chances, doubts.pairs
        # A search is worth most where few open pairs stand between a user and the only candidate.
        worth = (pairs > 0) & (chances >= each.chance) & (chances / np.maximum(pairs, 1) >= each.gain)
        worth &= (self.nodes.sizes >= each.low) & (self.nodes.sizes < each.high) & (tried.steps < each.steps)
        windows = np.zeros((len(worth), 2), dtype=np.int64)
        if each.reach:
            choose_largest(self.nodes, self.open_, each.reach, each.larger, worth, windows)
        else:
            windows[worth, 1] = len(worth)
        return windows


class Doubts(NamedTuple):
    """What is open between two rounds."""

    #: For each pattern how far apart the best and the worst chance of its users are, all of them together, and its
    #: open pairs.
    chances: NDArray[np.float64]
    pairs: NDArray[np.int64]
    #: All chances together, and somewhat for each user about whom anything is open.
    total: float

    @classmethod
    def of(cls, found: Containment) -> Doubts:
        """How things stand."""
        nodes = found.nodes
        (sure, _), (unsure, pairs) = on_threads(found.count, (found.known, found.open_), found.workers)
        sure += nodes.weights
        most = np.maximum(sure + unsure + found.beyond, 1)
        chances = nodes.users * (1 / np.maximum(sure, 1) - 1 / most)
        undecided = int(nodes.users[unsure + found.beyond > 0].sum())
        # The same sum on every machine: what comes next depends on it.
        return cls(chances, pairs, fsum(chances) + undecided * _UNDECIDED)


class Tried:
    """With how many steps each pattern was looked for in all its open targets: as many again would find no more."""

    def __init__(self, patterns: int) -> None:
        self.steps = np.zeros(patterns, dtype=np.int64)
        self._begun: dict[Round, NDArray[np.bool_]] = {}

    def note(self, each: Round, worth: NDArray[np.bool_], rest: int | None) -> None:
        """Note for which patterns a round looked, or a part of it with a *rest* to come."""
        if each.reach:
            return
        whole = worth & self._begun.pop(each, worth)
        if rest is None:
            self.steps[whole] = np.maximum(self.steps[whole], each.steps)
        else:
            self._begun[each] = whole


class Changed(NamedTuple):
    """What a round has changed."""

    #: In which targets something was found, and for which something was ruled out.
    grew: NDArray[np.bool_]
    lost: NDArray[np.bool_]

    def clear(self) -> None:
        """Begin anew."""
        for each in self:
            each[:] = False


class Course(NamedTuple):
    """What all rounds of one search have in common: the targets by rising size, and the layers of these."""

    order: NDArray[np.int64]
    layers: list[Layer]
    parts: Parts
    key: str
    #: A `map` on the threads of the search, and each thread's room.
    each: Each
    own: local


class LayerWork(NamedTuple):
    """Searches of one layer in one round: some of its blocks, each with its share of the steps."""

    found: Containment
    course: Course
    layer: Layer
    round: Round
    windows: NDArray[np.int64]
    changed: Changed
    blocks: Blocks

    def at_once(self) -> list[Took]:
        """Do all blocks; how many steps each took."""
        each: Each = self.course.each if len(self.blocks) > 1 else map
        return [took for part in each(self._part, self._parts()) for took in part]

    def in_parts(self, key: str) -> list[Took]:
        """Do all blocks, or take over what others have found in them; how many steps each took."""
        took: list[Took] = []
        blocks = list(self._parts())
        for _, values in self.course.parts.each(
            key, lambda part: self._changes(blocks[part]), len(blocks), workers=self.found.workers
        ):
            at = values["at"]
            self.found.known[at], self.found.open_[at] = values["known"], values["open"]
            for changed, name in zip(self.changed, ("grew", "lost"), strict=True):
                changed[self.course.order[values[name]]] = True
            took += zip(values["searched"].tolist(), values["inferred"].tolist(), strict=True)
        return took

    def _parts(self) -> Iterator[Blocks]:
        """The blocks in a few parts: blocks side by side read the same columns."""
        bounds = np.linspace(0, len(self.blocks), min(len(self.blocks), _PARTS) + 1).astype(int)
        return (self.blocks[start:stop] for start, stop in pairwise(bounds.tolist()))

    def _part(self, blocks: Blocks) -> list[Took]:
        return [self._decide(*block) for block in blocks]

    def _changes(self, blocks: Blocks) -> Values:
        """Do the blocks of a part: the words of the columns that changed, and the targets that grew or lost."""
        start, stop = blocks[0][0].start, blocks[-1][0].stop
        known, open_ = self.found.known, self.found.open_
        words = self._words(start, stop)
        before = known[words], open_[words]
        steps = self._part(blocks)
        at = words[(known[words] != before[0]) | (open_[words] != before[1])]
        targets = self.course.order[start:stop]
        grew, lost = (start + np.flatnonzero(each[targets]) for each in self.changed)
        searched, inferred = np.array(steps).T
        return {
            "at": at, "known": known[at], "open": open_[at], "grew": grew, "lost": lost, "searched": searched,
            "inferred": inferred,
        }  # fmt: skip

    def _words(self, start: int, stop: int) -> NDArray[np.int64]:
        """The words of the columns of some targets."""
        targets = self.course.order[start:stop]
        words = self.found.nodes.words[targets]
        before = np.cumsum(words) - words
        return np.repeat(self.found.nodes.starts[targets] - before, words) + np.arange(words.sum())

    def _decide(self, block: Block, share: int) -> Took:
        found, own = self.found, self.course.own
        space = self._space()
        searched, inferred = decide(
            found.shapes, found.plans, found.around, found.rows, found.nodes, self.course.order, block.start,
            block.stop, self.layer.least, found.known, found.open_, *self.changed, self.windows, space,
            self.round.steps, share, self.round.rising, own.absent,
        )  # fmt: skip
        # Its last visit may take a little more than is left.
        return min(searched, share), inferred

    def _space(self) -> Space:
        own, nodes = self.course.own, self.found.nodes
        if not hasattr(own, "space"):
            most = int(nodes.sizes.max(initial=0)) + 1
            own.absent = np.empty(int(nodes.words.max(initial=1)), dtype=np.uint64)
            own.space = space_for(most, min(_MOST_WORDS, (most + 2) * (most + 2) * (most // 64 + 2)))
        space: Space = own.space
        return space


def _told(report: Callable[[int, int], None], steps: int, before: int, used: int) -> None:
    # What follows is inferred although the steps are spent.
    report(min(before + used, steps), steps)


def _filtered(shapes: Shapes, nodes: Nodes, workers: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The columns of the pairs that hold what the pattern needs, and masked users in targets without room for it."""
    needs = needs_of(shapes, nodes, workers)
    open_, beyond = np.zeros(int(nodes.words.sum()), dtype=np.uint64), np.zeros(len(nodes.sizes), dtype=np.int64)
    in_chunks(lambda start, stop: fill_columns(needs, nodes, start, stop, open_, beyond), _whole_words(nodes), workers)
    return open_, beyond


def _whole_words(nodes: Nodes) -> NDArray[np.int64]:
    """Bounds of chunks of patterns no two of which write to the same word of a column."""
    bounds = even_bounds(np.where(nodes.users > 0, (nodes.ends - nodes.highs) // 8 + 1, 0))
    inside = bounds[:-1]
    bounds[:-1] = inside - (inside - nodes.bases[inside]) % 64
    return np.unique(bounds)


def _layers(sizes: NDArray[np.int64], words: NDArray[np.int64]) -> Iterator[Layer]:
    """Cut targets that go by size into layers; those of one size stay together."""
    starts = [*np.flatnonzero(np.diff(sizes, prepend=-1)).tolist(), len(sizes)]
    start = 0
    for stop in starts[1:]:
        if stop - start >= _LAYER or stop == len(sizes):
            yield Layer(start, stop, int(sizes[start]), VISIT + (int(words[start:stop].max()) >> 2))
            start = stop


def _groups(layer: Layer, pairs: NDArray[np.int64], turn: Turn) -> Iterator[list[Block]]:
    """The blocks of a layer, those before the start of a turn apart, as many as are done at a time."""
    middle = min(max(layer.start, turn.start), layer.stop)
    for start, stop in ((layer.start, middle), (middle, layer.stop)):
        group: list[Block] = []
        for block in _blocks(start, stop, pairs, turn.round.steps, layer.visit):
            group.append(block)
            if len(group) >= _AT_A_TIME and sum(each.wanted for each in group) >= _GROUP:
                yield group
                group = []
        if group:
            yield group


def _blocks(start: int, stop: int, pairs: NDArray[np.int64], steps: int, visit: int) -> Iterator[Block]:
    """Cut targets into blocks of about as many pairs, each of which may take so many *steps*."""
    if start == stop:
        return
    done = np.concatenate([[0], np.cumsum(pairs[start:stop] + 1)])
    last = int(done[-1])
    parts = max(1, last // _BLOCK, min(last * steps // _STEPS, _MOST_BLOCKS))
    bounds = start + np.unique(np.searchsorted(done, np.linspace(0, last, parts + 1)))
    bounds[0], bounds[-1] = start, stop
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield Block(low, high, int(pairs[low:high].sum()) * (steps + visit))
