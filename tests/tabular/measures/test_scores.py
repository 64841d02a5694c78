from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, UnknownName
from tabular.measures import NUMERIC, Reading, Summary, measures, summary
from tabular.protections import protect
from tabular.table import Table
from tests.tabular.pairs_of_tables import pairs_of_tables, random_pair


def test_the_summary_has_every_measure_and_the_scores_of_the_thesis():
    original, masked = random_pair(5, 60, (4, 3, 6))
    found = summary(original, masked, original.names)
    assert set(found.readings) == set(measures) - set(NUMERIC)
    for name, reading in found.readings.items():
        assert reading == measures[name].method().measure(original, masked, original.names)
    percent = {name: reading.percent for name, reading in found.readings.items()}
    loss = (percent["ctbil"] + percent["dbil"] + percent["ebil"]) / 3
    risk = (percent["id"] + max(percent["dbrl"], percent["prl"])) / 2
    assert found.information_loss == pytest.approx(loss)
    assert found.disclosure_risk == pytest.approx(risk)
    assert found.score_mean == pytest.approx((loss + risk) / 2)
    assert found.score_max == pytest.approx(max(loss, risk))
    assert found.score_mean_em == pytest.approx(
        (loss + (percent["id"] + max(percent["dbrl"], percent["prl-em"])) / 2) / 2
    )
    assert found.disclosure_risk_bound == 0


def test_the_highest_linkage_is_that_of_the_strongest_attacker_who_counts():
    shares = {"dbrl": 20.0, "prl": 30.0, "rsrl": 25.0, "informed": 40.0}
    readings = {name: Reading(raw=0, percent=share) for name, share in shares.items()}
    assert Summary(readings=readings).highest_linkage == {"measure": "prl", "value": 30.0}
    known = Summary(readings=readings, method_is_known=True)
    assert known.highest_linkage == {"measure": "informed", "value": 40.0}
    assert known.document()["highest_linkage"] == known.highest_linkage
    assert Summary(readings={}).highest_linkage == {"measure": None, "value": None}
    readings["prl"] = Reading(raw=0, percent=50.0, bound=50.0)
    assert Summary(readings=readings).highest_linkage_bound == 25
    assert Summary(readings=readings, method_is_known=True).highest_linkage_bound == 10
    readings["prl"] = Reading(raw=0, percent=35.0, bound=1.0)
    assert Summary(readings=readings, method_is_known=True).highest_linkage_bound == 0


def test_the_informed_attacker_counts_where_the_matrices_are_given():
    original, masked = random_pair(5, 60, (4, 3), kept=0.3, sets=0)
    matrices = {name: np.full((size, size), 1 / size) for name, size in zip(original.names, (4, 3), strict=True)}
    assert not summary(original, masked, original.names).method_is_known
    assert summary(original, masked, original.names, matrices=matrices).method_is_known
    assert summary(original, masked, original.names, method_is_known=True).method_is_known


def test_a_bound_on_linkage_is_a_bound_on_the_risk():
    def risk_of(dbrl, prl, bound):
        readings = {
            "id": Reading(raw=0, percent=50.0),
            "dbrl": Reading(raw=0, percent=dbrl),
            "prl": Reading(raw=0, percent=prl, bound=bound),
        }
        return Summary(readings=readings).disclosure_risk_bound

    assert risk_of(20.0, 60.0, 60.0) == pytest.approx(20)
    assert risk_of(20.0, 60.0, 10.0) == pytest.approx(5)
    assert risk_of(70.0, 60.0, 5.0) == 0
    assert risk_of(70.0, 60.0, 15.0) == pytest.approx(2.5)


#: What scripts hold on to.
CONTRACT = {"ctbil", "actbil", "dbil", "ebil", "id", "dbrl", "prl", "prl_em", "rsrl", "informed", "clustering"}
SCORES = {"information_loss", "disclosure_risk", "score_mean", "score_max", "score_mean_em", "score_max_em"}


@settings(max_examples=30)
@given(pair=pairs_of_tables(), data=st.data())
def test_the_order_of_the_rows_changes_no_byte(pair, data):
    original, masked = pair
    order = np.array(data.draw(st.permutations(range(len(original)))))
    found = [summary(original, masked, original.names), summary(original.rows(order), masked.rows(order), masked.names)]
    assert json.dumps(found[0].document()) == json.dumps(found[1].document())


def test_the_order_of_many_rows_changes_no_byte():
    original, masked = random_pair(8, 700, (6, 5, 30, 9))
    order = np.random.default_rng(1).permutation(700)
    found = [summary(original, masked, original.names), summary(original.rows(order), masked.rows(order), masked.names)]
    assert json.dumps(found[0].document()) == json.dumps(found[1].document())


@settings(max_examples=30)
@given(pair=pairs_of_tables())
def test_a_document_has_the_keys_that_scripts_hold_on_to(pair):
    original, masked = pair
    found = summary(original, masked, original.names).document()
    assert set(found) >= CONTRACT | SCORES | {"raw", "bounds", "numeric", "highest_linkage"}
    assert set(found["raw"]) >= CONTRACT
    for name in CONTRACT | SCORES:
        assert -1e-9 <= found[name] <= 100 + 1e-9
    itself = summary(original, original, original.names).document()
    assert itself["information_loss"] == itself["clustering"] == 0
    assert itself["id"] == 100


def test_a_document_of_numbers_has_the_same_keys():
    table = Table.from_columns({"a": [1.5, 2.5, 4.0, 7.5], "b": [0.5, 0.25, 3.0, 1.0]})
    masked = table.masked({"a": [1.5, 2.0, 4.0, 8.5], "b": [0.5, 0.5, 3.0, 1.0]})
    found = summary(table, masked, ["a", "b"]).document()
    assert set(found) == set(summary(*random_pair(5, 60, (4, 3)), ["column 0"]).document())
    assert found["numeric"] is True
    assert found["information_loss"] == found["pil"] > 0
    assert found["disclosure_risk"] == pytest.approx((found["id"] + (found["dbrl"] + found["prl"]) / 2) / 2)
    assert [found[name] for name in ("ctbil", "dbil", "ebil", "rsrl", "prl_em", "score_max_em")] == [None] * 6
    assert found["highest_linkage"]["value"] == max(found["dbrl"], found["prl"])
    assert found["raw"]["dbrl"] == measures["dbrl-numbers"].method().measure(table, masked, ["a", "b"]).raw
    assert found["clustering"] is not None
    assert summary(table, table, ["a", "b"]).document()["information_loss"] == 0


def test_measures_can_be_left_out_and_given_parameters():
    original, masked = random_pair(5, 60, (4, 3, 6))
    found = summary(original, masked, original.names, without=["prl"], parameters={"rsrl": {"percent": 50.0}})
    whole = summary(original, masked, original.names).document()
    assert found.readings["rsrl"] == measures["rsrl"].method(percent=50.0).measure(original, masked, original.names)
    assert "prl" not in found.readings
    document = found.document()
    assert [document[key] for key in ("prl", "disclosure_risk", "score_mean", "score_max")] == [None] * 4
    assert {name: document["bounds"][name] for name in ("prl", "disclosure_risk")} == {
        "prl": None,
        "disclosure_risk": None,
    }
    assert document["information_loss"] == whole["information_loss"]
    assert set(document) == set(whole)
    for name in ("prl_em", "prl-em"):
        fewer = summary(original, masked, original.names, without=[name]).document()
        assert (fewer["prl_em"], fewer["score_max_em"], fewer["score_max"]) == (None, None, whole["score_max"])
    with pytest.raises(UnknownName, match="did you mean 'prl'"):
        summary(original, masked, original.names, without=["prll"])
    with pytest.raises(UnknownName, match="did you mean 'rsrl'"):
        summary(original, masked, original.names, parameters={"rsrll": {}})
    with pytest.raises(InvalidParameter, match="names every measure"):
        summary(original, masked, original.names, without=list(measures))
    numbers = Table.from_columns({"a": [1.5, 2.5]})
    assert set(summary(numbers, numbers, ["a"], without=["prl", "dbrl-numbers"]).readings) == {
        "id",
        "clustering",
        "pil",
    }


def microdata(seed=1, people=240):
    """Microdata as a graph gives them: degree, place and two topics of people who are alike in their communities."""
    rng = np.random.default_rng(seed)
    community = rng.integers(0, 6, people)
    places = np.array([f"Town {number}" for number in range(12)], dtype=object)
    topics = np.array([f"Topic {number}" for number in range(8)], dtype=object)
    own = rng.random(people)
    second = np.where(rng.random(people) < 0.1, None, topics[(community + rng.integers(1, 4, people)) % 8])
    return {
        "degree": np.minimum(rng.zipf(1.9, people), 40).tolist(),
        "location": places[np.where(own < 0.8, community * 2, rng.integers(0, 12, people))].tolist(),
        "topic1": topics[np.where(own > 0.3, community, rng.integers(0, 8, people))].tolist(),
        "topic2": second.tolist(),
    }


def released(columns, k):
    """The microdata of a release: people in groups of k by community share the commonest profile; degrees stay."""
    order = sorted(range(len(columns["degree"])), key=lambda row: (columns["topic1"][row], columns["location"][row]))
    after = {name: list(values) for name, values in columns.items()}
    for first in range(0, len(order), k):
        group = order[first : first + k]
        for name in ("location", "topic1", "topic2"):
            values = [columns[name][row] for row in group]
            common = max(sorted(set(values), key=str), key=values.count)
            for row in group:
                # A place that covers those of the group, as aggregation gives it, is no place of the original.
                mixed = name == "location" and len(set(values)) > 1
                after[name][row] = "Country" if mixed else common
    return after


def test_microdata_of_a_graph_lose_more_and_tell_less_as_k_grows():
    before = microdata()
    topics = tuple(f"Topic {number}" for number in range(8))
    attributes = [
        # The degrees that occur, in order; the places of both tables; the topics of the graph, whatever their rank.
        Attribute(name="degree", kind="ordinal"),
        Attribute(name="location", domain=(*sorted(set(before["location"])), "Country")),
        Attribute(name="topic1", domain=topics),
        Attribute(name="topic2", domain=topics),
    ]
    original = Table.from_columns(before, attributes)
    found = [summary(original, original.masked(released(before, k)), original.names) for k in (1, 2, 5, 20, 80)]
    losses = [each.information_loss for each in found]
    risks = [each.disclosure_risk for each in found]
    assert losses[0] == 0
    assert losses == sorted(losses)
    assert risks == sorted(risks, reverse=True)
    assert losses[-1] > 30
    assert risks[0] > 70 > 50 > risks[-1]


def german_credit():
    """The three attributes of the thesis, in the order of their codes."""
    shared = os.environ.get("GRAPHPRIV_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data")
    path = Path(shared) / "german_credit" / "german.data"
    if not path.exists():
        pytest.skip("the shared data are not here; name their folder in GRAPHPRIV_SHARED_DATA")
    rows = [line.split() for line in path.read_text().splitlines()]
    columns = {
        name: [row[place] for row in rows] for name, place in (("EXISTACC", 0), ("SAVINGS", 5), ("PRESEMPLOY", 6))
    }
    kinds = [Attribute(name=name, kind="ordinal", domain=tuple(sorted(set(cells)))) for name, cells in columns.items()]
    return Table.from_columns(columns, kinds)


@pytest.mark.shared_data
def test_table_4_12_uniform_pram_on_german_credit():
    original = german_credit()
    found = []
    for seed in range(20):
        masked = protect(original, "pram", original.names, rng=np.random.default_rng(seed), theta=0.5)
        found.append(summary(original, masked, original.names))
    assert np.mean([each.information_loss for each in found]) == pytest.approx(13.60, abs=0.5)
    assert np.mean([each.score_max_em for each in found]) == pytest.approx(46.12, abs=0.5)


@pytest.mark.shared_data
def test_table_4_13_frequency_pram_on_german_credit():
    """The scores of the thesis do not hang on how PRL is estimated where DBRL links more."""
    original = german_credit()
    masked = protect(original, "pram", original.names, rng=np.random.default_rng(1), theta=0.5)
    found = summary(original, masked, original.names).document()
    assert found["score_max_em"] <= found["score_max"]
    assert found["score_mean_em"] <= found["score_mean"]
