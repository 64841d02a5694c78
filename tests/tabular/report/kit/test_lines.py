"""Lines go where their values say, keep their names apart, and hold each value until the next."""

from __future__ import annotations

import itertools

import pytest

from tabular.report.kit.lines import Moment, Spread, held_lines, lines
from tests.tabular.report.kit.drawings import SVG, parsed, tooltips


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
