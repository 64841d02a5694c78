"""Charts draw what they are given: lengths, labels and tooltips agree with the values."""

from __future__ import annotations

import itertools
import re

import pytest
from lxml import etree

from tabular.report.kit import charts
from tabular.report.kit.charts import Spread

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing):
    return etree.fromstring(drawing.encode())


def tooltips(drawing) -> list[str]:
    return [re.sub("[\u2068\u2069]", "", each.text) for each in parsed(drawing).iter(f"{SVG}title")]


def words(drawing) -> list[str]:
    return [each.text for each in parsed(drawing).iter(f"{SVG}text")]


def bars(drawing, kind="fill-series"):
    return [each for each in parsed(drawing).iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None
            and each.get("class").startswith(kind)]  # fmt: skip


def test_lying_bars_are_as_long_as_their_values():
    drawing = charts.horizontal_bars(["a", "b"], {"one": [0.5, 0.25], "two": [1.0, 0.0]}, label="Bars")
    lengths = [float(bar.get("width")) for bar in bars(drawing)]
    assert lengths[0] == pytest.approx(2 * lengths[2], abs=0.02)
    assert lengths[1] == pytest.approx(2 * lengths[0], abs=0.02)
    assert "a, two: 1.0000" in tooltips(drawing)
    assert {"0.5000", "0.2500", "1.0000", "0.0000"} <= set(words(drawing))


def test_what_is_undecided_is_added_to_the_bar():
    drawing = charts.horizontal_bars(["a"], {"one": [0.5]}, undecided={"one": [0.25]}, label="Bars")
    (decided,), (undecided,) = bars(drawing), bars(drawing, "open")
    assert float(undecided.get("x")) == pytest.approx(float(decided.get("x")) + float(decided.get("width")), abs=0.02)
    assert float(undecided.get("width")) == pytest.approx(float(decided.get("width")) / 2, abs=0.02)
    assert "a, one: 0.5000, undecided 0.2500" in tooltips(drawing)


def test_upright_bars_are_as_high_as_their_values():
    drawing = charts.grouped_bars(["a", "b"], {"one": [0.4, 0.1]}, label="Bars")
    high, low = (float(bar.get("height")) for bar in bars(drawing))
    assert high == pytest.approx(4 * low, abs=0.05)


def test_a_value_that_is_not_known_gets_no_bar():
    drawing = charts.grouped_bars(["a", "b"], {"one": [None, 0.1]}, label="Bars")
    assert len(bars(drawing)) == 1
    assert "?" in words(drawing)
    assert "not known" in words(charts.horizontal_bars(["a"], {"one": [None]}, label="Bars"))


def test_parts_of_a_whole_fill_the_bar():
    counts = {"1": 10, "2-4": 30, "none": 0, "over 20": 60}
    drawing = charts.stacked_shares({"all": counts}, label="Parts")
    lengths = [float(bar.get("width")) for bar in bars(drawing, "fill-")]
    assert sum(lengths) == pytest.approx(charts.WIDTH - 4, abs=0.05)
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.05)
    starts = [float(bar.get("x")) for bar in bars(drawing, "fill-")]
    for (start, length), after in zip(zip(starts, lengths, strict=True), starts[1:], strict=False):
        assert after == pytest.approx(start + length, abs=0.02)
    assert "all: 30 users with 2-4 candidates (30.0%)" in tooltips(drawing)


def test_nobody_at_all_draws_no_parts():
    assert bars(charts.stacked_shares({"all": {"1": 0}}, label="Parts"), "fill-") == []
    assert charts.stacked_shares({}, label="Parts")


def test_lines_are_named_at_their_ends_without_overlap():
    series = {f"series {place}": [Spread(0.5), Spread(0.5, 0.1)] for place in range(6)}
    drawing = charts.lines([2, 20], series, label="Lines")
    names = [each for each in parsed(drawing).iter(f"{SVG}text") if (each.text or "").startswith("series")]
    heights = sorted(float(each.get("y")) for each in names)
    assert len(heights) == 6
    assert min(after - before for before, after in itertools.pairwise(heights)) >= 12.9
    assert "series 0, k = 20: 0.5000, deviation 0.1000" in tooltips(drawing)


def test_lines_go_down_where_values_fall():
    drawing = charts.lines([2, 5, 10], {"risk": [Spread(0.9), Spread(0.5), Spread(0.1)]}, label="Lines")
    (line,) = parsed(drawing).iter(f"{SVG}polyline")
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert points == sorted(points)
    assert points[1][1] - points[0][1] == pytest.approx(points[2][1] - points[1][1], abs=0.11)


def test_lines_leave_out_what_is_not_known():
    drawing = charts.lines([2, 5], {"a": [None, Spread(0.2)], "b": [None, None]}, label="Lines")
    assert len(tooltips(drawing)) == 1
    assert charts.lines([], {}, label="Lines")


def test_dots_stand_where_the_shares_are():
    drawing = charts.before_after([("Politics", 0.1, 0.3), ("Sports", 0.2, None)], label="Dots")
    first, second = (float(each.get("cx")) for each in list(parsed(drawing).iter(f"{SVG}circle"))[:2])
    assert second > first
    assert tooltips(drawing) == ["Politics: 10.0% before, 30.0% after", "Sports: 20.0% before"]


def test_names_are_cut_in_labels_and_whole_in_tooltips():
    name = "a very long place name " * 20
    drawing = charts.before_after([(name, 0.1, 0.3)], label="Dots")
    assert max(len(each) for each in words(drawing)) <= 21
    assert tooltips(drawing)[0].startswith(name)


def test_everything_stays_inside_the_drawing():
    drawing = charts.horizontal_bars(["a"], {"one": [3.0]}, label="Bars")
    for bar in bars(drawing):
        assert float(bar.get("x")) + float(bar.get("width")) <= charts.WIDTH
