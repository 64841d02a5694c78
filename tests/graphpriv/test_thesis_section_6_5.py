"""Mares Soler (2013), section 6.5, Figures 6.10 to 6.15: how losses and risks go with k, on both sizes of graph.

The thesis draws its figures from two crawls that were not published; what must come out on the generator is their
course, in the mean of 20 runs a k, with a slack of 0.02. The microdata of the large graph, whose one-to-one linkage
takes most of the time, are the mean of fewer runs, and of all 20 among the heavy tests.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean

import numpy as np
import pytest

from graphpriv.auditing import SharedFindings, audit
from graphpriv.graph import ATTRIBUTES, common_codes
from graphpriv.protections import protect
from graphpriv.synthetic import synthetic_graph
from tabular.attributes import Attribute
from tabular.measures import summary
from tabular.table import Table

KS = (2, 3, 5, 10, 20)
RUNS = 20
SLACK = 0.02
SMALL, LARGE = (306, 342), (1638, 4622)
MICRODATA_RUNS = {SMALL: 8, LARGE: 5}
TOPICS = ("topic1", "topic2", "topic3")


@cache
def course(size):
    """For each k the means over the runs: losses, and risks by attacker and scenario."""
    return averaged(size, RUNS, audited)


@cache
def microdata_course(size, runs):
    """For each k the means over the runs: information loss and disclosure risk of microdata."""
    return averaged(size, runs, lambda graph, release, _: microdata_figures(graph, release))


def averaged(size, runs, figures_of):
    found = {k: [] for k in KS}
    for run in range(runs):
        # A graph of its own for each run, the same for each k.
        graph, shared = synthetic_graph(*size, rng=np.random.default_rng(run)), SharedFindings()
        for k in KS:
            rng = np.random.default_rng(1000 + run)
            found[k].append(figures_of(graph, protect(graph, k, method="closest-profiles", rng=rng), shared))
    return {k: {name: fmean(each[name] for each in all_runs) for name in all_runs[0]} for k, all_runs in found.items()}


def audited(graph, release, shared):
    found = audit(graph, release.graph, release.mapping, at_risk=0, shared=shared).document
    figures = {"loss": found["information_loss"]["mean"]}
    figures |= {name: found["information_loss"][name]["mean"] for name in ("aamil", "cdil")}
    figures["dbil"] = found["information_loss"]["dbil"]
    for attacker, shares in found["disclosure_risk"].items():
        figures |= {(attacker, scenario): share for scenario, share in shares.items()}
    return figures


def microdata_figures(graph, release):
    """Information loss and disclosure risk of the table of a release, row by row the same person."""
    original, masked = common_codes(graph, release.graph)
    masked = masked.restricted(release.mapping)
    original, masked = common_codes(original, masked)
    columns = ("degree", *ATTRIBUTES)
    before, after = (
        dict(zip(columns, [each.neighbours.counts.tolist(), *values(each)], strict=True)) for each in (original, masked)
    )
    attributes = [
        Attribute(
            name=name,
            kind="ordinal" if name == "degree" else "nominal",
            domain=tuple(sorted({*before[name], *after[name]} - {None})),
        )
        for name in columns
    ]
    table = Table.from_columns(before, attributes=attributes)
    found = summary(table, table.masked(after), columns, without=("prl-em", "clustering"))
    return {"loss": found.information_loss / 100, "risk": found.disclosure_risk / 100}


def values(graph):
    places, topics = [*graph.places.keys, None], [*graph.topic_names, None]
    yield [places[code] for code in graph.location.tolist()]
    for rank in range(3):
        yield [topics[code] for code in graph.topics[:, rank].tolist()]


def pairs(of_k):
    return zip(of_k.values(), list(of_k.values())[1:], strict=False)


# One process computes the course once.
pytestmark = pytest.mark.xdist_group("section 6.5")

sizes = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["306 users", "1638 users"])
attackers = pytest.mark.parametrize("attacker", ["ego", "subgraph"])


@sizes
@pytest.mark.parametrize("name", ["loss", "aamil", "cdil", "dbil"])
def test_figures_6_10_and_6_11_losses_do_not_fall_with_k(size, name):
    assert all(more[name] >= less[name] - SLACK for less, more in pairs(course(size)))
    assert course(size)[20][name] > course(size)[2][name]


@sizes
@attackers
@pytest.mark.parametrize("scenario", ["location", *TOPICS, "topics", "all"])
def test_figures_6_12_and_6_13_risk_does_not_rise_with_k(size, attacker, scenario):
    name = (attacker, scenario)
    assert all(more[name] <= less[name] + SLACK for less, more in pairs(course(size)))


@sizes
@attackers
def test_figures_6_12_and_6_13_earlier_topics_are_at_higher_risk(size, attacker):
    for figures in course(size).values():
        one, two, three = (figures[attacker, name] for name in TOPICS)
        assert one > two > three


@sizes
@attackers
def test_figures_6_12_and_6_13_more_attributes_are_at_lower_risk(size, attacker):
    for figures in course(size).values():
        assert all(figures[attacker, "topics"] <= figures[attacker, name] for name in TOPICS)
        assert figures[attacker, "all"] <= figures[attacker, "topics"]


def test_figure_6_11_the_large_graph_loses_less_than_the_small_one():
    for k in KS:
        assert course(LARGE)[k]["loss"] < course(SMALL)[k]["loss"]


@attackers
@pytest.mark.parametrize("scenario", ["location", *TOPICS, "topics", "all"])
def test_figure_6_13_the_large_graph_is_at_lower_risk_than_the_small_one(attacker, scenario):
    means = [fmean(course(size)[k][attacker, scenario] for k in KS) for size in (LARGE, SMALL)]
    assert means[0] <= means[1] + SLACK


@sizes
def test_figures_6_14_and_6_15_microdata_lose_more_and_tell_less_as_k_grows(size):
    check_microdata(size, MICRODATA_RUNS[size])


@pytest.mark.heavy
@sizes
def test_figures_6_14_and_6_15_hold_in_the_mean_of_all_runs(size):
    check_microdata(size, RUNS)


def check_microdata(size, runs):
    for less, more in pairs(microdata_course(size, runs)):
        assert more["loss"] > less["loss"]
        assert more["risk"] < less["risk"]


def test_figure_6_15_the_microdata_of_the_large_graph_are_the_better_ones():
    large, small = (microdata_course(size, MICRODATA_RUNS[size]) for size in (LARGE, SMALL))
    for k in KS:
        assert large[k]["loss"] < small[k]["loss"]
