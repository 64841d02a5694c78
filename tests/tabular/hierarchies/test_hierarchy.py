import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular import Hierarchy, Table
from tabular.attributes import Attribute
from tabular.errors import InvalidHierarchy, InvalidInput
from tabular.hierarchies import build, read_hierarchy, write_hierarchy
from tabular.hierarchies.hierarchy import hierarchy_of_rows
from tests.tabular.lattice.class_losses import general_loss


@st.composite
def labels_of(draw, size):
    """Levels over *size* values: each merges groups of the one below, the last one all."""
    levels, groups = [], list(range(size))
    while len(set(groups)) > 1 and draw(st.booleans()):
        kept = sorted(set(groups))
        merged = {group: draw(st.integers(0, len(kept) - 1)) for group in kept}
        groups = [merged[group] for group in groups]
        levels.append([f"g{group}" for group in groups])
    return [*levels, ["*"] * size]


@given(st.integers(1, 8).flatmap(lambda size: st.tuples(st.just(size), labels_of(size))), st.data())
def test_levels_merge_and_the_arrays_say_so(drawn, data):
    size, labels = drawn
    hierarchy = Hierarchy.of("a", list(range(size)), labels)
    assert hierarchy.height == len(labels)
    assert hierarchy.levels[0].groups.tolist() == list(range(size))
    for level, words in zip(hierarchy.levels[1:], labels, strict=True):
        assert [level.labels[group] for group in level.groups.tolist()] == words
        for group, members in enumerate(level.sets):
            assert members == tuple(np.flatnonzero(level.groups == group).tolist())
            assert level.leaves[group] == len(members)
    # Over some of the values, each has the labels it had.
    kept = data.draw(st.lists(st.sampled_from(range(size)), unique=True))
    less = hierarchy.over(kept)
    assert less.rows() == [hierarchy.rows()[value] for value in kept]
    for level in less.levels:
        assert sorted(set(level.groups.tolist())) == list(range(len(level.labels)))


@given(st.integers(1, 6).flatmap(lambda size: st.tuples(st.just(size), labels_of(size))))
def test_a_file_gives_the_hierarchy_back(tmp_path_factory, drawn):
    size, labels = drawn
    domain = tuple(f"v;{value}" for value in range(size))
    hierarchy = Hierarchy.of("a", domain, labels)
    path = tmp_path_factory.mktemp("h") / "a.csv"
    write_hierarchy(path, hierarchy)
    assert read_hierarchy(path, Attribute(name="a", domain=domain)).rows() == hierarchy.rows()


def test_a_level_that_parts_what_the_one_below_merged_is_refused():
    with pytest.raises(InvalidHierarchy) as refused:
        words = [["40-49", "40-49", "40-49", "50-59"], ["30-49", "30-49", "40-59", "40-59"], ["*"] * 4]
        Hierarchy.of("age", [40, 41, 42, 50], words)
    assert str(refused.value) == (
        "Hierarchy of age, level 2: '40-49' lies under both '30-49' and '40-59'; each level must merge the one below."
    )


def test_no_error_repeats_a_cell_that_may_be_one_persons():
    cells = ["Ana of Sóller 4711", "Ben of Sóller", "Cleo of Sóller"]
    rows = [[cells[0], "a", "*"], [cells[0], "b", "*"], [cells[1], "a", "*"]]
    tried = [
        lambda: Hierarchy.of("name", cells[1:], [["x", "x"], ["*", "*"]]).over(cells),
        lambda: Hierarchy.of("name", cells, [["x"] * 3, [cells[0], "y", "y"], ["*"] * 3]),
        lambda: hierarchy_of_rows(rows, Attribute(name="name", domain=tuple(cells))),
        lambda: hierarchy_of_rows(rows[1:], Attribute(name="name", domain=tuple(cells))),
        lambda: build(Attribute(name="name", domain=tuple(cells)), "date"),
        lambda: build(Attribute(name="name", domain=tuple(cells), kind="ordinal"), "range"),
        lambda: build(Attribute(name="name", domain=tuple(cells)), "places", paths={cells[0]: ["Spain"]}),
    ]
    for attempt in tried:
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert not [each for each in ("Ana", "Ben", "Cleo", "ller") if each in str(refused.value)], refused.value


@pytest.mark.parametrize(
    ("domain", "labels", "message"),
    [
        ([1, 2], [["a", "b"]], "level 1: the last level must be one label for all, such as *; it has 2."),
        ([1, 2], [], "level 0: the last level must be one label for all"),
        ([1, 2], [["a"]], "level 1: it has 1 labels for 2 values."),
    ],
)
def test_what_is_no_hierarchy_is_refused(domain, labels, message):
    with pytest.raises(InvalidHierarchy, match=re.escape(message)):
        Hierarchy.of("a", domain, labels)


def test_values_that_a_hierarchy_lacks_are_counted():
    hierarchy = Hierarchy.of("work", ["Private", "Local-gov"], [["*", "*"]])
    with pytest.raises(InvalidHierarchy, match=r"of work: 1 value of the column is not in it\.$"):
        hierarchy.over(["Privat"])
    with pytest.raises(InvalidHierarchy, match=r"2 values of the column are not in it\."):
        hierarchy.over(["x", None])
    with pytest.raises(InvalidHierarchy, match="it does not place missing values"):
        hierarchy.over(["Private", None])
    # Numbers are found however they are written.
    assert Hierarchy.of("n", ["1", "2"], [["*", "*"]]).over([1, 2]).height == 1
    assert Hierarchy.of("n", [1, 2], [["*", "*"]]).over([1.0]).height == 1


def test_a_table_is_generalised_to_sets_of_its_values():
    table = Table.from_columns({"a": ["w", "x", "y", "z", "w"]})
    hierarchy = Hierarchy.of("a", "wxyz", [["p", "p", "q", "r"], ["*"] * 4])
    assert hierarchy.generalised(table, 0).values("a") == ["w", "x", "y", "z", "w"]
    once = hierarchy.generalised(table, 1)
    assert once.values("a") == ["{w|x}", "{w|x}", "y", "z", "{w|x}"]
    assert general_loss(once, ["a"]) == 1
    assert set(hierarchy.generalised(table, 2).values("a")) == {"*"}
    with pytest.raises(InvalidHierarchy, match="its levels are 0 to 2; there is no 3"):
        hierarchy.generalised(table, 3)
    with pytest.raises(InvalidHierarchy, match="not one of the values of this table's column"):
        hierarchy.generalised(Table.from_columns({"a": ["w"]}), 1)
