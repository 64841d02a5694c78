import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabular.lattice.evaluator import Evaluator
from tests.tabular.lattice.problems import limits, problems, shares
from tests.tabular.lattice.slow import SlowEvaluator

GIVEN = {"sensitive": "sensitive", "class_label": "label"}


def same(found, expected):
    assert set(expected.values) == set(found.values)
    for name, array in expected.values.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-7, atol=1e-6, err_msg=name)


@settings(max_examples=150)
@given(problems(), limits | shares, st.integers(1, 3))
def test_every_node_of_a_small_lattice_is_as_its_table_says(problem, asked, values):
    assume((asked.k or 1) <= len(problem[0]))
    slow = SlowEvaluator(*problem, limits=asked, values=values, **GIVEN)
    quick = Evaluator(*problem, limits=asked, recursive=values, workers=1, **GIVEN)
    nodes = quick.lattice.everything()[:150]
    same(quick.evaluate(nodes), slow.evaluate(nodes))
