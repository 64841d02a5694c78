"""Which rows go for all releases to keep k, against every set of rows there is; and that their number is monotone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular import Table
from tabular.attributes import Attribute
from tabular.errors import InvalidParameter, NoSolution
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.consistency import already_told
from tabular.lattice.chain.evaluator import DynamicEvaluator
from tabular.lattice.chain.history import History
from tabular.lattice.evaluator import class_cache
from tabular.lattice.limits import Limits
from tests.tabular.lattice.chain.changing import changing
from tests.tabular.lattice.chain.observer import published, told_apart
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
    monkeypatch.setattr(class_cache, "_BYTES", room)
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
    assert 0 < sum(held) == kept._held <= max(room, 4 * class_cache._bytes(kept._base))
