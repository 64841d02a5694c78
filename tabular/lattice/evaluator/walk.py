"""Going through many nodes, each rolled up from the nearest finer one that is at hand, in bounded memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled, inlined
from tabular.lattice.evaluator.class_metrics import Wanted, appraise
from tabular.lattice.evaluator.rollup import Bench, roll_pairs_up, roll_up
from tabular.lattice.evaluator.row_keys import Classes, Coding, Pairs


class Room(NamedTuple):
    """Room to work in: for classes one behind the other, for a roll-up, and for what is said of one node."""

    classes: Classes
    bench: Bench
    scratch: NDArray[np.int64]


#: What is counted of classes: groups, classes, pairs of sensitive values, pairs of labels.
KINDS = 4


def sizes_of(classes: Classes) -> NDArray[np.int64]:
    """How many of each kind there are."""
    return np.array([len(classes.keys), len(classes.sizes), len(classes.sensitive.rows), len(classes.labels.rows)])


def room_for(base: Classes, depth: int, labels: int, suppressible: int) -> Room:
    """Room for a walk from *base* along chains of up to *depth* nodes; memory is taken as it is used.

    Chains whose classes do not fit are cut short: their nodes roll up from a finer one that is still there. The inner
    attributes have up to so many *labels* together.
    """
    sizes = sizes_of(base).tolist()
    groups, many, of_values, of_labels = (
        number * min(depth + 2, max(6, 2_000_000 // max(number, 1))) for number in sizes
    )
    return Room(
        Classes(
            np.empty((groups, base.keys.shape[1]), dtype=np.int64),
            np.empty(many, dtype=np.int64),
            np.empty(many, dtype=np.int32),
            np.empty(many if len(base.present) else 0, dtype=np.int64),
            Pairs(*(np.empty(of_values, dtype=np.int32) for _ in range(3))),
            Pairs(*(np.empty(of_labels, dtype=np.int32) for _ in range(3))),
        ),
        Bench(
            np.empty(4 * max(*sizes, 8), dtype=np.int32),
            np.empty(sizes[1], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0] + 1, dtype=np.int32),
            np.zeros(labels, dtype=np.int32),
            np.zeros(labels, dtype=np.int64),
            np.zeros(labels, dtype=np.int32),
            np.zeros(labels // 32 + 1, dtype=np.int64),
        ),
        np.zeros(suppressible + 2, dtype=np.int64),
    )


@inlined
def part_of(classes: Classes, begin: NDArray[np.int64], end: NDArray[np.int64]) -> Classes:
    """The classes between two marks, each a place for each kind."""
    present = classes.present[begin[1] : end[1]] if len(classes.present) else classes.present
    return Classes(
        classes.keys[begin[0] : end[0]],
        classes.codes[begin[1] : end[1]],
        classes.sizes[begin[1] : end[1]],
        present,
        Pairs(
            classes.sensitive.classes[begin[2] : end[2]],
            classes.sensitive.values[begin[2] : end[2]],
            classes.sensitive.rows[begin[2] : end[2]],
        ),
        Pairs(
            classes.labels.classes[begin[3] : end[3]],
            classes.labels.values[begin[3] : end[3]],
            classes.labels.rows[begin[3] : end[3]],
        ),
    )


@inlined
def _everything(classes: Classes) -> NDArray[np.int64]:
    return np.array([len(classes.keys), len(classes.sizes), len(classes.sensitive.rows), len(classes.labels.rows)])


@compiled
def step(
    source: Classes,
    fine: NDArray[np.int16],
    coarse: NDArray[np.int16],
    coding: Coding,
    wanted: Wanted,
    room: Room,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
) -> None:
    """Roll node *coarse* up from *fine* into the room from mark *begin* on, and set mark *end*."""
    target = part_of(room.classes, begin, _everything(room.classes))
    with_pairs = len(source.sensitive.rows) > 0 or len(source.labels.rows) > 0
    groups, classes = roll_up(source, fine, coarse, coding, room.bench, target, with_pairs)
    end[:] = begin
    end[0] += groups
    end[1] += classes
    if len(source.sensitive.rows):
        end[2] += roll_pairs_up(source.sensitive, room.bench.owners, wanted.size, room.bench.table, target.sensitive)
    if len(source.labels.rows):
        end[3] += roll_pairs_up(source.labels, room.bench.owners, wanted.label_size, room.bench.table, target.labels)


@compiled
def walk(
    base: Classes,
    bottom: NDArray[np.int16],
    nodes: NDArray[np.int16],
    order: NDArray[np.int64],
    coding: Coding,
    wanted: Wanted,
    logs: NDArray[np.int64],
    room: Room,
    whole: NDArray[np.int64],
    other: NDArray[np.float64],
) -> int:
    """Say of each of *nodes*, in *order*, what there is to say; how many were rolled up is given back.

    A chain of nodes, each coarser than the one before, is kept: each new node first ends the chain where it is not
    coarser, and is rolled up from what is then the last one. In the order of their levels that is always a near one.
    """
    attributes = nodes.shape[1]
    limits, most = _everything(room.classes), _everything(base)
    marks = np.zeros((len(order) + 2, KINDS), dtype=np.int64)
    chain = np.empty(len(order) + 1, dtype=np.int64)
    length = rolled = 0
    for place in order:
        node = nodes[place]
        while length:
            last = nodes[chain[length - 1]]
            below = True
            for attribute in range(attributes):
                if last[attribute] > node[attribute]:
                    below = False
                    break
            if below:
                break
            length -= 1
        if length:
            source, fine = part_of(room.classes, marks[length - 1], marks[length]), nodes[chain[length - 1]]
        else:
            source, fine = base, bottom
        step(source, fine, node, coding, wanted, room, marks[length], marks[length + 1])
        rolled += 1
        found = part_of(room.classes, marks[length], marks[length + 1])
        appraise(found, node, coding, wanted, logs, room.scratch, whole[place], other[place])
        fits = True
        for kind in range(KINDS):
            if marks[length + 1, kind] + most[kind] > limits[kind]:
                fits = False
        if fits:
            chain[length] = place
            length += 1
    return rolled
