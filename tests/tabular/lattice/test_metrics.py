"""The metrics of a node are listed with where they come from, and refused by name where there are none."""

from __future__ import annotations

import pytest

from tabular.errors import InvalidParameter, UnknownName
from tabular.lattice.metrics import LOSSES, METRICS, OBJECTIVES, checked_loss, checked_objectives


def test_each_metric_is_listed_as_a_method_is():
    for name, entry in METRICS.items():
        assert entry.name == name and entry in METRICS.entries()
        assert entry.summary[0].isupper() and entry.summary.endswith(".")
        assert entry.cites and entry.limits and entry.parameters == ()
    assert set(OBJECTIVES) | set(LOSSES) < set(METRICS)


def test_an_optimum_is_by_one_loss():
    assert [checked_loss(name) for name in LOSSES] == list(LOSSES)
    for name in ("k", "t", "glmm"):
        with pytest.raises(UnknownName, match=f"No metric is called '{name}'"):
            checked_loss(name)


def test_the_old_name_of_the_class_size_is_refused_with_the_new_one():
    with pytest.raises(UnknownName) as caught:
        checked_loss("average_class_size")
    assert str(caught.value) == (
        "No metric is called 'average_class_size'; it is now normalized_average_class_size, for it is divided by k "
        "(the criterion average-class-size is not)."
    )


def test_a_front_is_of_different_objectives():
    assert checked_objectives(["k", "glm"]) == ("k", "glm")
    with pytest.raises(UnknownName, match="did you mean 'glm'"):
        checked_objectives(["k", "gml"])
    with pytest.raises(InvalidParameter) as caught:
        checked_objectives(["k", "k"])
    assert (caught.value.parameter, caught.value.was) == ("objectives", ("k", "k"))
    assert str(caught.value) == "The objectives must be one or more, none of them twice, not 'k,k'."
