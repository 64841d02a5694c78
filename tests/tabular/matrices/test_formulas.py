"""Formulas: what they say of each cell against Python's own reading of the text, and their texts read again."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.errors import InvalidParameter
from tabular.matrices.formulas import FUNCTIONS, SAME, TERMINALS, Formula, normalised
from tests.strategies import seeds

#: T Table 4.2: the attribute DEGREE of the U.S. Housing Survey.
DEGREE = np.array([98, 173, 251, 195, 170, 80, 33, 0])

frequencies = st.lists(st.one_of(st.just(0), st.integers(0, 60)), min_size=1, max_size=6).map(np.array)

formulas = st.recursive(
    st.sampled_from((*TERMINALS, SAME)).map(lambda name: Formula((name,))),
    lambda parts: st.tuples(parts, parts, st.sampled_from(list(FUNCTIONS))).map(
        lambda made: Formula((*made[0].elements, *made[1].elements, made[2]))
    ),
    max_leaves=12,
)

_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def slow_value(node, known):
    """One cell, by Python's reading of the text; a/0 is 1."""
    if isinstance(node, ast.Name):
        return known[node.id]
    left, right = slow_value(node.left, known), slow_value(node.right, known)
    if isinstance(node.op, ast.Div):
        return left / right if right else 1.0
    return _OPERATIONS[type(node.op)](left, right)


def slow_matrix(text, counts):
    """Cell by cell: negative values are 0, then each row is divided by its sum."""
    size = len(counts)
    if sum(count > 0 for count in counts) < 2:
        return [[float(i == j) for j in range(size)] for i in range(size)]
    tree = ast.parse(text.replace("i=j", "same"), mode="eval").body
    column = {"N": float(sum(counts)), "freq_max": float(max(counts))}
    column["freq_min"] = float(min(count for count in counts if count))
    rows = []
    for i in range(size):
        row = []
        for j in range(size):
            cell = {"freq_i": float(counts[i]), "freq_j": float(counts[j]), "same": float(i == j)}
            row.append(max(slow_value(tree, column | cell), 0.0))
        rows.append([each / sum(row) for each in row] if sum(row) else [float(i == j) for j in range(size)])
    return rows


@given(formulas, frequencies)
def test_all_cells_at_once_are_each_cell_alone(formula, counts):
    expected = slow_matrix(str(formula), counts.tolist())
    assert formula.matrix(counts) == pytest.approx(np.array(expected), abs=1e-12)


@given(formulas, frequencies)
def test_every_matrix_has_rows_of_probabilities(formula, counts):
    matrix = formula.matrix(counts)
    assert (matrix >= 0).all()
    assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-12)


@given(formulas)
def test_a_text_read_again_is_the_same_formula(formula):
    assert Formula.read(str(formula)) == formula
    assert Formula.read(str(formula).replace(" ", "")) == formula
    assert Formula.read(f" ( {str(formula).replace('i=j', 'i = j')} ) ") == formula


@given(formulas, frequencies, seeds)
def test_what_is_canonically_the_same_gives_the_same_matrix(formula, counts, seed):
    other = turned(formula, np.random.default_rng(seed))
    assert other.canonical == formula.canonical
    assert other.matrix(counts).tobytes() == formula.matrix(counts).tobytes()


def turned(formula, rng):
    """The formula with the operands of some sums and products exchanged."""
    stack = []
    for element in formula.elements:
        if element in FUNCTIONS:
            right, left = stack.pop(), stack.pop()
            both = (right, left) if element in "+*" and rng.random() < 0.5 else (left, right)
            stack.append((*both[0], *both[1], element))
        else:
            stack.append((element,))
    return Formula(stack.pop())


def test_figure_4_14_in_postorder():
    # a + (2 * b) becomes a, 2, b, *, +; there are no numbers in our formulas.
    assert Formula.read("freq_i + (N * freq_j)").elements == ("freq_i", "N", "freq_j", "*", "+")


def test_subtraction_and_division_go_from_left_to_right():
    assert Formula.read("N - freq_i - freq_j").elements == ("N", "freq_i", "-", "freq_j", "-")
    assert Formula.read("N - (freq_i / freq_j)").elements == ("N", "freq_i", "freq_j", "/", "-")
    assert str(Formula.read("N-((freq_i-freq_j))")) == "N - (freq_i - freq_j)"


def test_a_matrix_worked_by_hand():
    # Row of 6: 1 on the diagonal (0/0), 3 and 5 over 6. Row of 3: -3/3, 1, 2/3. Row of 1: -5, -2, 1.
    found = Formula.read("(freq_i - freq_j) / (freq_i - (freq_i * (i=j)))").matrix(np.array([6, 3, 1]))
    expected = [[1, 1 / 2, 5 / 6], [0, 1, 2 / 3], [0, 0, 1]]
    expected = [[cell / sum(row) for cell in row] for row in expected]
    assert found == pytest.approx(np.array(expected))


def test_uniform_and_frequency_matrices_are_formulas():
    assert Formula.read("N / N").matrix(DEGREE) == pytest.approx(np.full((8, 8), 1 / 8))
    assert Formula.read("i=j").matrix(DEGREE) == pytest.approx(np.eye(8))
    # theta = 0.5 of eq 2.4 and 2.5 needs a half and the number of categories; this is the same shape.
    found = Formula.read("freq_min / freq_i + (N / N - freq_min / freq_i) * (i=j)").matrix(DEGREE[:3])
    assert found[0] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert found[1, 0] == found[1, 2] < found[1, 1]


def test_the_smallest_frequency_is_one_that_occurs():
    assert Formula.read("freq_min").values(DEGREE).tolist() == [[33.0] * 8] * 8


def test_rows_without_a_positive_value_keep_their_category():
    assert (Formula.read("freq_j - N").matrix(DEGREE) == np.eye(8)).all()
    assert (Formula.read("freq_j").matrix(np.array([0, 9, 0])) == np.eye(3)).all()


def test_values_past_all_bounds_are_still_made_to_sum_to_1():
    huge = Formula.read(" * ".join(["N"] * 200))
    assert huge.matrix(DEGREE) == pytest.approx(np.full((8, 8), 1 / 8))
    assert (Formula((*huge.elements, *huge.elements, "-")).matrix(DEGREE) == np.eye(8)).all()
    assert normalised(np.full((2, 2), 1e308)).tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "",
            "formula cannot be read at character 1: one of N, freq_max, freq_min, freq_i, freq_j, i=j or ( is missing.",
        ),
        ("freq_i +", "formula cannot be read at character 9: one of N, "),
        ("freq_i / freq_k", "formula cannot be read at character 10: 'freq_k' stands where one of N, "),
        ("2 * N", "formula cannot be read at character 1: '2' stands where one of N, "),
        ("N freq_i", "formula cannot be read at character 3: 'freq_i' stands where +, -, *, / or ) must stand."),
        ("(N + freq_i", "formula cannot be read at character 1: this ( is never closed."),
        ("N + freq_i)", "formula cannot be read at character 11: this ) closes nothing."),
        ("N ^ N", "formula cannot be read at character 3: '^' has no meaning in a formula."),
        ("-N", "formula cannot be read at character 1: '-' stands where one of N, "),
        ("()", "formula cannot be read at character 2: ')' stands where one of N, "),
        ("N" * 10_001, "formula has 10,001 characters; 10,000 are read."),
        (7, "formula must be a text such as 'freq_j / N', not 7."),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text, said):
    with pytest.raises(InvalidParameter) as error:
        Formula.read(text)
    assert str(error.value).startswith(said)


@given(st.text("Nfreq_ij=+-*/() \n", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        formula = Formula.read(text)
    except InvalidParameter:
        return
    assert Formula.read(str(formula)) == formula


def test_brackets_can_be_as_deep_as_a_text_is_long():
    assert Formula.read("(" * 4_999 + "N" + ")" * 4_999).elements == ("N",)
