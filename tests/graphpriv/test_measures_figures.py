"""What the thesis prints in section 6.3, with the graph of Figure 6.5."""

import numpy as np
import pytest

from graphpriv.measures import Pair, information_loss, measures, sevenths
from graphpriv.protections import protect
from tests.graphpriv.figures import figure_6_5


@pytest.fixture
def figure():
    return Pair.of(figure_6_5(), figure_6_5(masked=True), np.arange(3))


@pytest.fixture
def released():
    original = figure_6_5()
    release = protect(original, 3, rng=np.random.default_rng(1))
    return Pair.of(original, release.graph, release.mapping)


def read(name, pair):
    return measures[name].method().measure(pair)


def test_figure_6_5_is_what_a_release_with_k_3_holds(released):
    masked = released.masked
    assert {masked.places.names[node] for node in masked.location} == {"United States"}
    rows = [tuple(masked.topic_names[code] for code in row) for row in masked.topics]
    assert rows == [("Technology_Internet", "Politics", "Sports")] * 3


@pytest.mark.parametrize("pair", ["figure", "released"])
def test_figure_6_6_anchored_aamil_of_the_location_is_a_half(pair, request):
    assert read("aamil-anchored", request.getfixturevalue(pair)).by_attribute["location"] == 0.5


@pytest.mark.parametrize("pair", ["figure", "released"])
def test_equation_6_4_gives_an_aamil_of_the_location_of_one(pair, request):
    assert read("aamil", request.getfixturevalue(pair)).by_attribute["location"] == 1.0


@pytest.mark.parametrize("pair", ["figure", "released"])
def test_figure_6_7_cdil_of_topic_1_is_a_third(pair, request):
    assert round(read("cdil", request.getfixturevalue(pair)).by_attribute["topic1"], 3) == 0.333


@pytest.mark.parametrize("pair", ["figure", "released"])
def test_figure_6_8_dbil_of_user_2_is_a_half(pair, request):
    assert sevenths(request.getfixturevalue(pair))[1].sum() / 28 == 0.5


def test_equations_6_3_to_6_8_worked_by_hand(figure):
    # Topic 1: links P-T, T-P, T-T, T-T become four T-T. Topic 2: S-T, T-S, S-P, P-S become four P-P; and so on.
    assert dict(read("aamil", figure).by_attribute) == {"location": 1, "topic1": 0.5, "topic2": 1, "topic3": 1}
    assert read("aamil", figure).mean == 3.5 / 4
    assert dict(read("cdil", figure).by_attribute) == pytest.approx(
        {"location": 2 / 3, "topic1": 1 / 3, "topic2": 2 / 3, "topic3": 1}
    )
    # Washington DC and New York City are localities, four levels below the country.
    assert dict(read("dbil", figure).by_attribute) == pytest.approx(
        {"location": 8 / 21, "topic1": 1 / 3, "topic2": 2 / 3, "topic3": 1}
    )
    assert read("dbil", figure).mean == pytest.approx((8 / 21 + 2) / 4)
    assert information_loss(figure) == pytest.approx((3.5 / 4 + (8 / 3) / 4 + (8 / 21 + 2) / 4) / 3)
