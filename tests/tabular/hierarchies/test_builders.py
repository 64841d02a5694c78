import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular.attributes import Attribute
from tabular.errors import InvalidInput, InvalidParameter, UnknownName
from tabular.files.columns import numbers_in, ordered_numbers
from tabular.hierarchies import build, hierarchies


def column(*domain, kind="ordinal"):
    return Attribute(name="x", kind=kind, domain=domain)


def rows(attribute, kind, **parameters):
    return [" > ".join(row) for row in build(attribute, kind, **parameters).rows()]


def test_ranges_widen_from_level_to_level():
    assert rows(column(17, 25, 31, None), "range", widths="5,10,20") == [
        "17 > 15-19 > 10-19 > 0-19 > *",
        "25 > 25-29 > 20-29 > 20-39 > *",
        "31 > 30-34 > 30-39 > 20-39 > *",
        " >  >  >  > *",
    ]
    assert rows(column(17, 25), "range", widths="10", origin=5) == ["17 > 15-24 > *", "25 > 25-34 > *"]
    assert rows(column(-7, 3), "range", widths="5") == ["-7 > -10 to -6 > *", "3 > 0 to 4 > *"]
    assert rows(column(0.1, 0.3, kind="continuous"), "range", widths="0.1") == [
        "0.1 > [0.1, 0.2) > *",
        "0.3 > [0.3, 0.4) > *",
    ]


def test_widths_that_nobody_gives_are_round_and_double():
    ages = build(column(*range(17, 91)), "range")
    assert [len(level.labels) for level in ages.levels] == [74, 16, 9, 5, 3, 1]
    assert ages.levels[1].labels[:2] == ("15-19", "20-24")
    assert rows(column(5), "range") == ["5 > *"]


@pytest.mark.parametrize("widths", ["x", "0", "-5", "5,x", "5,12", "10,5", "nan", "1e99"])
def test_widths_that_do_not_nest_are_refused(widths):
    with pytest.raises(InvalidParameter, match="Ranges: "):
        build(column(1, 2), "range", widths=widths)


@given(
    st.lists(st.decimals(-1000, 1000, places=2).map(str), min_size=1, max_size=12, unique=True),
    st.sampled_from(["", "1,10", "0.1,0.5,5", "7"]),
    st.sampled_from([0.0, 0.25, -3.0]),
)
def test_a_number_lies_in_its_range(texts, widths, origin):
    numbers = numbers_in(texts)
    domain = ordered_numbers(numbers)[1] if numbers else []
    made = build(Attribute(name="x", kind="continuous", domain=tuple(domain)), "range", widths=widths, origin=origin)
    for value, labels in zip(domain, made.rows(), strict=True):
        for label in labels[1:-1]:
            bounds = [float(part) for part in re.findall(r"(?<![\d.])-?[\d.]+", label)]
            low, high = bounds[0], bounds[-1]
            assert low <= float(value) <= high


def test_dates_go_by_month_year_and_decade():
    assert rows(column("2024-01-31", "1999-12-01", None), "date") == [
        "2024-01-31 > 2024-01 > 2024 > 2020s > *",
        "1999-12-01 > 1999-12 > 1999 > 1990s > *",
        " >  >  >  > *",
    ]
    assert rows(column("2024-01-31 12:30", kind="nominal"), "date") == [
        "2024-01-31 12:30 > 2024-01-31 > 2024-01 > 2024 > 2020s > *"
    ]
    assert rows(column("31/01/2024", kind="nominal"), "date", format="%d/%m/%Y") == [
        "31/01/2024 > 2024-01-31 > 2024-01 > 2024 > 2020s > *"
    ]
    with pytest.raises(InvalidInput, match=r"'x' holds a value that is no date written as 2024-01-31\."):
        build(column("31/01/2024", kind="nominal"), "date")


def test_stars_hide_characters_from_one_end():
    assert rows(column("80012", "80021", "9", kind="nominal"), "star") == [
        "80012 > 8001* > 800** > 80*** > 8**** > *",
        "80021 > 8002* > 800** > 80*** > 8**** > *",
        "9 > 9* > 9** > 9*** > 9**** > *",
    ]
    assert rows(column("abcd", kind="nominal"), "star", step=2, side="left") == ["abcd > **cd > *"]
    with pytest.raises(InvalidParameter, match="Stars: side must be one of right, left"):
        build(column("a"), "star", side="middle")


codes = st.lists(st.text(st.sampled_from("ab *"), max_size=5), min_size=1, max_size=8, unique=True)


@given(codes, st.integers(1, 3), st.sampled_from(["left", "right"]))
def test_stars_always_make_a_hierarchy(texts, step, side):
    assert build(column(*texts, kind="nominal"), "star", step=step, side=side).levels[-1].labels == ("*",)


def test_balanced_joins_neighbours():
    assert rows(column("S", "M", "L", "XL", "XXL", None), "balanced", fan_out=2) == [
        "S > [S,M] > [S,XL] > *",
        "M > [S,M] > [S,XL] > *",
        "L > [L,XL] > [S,XL] > *",
        "XL > [L,XL] > [S,XL] > *",
        "XXL > XXL > XXL > *",
        " >  >  > *",
    ]
    with pytest.raises(InvalidInput, match="'x' is nominal: neighbours need an order"):
        build(column("a", kind="nominal"), "balanced")


def test_places_lie_in_places():
    paths = {
        "Barcelona": ["Catalonia", "Spain", "Europe"],
        "Spain": ["Europe"],
        "Paris": ["Texas", "USA", "America"],
        "Paris FR": ["Paris", "France", "Europe"],
    }
    assert rows(column(*paths, kind="nominal"), "places", paths=paths) == [
        "Barcelona > Catalonia > Spain > Europe > *",
        "Spain > Spain > Spain > Europe > *",
        "Paris > Texas > USA > America > *",
        "Paris FR > Paris > France > Europe > *",
    ]
    two = {"a": ["Paris", "France"], "b": ["Paris", "Texas"]}
    assert rows(column("a", "b", kind="nominal"), "places", paths=two)[0] == "a > Paris, France > France > *"
    with pytest.raises(InvalidInput, match="value 1 of the column has no path"):
        build(column("c", kind="nominal"), "places", paths=paths)
    with pytest.raises(InvalidParameter, match="paths must give"):
        build(column("c", kind="nominal"), "places", paths=3)


def test_rows_are_taken_as_they_are():
    assert rows(column("a", "b", kind="nominal"), "csv", rows=[["b", "x", "*"], ["a", "x", "*"], ["c", "y", "*"]]) == [
        "a > x > *",
        "b > x > *",
    ]
    with pytest.raises(InvalidInput, match="Row 2: a row has a value and its label on each level"):
        build(column("a"), "csv", rows=[["a", "*"], ["b"]])


def test_an_unknown_kind_or_parameter_is_named():
    assert set(hierarchies) == {"balanced", "csv", "date", "places", "range", "star"}
    with pytest.raises(UnknownName, match="did you mean 'range'"):
        build(column(1), "ranges")
    with pytest.raises(UnknownName, match="did you mean 'widths'"):
        build(column(1), "range", width="5")


@pytest.mark.parametrize("kind", ["range", "balanced", "star"])
def test_an_empty_domain_or_one_of_missing_values_is_a_hierarchy(kind):
    assert build(column(), kind).rows() == []
    assert build(column(None), kind).rows() == [["", "*"]]
