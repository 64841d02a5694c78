"""The grid of protections: as many as the thesis has, measured as each alone, whoever does the work."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.comparison import SCORES, Member, pareto_front
from tabular.errors import InvalidInput, NoSolution, UnknownName
from tabular.grid import run_grid, thesis_grid
from tabular.measures import summary
from tabular.protections import protect
from tabular.table import Table

ORDERS = {"degree": 8, "built": 25, "grade": 21}
FEW = {"account": 4, "savings": 5, "employed": 5}


def rng(seed=1):
    return np.random.default_rng(seed)


def table_of(sizes, rows=200, kind="ordinal", seed=3):
    """Columns of so many categories each, the low ones more frequent."""
    draw = rng(seed)
    columns, attributes = {}, []
    for name, size in sizes.items():
        domain = tuple(f"{name} {code:02}" for code in range(size))
        columns[name] = [domain[code] for code in np.minimum(draw.geometric(0.3, rows) - 1, size - 1)]
        attributes.append(Attribute(name=name, kind=kind, domain=domain))
    return Table.from_columns(columns, attributes)


def counted(members):
    return Counter(member.method for member in members)


def test_three_ordinal_columns_of_many_categories_get_the_110_protections_of_section_3_5():
    members, left_out = thesis_grid(table_of(ORDERS), list(ORDERS))
    assert counted(members) == {
        "microaggregation": 72,
        "bottom-coding": 6,
        "top-coding": 6,
        "global-recoding": 6,
        "rank-swapping": 11,
        "pram": 9,
    }
    assert left_out == ()


def test_columns_of_few_categories_get_the_104_of_german_credit():
    members, _ = thesis_grid(table_of(FEW), list(FEW))
    assert len(members) == 104
    assert counted(members)["top-coding"] == 4
    assert [each.parameters["count"] for each in members if each.method == "top-coding"] == [
        2,
        {"account": 2, "savings": 3, "employed": 3},
        3,
        {"account": 3, "savings": 4, "employed": 4},
    ]


def test_no_protection_stands_in_the_grid_twice():
    members, _ = thesis_grid(table_of(ORDERS), list(ORDERS))
    assert len({member.name for member in members}) == len(members)


def test_ordinal_methods_are_left_out_on_nominal_columns_and_that_is_said():
    table = table_of(FEW, kind="nominal")
    members, left_out = thesis_grid(table, list(FEW))
    assert set(counted(members)) == {"microaggregation", "global-recoding", "rank-swapping", "pram"}
    assert [each.method for each in left_out] == ["bottom-coding", "top-coding"]
    assert "takes ordinal columns only" in left_out[0].reason
    assert "'account' is nominal" in left_out[0].reason


def test_numbers_get_microaggregation_and_rank_swapping():
    table = Table.from_columns({"income": [float(x) + 0.5 for x in range(150)], "age": [x * 1.25 for x in range(150)]})
    members, left_out = thesis_grid(table, ["income", "age"])
    assert counted(members) == {"microaggregation": 48, "rank-swapping": 11}
    assert {each.method for each in left_out} == {"bottom-coding", "top-coding", "global-recoding", "pram"}
    found = run_grid(table, ["income", "age"], rng=rng())
    assert all("pil" in each for each in found.document("max")["protections"])


def test_a_column_of_two_categories_has_no_coding():
    _, left_out = thesis_grid(table_of({"sex": 2, "degree": 8}), ["sex", "degree"])
    assert {each.method for each in left_out} == {"bottom-coding", "top-coding", "global-recoding"}
    assert "'sex'" in left_out[0].reason


def test_few_records_leave_out_what_they_cannot_have():
    table = table_of(FEW, rows=20)
    members, left_out = thesis_grid(table, list(FEW))
    assert max(each.parameters["k"] for each in members if each.method == "microaggregation") == 20
    assert min(each.parameters["percent"] for each in members if each.method == "rank-swapping") == 4
    assert {each.method for each in left_out} == {"microaggregation", "rank-swapping"}


def test_a_coding_joins_the_same_share_of_each_column():
    members, _ = thesis_grid(table_of(ORDERS), list(ORDERS))
    for member in members:
        if member.method == "top-coding":
            counts = member.parameters["count"]
            counts = counts if isinstance(counts, dict) else dict.fromkeys(ORDERS, counts)
            assert all(2 <= counts[name] < size for name, size in ORDERS.items())
    table = table_of(ORDERS)
    counts = {"degree": 3, "built": 7, "grade": 3}
    member = Member(method="top-coding", parameters={"count": counts}, columns=tuple(counts))
    masked = member.protect(table, rng())
    for name, count in counts.items():
        alone = protect(table, "top-coding", [name], rng=rng(), count=count)
        assert masked.values(name) == alone.values(name)


def test_each_outcome_is_that_of_the_protection_alone():
    table, columns = table_of(FEW), list(FEW)
    found = run_grid(table, columns, rng=rng(5))
    streams = rng(5).spawn(len(found.outcomes))
    for place in (0, 40, 80, 100, 103):
        outcome = found.outcomes[place]
        masked = outcome.member.protect(table, streams[place])
        assert outcome.summary.document() == summary(table, masked, columns, without=["prl-em"]).document()
        assert outcome.k == min(Counter(zip(*(masked.values(name) for name in columns), strict=True)).values())


def test_neither_the_number_of_workers_nor_a_second_run_changes_anything():
    table, columns = table_of(FEW, rows=60), list(FEW)
    documents = [run_grid(table, columns, rng=rng(2), workers=count).document("mean") for count in (1, 2, 3, 2)]
    assert all(each == documents[0] for each in documents)
    assert run_grid(table, columns, rng=rng(3)).document("mean") != documents[0]


def test_each_masked_table_is_handed_out_in_the_order_of_the_grid():
    table, columns = table_of(FEW, rows=60), list(FEW)
    kept = []
    found = run_grid(table, columns, rng=rng(), keep=lambda member, masked: kept.append((member.name, len(masked))))
    assert kept == [(each.member.name, 60) for each in found.outcomes]


def test_progress_is_told():
    told = []
    table = table_of(FEW, rows=60)
    run_grid(table, list(FEW), rng=rng(), report=lambda *how_far: told.append(how_far))
    members, _ = thesis_grid(table, list(FEW))
    assert told[0] == ("Protections", 0, len(members))
    assert [done for _, done, _ in told] == list(range(len(members) + 1))


@pytest.mark.parametrize("score", SCORES)
def test_the_document_is_sorted_by_the_score(score):
    document = run_grid(table_of(FEW, rows=60), list(FEW), rng=rng()).document(score)
    scores = [each[f"score_{score}"] for each in document["protections"]]
    assert scores == sorted(scores)
    assert document["score"] == score


def test_a_protection_that_cannot_be_made_is_left_out_and_the_others_stay(monkeypatch):
    def refused(self, table, rng):
        if self.method == "pram":
            raise NoSolution("no such matrix.")
        return whole(self, table, rng)

    whole = Member.protect
    monkeypatch.setattr(Member, "protect", refused)
    table = table_of(FEW, rows=60)
    found = run_grid(table, list(FEW), rng=rng())
    assert "pram" not in counted(each.member for each in found.outcomes)
    assert [each.reason for each in found.left_out if each.method.startswith("pram")] == ["no such matrix."] * 9


def test_a_grid_of_which_nothing_can_be_made_is_no_solution(monkeypatch):
    def refused(self, table, rng):
        raise NoSolution("nothing goes.")

    monkeypatch.setattr(Member, "protect", refused)
    with pytest.raises(NoSolution, match="nothing goes"):
        run_grid(table_of(FEW, rows=60), list(FEW), rng=rng())


def test_unknown_columns_and_tables_without_records_are_refused():
    table = table_of(FEW)
    with pytest.raises(UnknownName, match="account"):
        thesis_grid(table, ["acount"])
    with pytest.raises(InvalidInput, match="twice"):
        thesis_grid(table, ["account", "account"])
    with pytest.raises(InvalidInput, match="no records"):
        thesis_grid(table.rows(np.zeros(0, dtype=np.int64)), ["account"])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_is_better_than(points):
    front = pareto_front(points)
    assert any(front)
    for on_front, (x, y) in zip(front, points, strict=True):
        better = [(one, two) for one, two in points if one <= x and two <= y and one + two < x + y]
        assert on_front == (not better)


def test_a_member_is_named_by_its_parameters():
    member = Member(method="microaggregation", parameters={"k": 3, "univariate": True})
    assert member.name == "microaggregation k=3 univariate=true"
    assert replace(member, method="top-coding", parameters={"count": {"a": 2, "b": 3}}).name == "top-coding count=2,3"
