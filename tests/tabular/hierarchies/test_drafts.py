"""Hierarchies in the making: the steps of a person, and that each leaves a tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter
from tabular.hierarchies import read_hierarchy
from tabular.hierarchies.drafts import MISSING, MOST_LEVELS, Draft, of_file, started
from tabular.hierarchies.proposals import proposed

VALUES = ("Divorced", "Married", "Separated", "Single", "Widowed")
STATUS = Attribute(name="status", domain=VALUES)


def test_values_are_joined_under_a_name_and_the_undone_draft_is_still_there():
    before = Draft.by_hand(VALUES)
    after = before.put([0, 2], 1, "Was married")
    assert after.levels == (("Was married", "Married", "Was married", "Single", "Widowed"),)
    assert before.levels == (VALUES,)
    # Under a label that is there already they come as its others.
    assert after.put([4], 1, "Was married").group(0, 1) == [0, 2, 4]


def test_a_group_is_renamed_as_a_whole_and_with_the_name_of_another_joined_with_it():
    draft = Draft(VALUES, (("a", "b", "a", "b", "c"), ("x", "y", "x", "y", "y")))
    assert draft.rename(0, 1, "A").levels == (("A", "b", "A", "b", "c"), ("x", "y", "x", "y", "y"))
    assert draft.rename(0, 1, "c").levels == (("c", "b", "c", "b", "c"), ("y",) * 5)
    assert draft.rename(0, 2, "y").levels[1] == ("y",) * 5


def test_a_value_without_a_place_gets_one_with_all_that_is_above_it():
    draft = Draft.of_rows([["a", "x", "*"], ["b", "y", "*"]], ["c", "d"])
    assert draft.unplaced == [2, 3] and draft.in_order() == [2, 3, 0, 1]
    assert draft.put([2], 1, "y").unplaced == [3]
    higher = Draft.of_rows([["a", "a", "x", "*"], ["b", "b", "y", "*"]], ["c"])
    assert higher.put([2], 1, "b").levels == (("a", "b", "b"), ("x", "y", "y"))
    # On a higher level it stands alone below.
    assert higher.put([2], 2, "x").levels == (("a", "b", "c"), ("x", "y", "x"))


def test_what_is_taken_out_stands_alone_under_a_name_that_nobody_has():
    draft = Draft(("a", "b", "Other"), (("Other", "Other", "Other"),))
    assert draft.take_out([0], 1).levels == (("a", "Other", "Other"),)
    assert draft.take_out([2], 1).levels == (("Other", "Other", "Other only"),)
    assert Draft.of_rows([["a", "x", "*"]], ["b"]).settled().levels == (("x", "b"),)


def test_levels_come_and_go():
    draft = Draft(("a", "b"), ())
    with pytest.raises(InvalidParameter, match="add a level first"):
        draft.put([0], 1, "x")
    assert draft.with_level(1).levels == (("a", "b"),)
    two = draft.with_level(1).put([0, 1], 1, "ab").with_level(1)
    assert two.levels == (("a", "b"), ("ab", "ab"))
    assert two.without_level(2).levels == (("a", "b"),)
    for level in (0, 3):
        with pytest.raises(InvalidParameter):
            two.without_level(level)
    for _ in range(MOST_LEVELS - 1):
        draft = draft.with_level(1)
    with pytest.raises(InvalidInput, match="at most 20 levels"):
        draft.with_level(1)


@pytest.mark.parametrize("label", ["", "  ", "x" * 201, "a\nb", "\0a"])
def test_a_label_is_a_text_that_can_be_read(label):
    with pytest.raises(InvalidParameter):
        Draft.by_hand(VALUES).put([0], 1, label)


def test_no_value_is_put_that_is_not_there():
    with pytest.raises(InvalidParameter):
        Draft.by_hand(VALUES).put([5], 1, "x")


@pytest.mark.parametrize(
    ("kind", "domain", "expected"),
    [
        ("continuous", tuple(range(40)), "range"),
        ("ordinal", tuple(range(5)), "balanced"),
        ("ordinal", ("low", "high"), "balanced"),
        ("nominal", ("2024-01-31", "2024-02-01", None), "date"),
        ("nominal", ("08001", "17001"), "star"),
        ("nominal", VALUES, None),
        ("nominal", (None,), None),
        ("nominal", (), None),
    ],
)
def test_a_start_is_proposed_for_every_column(kind, domain, expected):
    attribute = Attribute(name="a", kind=kind, domain=domain)
    assert proposed(attribute) == expected
    draft = started(attribute, {})
    assert len(draft.values) == len(domain) and draft.unplaced == []
    if domain:
        assert draft.hierarchy(attribute).domain == domain


def test_levels_that_join_nothing_more_are_not_proposed():
    codes = Attribute(name="zip", domain=tuple(f"08{number:03}" for number in range(60)))
    assert [len(set(each)) for each in started(codes, {}).levels] == [6]
    assert started(Attribute(name="n", kind="ordinal", domain=(1, 2)), {}).height == 1


def test_rare_values_are_joined_to_begin_with():
    rows = {"Divorced": 400, "Married": 500, "Separated": 3, "Single": 300, "Widowed": 2}
    assert started(STATUS, rows).levels == (("Divorced", "Married", "Other", "Single", "Other"),)
    # One alone has nobody to be joined with.
    assert started(STATUS, {**rows, "Widowed": 200}).levels == (VALUES,)


def test_a_missing_value_stands_alone_and_is_read_again():
    ages = Attribute(name="age", kind="continuous", domain=(*range(20), None))
    draft = started(ages, {})
    assert draft.values[-1] == "" and set(draft.group(20, 1)) == {20} and draft.label(20, 1) == MISSING
    assert draft.hierarchy(ages).levels[1].leaves[-1] == 1


def test_an_imported_hierarchy_lists_the_values_that_it_lacks(tmp_path):
    path = tmp_path / "status.csv"
    path.write_text("Divorced;Was married;*\nWidowed;Was married;*\nMarried;Married;*\nUnknown;?;*\n")
    draft = of_file(STATUS, lambda attribute: read_hierarchy(path, attribute, whole=True))
    assert [draft.values[place] for place in draft.unplaced] == ["Separated", "Single"]
    # What the column lacks stays in it, for the next file.
    assert "Unknown" in draft.values
    found = draft.hierarchy(STATUS)
    assert found.levels[1].leaves.tolist() == [2, 1, 1, 1]
    path.write_text("Nobody;*\n")
    with pytest.raises(InvalidInput):
        of_file(STATUS, lambda attribute: read_hierarchy(path, attribute, whole=True))


def test_a_draft_survives_being_written_down():
    draft = Draft(("a", "b"), (("x", ""),), top="all")
    assert Draft.of_document(draft.document()) == draft
    assert draft.rows() == [["a", "x", "all"], ["b", "", "all"]]


STEPS = st.tuples(
    st.sampled_from(["put", "rename", "take out", "settle", "add", "drop"]),
    st.integers(0, 4),
    st.integers(1, 4),
    st.sampled_from(["x", "y", "Married", "Other"]),
)


@given(st.lists(STEPS, max_size=12), st.booleans())
def test_every_step_leaves_a_tree(steps, lacks):
    rows = [[value, value, "*"] for value in VALUES]
    draft = Draft.of_rows(rows[:3], VALUES[3:]) if lacks else Draft.of_rows(rows)
    for what, place, level, label in steps:
        at = min(level, draft.height - 1)
        if what == "add":
            draft = draft.with_level(min(level, draft.height))
        elif what == "settle":
            draft = draft.settled()
            assert draft.unplaced == []
        elif at < 1:
            continue
        elif what == "put":
            draft = draft.put([place, (place + 2) % 5], at, label)
            assert draft.label(place, at) == label
        elif what == "rename":
            draft = draft.rename(place, at, label)
        elif what == "take out":
            draft = draft.take_out([place], at)
        else:
            draft = draft.without_level(at)
        # A hierarchy refuses levels that separate what the one below has joined.
        assert draft.hierarchy(STATUS).domain == VALUES
        assert sorted(draft.in_order()) == list(range(5))
