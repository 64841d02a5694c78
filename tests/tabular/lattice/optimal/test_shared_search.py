"""Parts of one search on several threads: none is lost, and the number of threads changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tabular import Table, loop
from tabular.attributes import Attribute
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.limits import Limits
from tabular.lattice.metrics import ADDITIVE
from tabular.lattice.optimal import branched_optimum, shared_search
from tabular.lattice.question import Question
from tabular.lattice.searching import run
from tests.tabular.lattice.searches.test_optimal import BRANCHED, Optimal, check_every_moment


def wide_problem(seed):
    """Up to seven attributes that depend on one another, with hierarchies at random."""
    rng = np.random.default_rng(seed)
    rows, columns, attributes, hierarchies = int(rng.integers(8, 120)), {}, [], {}
    common = rng.integers(0, 5, rows)
    for place in range(int(rng.integers(5, 8))):
        name, size = f"q{place}", int(rng.integers(2, 6))
        codes = np.where(rng.random(rows) < 0.5, common % size, rng.integers(0, size, rows))
        columns[name] = [str(code) for code in codes]
        values = [str(value) for value in range(size)]
        attributes.append(Attribute(name=name, domain=tuple(values)))
        merged = rng.integers(0, size - 1, size).tolist()
        hierarchies[name] = Hierarchy.of(name, values, [[f"g{group}" for group in merged], ["*"] * size])
    return Table.from_columns(columns, attributes), hierarchies


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_shared_out_and_blocks_bounded_anew_without_harm(seed, monkeypatch):
    # Little room and short slices, so that small lattices go through all of it.
    monkeypatch.setattr(shared_search, "_SLICE", [500, 5000][seed % 2])
    monkeypatch.setattr(shared_search, "_WIDE", [0.0, 0.4][seed // 2 % 2])
    monkeypatch.setattr(shared_search, "_EFFORT", [200, 10**6][seed // 4 % 2])
    monkeypatch.setattr(branched_optimum, "_WIDEST", 2 + seed % 5)
    rng = np.random.default_rng(seed)
    asked = Limits(k=int(rng.integers(2, 6)), suppression=float(rng.choice([0.0, 0.05, 0.1, 0.3])))
    evaluator = Evaluator(*wide_problem(seed), limits=asked, workers=1)
    for metric in ADDITIVE:
        check_every_moment(evaluator, metric, BRANCHED, seed)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(shared_search, "_SLICE", 2000)
    found = []
    for number in (1, 4):
        monkeypatch.setattr(loop.os, "cpu_count", lambda number=number: number)
        question = Question(Evaluator(*wide_problem(3), limits=Limits(k=3, suppression=0.05), workers=1), "precision")
        document = run("optimal", Optimal(most=BRANCHED), question, rng=np.random.default_rng(5)).document()
        del document["seconds"]
        found.append(document)
    assert found[0] == found[1]
    assert found[0]["evaluated"] > 0
