"""Sixty people with three quasi-identifiers, the table of a later time, and a plain count of their best node."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tabular import Table
from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy

NAMES = ("age", "sex", "zip")
AGES = ("18", "19", "23", "25", "31", "38", "44", "52")
ZIPS = ("8001", "8002", "8010", "8101")
HIERARCHIES = {
    "age": Hierarchy.of(
        "age", AGES, [[f"{age[0]}0s" for age in AGES], ["young" if age < "30" else "old" for age in AGES], ["*"] * 8]
    ),
    "sex": Hierarchy.of("sex", ("f", "m"), [["*", "*"]]),
    "zip": Hierarchy.of(
        "zip", ZIPS, [[f"{code[:3]}*" for code in ZIPS], [f"{code[:2]}**" for code in ZIPS], ["*"] * 4]
    ),
}


def table_of(rows):
    """A table of rows `name, age, sex, zip, illness, income`."""
    columns = dict(zip(("name", *NAMES, "illness", "income"), map(list, zip(*rows, strict=True)), strict=True))
    described = [
        Attribute(name="name", role="identifier"),
        Attribute(name="age", domain=AGES),
        Attribute(name="sex", domain=("f", "m")),
        Attribute(name="zip", domain=ZIPS),
    ]
    return Table.from_columns(columns, described)


def drawn(draw, number, zips=ZIPS):
    """One person at random."""
    person = (f"person {number}", *(str(draw.choice(each)) for each in (AGES, ("f", "m"), zips)))
    return (*person, str(draw.choice(["flu", "cold", "gout"], p=[0.6, 0.3, 0.1])), str(draw.choice(["low", "high"])))


def people():
    """The sixty people."""
    draw = np.random.default_rng(1)
    return [drawn(draw, number) for number in range(60)]


def later():
    """A later time: seven people have gone and eight have come."""
    draw = np.random.default_rng(2)
    return [row for number, row in enumerate(people()) if number % 9] + [
        drawn(draw, number, ZIPS[:2]) for number in range(60, 68)
    ]


def plain_best(rows, k, limit):
    """By counting: the least GLM of a node with k where at most *limit* rows go, and how many nodes keep that."""
    labels = {name: {row[0]: row for row in each.rows()} for name, each in HIERARCHIES.items()}
    losses = {}
    for node in np.ndindex(4, 2, 4):
        written = [
            tuple(labels[name][value][level] for name, value, level in zip(NAMES, row[1:4], node, strict=True))
            for row in rows
        ]
        counts = Counter(written)
        kept = [each for each in written if counts[each] >= k]
        if len(rows) - len(kept) > limit:
            continue
        losses[node] = 3.0 * (len(rows) - len(kept))
        for each in kept:
            for name, label, level in zip(NAMES, each, node, strict=True):
                leaves = sum(row[level] == label for row in labels[name].values())
                losses[node] += (leaves - 1) / (len(labels[name]) - 1)
    return min(losses.values()), len(losses)
