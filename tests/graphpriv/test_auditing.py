"""The audit as a whole: what its parts promise of one another."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphpriv.auditing import LINKS_SHARE, audit, figure_paths, scenarios_named
from graphpriv.graph import ATTRIBUTES, fingerprint
from graphpriv.measures import Pair
from graphpriv.protections import protect, protections
from graphpriv.risk import SCENARIOS
from graphpriv.synthetic import synthetic_graph
from tabular.errors import InvalidInput, InvalidParameter
from tabular.loop import Parts
from tests.strategies import graphs, seeds

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def flat(document):
    if isinstance(document, dict):
        return [number for value in document.values() for number in flat(value)]
    return [document]


@few
@given(graphs(min_users=1), seeds)
def test_protecting_with_k_1_changes_nothing_but_ids_and_order(graph, seed):
    release = protect(graph, 1, rng=np.random.default_rng(seed))
    assert set(release.graph.ids).isdisjoint(graph.ids)
    assert sorted(release.mapping.tolist()) == list(range(len(graph)))
    found = audit(graph, release.graph, release.mapping).document
    assert set(flat(found["information_loss"])) == {0.0}
    assert set(flat(found["disclosure_risk"])) == {1.0}


@few
@given(graphs(min_users=1))
def test_a_graph_against_itself_loses_nothing_and_hides_nobody(graph):
    found = audit(graph, graph, np.arange(len(graph))).document
    assert set(flat(found["information_loss"])) == {0.0}
    assert set(flat(found["disclosure_risk"])) == {1.0}
    assert set(flat(found["undecided"])) == {0.0}


@few
@given(graphs(min_users=2), seeds, st.data())
def test_risk_of_ego_is_at_most_risk_of_subgraph(graph, seed, data):
    k = data.draw(st.integers(2, len(graph)))
    method = data.draw(st.sampled_from(list(protections)))
    release = protect(graph, k, method=method, rng=np.random.default_rng(seed))
    found = audit(graph, release.graph, release.mapping).document
    for name in SCENARIOS:
        assert found["disclosure_risk"]["ego"][name] <= found["disclosure_risk"]["subgraph"][name]
        assert found["candidates"]["ego"][name]["0"] >= found["candidates"]["subgraph"][name]["0"]


@few
@given(graphs(min_users=2), seeds, st.data())
def test_figures_do_not_depend_on_the_order_of_the_users(graph, seed, data):
    release = protect(graph, 2, rng=np.random.default_rng(seed))
    one = np.array(data.draw(st.permutations(range(len(graph)))))
    other = np.array(data.draw(st.permutations(range(len(graph)))))
    position = np.empty(len(graph), dtype=np.int64)
    position[other] = np.arange(len(graph))
    here = audit(graph, release.graph, release.mapping).document
    there = audit(graph.restricted(one), release.graph.restricted(other), position[release.mapping[one]]).document
    for part in ("k", "information_loss", "disclosure_risk", "expected_success", "undecided", "candidates"):
        assert here[part] == there[part]


def test_no_figure_depends_on_the_order_of_the_release_even_where_steps_run_out() -> None:
    graph = synthetic_graph(300, 1200, rng=np.random.default_rng(5))
    releases = [protect(graph, 5, rng=np.random.default_rng(1)) for _ in range(2)]
    order = np.random.default_rng(2).permutation(300)
    here = audit(graph, releases[0].graph, releases[0].mapping, steps=20_000).document
    moved = np.argsort(order)[releases[1].mapping]
    there = audit(graph, releases[1].graph.restricted(order), moved, steps=20_000).document
    assert here["structure"]["undecided"]["subgraph"] > 0
    assert {**here, "inputs": None} == {**there, "inputs": None}


def test_what_scenarios_do_not_need_goes_to_those_that_tell_fewer_users_apart() -> None:
    graph = synthetic_graph(400, mean_degree=30.0, rng=np.random.default_rng(1))
    release = protect(graph, 5, rng=np.random.default_rng(2))
    steps = 150_000
    found = audit(graph, release.graph, release.mapping, steps=steps).disclosures["subgraph"]
    labelled = {name: each.steps for name, each in found.items() if name in SCENARIOS}
    whole = round(steps * (1 - LINKS_SHARE))
    assert sum(labelled.values()) <= whole
    assert max(labelled.values()) > whole / len(SCENARIOS)
    assert found["structure"].steps <= steps * LINKS_SHARE


@few
@given(graphs(min_users=2), seeds, st.data())
def test_aamil_is_at_least_the_degree_weighted_cdil(graph, seed, data):
    k = data.draw(st.integers(2, len(graph)))
    release = protect(graph, k, rng=np.random.default_rng(seed))
    found = audit(graph, release.graph, release.mapping).document["information_loss"]["aamil"]
    pair = Pair.of(graph, release.graph, release.mapping)
    for name in ATTRIBUTES:
        for ends in ("follows", "followers"):
            before, after = pair.original.attribute(name), pair.masked.attribute(name)
            weights = (getattr(pair.original, ends).counts, getattr(pair.masked, ends).counts)
            size = max(before.max(), after.max()) + 2
            mass = [
                np.bincount(codes + 1, weights=each, minlength=size)
                for codes, each in zip((before, after), weights, strict=True)
            ]
            total = weights[0].sum()
            weighted = np.abs(mass[0] - mass[1]).sum() / (2 * total) if total else 0.0
            assert found[name] >= weighted - 1e-12


def test_an_audit_of_a_graph_with_an_empty_side_is_refused():
    graph = synthetic_graph(10, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="original graph has no users"):
        audit(graph.restricted(np.array([], dtype=np.int64)), graph)


@pytest.mark.parametrize("mapping", [[0, 1], [0, 0, 1], [0, 1, 9]])
def test_a_mapping_that_does_not_fit_is_refused(mapping):
    graph = synthetic_graph(3, 2, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="mapping"):
        audit(graph, graph, np.array(mapping))


def test_directions_must_agree_unless_they_are_left_out():
    graph = synthetic_graph(30, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="directed"):
        audit(graph, graph.undirected())
    found = audit(graph, graph.undirected(), np.arange(30), undirected=True).document
    assert found["information_loss"]["mean"] == 0
    assert found["directed"] is False


def test_those_most_at_risk_are_listed_with_the_surest_first():
    graph = synthetic_graph(200, rng=np.random.default_rng(1))
    release = protect(graph, 2, rng=np.random.default_rng(2))
    found = audit(graph, release.graph, release.mapping, scenarios=scenarios_named(["topic1"]), at_risk=7)
    listed = found.document["at_risk"]
    success = [each["expected_success"] for each in listed]
    assert success == sorted(success, reverse=True)
    # The plain way: for each user the best chance over all attackers and scenarios.
    best = np.max([each.chances for ways in found.disclosures.values() for each in ways.values()], axis=0)
    assert success == sorted(best.tolist(), reverse=True)[:7]
    for each in listed:
        assert each["expected_success"] == best[graph.index[each["user"]]] == 1 / each["candidates"]
        assert each["attacker"] in ("ego", "subgraph")
        assert each["scenario"] in ("topic1", "structure")


def test_users_left_out_of_a_mapping_do_not_count_as_safe():
    graph = synthetic_graph(60, rng=np.random.default_rng(1))
    known = np.where(np.arange(60) < 20, np.arange(60), -1)
    found = audit(graph, graph, known)
    success = found.document["expected_success"]["ego"]["all"]
    chances = found.disclosures["ego"]["all"].chances
    assert success == pytest.approx(chances[:20].mean())
    assert success > chances.mean()


def test_nobody_is_listed_where_nobody_can_be_told():
    graph = synthetic_graph(50, rng=np.random.default_rng(1))
    release = protect(graph, 2, rng=np.random.default_rng(2))
    assert audit(graph, release.graph).document["at_risk"] is None
    assert audit(graph, release.graph, release.mapping, at_risk=0).document["at_risk"] == []


def test_a_scenario_is_known_or_made_of_attributes():
    assert scenarios_named(["topics"]) == {"topics": ("topic1", "topic2", "topic3")}
    assert scenarios_named(["topic1+location"]) == {"topic1+location": ("topic1", "location")}
    for wrong in ("", "topic4", "topic1+topic1", "all+location"):
        with pytest.raises(InvalidParameter, match="scenario must be one of location, topic1"):
            scenarios_named([wrong])


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_number_of_workers_changes_no_byte(workers):
    graph = synthetic_graph(300, rng=np.random.default_rng(4))
    release = protect(graph, 5, rng=np.random.default_rng(5))
    assert (
        audit(graph, release.graph, release.mapping, workers=workers).document
        == audit(graph, release.graph, release.mapping, workers=1).document
    )


class Kept(Parts):
    """Keeps all that can be kept."""

    def __init__(self, helps=False):
        self.helps, self.given = helps, {}

    def kept(self, key, work):
        if key not in self.given:
            self.given[key] = work()
        return self.given[key]


def test_what_attackers_found_is_found_once_and_from_either_end():
    graph = synthetic_graph(120, rng=np.random.default_rng(3))
    release = protect(graph, 4, rng=np.random.default_rng(1))
    for mapping in (release.mapping, None):
        plain = audit(graph, release.graph, mapping, steps=10**7).document
        parts = Kept()
        assert audit(graph, release.graph, mapping, steps=10**7, parts=parts).document == plain
        helper = Kept(helps=True)
        assert audit(graph, release.graph, mapping, steps=10**7, parts=helper).document == plain
        assert sorted(parts.given) == sorted(helper.given)
        # Two attackers in six scenarios and by the links alone; they begin with the links.
        assert len(parts.given) == 14
        assert list(parts.given)[-1] == list(helper.given)[1]
        for key in parts.given:
            parts.given[key] = {name: array.copy() for name, array in parts.given[key].items()}
        assert audit(graph, release.graph, mapping, steps=10**7, parts=parts).document == plain
        # Another budget, other labels or another counterpart are another question.
        audit(graph, release.graph, mapping, steps=10**7 + 10**4, parts=parts)
        assert len(parts.given) == 28


def at(document, path):
    for part in path.split("."):
        document = document[part]
    return document


def test_the_paths_of_the_figures_are_known_before_the_audit():
    graph = synthetic_graph(30, 60, rng=np.random.default_rng(2))
    scenarios = scenarios_named(["all", "location+topic1"])
    found = audit(graph, graph, np.arange(30), attackers=["ego"], scenarios=scenarios).document
    paths = figure_paths(["ego"], scenarios)
    assert all(isinstance(at(found, path), int | float) for path in paths)
    assert {"k", "information_loss.mean", "candidates.ego.location+topic1.2-4", "structure.risk.ego"} <= set(paths)
    assert not [path for path in paths if "subgraph" in path or "topics" in path]


def test_undecided_users_leave_numbers_between_bounds_that_hold():
    graph = synthetic_graph(60, 200, rng=np.random.default_rng(3))
    release = protect(graph, k=3, rng=np.random.default_rng(1))
    exact = audit(graph, release.graph, release.mapping)
    assert exact.bounds == {}
    short = audit(graph, release.graph, release.mapping, steps=1)
    assert short.bounds
    for path, (low, high) in short.bounds.items():
        assert low <= at(exact.document, path) <= high
        if "risk." in path and not path.startswith("highest"):
            assert low == at(short.document, path)
        if "success" in path or path.startswith("highest"):
            # A risk must not read too low.
            assert high == at(short.document, path)


def test_neither_the_run_nor_the_document_has_a_fingerprint_of_the_original():
    graph = synthetic_graph(20, 30, rng=np.random.default_rng(3))
    release = protect(graph, 2, rng=np.random.default_rng(1))
    found = audit(graph, release.graph, release.mapping)
    assert list(found.document["inputs"]) == ["released"]
    run = found.run("r")
    assert run.parameters == {"released": "r", **found.document["parameters"]}
    assert run.input_hash == ""
    assert fingerprint(graph).removeprefix("sha256:") not in str(found.document)


@pytest.mark.parametrize("attackers", [("ego", "subgraph"), ("subgraph",)])
def test_progress_rises_and_never_passes_its_end(attackers):
    graph, told = synthetic_graph(60, 200, rng=np.random.default_rng(1)), []
    release = protect(graph, k=3, rng=np.random.default_rng(1))
    audit(
        graph,
        release.graph,
        release.mapping,
        attackers=attackers,
        report=lambda phase, done, of: told.append((done, of)) if phase.startswith("Attacker") else None,
    )
    assert len({of for _, of in told}) == 1
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] <= told[-1][1]
