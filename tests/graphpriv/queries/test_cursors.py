"""Cursors: what they hold comes back, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpriv.queries.cursors import question, read, written
from tabular.errors import InvalidParameter

ASKED = question("2026-01-01T00:00:00.000Z", "Users", {"location": "Spain"})

places = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3).map(tuple)


@given(places)
def test_a_place_comes_back(place: tuple[int, ...]) -> None:
    cursor = written(place, ASKED)
    assert cursor.isascii() and not set(cursor) & set("+/=&?# ")
    assert read(cursor, ASKED) == place


@given(places, st.integers(0, 200), st.characters())
def test_a_changed_cursor_is_refused_or_names_another_place(place: tuple[int, ...], at: int, other: str) -> None:
    cursor = written(place, ASKED)
    at %= len(cursor)
    changed = cursor[:at] + other + cursor[at + 1 :]
    try:
        found = read(changed, ASKED)
    except InvalidParameter as error:
        assert error.parameter == "cursor"
    else:
        assert (found == place) == (changed == cursor)


@given(st.text(max_size=40))
def test_a_text_is_no_cursor(text: str) -> None:
    with pytest.raises(InvalidParameter, match="the next of an earlier page"):
        read(text, ASKED)


@pytest.mark.parametrize(
    "other",
    [
        question("2026-01-01T00:00:00.001Z", "Users", {"location": "Spain"}),
        question("2026-01-01T00:00:00.000Z", "Counts", {"location": "Spain"}),
        question("2026-01-01T00:00:00.000Z", "Users", {"location": None}),
    ],
)
def test_a_cursor_belongs_to_one_graph_and_one_question(other: bytes) -> None:
    with pytest.raises(InvalidParameter):
        read(written((7,), ASKED), other)
