"""What the command line shows."""

import pytest

from api.cli.words import Said, shown


def test_a_title_is_one_line_over_a_narrow_table_too(capsys):
    title = "Users most at risk: candidates by attacker"
    Said().table(title, ["k"], [(5,)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == title
    assert [line for line in lines if "5" in line] == ["│ 5 │"]


def test_numbers_stand_to_the_right_and_texts_to_the_left(capsys):
    Said().table("Both", ["name", "number"], [("a", 1), ("bcdef", 0.5), ("g", None)])
    assert capsys.readouterr().out.splitlines()[4:7] == [
        "│ a     │      1 │",
        "│ bcdef │ 0.5000 │",
        "│ g     │      - │",
    ]


@pytest.mark.parametrize(("cell", "text"), [(None, "-"), (0.25, "0.2500"), (3, "3"), ("[1]", "[1]")])
def test_a_cell_as_text(cell, text):
    assert shown(cell) == text
