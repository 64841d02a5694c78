"""Points lie where their figures say; what is found, exact or on the front can be told apart."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tabular.report.kit.points import Point, scatter, shades_of
from tests.tabular.report.kit.drawings import SVG, parsed


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
