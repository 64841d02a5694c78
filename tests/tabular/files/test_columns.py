import pickle

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import is_number
from tabular.files.columns import OtherSpelling, WrittenNumber, is_number_text, numbers_in, ordered_numbers
from tabular.files.table_files import read_file
from tabular.table import Table

NUMBERS = ("0", "-0", "+5", "1.50", "1e3", ".5", "5.", " 7", "36.0", "1E-05", "1234567890123456", "-12")
OTHERS = (
    "",
    "007",
    "-01",
    "1_000",
    "nan",
    "inf",
    "1e999",
    "1234567890123456789",
    "0x10",
    "१",
    "1 2",
    "--1",
    "1,5",
    "e3",
)


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_shown_as_it_was_written_and_is_the_number(text):
    (number,) = numbers_in([text])
    assert str(number) == text
    assert number == float(text)
    assert is_number(number)


@pytest.mark.parametrize("text", OTHERS)
def test_a_code_or_a_word_is_no_number(text):
    assert numbers_in([text]) is None
    # Whether a number is too large is not seen from its form.
    assert is_number_text(text) == (text == "1e999")


def test_plain_spellings_are_plain_numbers():
    assert [type(number) for number in numbers_in(["1", "-2"])] == [int, int]
    assert [type(number) for number in numbers_in(["1", "2.5", "2.50"])] == [int, float, WrittenNumber]


def test_one_word_among_numbers_makes_all_of_them_text():
    assert numbers_in(["1", "2", "x"]) is None


def test_a_decimal_comma_is_read_where_it_is_said():
    assert numbers_in(["1,5", "2"], ",") == [1.5, 2]
    assert numbers_in(["1,5", "2.5"], ",") is None
    assert numbers_in(["1,5,2"], ",") is None
    assert str(numbers_in(["1,50"], ",")[0]) == "1,50"


@given(
    st.lists(
        st.one_of(
            st.integers(-(10**17), 10**17).map(str),
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.sampled_from(NUMBERS),
        ),
        min_size=1,
        unique=True,
    )
)
def test_numbers_are_ordered_by_size_and_keep_apart_when_written_differently(texts):
    numbers = numbers_in(texts)
    places, domain = ordered_numbers(numbers)
    assert [str(domain[place]) for place in places] == texts
    assert len(set(domain)) == len(domain)
    assert [float(number) for number in domain] == sorted(float(text) for text in texts)


def test_the_plainest_spelling_is_the_number_itself():
    _, domain = ordered_numbers(numbers_in(["1.50", "01.5".lstrip("0"), "1.500"]))
    assert domain.index(1.5) == 0
    assert [type(number) for number in domain] == [float, OtherSpelling, OtherSpelling]
    assert domain[1] != 1.5
    assert domain[1] == OtherSpelling(1.5, "1.50")
    assert hash(domain[1]) == hash(1.5)


def test_a_written_number_survives_a_pickle():
    for number in (WrittenNumber(1.5, "1.50"), OtherSpelling(1.5, "1.50")):
        copy = pickle.loads(pickle.dumps(number))
        assert (type(copy), str(copy), float(copy)) == (type(number), "1.50", 1.5)


@pytest.mark.parametrize(("distinct", "kind"), [(10, "ordinal"), (100, "ordinal"), (101, "continuous")])
def test_many_whole_numbers_are_a_quantity_and_fewer_are_grades(tmp_path, distinct, kind):
    path = tmp_path / "revenues.csv"
    path.write_text("\n".join(["revenue,town", *(f"{1000 + 7 * i},a" for i in range(distinct))]) + "\n")
    found = read_file(path)
    assert found.table.attribute("revenue").kind == kind
    assert found.guessed_kinds(found.table.names) == ({} if 10 < distinct <= 100 else {"revenue": kind})
    as_frame = Table.from_frame(pandas.read_csv(path))
    assert as_frame.attribute("revenue").kind == kind
