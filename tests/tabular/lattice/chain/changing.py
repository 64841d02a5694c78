"""Small tables that change from release to release, at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tabular import Table
from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Limits
from tests.strategies import seeds
from tests.tabular.lattice.problems import hierarchies


@dataclass(frozen=True)
class Changing:
    """The tables of a few releases: rows are added, removed and changed between them."""

    tables: list[Table]
    hierarchies: dict[str, Hierarchy]
    limits: Limits


@st.composite
def changing(draw, max_rows=24, min_tables=2, max_tables=4, max_attributes=3, max_size=4, with_l=False):
    """Tables of quasi-identifiers `q0`…, a key `id` and columns `sensitive` and `label`; the limits have a k."""
    sizes = draw(st.lists(st.integers(1, max_size), min_size=1, max_size=max_attributes))
    names = [f"q{place}" for place in range(len(sizes))]
    levels = {name: draw(hierarchies(name, size)) for name, size in zip(names, sizes, strict=True)}
    rng = np.random.default_rng(draw(seeds))
    rows = draw(st.integers(2, max_rows))
    share = draw(st.sampled_from([0.0, 0.1, 0.3, 0.6]))
    # In each attribute a value or two that are more frequent than the others: else hardly any class has two rows.
    weights = [rng.dirichlet(np.full(size, 0.5)) for size in sizes]
    people = {number: drawn(rng, weights) for number in range(rows)}
    tables, count = [table_of(people, names, sizes, rng)], rows
    for _ in range(draw(st.integers(min_tables, max_tables)) - 1):
        for number in list(people):
            fate = rng.random()
            if fate < share / 3 and len(people) > 1:
                del people[number]
            elif fate < share:
                people[number] = drawn(rng, weights)
        for _ in range(rng.integers(0, max(1, round(rows * share)) + 1) if share else 0):
            # Some come back who were there before.
            number = int(rng.integers(count)) if rng.random() < 0.3 else count
            count += number == count
            people[number] = drawn(rng, weights)
        tables.append(table_of(people, names, sizes, rng))
    limits = Limits(
        k=draw(st.integers(1, 4)),
        l=draw(st.none() | st.integers(1, 3)) if with_l else None,
        suppression=draw(st.sampled_from([0.0, 0.2, 0.5, 0.9])),
    )
    return Changing(tables, levels, limits)


def drawn(rng, weights):
    """The values of one person: one of each attribute, a sensitive one and a label."""
    values = [int(rng.choice(len(each), p=each)) for each in weights]
    return [*values, int(rng.integers(3)), int(rng.integers(2))]


def table_of(people, names, sizes, rng):
    """The people in random order, their domains all that there could be."""
    numbers = rng.permutation(sorted(people)).tolist()
    attributes = [
        Attribute(name="id", role="identifier"),
        *(
            Attribute(name=name, domain=tuple(str(value) for value in range(size)))
            for name, size in zip((*names, "sensitive", "label"), (*sizes, 3, 2), strict=True)
        ),
    ]
    columns = {"id": [f"p{number}" for number in numbers]}
    for place, name in enumerate((*names, "sensitive", "label")):
        columns[name] = [str(people[number][place]) for number in numbers]
    return Table.from_columns(columns, attributes)
