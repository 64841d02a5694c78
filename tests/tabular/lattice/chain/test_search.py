"""Which rows go for all releases to keep k, against every set of rows there is; and searches that go on."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tabular import Table
from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain import search as going_on
from tabular.lattice.chain.history import History, already_told
from tabular.lattice.chain.search import DynamicEvaluator, DynamicKgen
from tabular.lattice.evaluator import node_classes
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.searches import searches
from tabular.lattice.searches.kgen import Kgen
from tabular.lattice.searching import Finds, Question, run
from tabular.lattice.space import Limits
from tests.tabular.lattice.chain.changing import changing
from tests.tabular.lattice.chain.observer import faults, published, told_apart
from tests.tabular.lattice.problems import limits, problems
from tests.tabular.lattice.slow import SlowEvaluator

FRUIT = Hierarchy.of("fruit", ["apple", "pear", "plum"], [["pome", "pome", "stone"], ["*"] * 3])


def people(**values):
    return Table.from_columns({"id": list(values), "fruit": list(values.values())})


def begun(table, k, node=(0,), out=None):
    """A history of one release."""
    gone = np.zeros(len(table), dtype=bool) if out is None else np.array(out)
    history = History.begun(["fruit"], "id").extended(table, {"fruit": FRUIT}, node, gone)
    assert already_told(history, k) == 0
    return history


def evaluator(table, history, k, suppression=0.9, **options):
    return DynamicEvaluator(table, {"fruit": FRUIT}, history, limits=Limits(k=k, suppression=suppression, **options))


FIRST = people(a="apple", b="apple", c="apple", d="pear", e="pear", f="pear")


def test_nothing_has_to_go_where_nothing_changed():
    same = evaluator(FIRST, begun(FIRST, 2), 2)
    assert same.evaluate([(0,), (1,), (2,)])["suppressed"].tolist() == [0, 0, 0]


def test_who_leaves_alone_is_hidden_by_others_who_are_left_out():
    # a is gone: of b and c one must go with a, and the other cannot stay alone.
    later = people(b="apple", c="apple", d="pear", e="pear", f="pear")
    found = evaluator(later, begun(FIRST, 2), 2)
    assert found.suppressed_rows((0,)).tolist() == [True, True, False, False, False]
    # Joining apples and pears does not bring them back: it is known that they were apples.
    assert found.evaluate([(0,), (1,), (2,)])["suppressed"].tolist() == [2, 2, 2]


def test_of_a_large_class_only_as_many_are_left_out_as_are_lacking():
    first = people(**dict.fromkeys("abcdef", "apple"))
    later = people(**dict.fromkeys("bcdef", "apple"))
    found = evaluator(later, begun(first, 3), 3)
    assert found.suppressed_rows((0,)).tolist() == [False, False, False, True, True]


def test_who_is_new_waits_until_enough_have_come():
    later = people(a="apple", b="apple", c="apple", d="pear", e="pear", f="pear", g="apple", h="pear")
    found = evaluator(later, begun(FIRST, 2), 2)
    assert found.suppressed_rows((0,)).tolist() == [False] * 6 + [True] * 2
    # Where apples and pears are one they are two.
    assert not found.suppressed_rows((1,)).any()


def test_who_changes_alone_goes_with_another_of_the_old_class():
    later = people(a="pear", b="apple", c="apple", d="pear", e="pear", f="pear", g="apple", h="apple")
    first = people(a="apple", b="apple", c="apple", d="pear", e="pear", f="pear", g="apple", h="apple")
    found = evaluator(later, begun(first, 2), 2)
    out = found.suppressed_rows((0,))
    assert out.sum() == 2 and out[0]
    assert not found.suppressed_rows((1,)).any()


def test_who_was_left_out_comes_back_with_enough_others():
    first = people(a="apple", b="apple", c="plum", d="plum", e="plum")
    history = begun(first, 2, out=[False, False, True, True, True])
    assert not evaluator(first, history, 2).suppressed_rows((0,)).any()


def test_stars_that_stood_in_a_release_are_no_absence():
    first = people(a="apple", b="apple", c="plum")
    out = np.array([False, False, True])
    later = people(a="apple", b="apple", c="plum", d="plum")
    for silent, gone in ((True, 0), (False, 2)):
        history = History.begun(["fruit"], "id").extended(first, {"fruit": FRUIT}, (0,), out, silent=silent)
        # c and d come together if nobody can tell that one of them was there before.
        assert evaluator(later, history, 2).evaluate([(0,)])["suppressed"][0] == gone


def test_a_k_that_is_broken_already_is_refused():
    with pytest.raises(NoSolution, match="only 3 share"):
        evaluator(FIRST, begun(FIRST, 3), 4)
    with pytest.raises(InvalidParameter, match="give k"):
        DynamicEvaluator(FIRST, {"fruit": FRUIT}, begun(FIRST, 2), limits=Limits(suppression=0.1))


@given(problems(max_attributes=3), limits)
@settings(max_examples=30, deadline=None)
def test_without_a_release_before_all_is_as_it_was(problem, given_limits):
    table, levels = problem
    options = {"limits": given_limits, "sensitive": "sensitive", "class_label": "label"}
    nodes = SlowEvaluator(table, levels).lattice.everything()
    if given_limits.k > len(table):
        return
    slow = SlowEvaluator(table, levels, **options)
    fast = DynamicEvaluator(table, levels, History.begun(list(levels)), **options)
    expected, found = slow.evaluate(nodes), fast.evaluate(nodes)
    assert set(found.values) == set(expected.values)
    for name in expected.values:
        assert found[name] == pytest.approx(expected[name]), name
    assert all((slow.suppressed_rows(node) == fast.suppressed_rows(node)).all() for node in found.tuples())


@given(changing(max_rows=8, max_tables=3, max_attributes=2, max_size=3, with_l=True), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_no_smaller_set_of_rows_would_do(case, random):
    history, releases = History.begun(list(case.hierarchies), "id"), []
    k = min(case.limits.k, 3)
    for table in case.tables:
        if len(table) > 9 or len(table) < k:
            return
        limits = Limits(k=k, l=case.limits.l, suppression=1.0)
        found = DynamicEvaluator(table, case.hierarchies, history, limits=limits, sensitive="sensitive", metrics=())
        node = random.choice(list(found.lattice))
        out = found.suppressed_rows(node)
        least = fewest(table, case.hierarchies, node, releases, limits)
        assert out.sum() == found.evaluate([node])["suppressed"][0] == least
        assert is_kept(table, case.hierarchies, node, out, releases, limits)
        releases.append(published(table, case.hierarchies, node, out))
        history = history.extended(table, case.hierarchies, node, out)
        assert already_told(history, k) == told_apart(releases, k) == 0


def fewest(table, levels, node, releases, limits):
    """The size of the smallest set of rows without which the rule holds."""
    rows = range(len(table))
    return next(
        size
        for size in range(len(table) + 1)
        if any(is_kept(table, levels, node, np.isin(rows, gone), releases, limits) for gone in combinations(rows, size))
    )


def is_kept(table, levels, node, out, releases, limits):
    """Whether the releases keep k, and what is new keeps l among those who share all that was published."""
    releases = [*releases, published(table, levels, node, out)]
    if told_apart(releases, limits.k):
        return False
    found = {}
    for person, value in zip(table.values("id"), table.values("sensitive"), strict=True):
        if person in releases[-1]:
            found.setdefault(tuple(each.get(person) for each in releases), set()).add(value)
    return all(len(values) >= (limits.l or 1) for values in found.values())


@given(changing())
@settings(max_examples=60, deadline=None)
def test_coarser_nodes_suppress_no_more_and_bounds_hold(case):
    history = History.begun(list(case.hierarchies), "id")
    k = case.limits.k
    for number, table in enumerate(case.tables):
        if len(table) < k:
            return
        found = DynamicEvaluator(table, case.hierarchies, history, limits=Limits(k=k, suppression=0.5), metrics=())
        nodes = list(found.lattice)
        gone = dict(zip(nodes, found.evaluate(nodes)["suppressed"].tolist(), strict=True))
        for node in nodes:
            assert all(gone[above] <= gone[node] for above in found.lattice.successors(node))
            if found.previous is not None:
                low = tuple(min(pair) for pair in zip(node, found.previous, strict=True))
                assert found.at_least_suppressed(low) <= gone[node]
        node = nodes[(number * 7 + 3) % len(nodes)]
        history = history.extended(table, case.hierarchies, node, found.suppressed_rows(node))


@given(changing(max_tables=3, with_l=True))
@settings(max_examples=25, deadline=None)
def test_metrics_are_those_of_the_table_that_is_left(case):
    history = History.begun(list(case.hierarchies), "id")
    for table in case.tables:
        if len(table) < case.limits.k:
            return
        options = {"limits": case.limits, "sensitive": "sensitive", "class_label": "label"}
        found = DynamicEvaluator(table, case.hierarchies, history, **options)
        slow = SlowEvaluator(table, case.hierarchies, **options)
        nodes = found.lattice.everything()[:: max(1, found.lattice.size // 5)]
        readings = found.evaluate(nodes)
        # The metrics of the slow evaluator, for the rows that this one leaves.
        slow.suppressed_rows = found.suppressed_rows
        expected = slow.evaluate(nodes)
        for name in expected.values:
            assert readings[name] == pytest.approx(expected[name]), name
        history = history.extended(
            table, case.hierarchies, readings.tuples()[0], found.suppressed_rows(readings.tuples()[0])
        )


def test_many_attributes_and_many_sensitive_values():
    # Keys of more than one word, and more values than a word has bits.
    rng = np.random.default_rng(8)
    names = [f"q{place}" for place in range(30)]
    columns = {name: [str(value) for value in np.minimum(rng.geometric(0.8, 60), 5)] for name in names}
    columns["sensitive"] = [str(value) for value in rng.permutation(np.arange(60) * 2) // 3]
    domain = tuple(str(value) for value in range(1, 6))
    table = Table.from_columns(columns, [Attribute(name=name, domain=domain) for name in names])
    levels = {name: Hierarchy.of(name, domain, [["few", "few", "many", "many", "many"], ["*"] * 5]) for name in names}
    given_limits = Limits(k=2, l=2, suppression=0.5)
    slow = SlowEvaluator(table, levels, limits=given_limits, sensitive="sensitive")
    fast = DynamicEvaluator(table, levels, History.begun(names), limits=given_limits, sensitive="sensitive")
    nodes = [tuple(node) for node in rng.choice(3, size=(12, 30), p=[0.05, 0.15, 0.8]).tolist()]
    expected, found = slow.evaluate(nodes), fast.evaluate(nodes)
    assert 0 < expected["suppressed"].min() < expected["suppressed"].max()
    for name in expected.values:
        assert found[name] == pytest.approx(expected[name]), name


@pytest.mark.parametrize("room", [0, 70_000, 1 << 28])
def test_what_is_kept_of_nodes_is_bounded_by_bytes_where_all_sensitive_values_differ(room, monkeypatch):
    # A bucket of few rows holds a bit for each of the values there are: so it is not the buckets that are to count.
    monkeypatch.setattr(node_classes, "_BYTES", room)
    rows, rng = 600, np.random.default_rng(4)
    columns = {name: [str(value) for value in rng.integers(0, 4, rows)] for name in ("one", "two", "three")}
    columns |= {"sensitive": [f"{value:03}" for value in range(rows)]}
    table = Table.from_columns(columns)
    levels = {
        name: Hierarchy.of(name, table.attribute(name).domain, [["few", "few", "many", "many"], ["*"] * 4])
        for name in ("one", "two", "three")
    }
    given_limits = Limits(k=2, l=8, suppression=0.5)
    found = DynamicEvaluator(
        table, levels, History.begun(list(levels)), limits=given_limits, sensitive="sensitive", metrics=()
    )
    nodes = list(found.lattice)
    slow = SlowEvaluator(table, levels, limits=given_limits, sensitive="sensitive")
    gone = [int(slow.suppressed_rows(node).sum()) for node in nodes]
    assert found.evaluate(nodes)["suppressed"].tolist() == gone and max(gone)
    kept = found._buckets._kept
    held = [sum(array.nbytes for array in each) for each in kept._classes if each is not None]
    assert 0 < sum(held) == kept._held <= max(room, 4 * node_classes._bytes(kept._base))


#: Those that seek one node, and take limits that are fixed.
ONE = [each.name for each in searches.entries() if each.method.seeks_one]


def sought(evaluator, search, metric="glm", name="kgen"):
    return run(name, search, Question(evaluator, metric), rng=np.random.default_rng(5))


@given(changing(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_whoever_holds_all_releases_finds_nobody(case, silent):
    # The first release may show its suppressed rows as stars; later ones leave them out.
    history, releases = History.begun(list(case.hierarchies), "id"), []
    for table in case.tables:
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, limits=case.limits, metrics=("glm",))
            result = sought(found, DynamicKgen())
        except NoSolution:
            # Nothing is released of this table; the next may do.
            continue
        node = result.solutions.tuples()[0]
        out = found.suppressed_rows(node)
        assert out.sum() <= case.limits.suppressible(len(table))
        silent = silent or bool(releases)
        releases.append(published(table, case.hierarchies, node, out, silent=silent))
        assert not faults(releases, case.limits.k)
        assert not told_apart(releases, case.limits.k)
        history = history.extended(table, case.hierarchies, node, out, silent=silent)
        assert already_told(history, case.limits.k) == 0
    event(f"{len(releases)} releases")


@given(changing(min_tables=3))
@settings(max_examples=30, deadline=None)
def test_the_observer_finds_persons_in_releases_that_know_nothing_of_each_other(case):
    releases = []
    for table in case.tables:
        plain = Evaluator(table, case.hierarchies, limits=Limits(k=1))
        node = plain.lattice.bottom if len(releases) % 2 else plain.lattice.top
        releases.append(published(table, case.hierarchies, node, plain.suppressed_rows(node)))
    # What the rule implies, by the two observers: who finds nobody by all that is known finds nobody by the decision.
    for k in (2, 3):
        if not told_apart(releases, k):
            assert not faults(releases, k)


def test_two_observers_agree_on_two_releases():
    # Over two releases the rule is no more than the decision.
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(300):
        releases = [{}, {}]
        for person in range(0, 12, 2):
            # Two by two, and now and then one otherwise than the other.
            for release in releases:
                word = ("xy"[rng.integers(2)],)
                release.update({each: word for each in (person, person + 1) if rng.random() < 0.95})
                if rng.random() < 0.3:
                    release.pop(person, None), release.pop(person + 1, None)
        assert bool(told_apart(releases, 2)) == bool(faults(releases, 2))
        broken += bool(faults(releases, 2))
    assert 50 < broken < 290


def test_the_observer_finds_who_left_alone():
    earlier, later = dict.fromkeys("abcd", ("x",)), dict.fromkeys("abc", ("x",))
    assert faults([earlier, later], 2) == [
        "only 1 rows went from ('x',) to None",
        "only 1 rows were removed from ('x',)",
    ]
    assert not faults([earlier, dict.fromkeys("ab", ("x",))], 2)


def test_over_three_releases_absence_in_between_is_known():
    stays = dict.fromkeys("abcd", ("x",))
    releases = [stays, dict.fromkeys("cd", ("x",)) | {"e": ("x",), "f": ("x",)}, stays]
    # a and b went and came back together, so did e and f come and go: nobody is alone.
    assert not faults(releases, 2) and not told_apart(releases, 2)
    releases = [stays | {"g": ("x",)}, dict.fromkeys("cdg", ("x",)), stays]
    # g stayed once with c and d, which does not say who g is; to have left after that does.
    assert faults(releases, 2) and told_apart(releases, 2) == 1


@given(changing(max_rows=16), st.sampled_from(["glm", "precision", "non_uniform_entropy", "discernibility"]))
@settings(max_examples=60, deadline=None)
def test_going_on_finds_the_best_node_there_is(case, metric):
    history = History.begun(list(case.hierarchies), "id")
    for table in case.tables:
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, limits=case.limits, metrics=(metric,))
        except NoSolution:
            continue
        everything = found.evaluate(found.lattice.everything())
        good = everything.take(everything.satisfying)
        if not len(good):
            with pytest.raises(NoSolution):
                sought(found, DynamicKgen(), metric)
            continue
        result = sought(found, DynamicKgen(), metric)
        best = float(good[metric].min())
        assert result.lower_bound is None or result.lower_bound <= best + 1e-9
        assert result.solutions[metric][0] == pytest.approx(best)
        if history.releases:
            said = result.remarks["previous"]
            assert said["proven"] == (metric != "discernibility")
            event(f"{len(good)} of {len(everything)} satisfy")
        node = result.solutions.tuples()[0]
        history = history.extended(table, case.hierarchies, node, found.suppressed_rows(node))


#: No node listed: the optimum by branch and bound.
BRANCHED = {"most": 0}


@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in ONE), ("optimal", BRANCHED)])
@given(case=changing(max_rows=14, max_tables=3))
@settings(max_examples=12, deadline=None)
def test_every_search_keeps_the_releases_together(name, options, case):
    history, releases = History.begun(list(case.hierarchies), "id"), []
    search = searches[name].method(**options)
    for table in case.tables:
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, limits=case.limits, metrics=("precision",))
            result = sought(found, search, "precision", name)
        except NoSolution:
            continue
        if name in EXACT:
            everything = found.evaluate(found.lattice.everything())
            assert result.solutions["precision"].min() == everything.take(everything.satisfying)["precision"].min()
        node = result.solutions.tuples()[0]
        out = found.suppressed_rows(node)
        releases.append(published(table, case.hierarchies, node, out))
        assert not faults(releases, case.limits.k)
        history = history.extended(table, case.hierarchies, node, out)


#: Searches that end with the best node by precision, whatever may be suppressed.
EXACT = [name for name in ("exhaustive", "incognito", "ola", "optimal") if name in ONE]


@pytest.mark.parametrize("options", [{}, BRANCHED])
@given(case=changing(max_rows=16))
@settings(max_examples=25, deadline=None)
def test_the_exact_front_and_optimum_are_those_of_all_nodes(options, case):
    history = History.begun(list(case.hierarchies), "id")
    for table in case.tables:
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, limits=case.limits, metrics=("glm",))
            best = sought(found, searches["optimal"].method(**options), "glm", "optimal")
        except NoSolution:
            continue
        everything = found.evaluate(found.lattice.everything())
        good = everything.take(everything.satisfying)
        assert best.solutions["glm"].min() == pytest.approx(good["glm"].min())
        assert best.lower_bound == pytest.approx(good["glm"].min())
        question = Question(found, objectives=("k", "glm"))
        front = run("pareto", searches["pareto"].method(), question, rng=np.random.default_rng(5)).solutions
        points = {tuple(point) for point in good.costs(("k", "glm")).tolist()}
        beaten = {
            other for one in points for other in points if one != other and one[0] <= other[0] and one[1] <= other[1]
        }
        assert {tuple(point) for point in front.costs(("k", "glm")).tolist()} == points - beaten
        node = best.solutions.tuples()[0]
        history = history.extended(table, case.hierarchies, node, found.suppressed_rows(node))


@pytest.mark.parametrize("options", [{}, BRANCHED])
@pytest.mark.parametrize("attributes", [1, 2, 3])
def test_the_optimum_is_proven_by_what_the_releases_say_together_and_not_by_classes_alone(attributes, options):
    # All rows keep k at every node, so that by their classes alone level 0 would be the best; but one of four who were
    # alike is gone, and with two others to hide with a whole class has to go there, which is more than may.
    names, letters = [f"q{place}" for place in range(attributes)], list("aaabbbccca")
    hierarchies = {name: Hierarchy.of(name, list("abc"), [["ab", "ab", "c"], ["*"] * 3]) for name in names}
    columns = {"id": [f"p{number}" for number in range(10)], **dict.fromkeys(names, letters)}
    first = Table.from_columns(columns)
    later, limits = first.rows(np.arange(9)), Limits(k=3, suppression=0.25)
    out = np.zeros(10, dtype=bool)
    history = History.begun(names, "id").extended(first, hierarchies, (2,) * attributes, out)
    found = DynamicEvaluator(later, hierarchies, history, limits=limits, metrics=("glm",))
    assert Evaluator(later, hierarchies, limits=limits).evaluate([(0,) * attributes]).satisfying.all()
    assert not found.evaluate([(0,) * attributes]).satisfying.any()
    result = sought(found, searches["optimal"].method(**options), "precision", "optimal")
    assert result.solutions.tuples() == [(1,) * attributes]
    assert result.lower_bound == result.solutions["precision"][0] == 0.5


@given(case=changing(max_rows=14), metric=st.sampled_from(["discernibility", "normalized_average_class_size", "cm"]))
@settings(max_examples=40, deadline=None)
def test_the_optimum_of_what_has_no_bound_by_levels_is_that_of_all_nodes(case, metric):
    history = History.begun(list(case.hierarchies), "id")
    for table in case.tables:
        options = {"limits": case.limits, "metrics": (metric,), "class_label": "label"}
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, **options)
            best = sought(found, searches["optimal"].method(), metric, "optimal")
        except NoSolution:
            continue
        everything = found.evaluate(found.lattice.everything())
        least = float(everything.take(everything.satisfying)[metric].min())
        assert best.solutions[metric][0] == best.lower_bound == pytest.approx(least)
        node = best.solutions.tuples()[0]
        history = history.extended(table, case.hierarchies, node, found.suppressed_rows(node))


PLACES = Hierarchy.of("place", list("abcd"), [["ab", "ab", "cd", "cd"], ["*"] * 4])


def places(*words):
    return Table.from_columns({"id": [str(number) for number in range(len(words))], "place": words})


def released(*tables, k=2, suppression=0.5):
    """The last evaluator and result of a chain."""
    history = History.begun(["place"], "id")
    for table in tables:
        limits = Limits(k=k, suppression=suppression)
        found = DynamicEvaluator(table, {"place": PLACES}, history, limits=limits, metrics=("glm",))
        result = sought(found, DynamicKgen())
        node = result.solutions.tuples()[0]
        history = history.extended(table, {"place": PLACES}, node, found.suppressed_rows(node))
    return found, result


def test_where_nothing_changed_three_nodes_are_looked_at_at_most():
    table = places(*"aabbccdd")
    _, result = released(table, table)
    assert result.solutions.tuples() == [(0,)]
    assert result.remarks["previous"] == {
        "releases": 1, "matched": "nothing was released before", "node": [0], "added": 0, "removed": 0, "changed": 0,
        "proven": True,
    }  # fmt: skip
    assert result.evaluated <= 3 and result.lower_bound == 0.0


def test_a_finer_node_is_found_where_the_change_allows_it():
    # Everybody is new: what was said of those who went says nothing of those who came.
    coarse = places(*"aabcddd")
    fine = Table.from_columns({"id": [f"n{number}" for number in range(8)], "place": list("aabbccdd")})
    found, result = released(coarse, fine, suppression=0.0)
    assert found.previous == (1,)
    assert result.solutions.tuples() == [(0,)]


def test_a_finer_node_would_tell_apart_who_was_alike():
    # The second table alone could be released as it is; but whose place was `ab` is known to be one of a few.
    first, second = places(*"aaab", *"cccc"), places(*"aabb", *"cccc")
    found, result = released(first, second, suppression=0.0)
    assert found.previous == (1,)
    assert result.solutions.tuples() == [(0,)]
    first, second = places(*"aaab", *"cccc"), places(*"aaab", *"ccdd")
    found, result = released(first, second, suppression=0.0)
    assert result.solutions.tuples() == [(1,)]


def test_the_rule_is_broken_by_who_leaves_alone_and_nothing_may_be_suppressed():
    first = places(*"aabb")
    with pytest.raises(NoSolution, match="where 1 rows would have to go"):
        released(first, first.rows(np.arange(3)), suppression=0.0)


def test_a_search_that_goes_on_needs_something_to_go_on_from():
    table = places(*"aabb")
    plain = Evaluator(table, {"place": PLACES}, limits=Limits(k=2))
    with pytest.raises(InvalidParameter, match="give previous"):
        sought(plain, DynamicKgen())


@given(changing(max_rows=16), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_with_few_evaluations_the_answer_is_right_and_so_is_the_bound(case, evaluations):
    history = History.begun(list(case.hierarchies), "id")
    for table in case.tables:
        try:
            found = DynamicEvaluator(table, case.hierarchies, history, limits=case.limits, metrics=("glm",))
            result = sought(found, DynamicKgen(evaluations=evaluations))
        except NoSolution:
            continue
        everything = found.evaluate(found.lattice.everything())
        best = float(everything.take(everything.satisfying)["glm"].min())
        assert result.solutions.satisfying.all()
        assert result.evaluated <= evaluations
        assert result.lower_bound is None or result.lower_bound <= best + 1e-9
        if history.releases and result.remarks["previous"]["proven"]:
            assert result.solutions["glm"][0] == pytest.approx(best)
        node = result.solutions.tuples()[0]
        history = history.extended(table, case.hierarchies, node, found.suppressed_rows(node))


def far_from_the_last(attributes=12):
    """Rows that are new and alike at the top only, while the last release was at the bottom."""
    names, values = [f"q{place}" for place in range(attributes)], [str(value) for value in range(8)]
    above = [[f"a{value // 2}" for value in range(8)], [f"b{value // 4}" for value in range(8)], ["*"] * 8]
    hierarchies = {name: Hierarchy.of(name, values, above) for name in names}
    attributes = [Attribute(name=name, domain=tuple(values)) for name in names]
    rows = [*["0"] * 20, *["1"] * 20, *"76345"]
    ids = [f"p{number}" for number in range(len(rows))]
    later = Table.from_columns({"id": ids, **dict.fromkeys(names, rows)}, attributes)
    first = later.rows(np.arange(40))
    out = np.zeros(40, dtype=bool)
    history = History.begun(names, "id").extended(first, hierarchies, (0,) * len(names), out)
    return DynamicEvaluator(later, hierarchies, history, limits=Limits(k=3), metrics=("glm",))


def test_far_from_the_last_release_a_stop_is_obeyed_soon():
    # Of sixteen million nodes nearly all lie below some that break the limits: those are passed over, not gone through.
    found = far_from_the_last()
    evaluated, costs = found.evaluated, found.loss_without_suppression
    asked, calls = [0], [0]

    def counting(metric, nodes):
        calls[0] += 1
        return costs(metric, nodes)

    found.loss_without_suppression = counting
    between = []

    def report(progress):
        between.append(calls[0] - asked[0])
        asked[0] = calls[0]

    def stop(progress):
        return progress.evaluated >= 1000

    search = DynamicKgen(evaluations=4000)
    result = run("kgen", search, Question(found, "glm"), rng=np.random.default_rng(1), stop=stop, report=report)
    assert evaluated < found.evaluated <= 1100
    assert result.solutions.tuples() == [found.lattice.top]
    assert not result.remarks["previous"]["proven"]
    assert len(between) > 500 and max(between) <= 200


def test_where_more_nodes_are_queued_than_may_be_evolution_goes_on_and_nothing_is_proven(monkeypatch):
    found = far_from_the_last(4)
    assert sought(found, DynamicKgen()).remarks["previous"]["proven"]
    monkeypatch.setattr(going_on, "_QUEUED", 3)
    result = sought(far_from_the_last(4), DynamicKgen())
    assert result.solutions.tuples() == [found.lattice.top]
    assert not result.remarks["previous"]["proven"]
    # Which is what it begins with.
    assert "bounds" in result.remarks


@pytest.mark.parametrize("evaluations", [1, 2, 3, 5, 30, 200])
def test_no_more_nodes_are_looked_at_than_may_be(evaluations):
    found = far_from_the_last()
    result = sought(found, DynamicKgen(evaluations=evaluations))
    assert result.solutions.tuples() == [found.lattice.top]
    assert found.evaluated <= result.evaluated <= evaluations


def test_a_bound_that_is_proven_is_not_lowered_by_evolution():
    # By precision it begins with the levels of the bounds of single attributes, which may say less.
    question, finds = Question(far_from_the_last(4), "precision"), Finds(lower_bound=0.9)
    course = Kgen(evaluations=10).course(question, finds, np.random.default_rng(0))
    next(course)
    assert finds.remarks["bounds"] == [2] * 4
    assert finds.lower_bound == 0.9
    finds = Finds(lower_bound=0.1)
    next(Kgen(evaluations=10).course(question, finds, np.random.default_rng(0)))
    assert finds.lower_bound == pytest.approx(2 / 3)


def test_no_nodes_can_be_asked_for_with_closeness():
    table = Table.from_columns({"id": list("abcdefgh"), "place": list("aabbccdd"), "illness": list("xyxyxxyy")})
    history = History.begun(["place"], "id").extended(table, {"place": PLACES}, (1,), np.zeros(8, dtype=bool))
    options = {"sensitive": "illness", "metrics": ("glm",)}
    found = DynamicEvaluator(table, {"place": PLACES}, history, limits=Limits(k=2, t=0.6), **options)
    none, one = found.evaluate([]), found.evaluate([(1,)])
    assert len(none) == 0 and found.evaluated == 1
    assert {name: len(array) for name, array in none.values.items()} == dict.fromkeys(one.values, 0)
    assert sought(found, DynamicKgen()).solutions["t"][0] <= 0.6


def test_closeness_is_kept_by_evolution():
    table = Table.from_columns({"id": list("abcdefgh"), "place": list("aabbccdd"), "illness": list("xyxyxxyy")})
    history = History.begun(["place"], "id").extended(table, {"place": PLACES}, (1,), np.zeros(8, dtype=bool))
    limits = Limits(k=2, t=0.3, suppression=0.3)
    found = DynamicEvaluator(table, {"place": PLACES}, history, limits=limits, sensitive="illness", metrics=("glm",))
    result = sought(found, DynamicKgen())
    assert result.solutions["t"][0] <= 0.3
    assert not result.remarks["previous"]["proven"]
