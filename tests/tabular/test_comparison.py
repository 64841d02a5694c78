"""Protections side by side: which suit a table, what each column lost, and how a text names one."""

from __future__ import annotations

import numpy as np
import pytest

from tabular import comparison
from tabular.attributes import Attribute
from tabular.comparison import compare, losses_by_column, promising, read_members
from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tabular.hierarchies.hierarchy import Hierarchy
from tabular.loop import ALONE
from tabular.protections import protect, protections
from tabular.release import counted_k
from tabular.table import Table
from tests.contracts.parts import Remembered

COLUMNS = ("age", "town")


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.fixture
def people():
    draw = rng(3)
    ages, towns = tuple(range(20, 40)), tuple("ABCDE")
    rows = {"age": draw.choice(ages, 120).tolist(), "town": draw.choice(towns, 120).tolist()}
    kinds = [
        Attribute(name="age", kind="ordinal", domain=ages),
        Attribute(name="town", kind="nominal", domain=towns),
    ]
    return Table.from_columns(rows, kinds)


def test_the_methods_that_promise_k_come_from_the_registry(people):
    members, left_out = promising(people, COLUMNS, 4)
    assert {each.method for each in members} == {"mondrian", "microaggregation"}
    assert all(each.parameters == {"k": 4} for each in members)
    assert [each.method for each in left_out] == ["global-median"]
    assert "'town' is nominal" in left_out[0].reason
    ordered, nothing = promising(people, ["age"], 4)
    assert "global-median" in {each.method for each in ordered} and nothing == ()
    assert all(protections[each.method].method.promises_k for each in ordered)


def test_each_keeps_the_k_that_was_asked_for(people):
    members, left_out = promising(people, COLUMNS, 4)
    found = compare(people, COLUMNS, members, left_out, rng=rng(), by_column=True)
    assert all(each.k >= 4 for each in found.outcomes)
    document = found.document("max")
    assert [set(each["losses"]) for each in document["protections"]] == [set(COLUMNS)] * len(members)
    assert [each["method"] for each in document["left_out"]] == ["global-median"]


def test_a_column_that_was_left_alone_lost_nothing(people):
    masked = protect(people, "mondrian", ["age"], rng=rng(), k=10)
    losses = losses_by_column(people, masked, COLUMNS)
    assert losses["town"] == 0 and losses["age"] > 0


def test_suppressed_rows_do_not_count_and_are_told(people):
    lone = people.with_codes(town=np.where(np.arange(120) == 0, 4, np.arange(120) % 2).astype(np.int32))
    top = Hierarchy.of("age", lone.attribute("age").domain, [["*"] * 20])
    plain = Hierarchy.of("town", lone.attribute("town").domain, [["*"] * 5])
    (member,) = read_members(["full-domain k=2 suppression=0.01 levels=age=1,town=0"], COLUMNS)
    member = type(member)(**{**vars(member), "hierarchies": {"age": top, "town": plain}})
    (found,) = compare(lone, COLUMNS, [member], rng=rng()).outcomes
    assert (found.k, found.counted.suppressed) == (59, 1)
    assert found.document()["suppressed"] == 1 and "hierarchies" not in found.document()["parameters"]


def test_a_text_names_a_method_with_parameters_of_their_kinds():
    first, second = read_members(["mondrian k=5 cuts=relaxed", "pram retain=0.5", "mondrian k=5 cuts=relaxed"], COLUMNS)
    assert (first.method, first.parameters) == ("mondrian", {"k": 5, "cuts": "relaxed"})
    assert (second.method, second.parameters) == ("pram", {"retain": 0.5})


@pytest.mark.parametrize(
    ("text", "error"),
    [("mondrain k=5", UnknownName), ("mondrian j=5", UnknownName), ("mondrian k=0", InvalidParameter),
     ("mondrian 'k", InvalidParameter)],
)  # fmt: skip
def test_a_text_that_names_none_is_refused(text, error):
    with pytest.raises(error):
        read_members([text], COLUMNS)


def test_where_none_can_be_made_the_reason_is_told(people):
    with pytest.raises(NoSolution, match="mondrian k=500"):
        compare(people, COLUMNS, read_members(["mondrian k=500"], COLUMNS), rng=rng())


def test_a_comparison_that_was_cut_off_goes_on_from_what_is_done(people, monkeypatch):
    members = read_members(["mondrian k=3", "rank-swapping", "mondrian k=500", "pram retain=0.5"], COLUMNS)

    def found(parts, seed=1):
        kept = {}
        found = compare(
            people, COLUMNS, members, rng=rng(seed), by_column=True, parts=parts,
            keep=lambda member, masked: kept.update({member.name: [masked.values(name) for name in COLUMNS]}),
        )  # fmt: skip
        return found.document("max"), kept

    whole = found(ALONE)
    assert [each["method"] for each in whole[0]["left_out"]] == ["mondrian k=500"]
    measured = []
    monkeypatch.setattr(comparison, "counted_k", lambda *given: measured.append(1) or counted_k(*given))
    parts = Remembered()
    parts.more = 2
    with pytest.raises(InterruptedError):
        found(parts)
    parts.more = 10
    assert found(parts) == found(parts) == whole
    assert len(measured) == 3
    # Another seed, other columns or another table are another comparison.
    assert found(parts, seed=2) != whole
    assert len(measured) == 6
