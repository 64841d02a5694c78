"""Originals and masked tables for tests, and the measures written out slowly, record by record, in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import log

import numpy as np
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.table import Table


@st.composite
def pairs_of_tables(draw, max_rows=8, max_columns=3, max_values=4, sets=True):
    """An original and a masked table: ties, missing values, domains of one category, values that do not occur, sets."""
    rows = draw(st.integers(1, max_rows))
    columns, masked, attributes = {}, {}, []
    for number in range(draw(st.integers(1, max_columns))):
        name = f"column {number}"
        domain = tuple(f"v{value}" for value in range(draw(st.integers(1, max_values))))
        kind = draw(st.sampled_from(["nominal", "ordinal"]))
        attributes.append(Attribute(name=name, kind=kind, domain=domain))
        cells = st.sampled_from((*domain, None) if draw(st.booleans()) else domain)
        columns[name] = draw(st.lists(cells, min_size=rows, max_size=rows))
        known = (*domain, None) if None in columns[name] else domain
        texts = ["" if value is None else value for value in known]
        labels = ["*", *("{" + "|".join(pair) + "}" for pair in combinations(texts, 2))] if sets else []
        other = st.one_of(st.sampled_from(known), st.sampled_from((*known, *labels)))
        masked[name] = [draw(st.one_of(st.just(value), other)) for value in columns[name]]
    original = Table.from_columns(columns, attributes)
    return original, original.masked(masked)


def random_pair(seed, rows, sizes, *, kept=0.6, sets=0.1):
    """A seeded pair of larger tables: domains of *sizes*, a share *kept* as it was, a share of *sets*."""
    rng = np.random.default_rng(seed)
    attributes, columns = [], {}
    for number, size in enumerate(sizes):
        kind = ("ordinal", "nominal")[number % 2]
        attributes.append(Attribute(name=f"column {number}", kind=kind, domain=tuple(range(size))))
        columns[f"column {number}"] = rng.integers(0, size, rows)
    original = Table.from_columns(columns, attributes)
    masked = original
    for attribute in original.attributes:
        size = len(attribute.domain)
        codes = np.where(rng.random(rows) < kept, original.columns[attribute.name], rng.integers(0, size, rows))
        members = [sorted(rng.choice(size, size=min(size, 3), replace=False).tolist()) for _ in range(4)]
        codes = np.where(rng.random(rows) < sets, size + rng.integers(0, 4, rows), codes)
        masked = masked.with_labels(attribute.name, codes, members)
    return original, masked


def members_of(table, name, row):
    """The codes a cell stands for."""
    size, code = len(table.attribute(name).domain), int(table.columns[name][row])
    return (code,) if code < size else table.sets[name][code - size]


def slow_distance(table, name, code, members):
    attribute = table.attribute(name)
    one = [
        Fraction(abs(code - each), len(attribute.domain)) if attribute.is_ordered else Fraction(int(code != each))
        for each in members
    ]
    return sum(one) / len(one)


def slow_record_distance(original, masked, row, masked_row):
    return sum(
        slow_distance(original, name, int(original.columns[name][row]), members_of(masked, name, masked_row))
        for name in original.names
    )


def slow_dbil(original, masked):
    return sum(slow_record_distance(original, masked, row, row) for row in range(len(original)))


def slow_tables(original, dimensions):
    for size in range(1, dimensions + 1):
        yield from combinations(original.names, size)


def slow_ctbil(original, masked, dimensions=2):
    total = Fraction(0)
    for names in slow_tables(original, dimensions):
        for cell in product(*(range(len(original.attribute(name).domain)) for name in names)):
            before = after = Fraction(0)
            for row in range(len(original)):
                before += all(original.columns[name][row] == value for name, value in zip(names, cell, strict=True))
                share = Fraction(1)
                for name, value in zip(names, cell, strict=True):
                    members = members_of(masked, name, row)
                    share *= Fraction(members.count(value), len(members))
                after += share
            total += abs(before - after)
    return total


def slow_cells(original, dimensions=2):
    return sum(
        int(np.prod([len(original.attribute(name).domain) for name in names]))
        for names in slow_tables(original, dimensions)
    )


def slow_ebil(original, masked):
    """For each attribute eq 2.13."""
    losses = []
    for name in original.names:
        pairs = list(zip(original.columns[name].tolist(), masked.columns[name].tolist(), strict=True))
        loss = 0.0
        for _, label in pairs:
            seen = [value for value, other in pairs if other == label]
            shares = [seen.count(value) / len(seen) for value in set(seen)]
            loss -= sum(share * log(share) for share in shares)
        losses.append(loss)
    return losses


def slow_rank(original, name, members):
    """The mean rank of the records that have one of the values; where there are none, of the places they would have."""
    column = sorted(original.columns[name].tolist())
    ranks = [Fraction(rank) for rank, code in enumerate(column, start=1) if code in members]
    if not ranks:
        ranks = [sum(code < member for code in column) + Fraction(1, 2) for member in members]
    return sum(ranks) / len(ranks)


def slow_id(original, masked, percent=10):
    found = 0
    for name in original.names:
        for row in range(len(original)):
            value, members = int(original.columns[name][row]), members_of(masked, name, row)
            if original.attribute(name).is_ordered:
                apart = abs(slow_rank(original, name, (value,)) - slow_rank(original, name, members))
                found += apart <= Fraction(percent, 100) * len(original)
            else:
                found += members == (value,)
    return found


def slow_dbrl(original, masked):
    right = Fraction(0)
    for masked_row in range(len(masked)):
        apart = [slow_record_distance(original, masked, row, masked_row) for row in range(len(original))]
        if apart[masked_row] == min(apart):
            right += Fraction(1, apart.count(min(apart)))
    return right
