"""Compile the search for neighbourhoods within others beside a process that has other things to do first.

It is half of what a first audit compiles.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from graphpriv.graph import ATTRIBUTES
from graphpriv.risk.comparison import Comparison
from graphpriv.risk.containment.inference import decide
from graphpriv.risk.equal_neighbourhoods import NeighbourhoodClasses
from graphpriv.risk.subgraph import Subgraph
from graphpriv.synthetic import synthetic_graph
from tabular.compiling import compiling_ahead
from tabular.kernels import is_kept
from tabular.loop import processors


def compiling_the_search() -> AbstractContextManager[None]:
    """Compile it beside this process, where there is a second processor and nothing is compiled yet."""
    if processors() < 2 or is_kept(decide):
        return nullcontext()
    return compiling_ahead("graphpriv.risk.ahead")


def compile_the_search() -> None:
    """Search a small graph, with labels and by links alone.

    Each neighbourhood is a class of its own: which are equal is found by other kernels.
    """
    graph = synthetic_graph(80, rng=np.random.default_rng(1))
    comparison = Comparison.of(graph, graph, np.arange(len(graph)), workers=1)
    users = 2 * len(graph)
    alone = NeighbourhoodClasses(np.arange(users, dtype=np.int32), np.full(users, -1, dtype=np.int32), len(graph))
    for attributes in ((), ATTRIBUTES[:1]):
        Subgraph(steps=10**9).among(alone, comparison, attributes, comparing=0)


if __name__ == "__main__":
    compile_the_search()
