"""Adult as PBG-EA's paper has it, with the hierarchies that are kept here: its figures are there to be beaten."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import pbg_ea
from tabular.lattice.front import non_dominated
from tests.tabular.adult import adult_folder

pytestmark = pytest.mark.shared_data

HEIGHTS = (6, 3, 3, 3, 1, 1, 4, 1)
SEEDS = 3


@pytest.fixture(scope="module")
def table():
    adult_folder()
    return pbg_ea.adult()


@pytest.fixture(scope="module")
def known(table):
    return pbg_ea.KnownLattice.of(pbg_ea.evaluator_of(table, labelled=False))


def test_p_table_1a_rows_limit_and_nodes(table, known):
    assert len(table) == 30_162
    assert known.limits.suppressible(known.rows) == 301
    assert known.lattice.heights == HEIGHTS
    assert known.lattice.size == 17_920
    assert pbg_ea.evaluator_of(table, labelled=True).lattice.size == 8_960


def test_the_front_of_k_and_glm_has_forty_members_or_more(known):
    assert non_dominated(known.everything.costs(("k", "glm"))).sum() >= 40


@pytest.mark.parametrize("published", pbg_ea.SETS[:4], ids=lambda each: ",".join(each.objectives))
def test_ours_finds_the_front_with_fewer_nodes_than_the_paper(known, published):
    found = pbg_ea.measured(known, published, "local", SEEDS)
    assert found.nodes <= published.nodes
    # The least of the seeds has to reach what is asked of their mean.
    assert found.least_ratio >= (1.0 if "s_k" in published.objectives else 0.98)


def test_the_paper_s_generator_reaches_its_figures_where_they_came_out(known):
    sets = [each for each in pbg_ea.SETS[:4] if "s_k" in each.objectives]
    for published in sets:
        found = pbg_ea.measured(known, published, "paper", SEEDS)
        assert found.nodes <= published.nodes
        assert found.ratio >= published.ratio


def test_known_nodes_are_what_the_evaluator_says(known):
    nodes = known.lattice.drawn(np.random.default_rng(0), 20)
    looked_up, anew = known.evaluate(nodes), known.evaluator.evaluate(nodes)
    assert (looked_up.nodes == nodes).all()
    for name in anew.values:
        assert (looked_up[name] == anew[name]).all()
