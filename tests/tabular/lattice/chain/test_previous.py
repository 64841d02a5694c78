"""What was released before, read again: from a private record, or from the release itself."""

from __future__ import annotations

import json
import stat

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings

from tabular import Table
from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, NameTaken, UnknownName
from tabular.hierarchies import read_hierarchies, write_hierarchy
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.lattice.chain.history import NOTHING, STARRED, History, document_of, history_in, keys_of
from tabular.lattice.chain.previous import read_history
from tabular.lattice.chain.search import DynamicEvaluator
from tabular.lattice.space import Limits
from tabular.release import ORDER_DRAWN, ORDER_KEPT
from tests.tabular.lattice.chain.changing import changing
from tests.tabular.lattice.chain.records import write_history

AGE = Hierarchy.of("age", ["17", "25", "31", "47"], [["[17,25]", "[17,25]", "[31,47]", "[31,47]"], ["*"] * 4])
SEX = Hierarchy.of("sex", ["f", "m"], [["*", "*"]])
WHOLE = {"age": AGE, "sex": SEX}


def people(keys, ages, sexes):
    attributes = [Attribute(name="age", kind="ordinal")]
    return Table.from_columns({"id": keys, "age": ages, "sex": sexes, "illness": ["flu"] * len(ages)}, attributes)


FIRST = people(["a", "b", "c", "d", "e"], [17, 25, 31, 31, 47], ["f", "f", "m", "m", "f"])
LATER = people(["b", "a", "d", "c", "x"], [25, 17, 31, 31, 17], ["f", "f", "m", "m", "f"])
OUT = np.array([False] * 4 + [True])


def history(**options):
    return History.begun(["age", "sex"], "id").extended(FIRST, WHOLE, (1, 0), OUT, **options)


def trails_of(found, table=LATER):
    """Who is with whom: the trail of each row, by what was said of it."""
    return DynamicEvaluator(table, WHOLE, found, limits=Limits(k=1)).standing.trails.tolist()


def csv_of(folder, text, order=ORDER_KEPT, **more):
    path, dictionary = folder / "release.csv", folder / "release.csv.dictionary.json"
    path.write_text(text)
    dictionary.write_text(json.dumps({"order": order, **more}))
    return path, dictionary


RELEASED = "id,age,sex,illness\na,[17,25],f,flu\nb,[17,25],f,flu\nc,31,m,flu\nd,31,m,flu\ne,*,*,flu\n"
RELEASED = RELEASED.replace("[17,25]", '"[17,25]"').replace("31,m", '"[31,47]",m')


def test_a_record_comes_back_as_it_was(tmp_path):
    path = tmp_path / "record.json"
    write_history(path, history())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = read_history(path, LATER, WHOLE)
    assert document_of(found) == document_of(history())
    assert found.matched == "by the column 'id', as the record says"
    assert read_history(path, LATER, WHOLE, key="id").persons == ("a", "b", "c", "d", "e")
    with pytest.raises(NameTaken):
        write_history(path, history())


@given(changing(max_rows=10, max_tables=3))
@settings(max_examples=20, deadline=None)
def test_every_record_comes_back_as_it_was(case):
    found = History.begun(list(case.hierarchies), "id")
    for number, table in enumerate(case.tables):
        out = np.arange(len(table)) % 3 == 0
        node = tuple(each.height // 2 for each in case.hierarchies.values())
        found = found.extended(table, case.hierarchies, node, out, silent=number % 2 == 0)
    again = history_in(json.dumps({"history": document_of(found)}).encode(), "here")
    assert document_of(again) == document_of(found)
    assert (again.trails.of == found.trails.of).all()


def test_the_labels_of_a_record_are_those_of_the_hierarchies():
    publication = history().publications[0]
    assert publication.tuples == (("[17,25]", "f"), ("[31,47]", "m"))
    assert publication.said.tolist() == [0, 0, 1, 1, NOTHING]
    assert history(silent=False).publications[0].said.tolist() == [0, 0, 1, 1, STARRED]


def test_a_released_table_says_what_its_record_does(tmp_path):
    path, _ = csv_of(tmp_path, RELEASED)
    found = read_history(path, LATER, WHOLE, key="id")
    assert found.publications[0].node == (1, 0)
    assert set(found.publications[0].tuples) == {("[17,25]", "f"), ("[31,47]", "m")}
    # The key stands beside the star, so that it is seen who it is.
    assert found.publications[0].said.tolist() == [0, 0, 1, 1, STARRED]
    assert trails_of(found) == trails_of(history(silent=False))
    assert "'id' of" in found.matched


def test_a_parquet_release_is_read_as_well(tmp_path):
    path = tmp_path / "release.parquet"
    columns = {"id": ["a", "b"], "age": ["[17,25]", "[17,25]"], "sex": ["*", "*"]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    found = read_history(path, LATER, WHOLE, key="id")
    assert found.publications[0].node == (1, 1)


def test_without_a_key_rows_are_matched_by_position_if_they_are_in_order(tmp_path):
    path, dictionary = csv_of(tmp_path, "age,sex\n17,f\n25,f\n*,*\n")
    found = read_history(path, FIRST, WHOLE, dictionary=dictionary)
    assert found.key is None and "by position" in found.matched
    assert found.publications[0].said.tolist() == [0, 1, NOTHING]
    assert found.publications[0].node == (0, 0)
    same = DynamicEvaluator(FIRST, WHOLE, found, limits=Limits(k=1))
    assert (same.standing.added, same.standing.removed, same.changed) == (2, 0, 0)
    for other in ({"order": ORDER_DRAWN}, {"order": ORDER_KEPT, "left_out": 3}):
        dictionary.write_text(json.dumps(other))
        with pytest.raises(InvalidInput, match="cannot be matched by position"):
            read_history(path, FIRST, WHOLE, dictionary=dictionary)
    with pytest.raises(InvalidInput, match="no data dictionary"):
        read_history(path, FIRST, WHOLE)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [0, 2, 3, 4, 4],
            "row 2 does not fit row 2 of the table, which has another value of 'age', so that rows cannot be matched "
            "by position: one was deleted, moved or changed. Give key with a column that both have, or a private "
            "record that was written with key.",
        ),
        ([1, 0, 3, 2, 4], None),
        ([0, 1, 2, 3, 4, 0, 1], None),
        (
            [0, 1, 2, 3],
            "it is of 5 rows and the table has 4, so that rows were deleted and cannot be matched by position. Give "
            "key with a column that both have, or a private record that was written with key.",
        ),
    ],
)
@pytest.mark.parametrize("is_recorded", [False, True])
def test_by_position_nothing_may_contradict_that_each_row_is_the_one_it_was(tmp_path, rows, said, is_recorded):
    table = FIRST.rows(np.array(rows))
    path, dictionary = csv_of(tmp_path, RELEASED)
    if is_recorded:
        path = tmp_path / "record.json"
        write_history(path, History.begun(["age", "sex"]).extended(FIRST, WHOLE, (1, 0), OUT))
    if said is None:
        found = read_history(path, table, WHOLE, dictionary=dictionary)
        assert "by position" in found.matched and "no value contradicts" in found.matched
        assert DynamicEvaluator(table, WHOLE, found, limits=Limits(k=1)).standing.added == len(rows) - 5
        return
    with pytest.raises(InvalidInput) as caught:
        read_history(path, table, WHOLE, dictionary=dictionary)
    assert str(caught.value) == f"{path}: {said}"


def test_of_a_suppressed_or_forgotten_row_nothing_is_said_that_could_contradict(tmp_path):
    document = document_of(History.begun(["age", "sex"]).extended(FIRST, WHOLE, (1, 0), OUT))
    document["persons"][0] = None
    (tmp_path / "record.json").write_text(json.dumps({"history": document}))
    other = people(["q", "b", "c", "d", "r"], [47, 25, 31, 31, 17], ["m", "f", "m", "m", "m"])
    assert read_history(tmp_path / "record.json", other, WHOLE).persons[0] is None


@pytest.mark.parametrize("key", [None, "id"])
def test_a_file_of_a_chain_is_refused_for_it_lacks_what_the_earlier_ones_said(tmp_path, key):
    path, dictionary = csv_of(tmp_path, RELEASED, releases=2)
    with pytest.raises(InvalidInput) as caught:
        read_history(path, FIRST, WHOLE, key=key, dictionary=dictionary)
    assert str(caught.value) == (
        f"{path}: by its data dictionary this is release 2 of a chain, and the file does not say what the earlier ones "
        "said of each person. Give the private record that was written with it."
    )


def test_a_label_that_no_row_needs_any_more_is_known_by_whole_hierarchies(tmp_path):
    for hierarchy in WHOLE.values():
        write_hierarchy(tmp_path / f"{hierarchy.name}.csv", hierarchy)
    young = LATER.rows(np.array([0, 1, 4]))
    young = Table.from_columns(young.to_columns(), [Attribute(name="age", kind="ordinal")])
    write_history(tmp_path / "record.json", history())
    whole = read_hierarchies(tmp_path, young, ["age", "sex"], whole=True)
    assert len(whole["age"].domain) == 4
    assert read_history(tmp_path / "record.json", young, whole).releases == 1
    cut = read_hierarchies(tmp_path, young, ["age", "sex"])
    with pytest.raises(InvalidInput, match=r"has '\[31,47\]' in column 'age', and level 1"):
        read_history(tmp_path / "record.json", young, cut)


def test_a_value_counts_as_unchanged_however_its_number_is_written():
    halves = people(["a", "b", "c", "d", "e"], [17.0, 25.0, 31.0, 31.0, 47.0], FIRST.values("sex"))
    found = History.begun(["age", "sex"], "id").extended(FIRST, WHOLE, (0, 0), OUT)
    evaluator = DynamicEvaluator(halves, WHOLE, found, limits=Limits(k=1))
    assert evaluator.quiet.tolist() == [True] * 4 + [False]


def test_who_is_forgotten_counts_and_is_not_found_again():
    document = document_of(history())
    document["persons"][0] = None
    found = history_in(json.dumps({"history": document}).encode(), "here")
    evaluator = DynamicEvaluator(LATER, WHOLE, found, limits=Limits(k=2))
    assert evaluator.standing.added == 2
    assert found.k == 2


def test_other_attributes_are_refused(tmp_path):
    write_history(tmp_path / "record.json", history())
    with pytest.raises(InvalidInput, match="of other quasi-identifiers: age, sex; now they are age"):
        read_history(tmp_path / "record.json", LATER, {"age": AGE})
    path, _ = csv_of(tmp_path, "id,age\na,17\n")
    with pytest.raises(InvalidInput, match="'sex' is not among them"):
        read_history(path, LATER, WHOLE, key="id")


def test_columns_may_stand_in_another_order(tmp_path):
    write_history(tmp_path / "record.json", history())
    found = read_history(tmp_path / "record.json", LATER, {"sex": SEX, "age": AGE})
    assert found.publications[0].node == (0, 1)
    assert found.publications[0].tuples[0] == ("f", "[17,25]")


def test_other_hierarchies_are_refused(tmp_path):
    write_history(tmp_path / "record.json", history())
    other = Hierarchy.of("age", ["17", "25", "31", "47"], [["young", "young", "old", "old"], ["*"] * 4])
    with pytest.raises(InvalidInput, match="no such label"):
        read_history(tmp_path / "record.json", LATER, {**WHOLE, "age": other})
    document = document_of(history())
    document["releases"][0]["levels"] = [1, 4]
    (tmp_path / "record.json").write_text(json.dumps({"history": document}))
    with pytest.raises(InvalidInput, match="'sex' at level 4"):
        read_history(tmp_path / "record.json", LATER, WHOLE)
    path, _ = csv_of(tmp_path, RELEASED.replace("[31,47]", "grown up"))
    with pytest.raises(InvalidInput, match="column 'age' has 'grown up', which its hierarchy does not know"):
        read_history(path, LATER, WHOLE, key="id")
    path, _ = csv_of(tmp_path, "id,age,sex\na,{17|31},f\nb,25,f\n")
    with pytest.raises(InvalidInput, match="not those of one level"):
        read_history(path, LATER, WHOLE, key="id")


def test_keys_must_tell_rows_apart(tmp_path):
    with pytest.raises(InvalidInput, match="rows 1 and 3 have the same key"):
        keys_of(people(["a", "b", "a"], [17] * 3, ["f"] * 3), "id")
    with pytest.raises(InvalidInput, match="row 2: the key is missing"):
        keys_of(people(["a", None, "b"], [17] * 3, ["f"] * 3), "id")
    path, _ = csv_of(tmp_path, RELEASED.replace("b,", "a,"))
    with pytest.raises(InvalidInput, match=r"release.csv: Column 'id': rows 1 and 2"):
        read_history(path, LATER, WHOLE, key="id")
    path, _ = csv_of(tmp_path, RELEASED)
    with pytest.raises(UnknownName, match="private record"):
        read_history(path, LATER, WHOLE, key="number")
    with pytest.raises(InvalidInput, match="no row of the table has a key"):
        read_history(path, people(["q"], [17], ["f"]), WHOLE, key="id")
    write_history(tmp_path / "record.json", history())
    with pytest.raises(InvalidParameter, match="leave key away"):
        read_history(tmp_path / "record.json", LATER, WHOLE, key="illness")
    without = Table.from_columns({"age": [17], "sex": ["f"]})
    with pytest.raises(UnknownName, match="tells rows apart by the column 'id'"):
        read_history(tmp_path / "record.json", without, WHOLE)


@pytest.mark.parametrize(
    "text",
    ["{", "{}", '{"history": []}', "{\x00", '{"private": "of something else", "method": "pram"}'],
)
def test_a_file_that_is_neither_is_refused(tmp_path, text):
    (tmp_path / "file").write_text(text)
    with pytest.raises(InvalidInput, match="neither the private record of a search nor a released table"):
        read_history(tmp_path / "file", LATER, WHOLE)


@pytest.mark.parametrize(
    "damage",
    [
        {"persons": ["a", "a", "c", "d", "e"]},
        {"persons": [1, 2, 3, 4, 5]},
        {"persons": ["a"]},
        {"columns": "ab"},
        {"columns": ["age"]},
        {"key": 3},
        {"releases": [{"levels": [1, 0], "tuples": [["x", "y"]], "said": [0, 0, 1]}]},
        {"releases": [{"levels": [1, 0], "tuples": [["x", "y"]], "said": [0, True]}]},
        {"releases": [{"levels": [1, 0], "tuples": [["x", "y"]], "said": [10**30]}]},
        {"releases": [{"levels": [1.0, 0], "tuples": [], "said": []}]},
        {"releases": [7]},
        {"releases": None},
    ],
)
def test_a_damaged_record_is_refused(damage):
    document = {"history": document_of(history()) | damage}
    with pytest.raises(InvalidInput, match="damaged"):
        history_in(json.dumps(document).encode(), "here")


def test_standard_input_is_no_previous_release():
    with pytest.raises(InvalidInput, match="standard input"):
        read_history("-", LATER, WHOLE)
