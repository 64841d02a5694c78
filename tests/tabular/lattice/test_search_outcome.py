"""A search from request to outcome, and the node that is chosen for release."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from tabular.errors import InvalidInput, InvalidParameter, NoSolution, UnknownName
from tabular.lattice import Limits, ReleaseRequest, SearchRequest, find_generalisation
from tabular.lattice.chain.history import HISTORY, History, history_of
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.search_outcome import (
    ALWAYS,
    MOMENTS,
    REPORTED,
    Choice,
    chosen_node,
    for_report,
    levels_as_text,
    levels_in_text,
    require_limits,
)
from tabular.lattice.searches import searches
from tabular.lattice.space import Lattice
from tabular.release import LABELS, LABELS_OF_HIERARCHIES
from tests.tabular.lattice.people import HIERARCHIES, NAMES, later, people, plain_best, table_of

PEOPLE, LATER = table_of(people()), table_of(later())
STAR = ("*",) * len(NAMES)


def found(
    table=PEOPLE,
    seed=1,
    history=None,
    stop=lambda: False,
    report=lambda *said: None,
    best=lambda figures: None,
    **options,
):
    if isinstance(options.get("limits"), dict):
        options["limits"] = Limits(**options["limits"])
    request = SearchRequest(**{"quasi_identifiers": NAMES, "algorithm": "exhaustive"} | options)
    rng = np.random.default_rng(seed)
    told = {"report": report, "best": best or (lambda figures: None)}
    return find_generalisation(request, table, HIERARCHIES, rng=rng, history=history, stop=stop, **told)


def rows_of(table, names=NAMES):
    return list(zip(*(table.values(name) for name in names), strict=True))


@pytest.mark.parametrize("suppression", [0, 0.1])
def test_the_optimum_is_the_one_of_a_plain_count(suppression):
    document = found(limits={"k": 4, "suppression": suppression}).document
    least, satisfying = plain_best(people(), 4, int(60 * suppression))
    assert document["solutions"][0]["glm"] == pytest.approx(least)
    assert document["lower_bound"] == pytest.approx(least)
    assert (document["gap"], document["satisfying"], document["lattice_nodes"]) == (0, satisfying, 32)


def test_the_document_says_what_was_asked_and_what_was_found():
    request = SearchRequest(quasi_identifiers=NAMES, limits=Limits(k=4, suppression=0.1), seconds=100.0)
    rng = np.random.default_rng(1)
    document = find_generalisation(request, PEOPLE, HIERARCHIES, rng=rng, file="data/people.csv").document
    assert list(document)[:7] == [
        *("version", "file", "rows", "quasi_identifiers", "sensitive", "class_label", "limits"),
    ]
    assert "inputs" not in document and "sha256" not in str(document)
    assert (document["file"], document["rows"], document["algorithm"]) == ("people.csv", 60, "optimal")
    assert document["quasi_identifiers"][0] == {"name": "age", "values": 8, "height": 3}
    assert document["limits"] == {"k": 4, "l": None, "t": None, "suppression": 0.1, "suppressible": 6}
    assert document["parameters"]["seconds"] == 100.0
    (solution,) = document["solutions"]
    assert tuple(solution)[: len(ALWAYS)] == ALWAYS
    assert solution["l"] is solution["t"] is solution["s_l"] is solution["cm"] is None
    assert set(document["moments"][0]) == {"seconds", "evaluated", "best", "lower_bound"}
    assert "previous" not in document and "release" not in document


def test_the_release_is_what_it_says_counted_from_its_cells():
    outcome = found(
        limits={"k": 4, "l": 2, "suppression": 0.1},
        sensitive="illness",
        release=ReleaseRequest(choose="2"),
    )
    release, told = outcome.release, outcome.document["release"]
    rows, values = rows_of(release.table), defaultdict(set)
    for row, value in zip(rows, release.table.values("illness"), strict=True):
        values[row].add(value)
    kept = Counter(row for row in rows if row != STAR)
    assert told["place"] == 2
    assert min(kept.values()) == told["k"] == release.findings["k"] == outcome.document["solutions"][1]["k"] >= 4
    assert min(len(values[row]) for row in kept) == told["l"] == release.findings["l"] >= 2
    assert rows.count(STAR) == told["suppressed"] == release.findings["suppressed"] <= 6
    assert release.order is None and release.labels == LABELS_OF_HIERARCHIES and release.private == {}
    assert release.parameters["levels"] == ",".join(f"{name}={level}" for name, level in told["levels"].items())
    assert release.parameters["k"] == 4 and "t" not in release.parameters
    # The original stays as it was.
    assert rows_of(PEOPLE) == [row[1:4] for row in people()]


def test_the_record_is_made_only_if_it_is_wanted(monkeypatch):
    def extended(*arguments, **options):
        raise AssertionError("a history was made")

    monkeypatch.setattr(History, "extended", extended)
    assert found(limits={"k": 4}, release=ReleaseRequest()).release.private == {}
    assert found(limits={"k": 4}, release=ReleaseRequest(record=True, labels="sets")).release.private == {}
    with pytest.raises(AssertionError, match="a history was made"):
        found(limits={"k": 4}, release=ReleaseRequest(record=True))


def test_labels_can_be_sets_of_the_values_that_occur():
    release = found(limits={"k": 4}, release=ReleaseRequest(choose="3,1,3", labels="sets")).release
    assert release.labels == LABELS
    assert release.table.sets["age"]


def test_suppressed_rows_can_be_left_out():
    limits = {"k": 4, "suppression": 0.1}
    places = [each["suppressed"] > 1 for each in found(limits=limits).document["solutions"]]
    choose = str(places.index(True) + 1)
    starred = found(limits=limits, release=ReleaseRequest(choose=choose)).release
    release = found(limits=limits, release=ReleaseRequest(choose=choose, suppressed="drop")).release
    gone = starred.findings["suppressed"]
    assert gone > 1 and (release.findings["suppressed"], release.findings["left_out"]) == (0, gone)
    assert release.order.tolist() == [row for row, cells in enumerate(rows_of(starred.table)) if cells != STAR]


def test_the_seed_alone_says_what_is_drawn():
    asked = {"algorithm": "random", "limits": Limits(k=4), "release": ReleaseRequest(shuffle=True)}
    one, same, other = (found(seed=seed, **asked).release for seed in (5, 5, 6))
    assert one.order.tolist() == same.order.tolist() != other.order.tolist()
    assert sorted(one.order.tolist()) == list(range(60))


@pytest.mark.parametrize("algorithm", [entry.name for entry in searches.entries() if entry.method.seeks_one])
def test_every_search_of_one_node_gives_a_release_that_keeps_k(algorithm):
    outcome = found(algorithm=algorithm, limits={"k": 5, "suppression": 0.05}, seed=3, release=ReleaseRequest())
    kept = Counter(row for row in rows_of(outcome.release.table) if row != STAR)
    assert min(kept.values()) >= 5 and sum(kept.values()) >= 57
    losses = [solution["glm"] for solution in outcome.document["solutions"]]
    assert losses == sorted(losses)


@pytest.mark.parametrize("algorithm", [entry.name for entry in searches.entries() if entry.method.seeks_front])
def test_every_search_of_a_front_sorts_it_by_the_first_objective(algorithm):
    document = found(
        algorithm=algorithm,
        objectives=("k", "l", "glm", "cm"),
        sensitive="illness",
        class_label="income",
        limits={"suppression": 0.02},
    ).document
    costs = [(-each["k"], -each["l"], each["glm"], each["cm"]) for each in document["solutions"]]
    assert [cost[0] for cost in costs] == sorted(cost[0] for cost in costs) and len(costs) > 1
    assert document["metric"] is document["lower_bound"] is document["gap"] is None
    for one in costs:
        assert not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in costs)


def test_a_heuristics_front_is_held_against_the_exact_one():
    front = {"algorithm": "random", "parameters": {"evaluations": 6}, "objectives": ("k", "glm"), "seed": 4}
    document = found(**front, exact=True).document
    exact = found(objectives=("k", "glm")).document["solutions"]
    assert document["exact_front"] == [{name: each[name] for name in ("node", "k", "glm")} for each in exact]
    boxes = {(each["k"], int(-each["glm"] // 1)) for each in exact}
    hit = {(each["k"], int(-each["glm"] // 1)) for each in document["solutions"]} & boxes
    assert document["comparison"]["representation_ratio"] == pytest.approx(len(hit) / len(boxes)) != 1
    assert document["evaluated"] == 6
    assert "exact_front" not in found(**front).document
    assert "exact_front" in found(**front, for_report=True).document
    assert "exact_front" not in found(**front, for_report=True, exact=False).document
    assert "exact_front" not in found(objectives=("k", "glm"), for_report=True).document


def test_a_search_that_is_stopped_gives_the_best_so_far(monkeypatch):
    monkeypatch.setattr("tabular.lattice.searches.exhaustive.BATCH", 10)
    told = []
    document = found(limits={"k": 1}, evaluations=15).document
    assert (document["evaluated"], document["ended"], document["parameters"]["evaluations"]) == (15, False, 15)
    stopped = found(
        limits={"k": 1}, stop=lambda: any(done for _, done, _ in told), report=lambda *say: told.append(say)
    )
    assert (stopped.document["evaluated"], stopped.document["ended"]) == (10, False)
    assert told[0] == ("Searching", 0, 0)
    assert told[-1] == ("Reading all figures of the solutions", 0, 0)


def test_who_finds_nothing_is_told_what_ended_the_search():
    with pytest.raises(NoSolution) as caught:
        found(limits={"k": 3}, seconds=0.0)
    assert str(caught.value).endswith("The time limit ended the search, seconds 0: give it more.")
    assert "seconds" in caught.value.named
    with pytest.raises(NoSolution, match=r"The search was interrupted\.$"):
        found(limits={"k": 3}, stop=lambda: True)
    with pytest.raises(NoSolution, match=r"look at more nodes\.$"):
        found(limits={"k": 60}, algorithm="random", evaluations=1)


def test_a_column_of_distinct_values_without_a_role_is_refused_before_the_search(monkeypatch):
    monkeypatch.setattr(Evaluator, "evaluate", lambda self, nodes: pytest.fail("it was searched"))
    table = PEOPLE.rows(np.arange(12))
    columns = {**{name: table.values(name) for name in table.names}, "note": list(range(12))}
    nameless = type(table).from_columns(columns, [table.attribute(name) for name in table.names])
    with pytest.raises(InvalidInput, match="'note'"):
        found(nameless, limits={"k": 3}, release=ReleaseRequest())


def test_a_release_that_counts_otherwise_than_the_search_found_is_a_bug(monkeypatch):
    limits = {"k": 4, "suppression": 0.1}
    places = [each["suppressed"] > 1 for each in found(limits=limits).document["solutions"]]
    monkeypatch.setattr(Evaluator, "suppressed_rows", lambda self, node: np.zeros(60, dtype=np.bool_))
    with pytest.raises(RuntimeError, match="another k than the search found"):
        found(limits=limits, release=ReleaseRequest(choose=str(places.index(True) + 1)))


def test_hierarchies_and_a_history_are_to_be_those_of_the_request():
    with pytest.raises(UnknownName, match="No hierarchy is called 'illness'"):
        found(quasi_identifiers=("age", "illness"))
    with pytest.raises(InvalidParameter, match="previous: a request that names a release needs its history"):
        found(limits={"k": 3}, previous="one.json")
    with pytest.raises(InvalidParameter, match="previous"):
        found(limits={"k": 3}, history=History.begun(NAMES))


@pytest.fixture
def first():
    """The first release of a chain, and its history as the record holds it."""
    limits = Limits(k=3, suppression=0.25)
    asked = ReleaseRequest(record=True, suppressed="drop")
    release = found(algorithm="kgen", limits=limits, key="name", release=asked).release
    return release, history_of(release.private[HISTORY])


NEXT = {"algorithm": "kgen", "limits": Limits(k=3, suppression=0.25), "previous": "one.json"}


def test_a_later_release_keeps_k_together_with_the_one_before(first):
    before, history = first
    outcome = found(LATER, history=history, **NEXT, release=ReleaseRequest(record=True))
    release, told = outcome.release, outcome.document["previous"]
    assert (told["releases"], told["added"], told["removed"], told["k"]) == (1, 8, 7, history.k)
    published, earlier = (
        {rows[row][0]: rows_of(each.table)[row] for row in each.order.tolist()}
        for rows, each in ((later(), release), (people(), before))
    )
    trails = Counter((earlier.get(name), published.get(name)) for name in {*earlier, *published})
    assert min(trails.values()) >= 3
    assert (release.findings["releases"], release.findings["k_over_releases"]) == (2, min(trails.values()))
    assert release.findings["suppressed"] == 0
    assert len(release.private[HISTORY]["releases"]) == 2


def test_a_release_that_breaks_k_together_with_others_is_a_bug(first, monkeypatch):
    monkeypatch.setattr("tabular.lattice.search_outcome.already_told", lambda history, k: 2)
    with pytest.raises(RuntimeError, match="does not keep k together"):
        found(LATER, history=first[1], **NEXT, release=ReleaseRequest())


def test_a_report_gets_the_first_solutions_and_moments_from_first_to_last():
    moment = {"seconds": 0.0, "best": None, "lower_bound": None}
    document = {
        "metric": "glm",
        "solutions": [{"node": place} for place in range(REPORTED + 7)],
        "moments": [{**moment, "evaluated": place} for place in range(5 * MOMENTS)],
    }
    short = for_report(document)
    assert (len(short["solutions"]), short["solutions_found"]) == (REPORTED, REPORTED + 7)
    assert len(short["moments"]) == MOMENTS
    assert (short["moments"][0]["evaluated"], short["moments"][-1]["evaluated"]) == (0, 5 * MOMENTS - 1)
    assert for_report({**document, "metric": None})["moments"] == []


LATTICE = Lattice(("age", "sex", "zip"), (3, 1, 3))


@pytest.mark.parametrize(
    ("choose", "node"),
    [
        (None, None),
        ("3", None),
        (" 3 ", None),
        ("1,0,2", (1, 0, 2)),
        ("zip=2,age=1,sex=0", (1, 0, 2)),
        ('"age"=1, sex = 0 ,zip=2', (1, 0, 2)),
    ],
)
def test_levels_are_a_node_and_a_number_is_a_place(choose, node):
    assert chosen_node(choose, LATTICE) == node


@pytest.mark.parametrize(
    ("choose", "said"),
    [
        ("9,0,0", "choose '9,0,0': the levels of 'age' are 0 to 3; there is no 9."),
        ("1,0", "choose must give a level for each of 3 columns, not '1,0'."),
        ("age=1,sex=0", "choose 'age=1,sex=0': the level of 'zip' is missing."),
        ("age=1,age=0", "choose 'age=1,age=0': the level of 'age' appears twice."),
        ("a,b,c", "choose must give whole numbers, not 'a,b,c'."),
        ("²", "choose must give a level for each of 3 columns, not '²'."),
        (
            '"age=1',
            "choose '\"age=1': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands in "
            "quotes.",
        ),
        (
            "age=1,",
            "choose 'age=1,': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands in "
            "quotes.",
        ),
    ],
)
def test_levels_that_are_not_there_are_refused(choose, said):
    with pytest.raises(InvalidParameter) as caught:
        chosen_node(choose, LATTICE)
    assert str(caught.value) == said
    assert caught.value.named == ("choose",)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(UnknownName, match="'agee'"):
        chosen_node("agee=1,sex=0,zip=1", LATTICE)


def test_levels_are_written_as_they_are_read():
    levels = {"a,b": 1, "my col": 0, 'say "a"': 2, " b ": 3}
    text = levels_as_text(levels, levels.values())
    assert text == '"a,b"=1,my col=0,"say ""a"""=2," b "=3'
    assert levels_in_text(text) == {name: str(level) for name, level in levels.items()}


def test_a_choice_is_a_place_a_node_or_the_best():
    evaluator = Evaluator(table_of(people()), HIERARCHIES, limits=Limits(k=2))
    solutions = evaluator.in_full([(3, 1, 2), (2, 1, 3)])
    assert (Choice.of(None, None, solutions, evaluator).place, Choice.of("2", None, solutions, evaluator).place) == (
        0,
        1,
    )
    found = Choice.of("any", (2, 1, 3), solutions, evaluator)
    assert (found.place, found.metrics["k"]) == (1, solutions["k"][1])
    other = Choice.of("any", (3, 1, 3), solutions, evaluator)
    assert (other.place, other.metrics["k"]) == (None, 60)
    for place in ("0", "3"):
        with pytest.raises(InvalidParameter, match=f"choose {place}: the list has places 1 to 2"):
            Choice.of(place, None, solutions, evaluator)


def test_a_node_that_breaks_the_limits_is_not_released():
    evaluator = Evaluator(table_of(people()), HIERARCHIES, limits=Limits(k=3, suppression=0.05))
    require_limits((3, 1, 3), evaluator)
    with pytest.raises(NoSolution) as caught:
        require_limits((0, 0, 0), evaluator)
    assert str(caught.value).startswith("choose: the node age=0, sex=0, zip=0 does not satisfy the limits: ")
    assert "rows would have to go, 3 may. Choose a higher one, or raise suppression." in str(caught.value)


def test_a_node_that_was_found_is_released_without_a_search():
    limits = {"k": 3, "suppression": 0.1}
    front = found(limits=limits, objectives=("k", "glm"), algorithm="pareto").document["solutions"]
    node = front[len(front) // 2]
    levels = levels_as_text(NAMES, node["node"])
    options = {"limits": limits, "objectives": ("k", "glm"), "algorithm": "pareto"}
    searched = found(**options, release=ReleaseRequest(choose=levels))
    alone = found(**options, release=ReleaseRequest(choose=levels, alone=True))
    assert alone.document["evaluated"] == 1 and alone.document["solutions"] == [node]
    assert rows_of(alone.release.table) == rows_of(searched.release.table)
    assert alone.document["release"] == {**searched.document["release"], "place": 1}


def test_nothing_is_released_alone_that_breaks_the_limits_or_is_not_said():
    with pytest.raises(NoSolution, match="does not satisfy the limits"):
        found(limits={"k": 4}, release=ReleaseRequest(choose="0,0,0", alone=True))
    for choose in (None, "1"):
        with pytest.raises(InvalidParameter, match="give the levels in"):
            found(limits={"k": 4}, release=ReleaseRequest(choose=choose, alone=True))


@pytest.mark.parametrize("algorithm", ["pareto", "exhaustive"])
def test_a_front_is_told_while_it_grows_and_ends_as_the_answer(algorithm):
    told = []
    document = found(objectives=("k", "glm"), algorithm=algorithm, best=told.append).document
    assert told[-1]["objectives"] == ["k", "glm"] and told[-1]["found"] == len(document["solutions"])
    assert told[-1]["front"] == [{name: each[name] for name in ("node", "k", "glm")} for each in document["solutions"]]
