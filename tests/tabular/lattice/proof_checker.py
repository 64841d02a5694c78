"""Checks a certificate step by step by counting rows; shares nothing with the search that wrote it."""

from __future__ import annotations

import numpy as np

from tabular.lattice.space import Node


class Unproven(Exception):
    """A step of the proof does not hold."""


class ProofChecker:
    """Walks through the parts of a proof. Each is all nodes from `low` levels to `high` levels; see `Certificate`."""

    def __init__(self, labels, costs, node: Node, *, k=1, diversity=1, sensitive=None, limit=0):
        """*labels* by attribute and level, a label a row; *costs* by attribute and level."""
        self.labels = [[np.unique(level, return_inverse=True)[1] for level in each] for each in labels]
        self.sizes = [[int(level.max()) + 1 for level in each] for each in self.labels]
        self.costs, self.heights = costs, [len(each) - 1 for each in labels]
        self.aim = sum(each[level] for each, level in zip(costs, node, strict=True))
        self.k, self.diversity, self.limit = k, diversity, limit
        self.sensitive = None if sensitive is None else np.unique(sensitive, return_inverse=True)[1]
        self.counted = 0
        if self.lost(node) > limit:
            raise Unproven("The best node breaks the limits.")

    def check(self, lines):
        """Raise `Unproven` unless the *lines* show that no node that costs less keeps the limits."""
        heights = self.heights
        classes = self.only_kept(np.zeros(len(self.labels[0][0]), dtype=np.int64), np.arange(len(self.labels[0][0])), 0)
        parts = [[[0] * len(heights), list(heights), classes, False, -1]]
        for number, (what, attribute, step) in enumerate(np.asarray(lines).tolist()):
            if not parts:
                raise Unproven(f"Line {number}: the proof goes on after its end.")
            if what == 4:
                self.done_with(parts)
                continue
            part = parts[-1]
            if what == 3:
                if part[2][2] <= self.limit:
                    raise Unproven(f"Line {number}: the part's highest node keeps the limits.")
                part[3] = True
                continue
            level = heights[attribute] - step
            if what == 0:
                self.go_into(parts, attribute, level)
            elif what == 1:
                self.raise_low(part, attribute, level)
            elif what == 2:
                self.take_free(part, attribute, level)
            else:
                raise Unproven(f"Line {number}: there is no step {what}.")
        if parts:
            raise Unproven("The proof ends before all parts are done with.")

    def cost(self, levels):
        return sum(each[level] for each, level in zip(self.costs, levels, strict=True))

    def done_with(self, parts):
        low, _, _, broken, _ = parts[-1]
        if not broken and self.cost(low) < self.aim:
            raise Unproven(f"A part is left though {low} costs less than the best node.")
        _, _, _, _, attribute = parts.pop()
        if parts:
            # What is left of the part before: the attribute stays at its highest level.
            parts[-1][0][attribute] = parts[-1][1][attribute]

    def go_into(self, parts, attribute, level):
        low, high, (classes, rows, lost), broken, _ = parts[-1]
        if broken or not low[attribute] <= level < high[attribute]:
            raise Unproven(f"There is no part of {low} to {high} with attribute {attribute} at {level}.")
        for between in range(level + 1, high[attribute]):
            dear = self.cost([*low[:attribute], between, *low[attribute + 1 :]]) >= self.aim
            # Levels are nested: with as many labels they tell the same rows apart.
            if not dear and self.sizes[attribute][between] != self.sizes[attribute][level]:
                raise Unproven(f"Level {between} of attribute {attribute} is left out.")
        split = self.only_kept(self.split(classes, attribute, level, rows), rows, lost)
        below = [*high[:attribute], level, *high[attribute + 1 :]]
        parts.append([list(low), below, split, False, attribute])

    def raise_low(self, part, attribute, level):
        low, high, (classes, rows, lost), _, _ = part
        if level != low[attribute] + 1 or level > high[attribute]:
            raise Unproven(f"Attribute {attribute} is raised from {low[attribute]} to {level}.")
        split = self.split(classes, attribute, level - 1, rows)
        if lost + int(self.small(split, rows).sum()) <= self.limit:
            raise Unproven(f"{high} with attribute {attribute} at {level - 1} keeps the limits.")
        low[attribute] = level

    def take_free(self, part, attribute, level):
        low, high, (classes, rows, _), _, _ = part
        if level != low[attribute]:
            raise Unproven(f"Attribute {attribute} goes to {level}, not to its lowest {low[attribute]}.")
        split = self.split(classes, attribute, level, rows)
        # Of each class how many classes it is split into.
        pieces = np.bincount(
            np.unique(np.stack([classes, split]), axis=1)[0], minlength=int(classes.max(initial=-1)) + 1
        )
        if (pieces > 1).any():
            atoms = classes
            for other in range(len(low)):
                if low[other] < high[other]:
                    atoms = self.split(atoms, other, low[other], rows)
            # Rows that nothing tells apart are never lost where they are many and of enough values: all of them are in
            # one class at every node of the part.
            endangered = self.small(atoms, rows)
            if (pieces[classes[endangered]] > 1).any():
                raise Unproven(f"Attribute {attribute} at {level} splits a class in which rows can be lost.")
        high[attribute] = level

    def lost(self, node):
        rows = np.arange(len(self.labels[0][0]))
        classes = np.zeros(len(rows), dtype=np.int64)
        for attribute, level in enumerate(node):
            classes = self.split(classes, attribute, level, rows)
        return int(self.small(classes, rows).sum())

    def split(self, classes, attribute, level, rows):
        """The classes split by one more attribute, numbered anew."""
        keys = classes * self.sizes[attribute][level] + self.labels[attribute][level][rows]
        if not len(keys):
            return keys
        seen = np.zeros(int(keys.max()) + 1, dtype=np.int64)
        seen[keys] = 1
        return (np.cumsum(seen) - 1)[keys]

    def small(self, classes, rows):
        """Which rows lie in classes that break the limits."""
        self.counted += 1
        breaks = np.bincount(classes) < self.k if len(classes) else np.zeros(0, dtype=bool)
        if self.diversity > 1 and len(classes):
            pairs = np.unique(np.stack([classes, self.sensitive[rows]]), axis=1)
            breaks |= np.bincount(pairs[0], minlength=len(breaks)) < self.diversity
        return breaks[classes]

    def only_kept(self, classes, rows, lost):
        """The classes and rows without those that are lost at every finer node, and how many these are."""
        gone = self.small(classes, rows)
        return classes[~gone], rows[~gone], lost + int(gone.sum())


def checker_of(table, hierarchies, node, limits, *, sensitive=None):
    """A checker for precision, from the table and its hierarchies."""
    names = list(hierarchies)
    over = {name: hierarchies[name].over(table.attribute(name).domain) for name in names}
    labels = [[level.groups[table.columns[name]] for level in over[name].levels] for name in names]
    whole = int(np.lcm.reduce([max(each.height, 1) for each in over.values()]))
    costs = [[level * whole // max(each.height, 1) for level in range(each.height + 1)] for each in over.values()]
    return ProofChecker(
        labels,
        costs,
        node,
        k=limits.k or 1,
        diversity=limits.l or 1,
        sensitive=None if sensitive is None else table.columns[sensitive],
        limit=limits.suppressible(len(table)),
    )
