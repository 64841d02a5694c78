"""Expectations of a sum Y of independent binomial counts: of |Y - m|, and of Y log Y.

So many records reach a cell of a table that PRAM masks: those of each origin by themselves, with one probability.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tabular.kernels import compiled

#: What is left out of an expectation has a probability below e to the minus this: 4e-12.
TAIL = 26.0

#: Logarithms of 1 + z are sums of so many powers where |z| is at most this: to 1e-13.
POWERS, NEAR = 18, 0.25

#: The step of the integral of Y log Y on a logarithmic scale; its error falls as e to the -10 over this.
STEP = 0.4

#: The integral begins at this over the mean; what lies before it is added by its first two terms.
BEGIN = 1e-3


@compiled
def expected_distance(records: NDArray[np.float64], chances: NDArray[np.float64], count: float) -> float:
    r"""E|Y - m| for the whole number m that *count* is; Y sums `binomial(records[i], chances[i])`.

    With g the characteristic function of Y - m, the mean of (1 - Re g(t)) / (1 - cos t) over a period is E|Y - m|, by
    the kernel of Fejér. Its mean over N midpoints is that of the triangle wave which is |Y - m| up to N; and the mean
    of 1 / (1 - cos t) over them is N / 2. By Bernstein's inequality N can be so small that more than that has the
    probability `TAIL` allows, and since |g(t)| <= exp(-var (1 - cos t)) midpoints far from 0 add nothing.
    """
    mean, variance, most = 0.0, 0.0, 0.0
    for place in range(len(records)):
        expected = records[place] * chances[place]
        mean += expected
        variance += expected * (1 - chances[place])
        most += records[place] if chances[place] > 0 else 0.0
    off = abs(mean - count)
    if count <= 0 or count >= most or variance < 1e-12:
        return off
    reach = TAIL / 3 + math.sqrt(TAIL * TAIL / 9 + 2 * TAIL * variance)
    if off >= reach:
        return off
    points = math.ceil(min(off + reach + 1, max(count, most - count)))
    # Of log g(t), the sum of records x log(1 + chance w) with w = exp(it) - 1, rare origins add powers of w.
    widest = math.sqrt(min(2 * TAIL / variance, 4.0))
    powers = np.zeros(POWERS)
    for place in range(len(records)):
        if chances[place] * widest <= NEAR:
            power = -records[place]
            for degree in range(POWERS):
                power *= -chances[place]
                powers[degree] += power / (degree + 1)
    total = 0.0
    for point in range((points + 1) // 2):
        angle = (2 * point + 1) * math.pi / points
        cosine, sine = 1 - math.cos(angle), math.sin(angle)
        if variance * cosine > TAIL:
            break
        size, turn = 0.0, 0.0
        for degree in range(POWERS - 1, -1, -1):
            real = size + powers[degree]
            size, turn = -cosine * real - sine * turn, sine * real - cosine * turn
        turn -= count * angle
        for place in range(len(records)):
            chance = chances[place]
            if chance * widest > NEAR:
                size += records[place] * math.log1p(max(-2 * chance * (1 - chance) * cosine, -1.0)) / 2
                turn += records[place] * math.atan2(chance * sine, 1 - chance * cosine)
        # Midpoints come in pairs but for the one at half of the period.
        twice = 1.0 if 2 * point + 1 == points else 2.0
        total += twice * math.exp(size) * math.cos(turn) / cosine
    return max(points / 2 - total / points, off)


@compiled
def expected_logarithm(records: NDArray[np.float64], chances: NDArray[np.float64]) -> float:
    """E[Y log Y], 0 log 0 being 0; Y sums `binomial(records[i], chances[i])`.

    Since log y is the integral of (exp(-t) - exp(-yt)) / t, this is that of (E[Y] exp(-t) - E[Y exp(-tY)]) / t. With
    log t as variable the trapezoidal rule is exact to about 1e-10 of the mean.
    """
    mean, variance, third = 0.0, 0.0, 0.0
    for place in range(len(records)):
        expected = records[place] * chances[place]
        mean += expected
        variance += expected * (1 - chances[place])
        third += expected * (1 - chances[place]) * (1 - 2 * chances[place])
    if mean <= 0:
        return 0.0
    first = variance + mean**2 - mean
    second = (third + 3 * mean * variance + mean**3 - mean) / 2
    time, factor = BEGIN / max(mean, 1.0), math.exp(STEP)
    # The steps before the first one are two geometric series.
    total = first * time / (factor - 1) - second * time**2 / (factor**2 - 1)
    while time < TAIL + math.log(1 + mean):
        fading = math.exp(-time)
        size, share = 0.0, 0.0
        for place in range(len(records)):
            left = 1 - chances[place] * (1 - fading)
            size += records[place] * math.log(left)
            share += records[place] * chances[place] * fading / left
        total += mean * fading - math.exp(size) * share
        time *= factor
    return STEP * total
