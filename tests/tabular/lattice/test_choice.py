"""Which node is released: said by a place, by levels, or not at all."""

from __future__ import annotations

import pytest

from tabular.errors import InvalidParameter, NoSolution, UnknownName
from tabular.lattice import Limits
from tabular.lattice.choice import Choice, chosen_node, levels_as_text, levels_in_text, require_limits
from tabular.lattice.evaluator.evaluator import Evaluator
from tabular.lattice.space import Lattice
from tests.tabular.lattice.people import HIERARCHIES, people, table_of

LATTICE = Lattice(("age", "sex", "zip"), (3, 1, 3))


@pytest.mark.parametrize(
    ("choose", "node"),
    [
        (None, None),
        ("3", None),
        (" 3 ", None),
        ("1,0,2", (1, 0, 2)),
        ("zip=2,age=1,sex=0", (1, 0, 2)),
        ('"age"=1, sex = 0 ,zip=2', (1, 0, 2)),
    ],
)
def test_levels_are_a_node_and_a_number_is_a_place(choose, node):
    assert chosen_node(choose, LATTICE) == node


@pytest.mark.parametrize(
    ("choose", "said"),
    [
        ("9,0,0", "choose '9,0,0': the levels of 'age' are 0 to 3; there is no 9."),
        ("1,0", "choose must give a level for each of 3 columns, not '1,0'."),
        ("age=1,sex=0", "choose 'age=1,sex=0': the level of 'zip' is missing."),
        ("age=1,age=0", "choose 'age=1,age=0': the level of 'age' stands there twice."),
        ("a,b,c", "choose must give whole numbers, not 'a,b,c'."),
        ("²", "choose must give a level for each of 3 columns, not '²'."),
        (
            '"age=1',
            "choose '\"age=1': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands in "
            "quotes.",
        ),
        (
            "age=1,",
            "choose 'age=1,': it takes the levels of the columns as in 'age=1,sex=0'; a name with a comma stands in "
            "quotes.",
        ),
    ],
)
def test_levels_that_are_not_there_are_refused(choose, said):
    with pytest.raises(InvalidParameter) as caught:
        chosen_node(choose, LATTICE)
    assert str(caught.value) == said
    assert caught.value.named == ("choose",)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(UnknownName, match="'agee'"):
        chosen_node("agee=1,sex=0,zip=1", LATTICE)


def test_levels_are_written_as_they_are_read():
    levels = {"a,b": 1, "my col": 0, 'say "a"': 2, " b ": 3}
    text = levels_as_text(levels, levels.values())
    assert text == '"a,b"=1,my col=0,"say ""a"""=2," b "=3'
    assert levels_in_text(text) == {name: str(level) for name, level in levels.items()}


def test_a_choice_is_a_place_a_node_or_the_best():
    evaluator = Evaluator(table_of(people()), HIERARCHIES, limits=Limits(k=2))
    solutions = evaluator.in_full([(3, 1, 2), (2, 1, 3)])
    assert (Choice.of(None, None, solutions, evaluator).place, Choice.of("2", None, solutions, evaluator).place) == (
        0,
        1,
    )
    found = Choice.of("any", (2, 1, 3), solutions, evaluator)
    assert (found.place, found.metrics["k"]) == (1, solutions["k"][1])
    other = Choice.of("any", (3, 1, 3), solutions, evaluator)
    assert (other.place, other.metrics["k"]) == (None, 60)
    for place in ("0", "3"):
        with pytest.raises(InvalidParameter, match=f"choose {place}: the list has places 1 to 2"):
            Choice.of(place, None, solutions, evaluator)


def test_a_node_that_breaks_the_limits_is_not_released():
    evaluator = Evaluator(table_of(people()), HIERARCHIES, limits=Limits(k=3, suppression=0.05))
    require_limits((3, 1, 3), evaluator)
    with pytest.raises(NoSolution) as caught:
        require_limits((0, 0, 0), evaluator)
    assert str(caught.value).startswith("choose: the node age=0, sex=0, zip=0 does not satisfy the limits: ")
    assert "rows would have to go, 3 may. Choose a higher one, or raise suppression." in str(caught.value)
