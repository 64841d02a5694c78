"""Proves anew, by code that shares nothing with the searches, that no node costs less than the best.

A recursion: what a set of attributes gains at most is no more than what its halves gain each by itself; where that is
not little enough, one attribute goes a step down, or stays. For k alone, and losses that are whole numbers a level.
"""

from __future__ import annotations

import numba
import numpy as np

#: So many attributes are bounded by their halves before they are gone through.
_HALVED = 8


@numba.njit(nogil=True)
def _lost(column, rows, weights, starts, k, counts):
    """The rows of too small classes, were each class split by *column*."""
    gone = 0
    for each in range(len(starts) - 1):
        for place in range(starts[each], starts[each + 1]):
            counts[column[rows[place]]] += weights[place]
        for place in range(starts[each], starts[each + 1]):
            label = column[rows[place]]
            if counts[label] < k:
                gone += counts[label]
            counts[label] = 0
    return gone


@numba.njit(nogil=True)
def _split(column, rows, weights, starts, k, counts):
    """The classes split by *column*, those of too few rows left out, and how many rows these had."""
    order, size, gone = np.empty(len(rows), dtype=np.int64), 0, 0
    bounds, found = np.empty(len(rows) + 1, dtype=np.int64), 0
    bounds[0] = 0
    for each in range(len(starts) - 1):
        low, high = starts[each], starts[each + 1]
        inside = np.argsort(column[rows[low:high]], kind="mergesort") + low
        begin = 0
        while begin < high - low:
            label, end, weight = column[rows[inside[begin]]], begin, 0
            while end < high - low and column[rows[inside[end]]] == label:
                weight += weights[inside[end]]
                end += 1
            if weight < k:
                gone += weight
            else:
                order[size : size + end - begin] = inside[begin:end]
                size += end - begin
                found += 1
                bounds[found] = size
            begin = end
    return rows[order[:size]], weights[order[:size]], bounds[: found + 1].copy(), gone


@numba.njit(nogil=True)
def _merged(codes, attributes, top, rows, weights, starts, k):
    """Rows that none of the *attributes* tells apart as one; classes in which no row can be lost are left out."""
    to_rows, to_weights = np.empty_like(rows), np.empty_like(weights)
    bounds, size, found = np.empty(len(starts), dtype=np.int64), 0, 0
    bounds[0] = 0
    for each in range(len(starts) - 1):
        low, high = starts[each], starts[each + 1]
        key = np.zeros(high - low, dtype=np.int64)
        for attribute in attributes:
            column = codes[attribute, top[attribute]]
            for place in range(low, high):
                key[place - low] = key[place - low] * 1_000_003 + column[rows[place]]
        inside = np.argsort(key, kind="mergesort") + low
        begin, rare = size, False
        for which in range(high - low):
            row, same = rows[inside[which]], which > 0
            if same:
                for attribute in attributes:
                    column = codes[attribute, top[attribute]]
                    if column[row] != column[to_rows[size - 1]]:
                        same = False
                        break
            if same:
                to_weights[size - 1] += weights[inside[which]]
            else:
                to_rows[size], to_weights[size] = row, weights[inside[which]]
                size += 1
        for place in range(begin, size):
            rare = rare or to_weights[place] < k
        if rare and size > begin + 1:
            found += 1
            bounds[found] = size
        else:
            size = begin
    return to_rows[:size].copy(), to_weights[:size].copy(), bounds[: found + 1].copy()


@numba.njit(nogil=True)
def _most(codes, gains, among, now, highest, rows, weights, starts, lost, k, limit, need, counts, told):
    """What *among* gain at most beyond *now*, or *need* if that is no less; the others stay where they are."""
    told[0] += 1
    top, total = highest.copy(), 0
    for attribute in among:
        gone = lost
        while top[attribute] > now[attribute]:
            gone = lost + _lost(codes[attribute, top[attribute]], rows, weights, starts, k, counts)
            if gone <= limit:
                break
            top[attribute] -= 1
        total += gains[attribute, top[attribute]] - gains[attribute, now[attribute]]
    if total <= need:
        return need
    count, best, pick = 0, -1.0, -1
    left = np.empty_like(among)
    for attribute in among:
        if top[attribute] > now[attribute]:
            left[count] = attribute
            count += 1
            gone = _lost(codes[attribute, top[attribute]], rows, weights, starts, k, counts)
            if gone / (top[attribute] - now[attribute]) > best:
                best, pick = gone / (top[attribute] - now[attribute]), attribute
    left = left[:count].copy()
    if count < 2:
        return total
    rows, weights, starts = _merged(codes, left, top, rows, weights, starts, k)
    if len(rows) == 0:
        return total
    if count >= _HALVED:
        first, second = left[: count // 2].copy(), left[count // 2 :].copy()
        other = 0
        for attribute in second:
            other += gains[attribute, top[attribute]] - gains[attribute, now[attribute]]
        reached = _most(
            codes, gains, first, now, top, rows, weights, starts, lost, k, limit, need - other, counts, told
        )
        if reached + other <= need:
            return need
        other = _most(
            codes, gains, second, now, top, rows, weights, starts, lost, k, limit, need - reached, counts, told
        )
        if reached + other <= need:
            return need
    # The least step it must go down, for with fewer no more than what is needed can be gained.
    step = now[pick] + 1
    while total - gains[pick, top[pick]] + gains[pick, step] <= need:
        step += 1
    down, gained = now.copy(), gains[pick, step] - gains[pick, now[pick]]
    down[pick] = step
    fewer, lighter, bounds, gone = _split(codes[pick, step], rows, weights, starts, k, counts)
    if lost + gone <= limit:
        reached = _most(
            codes, gains, left, down, top, fewer, lighter, bounds, lost + gone, k, limit, need - gained, counts, told
        )
        need = max(need, reached + gained)
    if step == now[pick] + 1 and total - gains[pick, top[pick]] + gains[pick, now[pick]] > need:
        rest = left[left != pick]
        need = max(need, _most(codes, gains, rest, now, top, rows, weights, starts, lost, k, limit, need, counts, told))
    return need


def gains_more(table, hierarchies, node, limits):
    """Whether a node that keeps k costs less than *node* by precision; and how many parts were looked at."""
    codes, gains, heights = [], [], []
    whole = int(np.lcm.reduce([max(each.height, 1) for each in hierarchies.values()]))
    for name, each in hierarchies.items():
        over = each.over(table.attribute(name).domain)
        heights.append(over.height)
        codes.append([level.groups[table.columns[name]] for level in reversed(over.levels)])
        gains.append([step * (whole // max(over.height, 1)) for step in range(over.height + 1)])
    size = max(heights) + 1
    codes = [[*each, *[each[-1]] * (size - len(each))] for each in codes]
    gains = [[*each, *[each[-1]] * (size - len(each))] for each in gains]
    codes, gains, heights = np.array(codes, dtype=np.int64), np.array(gains, dtype=np.int64), np.array(heights)
    aim = sum(int(gains[place, heights[place] - level]) for place, level in enumerate(node))
    k, limit, rows = limits.k or 1, limits.suppressible(len(table)), np.arange(len(table))
    counts, told = np.zeros(int(codes.max()) + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    most = _most(
        codes,
        gains,
        _linked(codes, gains, heights, k, limit),
        np.zeros_like(heights),
        heights,
        rows,
        np.ones_like(rows),
        np.array([0, len(rows)]),
        0,
        k,
        limit,
        aim,
        counts,
        told,
    )
    return most > aim, int(told[0])


def _linked(codes, gains, heights, k, limit):
    """The attributes in an order in which those that hinder each other stand together."""
    count, rows = len(heights), np.arange(codes.shape[2])
    counts, told = np.zeros(int(codes.max()) + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def alone(*attributes):
        given = np.zeros_like(heights), heights, rows, np.ones_like(rows), np.array([0, len(rows)])
        return _most(codes, gains, np.array(attributes), *given, 0, k, limit // 3, -1, counts, told)

    each = [alone(attribute) for attribute in range(count)]
    links = np.zeros((count, count))
    for one in range(count):
        for other in range(one):
            links[one, other] = links[other, one] = each[one] + each[other] - alone(one, other)
    order = [int(np.argmax(links.sum(axis=1)))]
    while len(order) < count:
        rest = [attribute for attribute in range(count) if attribute not in order]
        order.append(max(rest, key=lambda attribute: links[attribute, order].sum()))
    return np.array(order)
