"""Algorithm 5 on protected files, against a slow version of it, and what it promises."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.evolution import EvolutionRequest, Task, evolve
from tabular.evolution.contract import MOST_EQUAL
from tabular.evolution.files import Files
from tabular.evolution.fitness import Fitness
from tabular.evolution.genes import Categories
from tabular.evolution.operators import selection_weights
from tabular.evolution.records import Records
from tabular.loop import document_of, of_document
from tabular.measures import summary
from tabular.table import Table
from tests.strategies import seeds
from tests.tabular.evolution.people import COLUMNS, people

#: Sets of values that labels of the two columns can stand for.
SETS = (((0, 1), (0, 1, 2), (3, 4)), ((2, 3),))
NO_SETS = ((), ())


def population(seed=3, members=6, *, table=None, score="max", sets=NO_SETS, **options):
    """Random files of a small table, ready to evolve."""
    table = people() if table is None else table
    task = Task(table=table, columns=COLUMNS, score=score, workers=1)
    draw = np.random.default_rng(seed)
    fitness, files = Fitness.of(table, COLUMNS, sets=sets), []
    sizes = tuple(size + len(own) for size, own in zip((6, 4), sets, strict=True))
    for member in range(members):
        codes = fitness.codes.copy()
        chosen = draw.random(codes.shape) < 0.15 * (member + 1)
        codes[chosen] = np.stack([draw.integers(size, size=len(table)) for size in sizes], axis=1)[chosen]
        files.append(codes)
    origins = tuple(f"file {member}" for member in range(members))
    found = Files(
        Records(**{"tries": 1, **options}), task, fitness, Categories(sizes, sets), origins, (),
        np.random.default_rng(seed),
    )  # fmt: skip
    found.settle(files)
    return found


def advance(found, generations):
    for _ in range(generations):
        found.tell(found.evaluate(found.ask()))


class Slow:
    """Algorithm 5 on whole files, everything counted from the beginning each time."""

    def __init__(self, table, files, score, rng, *, tries, order, sets):
        self.fitness, self.files = Fitness.of(table, COLUMNS, sets=sets), list(files)
        self.score, self.rng, self.sets = score, rng, sets
        self.original, self.tries, self.order = self.fitness.codes, tries, order
        self.labels = [[{value} for value in range(size)] + [set(each) for each in own]
                       for size, own in zip((6, 4), sets, strict=True)]  # fmt: skip

    def scores(self):
        return np.array([self.fitness.full(each).score(self.score) for each in self.files])

    def drawn(self, weights):
        wanted, passed = self.rng.random() * sum(weights), 0.0
        for place, weight in enumerate(weights):
            passed += weight
            if wanted < passed:
                return place
        raise AssertionError

    def generation(self):
        scores = self.scores()
        weights = selection_weights(scores)
        if self.rng.random() < 0.5:
            leaders = [place for place in sorted(range(len(scores)), key=lambda at: scores[at])
                       if self.is_releasable(self.files[place])][:2]  # fmt: skip
            one = leaders[self.drawn([weights[place] for place in leaders])]
            others = [place for place in range(len(scores)) if place != one]
            other = others[self.drawn([weights[place] for place in others])]
            children = [self.crossed(one, other) for _ in range(self.tries)]
            self.compete(one, [mine for mine, _ in children], scores)
            self.compete(other, [theirs for _, theirs in children], scores)
        else:
            place, joins = self.drawn(list(weights)), []
            if any(self.sets) and self.rng.random() < 0.5:
                joins = self.joins(place)
                joins = [joins[at] for at in self.rng.permutation(len(joins))[: self.tries]]
            self.compete(place, joins or [self.mutated(place) for _ in range(self.tries)], scores)

    def joins(self, place):
        """The file with each set in place of its members and of smaller sets of them, where it holds any."""
        found = []
        for column, labels in enumerate(self.labels):
            for label, members in enumerate(labels):
                child = self.files[place].copy()
                for row in child:
                    if labels[row[column]] < members:
                        row[column] = label
                if len(members) > 1 and (child != self.files[place]).any():
                    found.append(child)
        return found

    def added(self, codes):
        """How much more whoever knows what labels came from reads than others do, of what these miss."""
        worst = 0.0
        for column, labels in enumerate(self.labels):
            before, after = self.original[:, column].tolist(), codes[:, column].tolist()
            counts = Counter(before)
            frequent, likely = ({value: 1 / len(before) for value in counts},
                                {value: 1 / counts[value] / len(counts) for value in counts})  # fmt: skip
            for weight in (frequent, likely):
                known = standing = 0.0
                for label in set(after):
                    behind = Counter()
                    for value, masked in zip(before, after, strict=True):
                        if masked == label:
                            behind[value] += weight[value]
                    known += max(behind.values())
                    members = [value for value in sorted(labels[label]) if counts[value]]
                    if weight is frequent:
                        standing += behind[max(members, key=lambda value: counts[value])]
                    else:
                        standing += sum(behind[value] for value in members) / len(members)
                blind = max(counts[value] * weight[value] for value in counts)
                worst = max(worst, (known - max(standing, blind)) / (1 - max(standing, blind)))
        return worst

    def crossed(self, one, other):
        mine, theirs = self.files[one].tolist(), self.files[other].tolist()
        by_column = self.order == "columns" or (self.order == "any" and self.rng.random() < 0.5)
        rows, columns = range(len(mine)), range(2)
        cells = [(row, column) for column in columns for row in rows] if by_column else [
            (row, column) for row in rows for column in columns
        ]  # fmt: skip
        first = int(self.rng.integers(len(cells)))
        last = int(self.rng.integers(first, len(cells)))
        for row, column in cells[first : last + 1]:
            mine[row][column], theirs[row][column] = theirs[row][column], mine[row][column]
        return np.array(mine), np.array(theirs)

    def mutated(self, place):
        column = int(self.rng.integers(2))
        row = int(self.rng.integers(len(self.files[place])))
        child = self.files[place].copy()
        values = [value for value in range(len(self.labels[column])) if value != child[row, column]]
        child[row, column] = values[int(self.rng.integers(len(values)))]
        return child

    def is_releasable(self, codes):
        return (codes == self.original).mean() <= MOST_EQUAL

    def compete(self, place, children, scores):
        limit = max(0.1, self.added(self.files[place])) + 1e-9
        found = [
            self.fitness.full(child).score(self.score) if self.added(child) <= limit else np.inf for child in children
        ]
        best = min(range(len(children)), key=lambda at: found[at])
        if found[best] < scores[place] and self.is_releasable(children[best]):
            self.files[place] = children[best]


@pytest.mark.parametrize(
    ("score", "tries", "order", "sets"),
    [("max", 1, "records", NO_SETS), ("mean", 1, "columns", SETS), ("max", 3, "any", SETS)],
)
@given(seed=seeds)
@settings(max_examples=3)
def test_it_does_what_a_slow_version_does(score, tries, order, sets, seed):
    found = population(seed, score=score, recount=0, tries=tries, order=order, sets=sets)
    files = [state.codes for state in found._states]
    slow = Slow(people(), files, score, np.random.default_rng(seed), tries=tries, order=order, sets=sets)
    for _ in range(20):
        advance(found, 1)
        slow.generation()
    assert np.array_equal(np.stack([state.codes for state in found._states]), np.stack(slow.files))
    assert found.scores.tolist() == slow.scores().tolist()


@pytest.mark.parametrize("operators", ["either", "both", "everywhere"])
def test_no_member_ever_gets_worse(operators):
    found = population(recount=0, operators=operators, mutation=0.2 if operators != "either" else None)
    for _ in range(60):
        before = found.scores.copy()
        advance(found, 1)
        assert (found.scores <= before).all()
    assert found.scores.min() < population().scores.min()


@pytest.mark.parametrize("sets", [NO_SETS, SETS])
def test_states_agree_with_full_evaluations_in_every_bit(sets):
    found = population(sets=sets, tries=4)
    advance(found, 80)
    for place, state in enumerate(found._states):
        assert found.fitness.full(state.codes) == state.scores
        assert found.scores[place] == state.scores.score("max")


def test_both_operators_may_act_in_one_generation():
    found = population(operators="both", crossover=1.0, mutation=1.0)
    alike = 0
    for _ in range(20):
        crossed = found.ask()
        alike += len(crossed) == 2
        found.tell(found.evaluate(crossed))
    assert alike > 10
    # Without a crossover a mutation is one gene.
    only = population(operators="both", crossover=0.0, mutation=1.0)
    assert {len(each.genes.values) for _ in range(20) for each in only.ask()} == {1}
    assert all(population(operators="both", crossover=0.0, mutation=0.0).ask() == [] for _ in range(3))


def test_mutation_everywhere_changes_about_its_share_of_the_genes():
    found = population(operators="everywhere", crossover=0.0, mutation=0.25)
    changed = []
    for _ in range(40):
        (child,) = found.ask()
        start, values = child.genes.start, child.genes.values
        before = found._states[child.parent].codes.reshape(-1)[start : start + len(values)]
        changed.append((before != values).sum())
    assert np.mean(changed) == pytest.approx(0.25 * 80, rel=0.2)


def test_weights_are_counted_again_over_the_population():
    found = population(recount=10)
    first = found.fitness.gains
    advance(found, 9)
    assert np.array_equal(found.fitness.gains, first)
    evaluated = found.evaluated
    advance(found, 1)
    files = [state.codes for state in found._states]
    assert np.array_equal(found.fitness.gains, Fitness.of(people(), COLUMNS).held(files).gains)
    assert found.evaluated - evaluated >= len(files)


def test_no_member_comes_to_add_more_than_the_limit():
    held, free = (population(table=people(200), sets=SETS, tries=10, added=limit) for limit in (10.0, 100.0))
    most = np.maximum(held._added, 0.1)
    advance(held, 200)
    advance(free, 200)
    assert (held._added <= most + 1e-9).all()
    assert (free._added > most).any()


def test_a_set_takes_the_place_of_its_members_in_a_whole_column():
    found = population(sets=SETS, crossover=0.0, joins=1.0, tries=30)
    before = found._states
    children = found.ask()
    assert 1 < len(children) <= 4
    for child in children:
        codes = before[child.parent].codes
        after = codes.copy().reshape(-1)
        after[child.genes.start : child.genes.start + len(child.genes.values)] = child.genes.values
        changed = np.argwhere(codes != after.reshape(codes.shape))
        (column,) = set(changed[:, 1].tolist())
        (label,) = set(after.reshape(codes.shape)[changed[:, 0], column].tolist())
        size = (6, 4)[column]
        members = SETS[column][label - size]
        inner = [size + place for place, each in enumerate(SETS[column]) if set(each) < set(members)]
        assert not np.isin(after.reshape(codes.shape)[:, column], [*members, *inner]).any()


def test_where_no_labels_stand_for_sets_nothing_is_drawn_for_joins():
    one, other = population(joins=0.0), population(joins=1.0)
    advance(one, 30)
    advance(other, 30)
    assert np.array_equal(one.kept()["files"], other.kept()["files"])


def test_what_an_earlier_version_kept_goes_on_as_it_would_have():
    before = population(sets=SETS, joins=0.0, added=100.0)
    advance(before, 10)
    kept = before.kept()
    document = document_of(kept)
    del document["parameters"]
    resumed = Records(tries=1).resume(before.task, {**kept, **of_document(document)})
    advance(before, 40)
    advance(resumed, 40)
    assert np.array_equal(before.kept()["files"], resumed.kept()["files"])
    usual = population(sets=SETS)
    advance(usual, 50)
    assert not np.array_equal(usual.kept()["files"], resumed.kept()["files"])


def test_parameters_are_kept_with_what_they_made():
    before = population(sets=SETS, joins=0.9, added=30.0)
    advance(before, 10)
    assert Records(tries=1).resume(before.task, before.kept()).method == before.method


@given(st.integers(1, 40), st.integers(1, 30), seeds)
@settings(max_examples=5)
def test_what_was_kept_goes_on_as_if_nothing_had_been(before, after, seed):
    whole, cut = (population(seed, recount=20, sets=SETS) for _ in range(2))
    advance(whole, before + after)
    advance(cut, before)
    resumed = cut.method.resume(cut.task, {name: array.copy() for name, array in cut.kept().items()})
    assert resumed.evaluated == cut.evaluated
    advance(resumed, after)
    assert all(np.array_equal(array, resumed.kept()[name]) for name, array in whole.kept().items())


def test_nothing_becomes_the_original_but_for_a_few_cells():
    found = population(score="mean", recount=0)
    advance(found, 300)
    original = found.fitness.codes
    for place, state in enumerate(found._states):
        share = (state.codes == original).mean()
        assert share <= MOST_EQUAL
        assert found.individual(place).withheld is None


def test_what_is_the_original_at_the_start_is_withheld():
    found = population(members=2)
    files = [found.fitness.codes, found._states[1].codes]
    found.settle(files)
    assert "100.0 % of the protected cells are the original's, more than 95 %" in (found.individual(0).withheld or "")
    assert found.individual(1).withheld is None


def test_several_draws_compete_for_the_place_of_one_parent():
    one, many = population(recount=0), population(recount=0, tries=8)
    advance(one, 30)
    advance(many, 30)
    assert many.evaluated > 5 * one.evaluated
    assert many.scores.min() < one.scores.min()


@pytest.fixture(scope="module")
def outcome():
    asked = EvolutionRequest(what="records", columns=COLUMNS, generations=20)
    return evolve(asked, people(60), rng=np.random.default_rng(7))


def test_it_starts_from_the_whole_grid_and_says_what_it_left_out(outcome):
    document = outcome.document
    starts = {each["origin"].split()[0] for each in document["population"]["initial"]}
    assert starts == {"microaggregation", "rank-swapping", "pram", "global-recoding"}
    assert {each["method"] for each in document["left_out"]} >= {"top-coding", "bottom-coding"}


def test_what_joins_categories_evolves_and_is_released_with_its_labels():
    found = evolve(
        EvolutionRequest(what="records", columns=COLUMNS, generations=60, parameters={"tries": 20}),
        people(60),
        rng=np.random.default_rng(5),
    )
    listed = found.document["population"]
    joined = [place for place, each in enumerate(listed["initial"]) if each["origin"].startswith("global-recoding")]
    for place in joined:
        before, after = listed["initial"][place], listed["final"][place]
        worse = [max(each["information_loss"], each["disclosure_risk"]) for each in (after, before)]
        assert worse[0] <= worse[1] + 1e-9
    place, member = next(each for each in found.members if each[0] in joined)
    released = member.masked()
    assert any(len(released.sets[name]) for name in COLUMNS)
    counted = summary(people(60), released, COLUMNS)
    assert counted.information_loss == pytest.approx(member.information_loss, abs=1e-9)


def test_the_score_never_rises_and_the_release_has_the_values_of_the_domain(outcome):
    best = [row[1] for row in outcome.document["history"]]
    assert best == sorted(best, reverse=True)
    table = outcome.release.table
    assert all(table.attribute(name).domain == people(60).attribute(name).domain for name in COLUMNS)
    assert table.values("illness") == people(60).values("illness")
    assert outcome.document["final"]["score_max"] == outcome.measures.score_max


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same(outcome, workers, monkeypatch):
    # These few genes are judged on threads here, as those of a large file are.
    monkeypatch.setattr("tabular.evolution.files.FEW_GENES", 0)
    asked = EvolutionRequest(what="records", columns=COLUMNS, generations=20)
    found = evolve(asked, people(60), rng=np.random.default_rng(7), workers=workers)
    assert found.document["history"] == outcome.document["history"]
    for name in COLUMNS:
        assert np.array_equal(found.release.table.columns[name], outcome.release.table.columns[name])


def test_the_best_can_be_left_out_at_the_start(outcome):
    asked = EvolutionRequest(what="records", columns=COLUMNS, generations=0, drop_best=10)
    found = evolve(asked, people(60), rng=np.random.default_rng(7)).document
    before, after = outcome.document["population"]["initial"], found["population"]["initial"]
    assert len(after) == len(before) - round(len(before) / 10)
    assert found["history"][0][1] > outcome.document["history"][0][1]
    with pytest.raises(InvalidParameter, match="drop_best 99: 1 of"):
        evolve(
            EvolutionRequest(what="records", columns=COLUMNS, drop_best=99), people(60), rng=np.random.default_rng(7)
        )


def test_where_nothing_can_change_it_says_so():
    table = Table.from_columns({"a": ["x"] * 5}, [Attribute(name="a")])
    with pytest.raises(NoSolution, match="Each of the columns has one value"):
        evolve(EvolutionRequest(what="records", columns=("a",)), table, rng=np.random.default_rng(1))


def incomes(rows=50, seed=2):
    """People with two columns of numbers, one below 0 and with a decimal, and a town."""
    draw = np.random.default_rng(seed)
    income = draw.lognormal(8, 1, rows).round()
    saved = (income / 10 * draw.normal(1, 0.5, rows) - 500).round(1)
    columns = {
        "income": income.astype(int).tolist(),
        "saved": saved.tolist(),
        "town": draw.choice(["Ulm", "Jena"], rows).tolist(),
    }
    kinds = [Attribute(name=name, kind="continuous", role="quasi-identifier") for name in ("income", "saved")]
    return Table.from_columns(columns, kinds)


NUMBERS = ("income", "saved")


@pytest.fixture(scope="module")
def of_numbers():
    asked = EvolutionRequest(what="records", columns=NUMBERS, generations=30)
    return evolve(asked, incomes(), rng=np.random.default_rng(7))


def test_numbers_start_from_the_grid_for_numbers_and_get_better(of_numbers):
    document = of_numbers.document
    assert {each["origin"].split()[0] for each in document["population"]["initial"]} == {
        "microaggregation",
        "rank-swapping",
    }
    assert {each["method"] for each in document["left_out"]} >= {"pram", "global-recoding", "top-coding"}
    best = [row[1] for row in document["history"]]
    assert best == sorted(best, reverse=True)
    assert best[-1] < best[0]


def test_released_numbers_have_the_decimals_of_the_original_and_lie_within_its_range(of_numbers):
    table, original = of_numbers.release.table, incomes()
    assert all(isinstance(value, int) for value in table.values("income"))
    assert all(round(value, 1) == value for value in table.values("saved"))
    for name in NUMBERS:
        assert original.numbers(name).min() <= table.numbers(name).min()
        assert table.numbers(name).max() <= original.numbers(name).max()
    assert table.values("town") == original.values("town")


def test_what_is_reported_of_numbers_is_measured_anew(of_numbers):
    document = of_numbers.document
    listed = {each["origin"]: each for each in document["population"]["final"]}[document["began_as"]]
    assert document["final"]["numeric"]
    assert document["final"]["information_loss"] == pytest.approx(listed["information_loss"], abs=1e-9)
    found = summary(incomes(), of_numbers.release.table, NUMBERS)
    assert document["final"]["disclosure_risk"] == found.disclosure_risk


@pytest.mark.parametrize("workers", [1, 3])
def test_numbers_evolve_the_same_with_any_number_of_workers(of_numbers, workers, monkeypatch):
    monkeypatch.setattr("tabular.evolution.files.FEW_GENES", 0)
    asked = EvolutionRequest(what="records", columns=NUMBERS, generations=30)
    found = evolve(asked, incomes(), rng=np.random.default_rng(7), workers=workers)
    assert found.document["history"] == of_numbers.document["history"]


@given(st.integers(1, 12), st.integers(1, 12), seeds)
@settings(max_examples=3, deadline=None)
def test_numbers_that_were_kept_go_on_as_if_nothing_had_been(before, after, seed):
    task = Task(table=incomes(), columns=NUMBERS, workers=1)
    method = Records(tries=2, recount=9)
    method.check(task)
    whole, cut = (method.begin(task, np.random.default_rng(seed)) for _ in range(2))
    advance(whole, before + after)
    advance(cut, before)
    resumed = method.resume(task, {name: array.copy() for name, array in cut.kept().items()})
    advance(resumed, after)
    assert all(np.array_equal(array, resumed.kept()[name]) for name, array in whole.kept().items())


@pytest.mark.parametrize("operators", ["both", "everywhere"])
def test_numbers_take_every_way_to_operate(operators):
    task = Task(table=incomes(), columns=NUMBERS, workers=1)
    found = Records(operators=operators, mutation=0.3, tries=3).begin(task, np.random.default_rng(1))
    first = found.scores.copy()
    advance(found, 30)
    assert (found.scores <= first).all()
    assert found.scores.sum() < first.sum()


def test_numbers_and_categories_evolve_apart():
    with pytest.raises(InvalidParameter, match="numbers and categories evolve apart, and 'town' holds categories"):
        evolve(EvolutionRequest(what="records", columns=("income", "town")), incomes(), rng=np.random.default_rng(1))


def test_missing_numbers_are_refused():
    table = Table.from_columns({"a": [1.5, None, 3.5, 3.5]}, [Attribute(name="a", kind="continuous")])
    with pytest.raises(InvalidParameter, match=r"'a' has missing values.*kind a=ordinal"):
        evolve(EvolutionRequest(what="records", columns=("a",)), table, rng=np.random.default_rng(1))
