"""Small tables with hierarchies at random, on which every node can be looked at."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tabular import Table
from tabular.attributes import Attribute
from tabular.hierarchies import build
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.space import Limits


@st.composite
def hierarchies(draw, name, size, max_height=3):
    """A hierarchy over the values 0 to *size* - 1: groups are merged at random from level to level."""
    groups, levels = list(range(size)), []
    for level in range(draw(st.integers(0, max_height - 1))):
        merged = draw(st.lists(st.integers(0, max(0, size - 1 - level)), min_size=size, max_size=size))
        groups = [merged[group] for group in groups]
        levels.append([f"{level}.{group}" for group in groups])
    return Hierarchy.of(name, [str(value) for value in range(size)], [*levels, ["*"] * size])


@st.composite
def problems(draw, max_rows=14, max_attributes=4, max_size=5, ordered=None):
    """A table of quasi-identifiers `q0`… with hierarchies, a column `sensitive` and a column `label`."""
    rows = draw(st.integers(1, max_rows))
    sizes = draw(st.lists(st.integers(1, max_size), min_size=1, max_size=max_attributes))
    columns, attributes, levels = {}, [], {}
    for place, size in enumerate(sizes):
        name = f"q{place}"
        codes = draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows))
        columns[name] = [str(code) for code in codes]
        attributes.append(Attribute(name=name, domain=tuple(str(value) for value in range(size))))
        levels[name] = draw(hierarchies(name, size))
    kind = draw(st.sampled_from(["nominal", "ordinal"])) if ordered is None else ("ordinal" if ordered else "nominal")
    for name in ("sensitive", "label"):
        size = draw(st.integers(1, 4))
        columns[name] = [str(draw(st.integers(0, size - 1))) for _ in range(rows)]
        attributes.append(Attribute(name=name, kind=kind, domain=tuple(str(value) for value in range(size))))
    return Table.from_columns(columns, attributes), levels


#: Limits with k given, some with l, and up to half of the rows suppressed.
limits = st.builds(
    Limits,
    k=st.integers(1, 5),
    l=st.none() | st.integers(1, 3),
    suppression=st.sampled_from([0.0, 0.1, 0.25, 0.5]),
)

#: Limits with nothing given but the rows that may go: each node has a k of its own.
shares = st.builds(Limits, suppression=st.sampled_from([0.0, 0.1, 0.25, 0.5]))


def wide_problem(seed, *, attributes, size, rows, values=4):
    """A table whose keys take several words, with hierarchies of halves."""
    rng = np.random.default_rng(seed)
    names = [f"q{place}" for place in range(attributes)]
    domain = tuple(str(value) for value in range(size))
    columns = {name: [str(value) for value in rng.integers(0, size, rows)] for name in names}
    columns["sensitive"] = [str(value) for value in rng.integers(0, values, rows)]
    columns["label"] = [str(value) for value in rng.integers(0, 3, rows)]
    described = [Attribute(name=name, kind="ordinal", domain=domain) for name in names]
    levels = {name: build(each, "balanced", fan_out=3) for name, each in zip(names, described, strict=True)}
    return Table.from_columns(columns, described), levels
