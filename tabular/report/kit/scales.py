"""From values to coordinates: nice ticks, scales, labels that keep clear of one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A straight line from values to coordinates; a logarithmic one if asked for."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + (self.end - self.start) * share


def nice_top(values: Sequence[float], *, ceiling: float | None = None) -> float:
    """A round number at or above all *values*, to end an axis that begins at 0; at most *ceiling*.

    >>> nice_top([0.12, 0.31]), nice_top([]), nice_top([0.97], ceiling=1.0)
    (0.4, 1.0, 1.0)
    """
    highest = max(values, default=0.0)
    if highest <= 0:
        return 1.0 if ceiling is None else ceiling
    step = nice_step(highest)
    top = step * math.ceil(highest / step - 1e-9)
    return round(top if ceiling is None else min(top, max(ceiling, highest)), 12)


def nice_step(span: float, *, at_most: int = 5) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that divides *span* into few parts.

    >>> nice_step(0.31), nice_step(7), nice_step(100)
    (0.1, 2.0, 20.0)
    """
    rough = span / at_most
    power = 10.0 ** math.floor(math.log10(rough))
    return next(round(each * power, 12) for each in (1, 2, 5, 10) if each * power >= rough * (1 - 1e-9))


def nice_ticks(top: float) -> list[float]:
    """Round values from 0 to *top*.

    >>> nice_ticks(0.4)
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """
    step = nice_step(top)
    return [round(step * position, 12) for position in range(math.floor(top / step + 1e-9) + 1)]


def tick_label(value: float) -> str:
    """A tick in as few digits as it has.

    >>> tick_label(0.1), tick_label(0.0), tick_label(20)
    ('0.1', '0', '20')
    """
    return f"{value:.6g}"


def spread_apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near to the *wanted* ones as may be, at least *gap* from one another, in the same order.

    >>> spread_apart([10, 11, 30], 8, 0, 40)
    [6.5, 14.5, 30.0]
    """
    order = sorted(range(len(wanted)), key=lambda each: (wanted[each], each))
    if len(order) > 1:
        gap = min(gap, (high - low) / (len(order) - 1))
    # Labels that would overlap form a block, which stands centred on where its labels wanted to be.
    blocks: list[list[int]] = []
    for each in order:
        blocks.append([each])
        while len(blocks) > 1 and _start(blocks[-1], wanted, gap, low, high) < _end(
            blocks[-2], wanted, gap, low, high
        ) + (gap - 1e-9):
            last = blocks.pop()
            blocks[-1].extend(last)
    placed = [0.0] * len(wanted)
    for block in blocks:
        start = _start(block, wanted, gap, low, high)
        for position, each in enumerate(block):
            placed[each] = float(start + position * gap)
    return placed


def _start(block: Sequence[int], wanted: Sequence[float], gap: float, low: float, high: float) -> float:
    middle = sum(wanted[each] for each in block) / len(block)
    length = gap * (len(block) - 1)
    return max(low, min(middle - length / 2, high - length))


def _end(block: Sequence[int], wanted: Sequence[float], gap: float, low: float, high: float) -> float:
    return _start(block, wanted, gap, low, high) + gap * (len(block) - 1)
