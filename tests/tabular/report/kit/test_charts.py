"""Charts draw what they are given: lengths, places, labels and tooltips agree with the values."""

from __future__ import annotations

import itertools
import re
from itertools import pairwise

import pytest

from tabular.report.kit import charts
from tabular.report.kit.charts import Moment, Point, Spread, held_lines, lines, scatter, shades_of
from tabular.report.kit.drawing import WIDTH
from tests.tabular.report.kit.drawings import SVG, parsed, tooltips, words


def bars(drawing, kind="fill-series"):
    return [each for each in parsed(drawing).iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None
            and each.get("class").startswith(kind)]  # fmt: skip


def test_lying_bars_are_as_long_as_their_values():
    drawing = charts.lying_bars(["a", "b"], {"one": [0.5, 0.25], "two": [1.0, 0.0]}, label="Bars")
    lengths = [float(bar.get("width")) for bar in bars(drawing)]
    assert lengths[0] == pytest.approx(2 * lengths[2], abs=0.02)
    assert lengths[1] == pytest.approx(2 * lengths[0], abs=0.02)
    assert "a, two: 1.0000" in tooltips(drawing)
    assert {"0.5000", "0.2500", "1.0000", "0.0000"} <= set(words(drawing))


def test_what_is_undecided_is_added_to_the_bar():
    drawing = charts.lying_bars(["a"], {"one": [0.5]}, undecided={"one": [0.25]}, label="Bars")
    (decided,), (undecided,) = bars(drawing), bars(drawing, "open")
    assert float(undecided.get("x")) == pytest.approx(float(decided.get("x")) + float(decided.get("width")), abs=0.02)
    assert float(undecided.get("width")) == pytest.approx(float(decided.get("width")) / 2, abs=0.02)
    assert "a, one: 0.5000, undecided 0.2500" in tooltips(drawing)


def test_upright_bars_are_as_high_as_their_values():
    drawing = charts.upright_bars(["a", "b"], {"one": [0.4, 0.1]}, label="Bars")
    high, low = (float(bar.get("height")) for bar in bars(drawing))
    assert high == pytest.approx(4 * low, abs=0.05)


def test_a_value_that_is_not_known_gets_no_bar():
    drawing = charts.upright_bars(["a", "b"], {"one": [None, 0.1]}, label="Bars")
    assert len(bars(drawing)) == 1
    assert "?" in words(drawing)
    assert "not known" in words(charts.lying_bars(["a"], {"one": [None]}, label="Bars"))


def test_the_larger_a_share_the_darker_its_square():
    drawing = charts.heat_map(["Spain", "France"], [[0.5, 0.1], [0.05, 0.3]], label="Squares.", what="share")
    looks = [each.get("class").split()[0] for each in bars(drawing, "fill-step")]
    assert looks == ["fill-step-1", "fill-step-4", "fill-step-5", "fill-step-2"]
    assert "Spain, France: 10.0%" in tooltips(drawing)


def test_a_map_of_no_links_is_light():
    (square,) = bars(charts.heat_map(["Spain"], [[0.0]], label="Squares.", what="share"), "fill-step")
    assert square.get("class") == "fill-step-5 edge"


def test_parts_of_a_whole_fill_the_bar():
    counts = {"1": 10, "2-4": 30, "none": 0, "over 20": 60}
    drawing = charts.stacked_shares({"all": counts}, what="candidates", units="users", label="Parts")
    lengths = [float(bar.get("width")) for bar in bars(drawing, "fill-")]
    assert sum(lengths) == pytest.approx(WIDTH - 4, abs=0.05)
    assert lengths[1] == pytest.approx(3 * lengths[0], abs=0.05)
    starts = [float(bar.get("x")) for bar in bars(drawing, "fill-")]
    for (start, length), after in zip(zip(starts, lengths, strict=True), starts[1:], strict=False):
        assert after == pytest.approx(start + length, abs=0.02)
    assert "all, candidates 2-4: 30 users (30.0%)" in tooltips(drawing)


def test_nobody_at_all_draws_no_parts():
    assert (
        bars(charts.stacked_shares({"all": {"1": 0}}, what="candidates", units="users", label="Parts"), "fill-") == []
    )
    assert charts.stacked_shares({}, what="candidates", units="users", label="Parts")


def test_dots_stand_where_the_shares_are():
    drawing = charts.before_after([("Politics", 0.1, 0.3), ("Sports", 0.2, None)], label="Dots")
    first, second = (float(each.get("cx")) for each in list(parsed(drawing).iter(f"{SVG}circle"))[:2])
    assert second > first
    assert tooltips(drawing) == ["Politics: 10.0% before, 30.0% after", "Sports: 20.0% before"]
    assert {"0%", "10%", "30%"} <= set(words(drawing))


def test_names_are_cut_in_labels_and_whole_in_tooltips():
    name = "a very long place name " * 20
    drawing = charts.before_after([(name, 0.1, 0.3)], label="Dots")
    assert max(len(each) for each in words(drawing)) <= 21
    assert tooltips(drawing)[0].startswith(name)


def test_everything_stays_inside_the_drawing():
    drawing = charts.lying_bars(["a"], {"one": [3.0]}, label="Bars")
    for bar in bars(drawing):
        assert float(bar.get("x")) + float(bar.get("width")) <= WIDTH


def test_lines_are_named_at_their_ends_without_overlap():
    series = {f"series {place}": [Spread(0.5), Spread(0.5, 0.1)] for place in range(6)}
    drawing = lines([2, 20], series, label="Lines", across="k")
    names = [each for each in parsed(drawing).iter(f"{SVG}text") if (each.text or "").startswith("series")]
    heights = sorted(float(each.get("y")) for each in names)
    assert len(heights) == 6
    assert min(after - before for before, after in itertools.pairwise(heights)) >= 12.9
    assert "series 0, k = 20: 0.5000, deviation 0.1000" in tooltips(drawing)


def test_lines_go_down_where_values_fall():
    drawing = lines([2, 5, 10], {"risk": [Spread(0.9), Spread(0.5), Spread(0.1)]}, label="Lines", across="k")
    (line,) = parsed(drawing).iter(f"{SVG}polyline")
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert points == sorted(points)
    assert points[1][1] - points[0][1] == pytest.approx(points[2][1] - points[1][1], abs=0.11)


def test_lines_leave_out_what_is_not_known():
    drawing = lines([2, 5], {"a": [None, Spread(0.2)], "b": [None, None]}, label="Lines", across="k")
    assert len(tooltips(drawing)) == 1
    assert lines([], {}, label="Lines", across="k")


def course(*values):
    """The lines of pairs of values at the times 0, 1, 2 ..."""
    moments = [Moment(float(time), pair, f"{time} s") for time, pair in enumerate(values)]
    names = ("best found", "proven bound")
    return parsed(held_lines(moments, names=names, between="gap", label="Course", across="seconds", upwards="GLM"))


def corners(line):
    return [tuple(map(float, corner.split(","))) for corner in line.get("points").split()]


def test_the_best_falls_in_steps_and_the_gap_to_the_bound_is_shaded():
    chart = course((10.0, None), (8.0, 2.0), (6.0, 6.0))
    best, bound = (each for each in chart.iter(f"{SVG}polyline") if len(corners(each)) > 2)
    assert best.get("class") == "curve line-series-1" and bound.get("class") == "curve line-series-2"
    # Each step is level first and then upright, so that nothing is said to be known before it was.
    levels = corners(best)
    assert len(levels) == 5
    for before, after in zip(levels[::2], levels[1::2], strict=False):
        assert before[1] == after[1]
    heights = [y for _, y in levels]
    assert heights == sorted(heights)
    (gap,) = chart.iter(f"{SVG}polygon")
    # Both end at one place: nothing is left between them.
    assert corners(best)[-1] == corners(bound)[-1]
    assert set(corners(bound)) <= set(corners(gap))


def test_without_a_bound_there_is_no_gap_and_none_in_the_key():
    chart = course((10.0, None), (8.0, None))
    assert not list(chart.iter(f"{SVG}polygon"))
    words = " ".join(chart.itertext())
    assert "best found" in words and "bound" not in words and "gap" not in words


@pytest.mark.parametrize("values", [[], [(None, None)], [(0.0, 0.0)]])
def test_a_course_of_little_is_drawn(values):
    assert course(*values) is not None


def test_times_far_apart_lie_on_a_logarithmic_axis():
    def titles(*times):
        moments = [Moment(time, (1.0, None), "") for time in times]
        drawn = held_lines(moments, names=("a", "b"), between="", label="", across="seconds", upwards="")
        return " ".join(parsed(drawn).itertext())

    assert "seconds (logarithmic)" in titles(0.1, 10.0)
    assert "logarithmic" not in titles(0.0, 10.0) + titles(1.0, 10.0)


def drawn(marks, **options):
    return parsed(scatter(marks, label="Front", across="k", upwards="GLM", **options))


def points(chart):
    """By what a point says: its centre, and the classes of what it is made of."""
    found = {}
    for group in chart.iter(f"{SVG}g"):
        title, *circles = group
        centre = {(float(each.get("cx")), float(each.get("cy"))) for each in circles}
        assert len(centre) == 1
        found[re.sub("[\u2068\u2069]", "", title.text)] = (centre.pop(), [each.get("class") for each in circles])
    return found


def test_points_lie_where_their_figures_say():
    found = points(drawn([Point(0, 0, "low"), Point(5, 50, "middle"), Point(10, 100, "high")]))
    (low, _), (middle, _), (high, _) = (found[name] for name in ("low", "middle", "high"))
    assert middle == pytest.approx(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2), abs=0.02)
    # Upwards on the page is a smaller y.
    assert low[0] < high[0] and low[1] > high[1]


def test_numbers_far_apart_lie_on_a_logarithmic_axis():
    found = points(drawn([Point(1, 1, "a"), Point(100, 1, "b"), Point(10_000, 2, "c")]))
    (a, _), (b, _), (c, _) = (found[name] for name in "abc")
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.02)


def test_what_was_found_is_filled_and_what_is_exact_is_ringed():
    found = points(
        drawn(
            [
                Point(1, 1, "both", is_ringed=True),
                Point(2, 2, "missed", is_filled=False, is_ringed=True),
                Point(3, 3, "wrong"),
            ]
        )
    )
    assert found["both"][1] == ["ring", "fill-series-1 marker"]
    assert found["missed"][1] == ["fill-none", "ring"]
    assert found["wrong"][1] == ["fill-series-1 marker"]
    kinds = [(Point(0, 0, "", is_ringed=True), "found, exact"), (Point(0, 0, "", is_filled=False), "not found")]
    keyed = drawn([Point(1, 1, "x")], kinds=kinds)
    assert {"found, exact", "not found"} <= set(keyed.itertext())
    assert [each.get("class") for each in keyed if each.tag == f"{SVG}circle"] == [
        "ring", "fill-series-1 marker", "fill-none",
    ]  # fmt: skip


def test_the_third_objective_is_a_colour_with_a_key():
    chart = drawn([Point(place, place, f"{place}", shade=float(place)) for place in range(1, 4)], shade="l")
    fills = [points(chart)[name][1][0] for name in ("1", "2", "3")]
    assert fills == ["fill-step-1 edge", "fill-step-3 edge", "fill-step-5 edge"]
    words = [text.strip() for text in chart.itertext() if text.strip()]
    assert "Colour: l" in words
    keyed = [each.get("class") for each in chart if each.tag == f"{SVG}circle"]
    assert keyed == fills


def test_many_values_share_five_colours_in_their_order():
    shades = shades_of([float(value) for value in range(12)])
    assert [each.fill for each in shades] == ["step-1", "step-2", "step-3", "step-4", "step-5"]
    assert shades[0].low == 0 and shades[-1].high == 11
    assert all(before.high < after.low for before, after in pairwise(shades))
    assert shades_of([]) == []
    fills = {
        name: looks[0]
        for name, (_, looks) in points(
            drawn([Point(place, place, f"{place}", shade=float(place)) for place in range(12)], shade="l")
        ).items()
    }
    assert [fills[f"{place}"] for place in range(12)] == [
        f"fill-{each.fill} edge" for each in shades for value in range(12) if each.low <= value <= each.high
    ]


def map_of(*points, names=("one",)):
    return parsed(scatter(points, label="Map", across="x", upwards="y", names=names, ceiling=100.0))


def centres(drawing, kind):
    dots = [each for each in drawing.iter(f"{SVG}circle") if each.get("class").startswith(kind)]
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in dots if dot.getparent().tag == f"{SVG}g"]


def test_points_of_a_map_lie_where_their_figures_say():
    drawing = map_of(Point(0, 0, "low"), Point(50, 25, "middle"), Point(100, 50, "high"))
    low, middle, high = centres(drawing, "fill-series-1")
    assert middle[0] == pytest.approx((low[0] + high[0]) / 2, abs=0.02)
    assert middle[1] == pytest.approx((low[1] + high[1]) / 2, abs=0.02)
    # Upwards on the page is a smaller y.
    assert low[0] < high[0] and low[1] > high[1]


def test_only_the_front_is_ringed_and_joined_by_steps():
    drawing = map_of(Point(10, 40, "a", is_ringed=True), Point(20, 30, "b", is_ringed=True), Point(30, 35, "c"))
    rings, dots = centres(drawing, "ring"), centres(drawing, "fill-series-1")
    assert len(rings) == 2
    assert set(rings) < set(dots)
    (line,) = drawing.iter(f"{SVG}polyline")
    corners = [tuple(map(float, corner.split(","))) for corner in line.get("points").split()]
    assert len(corners) == 3
    assert corners[1] == pytest.approx((corners[2][0], corners[0][1]))


def test_every_series_has_a_mark_of_its_own():
    names = [f"method {number}" for number in range(9)]
    drawing = map_of(*(Point(number, number, f"{number}", number) for number in range(9)), names=names)
    marks = set()
    for group in drawing.iter(f"{SVG}g"):
        mark = group[-1]
        corners = len(mark.get("points", "").split())
        marks.add((mark.get("class"), mark.tag, corners, mark.get("points", "")[:0]))
    assert len(marks) == len(names)
