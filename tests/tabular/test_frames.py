"""Tables as pandas data frames, and the results that show themselves in a notebook."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from pandas.testing import assert_frame_equal

from tabular import Attribute, Masking, Table
from tabular.criteria import check, criteria
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.hierarchies import build
from tabular.lattice import Limits, ReleaseRequest, SearchRequest, find_generalisation
from tabular.measures import measures, summary
from tabular.table import columns_of

EVIL = '</td><script>alert("1")</script>'

COLUMNS = {
    "whole": [3, 1, 2],
    "whole with a gap": pd.array([3, None, 2], dtype="Int64"),
    "whole as decimals": [3.0, np.nan, 2.0],
    "decimals": [0.5, np.nan, -1.25],
    "truth": [True, False, True],
    "truth with a gap": pd.array([True, None, False], dtype="boolean"),
    "text": ["b", None, "a"],
    "order": pd.Categorical(["mid", None, "low"], categories=["low", "mid", "high"], ordered=True),
    "day": pd.to_datetime(["2024-01-31", None, "1999-12-31"]),
    "moment": pd.to_datetime(["2024-01-31T12:00", None, "1999-12-31T00:00"], utc=True),
    "date": [datetime.date(2024, 1, 31), None, datetime.date(1999, 12, 31)],
    "huge": [2**70, None, 1],
    "nothing": [None, None, None],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_back_as_it_went_in(name):
    frame = pd.DataFrame({name: COLUMNS[name]})
    assert_frame_equal(Table.from_frame(frame).to_frame(), frame)


def test_the_index_is_left_out_and_names_become_texts():
    frame = pd.DataFrame({1: [4, 5], "a": ["x", "y"]}, index=[7, 7])
    assert_frame_equal(Table.from_frame(frame).to_frame(), pd.DataFrame({"1": [4, 5], "a": ["x", "y"]}))


@pytest.mark.parametrize("rows", [0, 3])
def test_a_frame_without_rows_or_columns_comes_back(rows):
    frame = pd.DataFrame(COLUMNS).iloc[:rows]
    assert Table.from_frame(frame).to_frame().shape == frame.shape
    assert Table.from_frame(pd.DataFrame()).to_frame().empty


cells = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "Int64": st.none() | st.integers(-(2**63), 2**63 - 1),
    "float64": st.none() | st.floats(allow_infinity=False, allow_nan=False),
    "str": st.none() | st.text(),
    "boolean": st.none() | st.booleans(),
}


@given(st.data())
def test_any_frame_comes_back(data):
    rows = data.draw(st.integers(1, 6))
    frame = pd.DataFrame(
        {
            name: pd.array(data.draw(st.lists(cell, min_size=rows, max_size=rows)), dtype=name)
            for name, cell in cells.items()
        }
    )
    before, after = (columns_of(each) for each in (frame, Table.from_frame(frame).to_frame()))
    assert after == before
    assert [list(map(type, column)) for column in after.values()] == [
        list(map(type, column)) for column in before.values()
    ]


def test_the_types_of_a_frame_say_what_a_column_is():
    frame = pd.DataFrame({"order": COLUMNS["order"], "name": pd.Categorical([2, 1, 2]), "day": COLUMNS["day"]})
    order, name, day = Table.from_frame(frame).attributes
    assert (order.kind, order.domain) == ("ordinal", ("low", "mid", "high", None))
    assert (name.kind, name.domain) == ("nominal", (1, 2))
    assert (day.kind, day.domain) == ("ordinal", (*sorted(frame["day"].dropna().tolist()), None))


def test_a_category_that_no_row_has_counts_only_where_it_is_ordered():
    frame = pd.DataFrame(
        {"a": pd.Categorical(["x"], categories=["w", "x"]), "b": pd.Categorical(["x"], ["w", "x"], True)}
    )
    assert [each.domain for each in Table.from_frame(frame).attributes] == [("x",), ("w", "x")]


def test_attributes_and_roles_overrule_the_types():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"], ordered=True)})
    table = Table.from_frame(frame, [Attribute(name="b", role="sensitive")], roles={"a": "identifier"})
    assert [(each.role, each.kind) for each in table.attributes] == [
        ("identifier", "ordinal"),
        ("sensitive", "nominal"),
    ]
    with pytest.raises(UnknownName, match="'c'"):
        Table.from_frame(frame, roles={"c": "identifier"})
    with pytest.raises(InvalidParameter, match="role"):
        Table.from_frame(frame, roles={"a": "secret"})


def test_what_is_no_frame_of_distinct_names_is_refused():
    with pytest.raises(InvalidInput, match="not a dict"):
        Table.from_frame({"a": [1]})
    for names in (["a", "a"], [1, "1"]):
        with pytest.raises(InvalidInput, match="same name"):
            Table.from_frame(pd.DataFrame([[1, 2]], columns=names))


def test_cells_that_hold_sets_come_out_as_labels():
    table = Table.from_frame(pd.DataFrame({"order": COLUMNS["order"], "whole": [3, 1, 2]}))
    masked = table.masked({"order": ["[low,mid]", None, "[low,mid]"], "whole": [3, "[1,2]", "[1,2]"]})
    assert masked.to_frame()["order"].tolist()[0] == "[low,mid]"
    assert masked.to_frame()["whole"].tolist() == [3, "[1,2]", "[1,2]"]


# Results


def people():
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "name": [f"Person {row}" for row in range(40)],
            "age": draw.integers(18, 60, 40),
            EVIL: draw.choice(["x", EVIL], 40),
            "illness": draw.choice(["asthma", "flu"], 40),
        }
    )


@pytest.fixture
def table():
    return Table.from_frame(people(), roles={"name": "identifier"})


def masked(table, **asked):
    masking = Masking(method="rank-swapping", columns=["age"], **asked)
    return masking.run(table, rng=np.random.default_rng(1))


def searched(table, **asked):
    hierarchies = {"age": build(table.attribute("age"), "range")}
    request = SearchRequest(quasi_identifiers=("age",), **asked)
    return find_generalisation(request, table, hierarchies, rng=np.random.default_rng(1))


def test_a_masked_table_gives_its_release_and_its_measures(table):
    found = masked(table, shuffle=True)
    assert_frame_equal(found.to_frame(), found.table.rows(found.order).to_frame().drop(columns="name"))
    assert masked(table, identifiers="star").to_frame()["name"].unique().tolist() == ["*"]
    assert found.measures == summary(
        table,
        found.table,
        ["age"],
        without=["prl-em"],
        parameters={"informed": {"matrices": found.matrices}},
        method_is_known=True,
    )
    assert masked(table, measure=False).measures is None


def test_columns_may_be_a_list():
    table = Table.from_frame(pd.DataFrame({"age": [1, 1, 1, 2, 2, 2]}))
    masking = Masking(method="microaggregation", columns=["age"], parameters={"k": 3})
    assert masking.run(table, rng=np.random.default_rng(1)).findings["promises_k"]


def test_a_summary_has_a_row_for_each_measure_and_score(table):
    found = masked(table).measures
    frame = found.to_frame().set_index("measure")
    assert (
        set(found.readings)
        < set(frame.index)
        <= {*measures, "prl_em", "information_loss", "disclosure_risk"}
        | {
            "score_mean",
            "score_max",
        }
    )
    assert frame.loc["dbil", "raw"] == found.readings["dbil"].raw
    assert frame.loc["score_max", "percent"] == found.score_max
    assert frame.loc["prl", "bound"] == found.readings["prl"].bound


def test_a_check_has_a_row_for_each_criterion_and_sensitive_attribute(table):
    found = check(table, ["age"], ["illness", EVIL])
    frame = found.to_frame()
    of_values = sum(entry.method.of_values for entry in criteria.entries())
    assert len(frame) == len(criteria) + of_values
    assert set(frame["attribute"].dropna()) == {"illness", EVIL}
    assert frame.query("criterion == 'k'")["value"].item() == found.of_rows["k"]


def test_a_search_has_a_row_for_each_solution_by_levels_that_can_be_chosen(table):
    front = searched(table, objectives=("k", "glm")).to_frame()
    assert not {"l", "t", "cm"} & set(front.columns)
    chosen = searched(table, objectives=("k", "glm"), release=ReleaseRequest(choose=front["levels"].iloc[1]))
    assert chosen.document["release"]["k"] == front["k"].iloc[1]
    assert list(chosen.release.to_frame().columns) == ["age", EVIL, "illness"]


def test_a_release_of_a_search_is_the_rows_that_are_given_away(table):
    asked = {"limits": Limits(k=5, suppression=0.2)}
    release = searched(
        table, **asked, release=ReleaseRequest(shuffle=True, suppressed="drop", identifiers="star")
    ).release
    frame = release.to_frame()
    assert len(frame) == len(release.order) == 40 - release.findings["left_out"]
    assert frame["age"].tolist() == [release.table.values("age")[row] for row in release.order]
    assert set(frame["name"]) == {"*"}


def results(table):
    release = {"limits": Limits(k=5), "release": ReleaseRequest()}
    found = searched(table, **release)
    return {
        "table": table,
        "masked": masked(table),
        "measures": masked(table).measures,
        "check": check(table, ["age", EVIL], ["illness"]),
        "search": found,
        "release": found.release,
        "front": searched(table, objectives=("k", "glm")),
    }


def page_of(result):
    page = etree.fromstring(result._repr_html_().encode())
    assert not list(page.iter("script"))
    return page


@pytest.mark.parametrize("name", ["table", "masked", "measures", "check", "search", "release", "front"])
def test_a_result_shows_itself_in_a_notebook(table, name):
    page = page_of(results(table)[name])
    assert len(list(page.iter("{*}svg" if name == "front" else "table"))) == 1
    text = "".join(page.itertext())
    assert "Person" not in text
    assert "Person" not in repr(results(table)[name])


def rows_of(page):
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


def test_a_table_shows_its_first_rows_with_kinds_and_roles(table):
    heads, kinds, roles, first, *others = rows_of(page_of(table))
    assert heads == ["", "name", "age", EVIL, "illness"]
    assert kinds == ["Kind", "nominal", "ordinal", "nominal", "nominal"]
    assert roles == ["Role", "identifier", "", "", ""]
    assert first == ["1", "dropped", *(str(each) for each in people().iloc[0, 1:])]
    assert len(others) == 9
    assert "40 rows" in page_of(table).findtext(".//caption")


def test_values_of_every_type_can_be_shown():
    frame = pd.DataFrame(COLUMNS)
    *_, first, second, _ = rows_of(page_of(Table.from_frame(frame)))
    assert first[1:4] == ["3", "3", "3.0"]
    assert second[2] == second[-1] == ""


def test_the_measures_that_are_shown_are_those_of_the_frame(table):
    found = masked(table).measures
    heads, *rows = rows_of(page_of(found))
    assert heads == ["measure", "percent", "raw"]
    assert [row[0] for row in rows] == found.to_frame()["measure"].tolist()
    assert re.fullmatch(r"\d+\.\d{4}", rows[0][1])
